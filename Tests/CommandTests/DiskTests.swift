import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// Disks that are full, fill up or are limited, in a mount namespace of the test's own: what was recorded before is kept,
/// plays, and says of itself how it ended.
@Suite(.serialized) struct DiskTests {
  let rig: RecorderRig
  /// A terminal full of noise: a megabyte a second without loss.
  let noise: ChildProcess

  init() throws {
    rig = try RecorderRig(display: VirtualDisplay(size: "320x240"))
    noise = try ChildProcess(
      [
        "xterm", "-geometry", "53x18+0+0", "-e", "sh", "-c",
        "while :; do head -c 700 /dev/urandom | base64 -w 0; sleep 0.02; done",
      ], environment: rig.environment)
    try waitUntil("the terminal") {
      try run(["xwininfo", "-root", "-tree"], environment: rig.environment).text.contains("xterm")
    }
  }

  /// Runs `script` where `$A` is a file system of `size` and `$R` the program.
  private func onDisk(_ size: String, _ script: String) throws -> ChildProcess.Result {
    try run(
      [
        "unshare", "-rm", "sh", "-c",
        "mkdir -p $A && mount -t tmpfs -o size=\(size) tmpfs $A || exit 9; \(script)\nkeep=$?; cp -a $A/. $A.kept; exit $keep",
      ],
      environment: rig.environment.merging(["A": rig.archive, "R": builtProgram("recorder")]) { _, new in new })
  }

  /// What was left after the file system went with its namespace: the one session, and its media file's pictures.
  private func kept() throws -> (rig: RecorderRig, id: SessionID) {
    if access("\(rig.archive).kept", F_OK) == 0 {
      try #require(rmdir(rig.archive) == 0 && rename("\(rig.archive).kept", rig.archive) == 0)
    }
    let found = try run(["find", "\(rig.archive)/sessions", "-name", "manifest.json"]).lines
    let id = try #require(found.first.flatMap { SessionID($0.split(separator: "/").dropLast().last ?? "") })
    return (rig, id)
  }

  /// A session that ended because the disk took no more: finished, sealed, playable to its end.
  private func expectClearEnd() throws {
    let (rig, id) = try kept()
    let manifest = try rig.manifest(id)
    #expect(manifest.state == .finished && manifest.end?.reason == .writeFailed)
    #expect(manifest.chain?.sealedBy == "recorder")
    let times = try MediaFile.times(rig.media(id))
    #expect(!times.isEmpty)
    // No more than the flush that failed, and what waited for it, is missing.
    let duration = try #require(Double(try MediaFile.entries(rig.media(id))["duration"] ?? ""))
    #expect(manifest.duration.seconds - duration <= 0.1)
    #expect(manifest.duration.seconds - Double(try #require(times.last)) / 1000 <= 1.5)
    let verified = try rig.run(["verify", "last", "--deep"])
    #expect(verified.ending == .exit(76), "\(verified.text)\(verified.errorText)")
    #expect(try rig.run(["list", "--json"]).lines.count == 1)
    #expect(access("\(rig.session(id))/reserve", F_OK) != 0)
  }

