import Glibc
import SessionModel
import TestSupport
import Testing

/// Case E16: any moment of a busy recording is found, by this program and by others.
@Suite struct SeekTests {
  @Test func aMomentShowsTheFrameThatWasOnTheScreen() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "480x240"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "75"])
    // More frames than the longest stretch without a keyframe has, so that there is one within.
    let id = try rig.record(seconds: 6.5, ["--no-cursor", "--fps", "75"])
    try client.process.stop()
    let file = rig.media(id)
    let times = try MediaFile.times(file)
    let counters = try MediaFile.counters(file)
    try #require(counters.count == times.count && times.count > 20)

    let frames = try run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0", file,
    ])
    #expect(frames.status == 0, "\(frames.errorText)")
    let keyframes = frames.lines.indices.filter { frames.lines[$0].contains("K") }
    #expect(keyframes.count >= 2 && keyframes.first == 0)
    // No seek decodes more than these.
    let steps = zip(keyframes.dropFirst() + [frames.lines.count], keyframes).map { $0 - $1 }
    #expect(steps.allSatisfy { $0 <= 250 }, "\(keyframes)")

    // Between two frames, and never at one's own time: the file rounds to milliseconds.
    let places = times.indices.dropLast().filter { times[$0 + 1] - times[$0] >= 10 }
    for number in 0..<12 {
      let index = places[number * (places.count - 1) / 11]
      let milliseconds = (times[index] + times[index + 1]) / 2
      let time = "\(milliseconds / 1000).\(padded(milliseconds % 1000, 3))"
      let picture = rig.folder.file("\(number).png")
      let frame = try rig.run(["frame", id.description, "--at", time, "-o", picture])
      #expect(frame.ending == .exit(0), "\(frame.errorText)")
      #expect(try MediaFile.counters(picture) == [counters[index]], "at \(time)")
      // Another player, which shows the first frame at the moment or after it.
      let other = try run([
        "ffmpeg", "-v", "error", "-y", "-seek_timestamp", "1", "-ss", time, "-i", file, "-frames:v", "1", picture,
      ])
      #expect(other.status == 0, "\(other.errorText)")
      #expect(try MediaFile.counters(picture) == [counters[index + 1]], "at \(time)")
    }
  }

  /// Without the index at its end a file is looked through from its beginning: each keyframe is in it.
  @Test func eachKeyframeIsInTheIndex() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "480x240"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "30"])
    let recording = try StartedRecording(rig, ["--no-cursor"])
    // A new file begins with a keyframe and is closed with an index of its own.
    for _ in 0..<3 { try recording.tell(["split"]) }
    try recording.stop()
    try client.process.stop()
    for segment in try rig.manifest(recording.id).segments {
      let path = "\(rig.session(recording.id))/\(segment.file)"
      let bytes = try readFile(path)
      // Cues and, in each CuePoint, its track's position (Matroska: 1C53BB6B, BB, B7).
      let cues = try #require(bytes.indices.dropLast(4).last { Array(bytes[$0..<$0 + 4]) == [0x1C, 0x53, 0xBB, 0x6B] })
      let points = bytes[cues...].indices.dropLast(1).count { bytes[$0] == 0xBB && bytes[$0 + 1] & 0x80 != 0 }
      let keyframes = try run([
        "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0", path,
      ]).lines.count { $0.contains("K") }
      #expect(points >= keyframes && keyframes >= 1, "\(segment.file)")
    }
  }
}
