import Archive
import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Replay

/// What a split leaves in the files.
@Suite(.serialized) struct SplitTests {
  /// - Parameters:
  ///   - frames: those of a packet.
  ///   - deviation: by how much sound may differ that is decoded from a later packet on: Opus comes near to what it
  ///     would be and never quite there (RFC 7845, 4.6). What was missing or out of place would differ by the tone's height.
  @Test(arguments: [("aac", 1024, 0.001), ("opus", 960, 0.03)])
  func splitFilesFollowEachOtherWithoutAGap(codec: String, frames: Int, deviation: Float) throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server.environment)
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let tone = try server.playTone(1000, seconds: 60)
    let recording = try StartedRecording(rig, ["--no-cursor", "--app-audio", "--audio-codec", codec])
    var sizes: [[UInt8]] = []
    var control = try rig.connect()
    var last = Timestamp.zero
    for number in 2...4 {
      try control.wait(forFrameAt: last + 600_000_000)
      last = try #require(try control.ask(ControlRequest(.split), waiting: true).time)
      // The file before is finished when its sound has come.
      try waitUntil("the file to be closed") {
        try rig.manifest(recording.id).segments.dropLast().allSatisfy { $0.bytes != nil }
      }
      let segments = try rig.manifest(recording.id).segments
      #expect(segments.map(\.file) == (1...number).map { "media/00000\($0).mkv" })
      sizes.append(try readFile("\(rig.session(recording.id))/media/00000\(number - 1).mkv"))
    }
    try control.wait(forFrameAt: last + 600_000_000)
    try recording.stop()
    _ = tone.isRunning
    try client.process.stop()
    let manifest = try rig.manifest(recording.id)
    let files = manifest.segments.map { "\(rig.session(recording.id))/\($0.file)" }
    // A closed file is never written again.
    for (file, bytes) in zip(files, sizes) { #expect(try readFile(file) == bytes) }
    #expect(try manifest.segments.map(\.bytes) == files.map { Int64(try readFile($0).count) })
    #expect(zip(manifest.segments, manifest.segments.dropFirst()).allSatisfy { $0.end == $1.start })
    #expect(manifest.segments.last?.end == manifest.duration)
    #expect(manifest.statistics?.bytes == manifest.segments.compactMap(\.bytes).reduce(0, +))
    // Each begins with a picture that needs no other, at its own time 0, and the drawn counter runs through.
    var counters: [Int] = []
    for file in files {
      #expect(try MediaFile.packets(file).first?.isKeyframe == true)
      counters += try MediaFile.counters(file).compactMap { $0 }
    }
    for file in files.dropFirst() { #expect(try MediaFile.packets(file).first?.time == 0) }
    #expect(counters == counters.sorted())
    // The sound of all files is the sound of the session.
    var packets = 0
    for file in files {
      packets += try run([
        "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "packet=pts", "-of", "csv=p=0", file,
      ]).lines.count
    }
    #expect(abs(Double(packets * frames) / 48_000 - manifest.duration.seconds) < 0.06)

    // Frames, replay's sound and export go through all of them.
    let exported = rig.folder.file("whole.mp4")
    let result = try rig.run(["export", "last", "-o", exported])
    #expect(result.ending == .exit(0), "\(result.errorText)")
    let whole = try MediaFile.counters(exported).compactMap { $0 }
    // The last picture stands until the end; the export may show that by one picture or by two.
    #expect(whole == counters || whole + [counters.last] == counters, "\(whole) \(counters)")
    let duration = try #require(Double(try MediaFile.entries(exported)["duration"] ?? ""))
    #expect(abs(duration - manifest.duration.seconds) < 0.05)
    let png = rig.folder.file("frame.png")
    for segment in manifest.segments.dropFirst() {
      try? FileManager.default.removeItem(atPath: png)
      #expect(try rig.run(["frame", "last", "--at", segment.start.description, "-o", png]).ending == .exit(0))
    }
    #expect(try rig.events(recording.id).filter { $0.kind == .split }.map(\.text) == ["2", "3", "4"])
    try expectUnbrokenSound(rig, manifest, deviation)
  }

  /// What replay plays over the joints of files is, sample by sample, what one decoder makes of all packets in one file;
  /// from a moment just after a joint too.
  private func expectUnbrokenSound(_ rig: RecorderRig, _ manifest: Manifest, _ deviation: Float) throws {
    let joined = rig.folder.file("joined.mkv")
    #expect(try rig.run(["export", "last", "-o", joined]).ending == .exit(0))
    let decoded = try run(["ffmpeg", "-v", "error", "-i", joined, "-vn", "-f", "f32le", "-ac", "2", "-"])
    let expected = decoded.output.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    let timeline = try Timeline(ArchiveReader(ArchiveLocation(path: rig.archive)).session(manifest.id))
    func played(from start: Timestamp, _ frames: Int) throws -> [Float] {
      var cursor = SoundCursor(timeline)
      try cursor.seek(to: start)
      var samples = [Float](repeating: 0, count: frames * 2)
      let count = try samples.withUnsafeMutableBufferPointer { buffer throws(RecorderError) in
        try cursor.read(into: buffer)
      }
      #expect(count == frames)
      return samples
    }
    /// The largest difference to what is expected `frame` frames on, the file's rounded times left out of account.
    func difference(_ samples: [Float], at frame: Int) -> Float {
      func difference(_ shift: Int, _ range: Range<Int>) -> Float {
        range.reduce(Float(0)) { worst, index in
          let place = (frame + shift) * 2 + index
          return expected.indices.contains(place) ? max(worst, abs(expected[place] - samples[index])) : worst
        }
      }
      // A few samples from the end tell how far the times are off, and all are held against what they say.
      let last = (samples.count - 100)..<samples.count
      let shift = (-100...100).min { difference($0, last) < difference($1, last) } ?? 0
      return difference(shift, samples.indices)
    }
    for segment in manifest.segments.dropFirst() {
      let joint = Int(segment.start.nanoseconds * 48 / 1_000_000)
      let before = try played(from: segment.start + -100_000_000, 9600)
      #expect(difference(before, at: joint - 4800) < deviation)
      let after = try played(from: segment.start + 1_000_000, 4800)
      #expect(difference(after, at: joint + 48) < deviation)
    }
  }

  @Test func aKillAfterASplitKeepsBothFiles() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let recording = try StartedRecording(rig, ["--no-cursor"])
    try recording.tell(["split"])
    try waitUntil("a second of the second file") {
      // Of its first moments ffprobe says that there is no file yet.
      let packets = try? MediaFile.packets("\(rig.session(recording.id))/media/000002.mkv")
      return (packets?.last?.time ?? 0) > 1000
    }
    kill(recording.pid, SIGKILL)
    try waitUntil("its end") { !recording.isRunning }
    try client.process.stop()
    #expect(try rig.run(["list"]).text.contains("interrupted"))
    let manifest = try rig.manifest(recording.id)
    #expect(manifest.segments.count == 2)
    #expect(manifest.segments[0].end == manifest.segments[1].start)
    #expect(manifest.segments[1].end == manifest.duration)
    let start = manifest.segments[1].start
    #expect(manifest.duration - start >= 1_000_000_000)
    let exported = rig.folder.file("whole.mp4")
    #expect(try rig.run(["export", "last", "-o", exported]).ending == .exit(0))
    let counters = try MediaFile.counters(exported).compactMap { $0 }
    #expect(counters == counters.sorted())
    #expect(counters.count > 15)
  }
}