  /// Three sizes, and as many random ones as RECORDER_TORTURE_DISKS says.
  static let sizes =
    ["1200k", "1500k", "3m"]
    + (0..<(Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_DISKS"] ?? "") ?? 0)).map { _ in
      "\(Int.random(in: 1100...9000))k"
    }

  /// Case E01, on a disk of its own.
  @Test(arguments: sizes) func aDiskThatFillsUpEndsItProperly(size: String) throws {
    let result = try onDisk(size, "timeout 60 $R record --lossless --min-free 0 --warn-free 0")
    #expect(result.status == 74, "\(result.ending) \(result.errorText)")
    #expect(result.errorText.contains("No space left on device"))
    try expectClearEnd()
  }

  /// Case E13: files that may have 2 MB at most, as on FAT 4 GB: a new one is begun before, and no frame is lost. Each
  /// plays alone (case E07).
  @Test func aNewFileIsBegunBeforeOneMayNotGrow() throws {
    let result = try run(
      ["sh", "-c", "ulimit -f 4000; exec \(builtProgram("recorder")) record --lossless --duration 4"],
      environment: rig.environment)
    #expect(result.status == 0, "\(result.ending) \(result.errorText)")
    let (rig, id) = try kept()
    let manifest = try rig.manifest(id)
    #expect(manifest.segments.count >= 2 && manifest.segments.count <= 20, "\(manifest.segments)")
    var frames = 0
    for (index, segment) in manifest.segments.enumerated() {
      let file = "\(rig.session(id))/\(segment.file)"
      #expect(try readFile(file).count < 2_048_000)
      let times = try MediaFile.times(file)
      #expect(try MediaFile.pictures(file, PixelRect(x: 0, y: 0, width: 8, height: 8)).count == times.count)
      frames += times.count
      guard index > 0 else { continue }
      #expect(times.first == 0)
      #expect(segment.start == manifest.segments[index - 1].end)
    }
    // The last one may stand in the file twice: where it was drawn and at the end.
    let drawn = try #require(manifest.statistics?.frames)
    #expect(frames == drawn || frames == drawn + 1, "\(frames) of \(drawn)")
    #expect(try rig.run(["verify", "last", "--deep"]).ending == .exit(0))
  }

  /// A file that may not even have what a new one begins with: EFBIG ends the recording.
  @Test func aFileThatMayNotGrowAtAllEndsIt() throws {
    let result = try run(
      ["sh", "-c", "ulimit -f 100; exec \(builtProgram("recorder")) record --lossless"], environment: rig.environment)
    #expect(result.status == 74 && result.errorText.contains("File too large"), "\(result.ending) \(result.errorText)")
  }

  @Test func itEndsAtTheHardMarkAndWarnsAtTheSoftOne() throws {
    let result = try onDisk("20m", "timeout 60 $R record --lossless --warn-free 16M --min-free 8M")
    #expect(result.status == 74, "\(result.ending) \(result.errorText)")
    let lines = result.errorText.split(separator: "\n")
    #expect(lines.contains { $0.hasPrefix("recorder: The disk has 1") && $0.contains("the recording ends at 8 MB") })
    #expect(lines.last?.contains("less than the 8 MB at which a recording ends") == true, "\(lines)")
    let (rig, id) = try kept()
    #expect(try rig.events(id).filter { $0.kind == .warning && $0.text?.hasPrefix("The disk has") == true }.count == 1)
    #expect(try rig.manifest(id).end?.reason == .writeFailed)
    #expect(try rig.run(["verify", "last"]).ending == .exit(76))
  }

  /// Case E02.
  @Test func aStartOnAFullDiskIsRefused() throws {
    let result = try onDisk("4m", "head -c 9000000 /dev/zero > $A/filler 2>/dev/null; $R record --duration 1")
    #expect(result.status == 74 && result.text == "", "\(result.errorText)")
    #expect(result.errorText.contains("has 0 MB left, and a recording is ended below 50 MB."))
    #expect(try run(["find", "\(rig.archive).kept", "-name", "manifest.json"]).lines == [])
    // Without a mark the disk itself refuses.
    let other = try onDisk(
      "4m", "head -c 9000000 /dev/zero > $A/filler 2>/dev/null; $R record --duration 1 --min-free 0")
    #expect(other.status == 74 && other.text == "", "\(other.errorText)")
  }

  /// The disk is made to take picture, events and chain at the interval that was asked for.
  @Test func theDiskGetsWhatIsRecordedInTime() throws {
    let trace = rig.folder.file("trace")
    let result = try run(
      [
        "strace", "-f", "-qq", "-y", "-e", "trace=fdatasync", "-o", trace, builtProgram("recorder"), "record",
        "--duration",
        "4", "--sync", "1s",
      ], environment: rig.environment)
    #expect(result.status == 0, "\(result.errorText)")
    let lines = String(decoding: try readFile(trace), as: UTF8.self).split(separator: "\n")
    #expect(lines.filter { $0.contains("000001.mkv") }.count >= 2)
    #expect(lines.filter { $0.contains("events.ndjson") }.count >= 2)
  }
}
