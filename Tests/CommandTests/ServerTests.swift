import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// What a recording leaves in the X server and the system, and what it does when the server is gone.
@Suite(.serialized) struct ServerTests {
  /// The shared memory segments that the process `pid` made: key shmid perms size cpid lpid nattch uid …
  private func segments(of pid: Int32) throws -> [[Substring]] {
    String(decoding: try readFile("/proc/sysvipc/shm"), as: UTF8.self).split(separator: "\n").dropFirst()
      .map { $0.split(separator: " ") }.filter { $0[4] == "\(pid)" }
  }

  private func descriptors(of pid: Int32) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
  }

  /// All that clients have in the server, by kind.
  private func resources(_ display: VirtualDisplay) throws -> [String: Int] {
    let result = try run(["xrestop", "-b", "-m", "1"], environment: display.environment)
    var sums: [String: Int] = [:]
    for line in result.lines {
      let parts = line.split(separator: ":").map { $0.filter { !$0.isWhitespace } }
      guard parts.count == 2, let count = Int(parts[1]) else { continue }
      sums[parts[0], default: 0] += count
    }
    guard sums["windows"] != nil else { throw TestFailure("xrestop: \(result.text)\(result.errorText)") }
    return sums
  }

  @Test func aThousandWindowsLeaveNothing() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color"])
    let watch = try WatchedRecording(rig, ["--exclude", "title~=^storm .*7$", "--fps", "60"])
    let pid = watch.recording.process.pid
    // What is made once, is made now.
    try client.tell("storm 20")
    try watch.show(0x405060, in: client)
    let before = (try descriptors(of: pid), try segments(of: pid).count, try resources(display))
    try client.tell("storm 1000")
    try watch.show(0x607080, in: client)
    // The control connection that asked for the frame is closed a moment after.
    try waitUntil("no more descriptors than before") { try descriptors(of: pid) <= before.0 }
    #expect(try segments(of: pid).count == before.1)
    // Requests of the recorder that are on their way have arrived when its server answers one that followed.
    try waitUntil("no more resources than before") { try resources(display) == before.2 }
    let result = try watch.stop()
    #expect(result.ending == .exit(0))
    #expect(result.errorText.split(separator: "\n").allSatisfy { $0.contains("Recorded") || $0.contains("Sealed") })
    let opened = try rig.events(watch.recording.id).filter { $0.kind == .opened }
    #expect(opened.allSatisfy { $0.window?.title.hasSuffix("7") != true })
    #expect(!(try rig.events(watch.recording.id).contains { $0.kind == .warning || $0.kind == .gap }))
  }

  /// Case S13.
  @Test func sharedMemoryIsPrivateAndGoesWithAKilledRecorder() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let client = try PatternClient(on: try #require(rig.display), ["color"])
    let watch = try WatchedRecording(rig, [])
    try watch.show(0x405060, in: client)
    let pid = watch.recording.process.pid
    let found = try segments(of: pid)
    #expect(found.count == 1)
    // 01000 is SHM_DEST: it goes with the last process that is attached.
    #expect(found.map { Int($0[2], radix: 8) } == [0o1600])
    #expect(found.map { $0[6] } == ["2"])
    watch.recording.process.signal(SIGKILL)
    _ = try watch.recording.process.wait()
    // The server lets go once it hears that the client is gone.
    try waitUntil("the end of the segment") { try segments(of: pid).isEmpty }
  }

  /// Case X28. From outside: it may take two seconds longer than a recording that somebody ends, which a busy machine and its
  /// disk slow down as much; `make bench` holds it to the two seconds alone.
  @Test func aKilledServerEndsTheRecordingAtOnce() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color"])
    let ended = try WatchedRecording(rig, [])
    try ended.show(0x203040, in: client)
    let interrupted = monotonicSeconds()
    #expect(try ended.stop().ending == .exit(0))
    let usual = monotonicSeconds() - interrupted
    let watch = try WatchedRecording(rig, [])
    try watch.show(0x405060, in: client)
    let killed = monotonicSeconds()
    display.server.signal(SIGKILL)
    let result = try watch.recording.process.wait()
    let took = monotonicSeconds() - killed
    #expect(result.ending == .exit(72))
    #expect(took < usual + 2, "\(took) s, usually \(usual) s")
    #expect(result.errorText.contains("The X server ended or closed the connection."))
    let manifest = try rig.manifest(watch.recording.id)
    #expect(manifest.state == .finished && manifest.end?.reason == .displayLost)
    // It ends when the server did, and plays to there.
    let end = try #require(manifest.end).time.seconds + Double(try watch.epoch()) / 1e9
    #expect((killed - 0.001...killed + took).contains(end))
    let length = try #require(Double(try MediaFile.entries(watch.media)["duration"] ?? ""))
    #expect(abs(length - manifest.duration.seconds) <= 0.002)
    let picture = try #require(try MediaFile.pictures(watch.media, PixelRect(x: 5, y: 5, width: 1, height: 1)).last)
    #expect(Array(picture[..<3]) == [0x60, 0x50, 0x40])
  }

  /// Case X24. Xvfb has no DPMS; its screen saver blanks the screen. Neither is a fault of the recording, nor a flood of words.
  @Test func aScreenThatIsSwitchedOffIsRecordedOn() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color"])
    let watch = try WatchedRecording(rig, [])
    try watch.show(0x405060, in: client)
    for words in [["dpms", "force", "off"], ["s", "blank"], ["s", "activate"]] {
      _ = try run(["xset"] + words, environment: display.environment)
    }
    let now = Int64(monotonicSeconds() * 1e9) - (try watch.epoch())
    try watch.event("two signs of life") { $0.kind == .alive && $0.time.nanoseconds > now + 1_500_000_000 }
    try run(["xset", "s", "reset"], environment: display.environment)
    try watch.show(0x607080, in: client)
    let result = try watch.stop()
    #expect(result.ending == .exit(0))
    #expect(result.errorText.split(separator: "\n").count <= 3)
    #expect(!(try rig.events(watch.recording.id).contains { $0.kind == .warning || $0.kind == .gap }))
    let last = try #require(try MediaFile.pictures(watch.media, PixelRect(x: 5, y: 5, width: 1, height: 1)).last)
    #expect(Array(last[..<3]) == [0x80, 0x70, 0x60])
  }

  /// Case X21: three pointers with hot spots of their own, at the picture's own size and at half of it, are where they are
  /// to the pixel.
  @Test(arguments: [(8, 0, 0), (16, 15, 15), (24, 14, 10)], [1, 2])
  func thePointerIsExact(cursor: (side: Int, x: Int, y: Int), scale: Int) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x200"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["color", "--color", "00FF00"])
    func bitmap(_ name: String, _ byte: String) throws -> String {
      let bytes = [String](repeating: byte, count: cursor.side * cursor.side / 8).joined(separator: ",")
      let text = """
        #define c_width \(cursor.side)
        #define c_height \(cursor.side)
        #define c_x_hot \(cursor.x)
        #define c_y_hot \(cursor.y)
        static char c_bits[] = {
        \(bytes)};

        """
      try writeFile(rig.folder.file(name), text.utf8)
      return rig.folder.file(name)
    }
    let set = try run([
      "xsetroot", "-display", display.name, "-fg", "#FF0000", "-bg", "#0000FF", "-cursor", bitmap("c", "0xFF"),
      bitmap("m", "0xFF"),
    ])
    #expect(set.status == 0, "\(set.errorText)")
    // Its image begins on an even pixel, so that half of it does on a whole one.
    let (left, top) = (86, 44)
    try run(["xdotool", "mousemove", "\(left + cursor.x)", "\(top + cursor.y)"], environment: display.environment)
    let size = PixelSize(width: 320 / scale, height: 200 / scale)
    let id = try rig.record(seconds: 0.3, ["--lossless", "--size", "\(size)"])
    let picture = try #require(try MediaFile.pictures(rig.media(id), PixelRect(size)).last)
    let wanted = PixelRect(
      x: left / scale, y: top / scale, width: cursor.side / scale, height: cursor.side / scale)
    // Where a pixel is another than it must be.
    let wrong = (0..<size.area).filter { index in
      let isInside = wanted.contains(
        PixelRect(x: index % size.width, y: index / size.width, width: 1, height: 1))
      return Array(picture[index * 4..<index * 4 + 3]) != (isInside ? [0, 0, 0xFF] : [0, 0xFF, 0])
    }
    #expect(
      wrong == [],
      "\(wrong.count) pixels, the first at \(wrong.first.map { ($0 % size.width, $0 / size.width) } ?? (0, 0))")
    withExtendedLifetime(client) {}
  }
}
