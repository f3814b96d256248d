import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

/// A file that ffmpeg was killed in gets what a finished one has, and ffmpeg agrees.
@Suite struct MatroskaCompletionTests {
  /// Four seconds at ten frames a second with a keyframe a second, as ffmpeg leaves them when it is killed.
  private func abandoned(in archive: TestArchive, _ id: SessionID) throws -> String {
    let writer = try archive.create(id)
    defer { writer.close() }
    close(try writer.createSegment(1).fileDescriptor)
    try writer.append(Event(time: seconds(3), kind: .alive))
    let path = "\(sessionPath(archive.root, id))/media/000001.mkv"
    let ffmpeg = try ChildProcess([
      "ffmpeg", "-v", "error", "-nostdin", "-y", "-re", "-f", "lavfi", "-i", "testsrc=size=64x48:rate=10", "-g", "10",
      "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-cluster_time_limit", "300",
      "-flush_packets", "1", path,
    ])
    // Of its first moments ffprobe says that there is no file yet.
    try waitUntil("three seconds of picture") { (try? MediaFile.times(path).count) ?? 0 >= 30 }
    ffmpeg.signal(SIGKILL)
    _ = try ffmpeg.wait()
    return path
  }

  @Test func lengthAndKeyframesAreAdded() throws {
    let archive = try TestArchive()
    let id = try sessionID("20261130T021533Z-k3x9")
    let path = try abandoned(in: archive, id)
    let before = try MediaFile.times(path)
    #expect(try MediaFile.entries(path)["duration"] == "N/A")
    guard case .recovered(let manifest) = try archive.reader.recover(id) else { throw TestFailure("not recovered") }
    let last = try #require(before.last)
    #expect(manifest.duration.nanoseconds == Int64(max(3000, last)) * 1_000_000)
    // What was there is there, and it is as long as the manifest says.
    #expect(try MediaFile.times(path) == before)
    let duration = try #require(Double(try MediaFile.entries(path)["duration"] ?? ""))
    #expect(abs(duration - manifest.duration.seconds) < 0.0005)
    #expect(manifest.segments.map(\.bytes) == [Int64(try readFile(path).count)])

    // The index names each keyframe, and its cluster.
    var walker = try MatroskaWalker(FileDescriptor(raw: open(path, O_RDONLY), path: path))
    let outline = try #require(try walker.outline(size: .max, track: 1))
    #expect(outline.hasCues && outline.unknownSize == nil && outline.seekHeadRoom == nil)
    #expect(outline.durationRoom == nil)
    #expect(outline.keyframes.map(\.time) == before.filter { $0 % 1000 == 0 }.map(UInt64.init))
    let log = try run(["ffprobe", "-v", "trace", "-show_entries", "format=duration", path]).errorText
    #expect(!log.contains("Unknown-sized element") && !log.contains("invalid as first byte"))
    let read = try run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-read_intervals", "2.5%+#1", "-show_entries",
      "packet=pts_time,flags", "-of", "csv=p=0", path,
    ])
    #expect(read.lines.first?.hasPrefix("2.000000,K") == true, "\(read.text)")

    // A second time changes nothing.
    let bytes = try readFile(path)
    var again = manifest
    again.state = .recording
    (again.chain, again.check, again.end) = (nil, nil, nil)
    let reader = try archive.reader.session(id)
    try reader.folder.removeFile("chain.ndjson")
    try reader.folder.replaceManifest(again)
    guard case .recovered = try archive.reader.recover(id) else { throw TestFailure("not recovered again") }
    #expect(try readFile(path) == bytes)
  }
}
