import Archive
import FoundationEssentials
import Glibc
import Replay
import SessionModel
import TestSupport
import Testing

/// Case E05: the power goes, and the end of the media file never reached the disk, or is zeros. Everything before is there.
/// Some of the places in the last megabyte here, every one under `make torture`.
@Suite(.serialized) struct PowerCutTests {
  static let cuts = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_CUTS"] ?? "") ?? 60
  static let reach = 1_000_000

  /// Bytes of a block before its packet: the track's number, two of the time, and flags (Matroska, section 10).
  private static let blockHeader = 4

  /// A packet of the picture: where it ends in the file.
  private func packetEnds(_ file: String) throws -> [Int] {
    let result = try run([
      "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pos,size", "-of", "csv=p=0", file,
    ])
    return result.lines.compactMap { line in
      let numbers = line.split(separator: ",").compactMap { Int($0) }
      // ffprobe says where the block begins, and how long the packet is.
      return numbers.count == 2 ? numbers[0] + Self.blockHeader + numbers[1] : nil
    }
  }

  @Test func whatIsBeforeTheCutIsThere() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "160x120"))
    let client = try PatternClient(on: try #require(rig.display), ["counter", "--fps", "20"])
    let recording = try rig.record(["--no-cursor", "--lossless"], ownGroup: true)
    try waitUntil("two signs of life") { try rig.events(recording.id).count { $0.kind == .alive } >= 2 }
    recording.process.signal(SIGKILL, group: true)
    _ = try recording.process.wait()
    try client.process.stop()
    let (file, folder) = (rig.media(recording.id), rig.session(recording.id))
    let whole = try readFile(file)
    let ends = try packetEnds(file)
    #expect(ends.count > 10)
    let kept = rig.folder.file("kept")
    #expect(try run(["cp", "-a", folder, kept]).status == 0)
    let first = max(0, whole.count - Self.reach)
    let places =
      Self.cuts >= whole.count - first
      ? Array(first..<whole.count) : (0..<Self.cuts).map { _ in Int.random(in: first..<whole.count) }
    let archive = ArchiveReader(ArchiveLocation(path: rig.archive))
    for (number, place) in places.enumerated() {
      for name in ["manifest.json", "events.ndjson"] { try writeFile("\(folder)/\(name)", readFile("\(kept)/\(name)")) }
      unlink("\(folder)/chain.ndjson")
      let isZeroed = number.isMultiple(of: 2)
      try writeFile(file, whole[..<place] + (isZeroed ? [UInt8](repeating: 0, count: whole.count - place) : []))
      guard case .recovered(let manifest) = try archive.recover(recording.id) else {
        Issue.record("cut at \(place): not recovered")
        continue
      }
      let session = try archive.session(recording.id)
      var certificate = try session.verify()
      try MediaVerification(session, manifest, isDeep: true).run(&certificate)
      #expect(certificate.verdict == .incomplete, "cut at \(place), \(isZeroed): \(certificate.findings)")
      let expected = ends.count { $0 <= place }
      let video = certificate.tracks.first { $0.kind == .video }
      #expect(video?.packets ?? 0 >= expected, "cut at \(place), \(isZeroed): \(video?.packets ?? 0) of \(expected)")
      #expect(video?.decoded ?? 0 >= expected, "cut at \(place), \(isZeroed): \(video?.decoded ?? 0) of \(expected)")
    }
  }
}
