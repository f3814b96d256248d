import Capture
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Windows whose titles, classes and other properties are rubbish of every type, format and length, on a real server.
@Suite struct PropertyFuzzTests {
  static let windows = 250

  @Test func rubbishPropertiesHarmNothing() throws {
    let display = try VirtualDisplay(size: "640x480")
    let known = try PatternClient(on: display, ["color", "--title", "known before", "--class", "Known"])
    let rubbish = try ChildProcess(
      [try InjectedFaults.client("properties"), "\(Self.windows)"], environment: display.environment)
    // Events are taken meanwhile, with a pattern that every title is held against.
    let log = EventLog()
    let source = try log.follow(display)
    let encoder = JSONEncoder()
    let decoder = JSONDecoder()
    var generator = Fuzzing.Generator(seed: Fuzzing.seed)
    let kept = try Fuzzing.keptInputs("properties").map { String(decoding: $0, as: UTF8.self).filter { $0 != "\n" } }
    // Each window gets four properties a round.
    let rounds = max(1, Fuzzing.inputs / Self.windows / 4)
    let seeds = kept + (0..<rounds).map { _ in "\(generator.next())" }
    var resident = 0
    for (number, seed) in seeds.enumerated() {
      rubbish.write("\(seed)\n")
      try waitUntil("the properties of \(seed)") { rubbish.outputSoFar.hasSuffix("\(seed)\n") }
      let start = processorSeconds()
      let inventory = try DesktopInventory(display: display.name)
      #expect(processorSeconds() - start < Double(Self.windows), "seed \(seed)")
      #expect(
        inventory.windows.contains { $0.window.id == known.window && $0.window.title == "known before" }, "seed \(seed)"
      )
      let windows = inventory.windows.map(\.window)
      // No property is larger than what is read of one.
      #expect(windows.allSatisfy { $0.title.utf8.count <= 3 * 65_536 }, "seed \(seed)")
      #expect(try decoder.decode([WindowInfo].self, from: encoder.encode(windows)) == windows, "seed \(seed)")
      if number == seeds.count / 10 { resident = residentBytes() }
    }
    #expect(residentBytes() - resident < 128 << 20)
    try known.tell("title known after")
    try known.tell("focus")
    try waitUntil("the event of the known window") { log.events.contains { $0.window?.title == "known after" } }
    source.stop(until: Int64(monotonicSeconds() * 1e9) + 5_000_000_000)
    #expect(log.endings.allSatisfy { $0 == nil })
  }
}
