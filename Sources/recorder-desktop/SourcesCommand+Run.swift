import Arguments
import Capture
import Commands
import SessionModel

extension SourcesCommand: Command {
  func run() throws {
    let found = try DesktopInventory(display: display)
    if output.json { return try StandardOutput.json(found) }
    var pictures = TextTable([.init("SOURCE"), .init("GEOMETRY"), .init("WHAT")])
    pictures.append(["display", "\(found.screen)", "the display \(found.display)"])
    for monitor in found.monitors {
      pictures.append([
        SourceSpecification.monitor(name: monitor.name).text.shellWord, "\(monitor.rect)",
        monitor.isPrimary ? "monitor, primary" : "monitor",
      ])
    }
    for window in found.windows {
      let info = window.window
      let notes = [window.isActive ? "active" : nil, window.isVisible ? nil : "hidden"].compactMap { $0 }
      let facts = [
        info.className.map { "class \($0.printable(atMost: 30))" }, info.pid.map { "pid \($0)" },
        window.command.map { "command \($0.printable(atMost: 30))" },
      ]
      let what = ["\"\(info.title.printable(atMost: 50))\""] + facts.compactMap { $0 } + notes
      pictures.append([
        "window:0x\(String(info.id, radix: 16))", info.rect?.description ?? "", what.joined(separator: ", "),
      ])
    }
    try StandardOutput.table(pictures)
    if !found.soundDevices.isEmpty {
      var sound = TextTable([.init("DEVICE"), .init("WHAT")])
      for device in found.soundDevices {
        let name = device.description.printable(atMost: 60)
        sound.append([device.specification.shellWord, device.isMonitor ? "\(name), what is played" : name])
      }
      try StandardOutput.line("")
      try StandardOutput.table(sound)
    }
    if !found.players.isEmpty {
      var players = TextTable([.init("PLAYS"), .init("PID"), .init("STATE")])
      for player in found.players {
        players.append([player.name, player.pid.map(String.init) ?? "", player.isPaused ? "paused" : "playing"])
      }
      try StandardOutput.line("")
      try StandardOutput.table(players)
    }
  }
}
