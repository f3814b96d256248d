import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// From remembered words to the moment on screen.
@Suite(.serialized) struct FindTests {
  struct Hit: Decodable {
    let session: SessionID
    let timestamp: Int64
    let kind: String
    let command: String
  }

  @Test func aTitleLeadsToAFrameThatShowsItsWindow() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "400x300"))
    let display = try #require(rig.display)
    let windows = [
      ("Quarterly invoice", "c02020", [0x20, 0x20, 0xC0]), ("Holiday photographs", "20c020", [0x20, 0xC0, 0x20]),
    ]
    let clients = try windows.map { title, colour, _ in
      try PatternClient(on: display, ["color", "--color", colour, "--title", title])
    }
    let recording = try rig.record(["--no-cursor"])
    // Each is shown in turn, twice, until the event track has it. What is active at the start has its time too: a
    // window is raised before it is focused, so of a shorter span the middle could show the next one.
    func stay() throws {
      let time = monotonicSeconds()
      try waitUntil("half a second on screen") { monotonicSeconds() - time >= 0.5 }
    }
    try waitUntil("the windows of the start") { try rig.events(recording.id).contains { $0.kind == .focus } }
    try stay()
    for turn in 0..<4 {
      let client = clients[turn % 2]
      try client.tell("raise")
      try client.tell("focus")
      try waitUntil("the focus of turn \(turn)") {
        try rig.events(recording.id).last { $0.kind == .focus }?.window?.id == client.window
      }
      try stay()
    }
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)

    for (index, (title, _, colour)) in windows.enumerated() {
      let word = try #require(title.split(separator: " ").last.map { $0.lowercased() })
      let result = try rig.run(["search", word, "--json"])
      let hits = try result.lines.map { try JSONDecoder().decode(Hit.self, from: Data($0.utf8)) }
      #expect(hits.count >= 2, "\(title): \(result.text)")
      for (number, hit) in hits.enumerated() where hit.kind == "window" {
        let time = Timestamp(nanoseconds: hit.timestamp).description
        #expect(hit.command == "recorder replay \(recording.id) --at \(time)")
        let file = rig.folder.file("\(index)-\(number).png")
        #expect(try rig.run(["frame", hit.session.description, "--at", time, "-o", file]).status == 0)
        let picture = try MediaFile.pictures(file, PixelRect(x: 200, y: 150, width: 1, height: 1))[0]
        for channel in 0..<3 { #expect(abs(Int(picture[channel]) - colour[channel]) <= 4, "\(title) at \(time)") }
      }
    }
  }

  @Test func aSessionThatNoNameMeansAloneIsAQuestion() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "64x64"))
    let ids = try (0..<2).map { _ in try rig.record(seconds: 0.1) }
    let prefix = String(ids[0].description.prefix(8))
    for command in [["show", prefix], ["frame", prefix, "--at", "0", "-o", "x.png"], ["delete", prefix]] {
      let result = try rig.run(command)
      #expect(result.ending == .exit(66))
      for id in ids { #expect(result.errorText.contains(id.description)) }
    }
    #expect(try rig.run(["list", "--json"]).lines.count == 2)
    #expect(try rig.run(["show", "nothing"]).ending == .exit(66))
  }
}
