import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Recordings while the machine sleeps and its clock is set, by a library that moves the clocks of the built program.
@Suite(.serialized) struct ClockTests {
  static let hour: Int64 = 3600 * 1_000_000_000
  let rig: RecorderRig
  let file: String

  init() throws {
    let library = try InjectedFaults.library("clock")
    let folder = try TemporaryFolder()
    file = folder.file("clock")
    self.folder = folder
    rig = try RecorderRig(
      display: VirtualDisplay(size: "160x120"), environment: ["LD_PRELOAD": library, "CLOCK_FILE": file])
    try set(wall: 0, boot: 0)
  }
  private let folder: TemporaryFolder

  /// Sets what is added to the wall clock and to the clock that counts sleep, in ns.
  func set(wall: Int64, boot: Int64) throws {
    let bytes = withUnsafeBytes(of: (wall, boot)) { Array($0) }
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    #expect(bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) } == bytes.count)
  }

  /// Cases E11 (the machine sleeps for an hour) and NTP's steps of an hour to either side: what follows has the right wall
  /// clock, the session says what happened, and no time of it is lost or made up.
  @Test(arguments: [(hour, hour), (hour, 0), (-hour, 0)] as [(Int64, Int64)])
  func theWallClockIsRightBeforeAndAfterAStep(wall: Int64, boot: Int64) throws {
    let client = try PatternClient(on: try #require(rig.display), ["bars", "--title", "before"])
    let recording = try rig.record(["--no-cursor"])
    func alive() throws -> Int { try rig.events(recording.id).count { $0.kind == .alive } }
    try waitUntil("a sign of life") { try alive() >= 2 }
    try set(wall: wall, boot: boot)
    let kind: Event.Kind = boot > 0 ? .gap : .clock
    try waitUntil("the change to be noticed") { try rig.events(recording.id).contains { $0.kind == kind } }
    try client.tell("title after")
    let count = try alive()
    try waitUntil("the title") { try rig.events(recording.id).contains { $0.window?.title == "after" } }
    try waitUntil("signs of life") { try alive() >= count + 2 }
    recording.process.signal(SIGINT)
    let result = try recording.process.wait()
    #expect(result.status == 0, "\(result.errorText)")

    let manifest = try rig.manifest(recording.id)
    let step = try #require(manifest.clock.steps?.first)
    #expect(manifest.clock.steps?.count == 1)
    let moved = step.utc.nanoseconds - manifest.clock.utc.nanoseconds - step.time.nanoseconds
    #expect(abs(moved - wall) < 100_000_000, "\(moved)")
    let events = try rig.events(recording.id)
    let told = events.filter { $0.kind == .clock || $0.gap?.track == "machine" }
    #expect(told.count == 1)
    #expect(told.first?.text?.contains("60:00.0") == true || told.first?.text?.contains("59:59.9") == true, "\(told)")
    // The session's own time went on as the monotonic clock did.
    let times = events.filter { $0.kind == .alive }.map(\.time.nanoseconds)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 > $0 && $1 - $0 < 60 * 1_000_000_000 })
    #expect(try rig.run(["verify", "last", "--deep"]).ending == .exit(0))
    let lines = String(decoding: try readFile("\(rig.session(recording.id))/manifest.json"), as: UTF8.self)
    #expect(try JSONSchema.problems("manifest", [lines.replacing("\n", with: " ")]) == [""])
    // What the index says of the two titles is what the clock on the wall said.
    struct Hit: Decodable { let timestamp: Int64, wallTime: WallTime }
    let hits = try ["before", "after"].map { word in
      let line = try #require(try rig.run(["search", "--json", word]).lines.first)
      return try JSONDecoder().decode(Hit.self, from: Data(line.utf8))
    }
    let between = hits[1].wallTime.nanoseconds - hits[0].wallTime.nanoseconds
    let elapsed = hits[1].timestamp - hits[0].timestamp
    #expect(abs(between - elapsed - wall) < 100_000_000, "\(between) \(elapsed)")
  }

  /// Case I14: both changes of the year in Berlin; in autumn two recordings begin at 02:30 on the wall, an hour apart.
  @Test(
    arguments: [
      (["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"], ["2026-10-25 02:30:0", "2026-10-25 02:30:0"]),
      (["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"], ["2026-03-29 01:30:0", "2026-03-29 03:30:0"]),
    ] as [([String], [String])])
  func theHourThatIsRepeatedOrLeftOutMixesNothingUp(times: [String], shown: [String]) throws {
    var ids: [SessionID] = []
    let berlin: [String: String?] = ["TZ": "Europe/Berlin"]
    for time in times {
      let wanted = try #require(WallTime(rfc3339: time))
      try set(wall: wanted.nanoseconds - WallTime.now().nanoseconds, boot: 0)
      let result = try rig.run(["record", "--duration", "100ms"], environment: berlin)
      #expect(result.status == 0, "\(result.errorText)")
      ids.append(try #require(SessionID(result.text.dropLast())))
    }
    #expect(ids[0] < ids[1])
    let begins = times.map { time in time.filter { $0 != "-" && $0 != ":" }.prefix(14) }
    #expect(ids.map { $0.description.prefix(14) } == begins)
    let rows = try rig.run(["list"], environment: berlin).lines.dropFirst()
    #expect(rows.map { String($0.prefix(21)) } == ids.reversed().map(\.description))
    for (row, begin) in zip(rows, shown.reversed()) { #expect(row.contains("  \(begin)"), "\(row)") }
    #expect(try rig.run(["verify", "--all"]).ending == .exit(0))
  }

  /// A recording that begins before the hour that is repeated and ends in it.
  @Test func aRecordingGoesOnThroughTheRepeatedHour() throws {
    let wanted = try #require(WallTime(rfc3339: "2026-10-25T00:59:59Z"))
    try set(wall: wanted.nanoseconds - WallTime.now().nanoseconds, boot: 0)
    let result = try rig.run(["record", "--duration", "2"], environment: ["TZ": "Europe/Berlin"])
    #expect(result.status == 0, "\(result.errorText)")
    let id = try #require(SessionID(result.text.dropLast()))
    let manifest = try rig.manifest(id)
    #expect(manifest.duration.nanoseconds == 2_000_000_000 && manifest.clock.steps == nil)
    #expect(try rig.events(id).allSatisfy { $0.kind != .clock })
  }
}
