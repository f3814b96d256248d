package import Archive
import Media
package import SessionModel

/// Opens every packet of a session's media files, and decodes them when asked, for its certificate.
package struct MediaVerification: ~Copyable {
  private let session: SessionReader
  private let manifest: Manifest
  private let isDeep: Bool
  private var tracks: [Certificate.Track]
  private var findings: [Certificate.Finding] = []

  /// Nanoseconds by which picture or sound may be shorter than the recording: the second that a kill costs.
  private static let tolerance: Int64 = 1_000_000_000

  /// The verification of `session`.
  /// - Parameter isDeep: whether all is decoded.
  package init(_ session: SessionReader, _ manifest: Manifest, isDeep: Bool) {
    (self.session, self.manifest, self.isDeep) = (session, manifest, isDeep)
    tracks = manifest.tracks.map { Certificate.Track(index: $0.index, kind: $0.kind) }
  }

  /// Looks through the files and adds to `certificate` what it found.
  /// - Throws: `RecorderError` (systemCall) when the disk fails.
  package consuming func run(_ certificate: inout Certificate) throws(RecorderError) {
    for segment in manifest.segments {
      do {
        try look(into: segment)
      } catch {
        guard error.code == .damagedData || error.code == .unavailable else { throw error }
        add(segment, error.message)
      }
    }
    compareLengths()
    certificate.tracks = tracks
    for finding in findings { certificate.add(finding) }
  }

  private mutating func look(into segment: Manifest.Segment) throws(RecorderError) {
    var reader = try ContainerReader(fileDescriptor: session.openSegment(segment))
    var decoders = Decoders(reader.streams)
    var last: [Int: Timestamp] = [:]
    while let packet = try reader.next() {
      let index = packet.stream
      guard tracks.indices.contains(index) else { continue }
      let time = segment.start + packet.pts.nanoseconds
      if let before = last[index], time <= before {
        add(segment, "A packet of track \(index) goes back in time.", time)
      }
      last[index] = time
      tracks[index].packets += 1
      // What lies before the session is the encoder's delay.
      let heard = max(time, .zero)
      tracks[index].start = min(tracks[index].start ?? heard, heard)
      tracks[index].end = max(tracks[index].end ?? time, time + packet.duration)
      guard isDeep else { continue }
      do {
        tracks[index].decoded = (tracks[index].decoded ?? 0) + (try decoders.decode(packet))
      } catch {
        guard error.code == .damagedData else { throw error }
        add(segment, "A packet of track \(index) at \(time) cannot be decoded: \(error.message)", time)
      }
    }
    for (index, stream) in reader.streams.enumerated() where tracks.indices.contains(index) {
      if stream.kind != (tracks[index].kind == .video ? .video : .audio) {
        add(segment, "Stream \(index) is not what the manifest says.")
      }
    }
  }

  /// One finding a file and moment is enough: a damaged file could make thousands.
  private mutating func add(_ segment: Manifest.Segment, _ message: String, _ time: Timestamp? = nil) {
    let piece = segment.file.printable
    guard !findings.contains(where: { $0.piece == piece }) else { return }
    findings.append(
      Certificate.Finding(
        .incomplete, piece, message, start: time ?? segment.start, end: time ?? segment.end))
  }

  /// Picture and sound last as long as the recording did.
  private mutating func compareLengths() {
    guard manifest.state == .finished else { return }
    for track in tracks {
      let end = track.end ?? .zero
      guard manifest.duration - end > Self.tolerance else { continue }
      let name = track.kind == .video ? "The picture" : "The sound"
      findings.append(
        Certificate.Finding(
          .incomplete, "track \(track.index)", "\(name) ends at \(end), the recording at \(manifest.duration).",
          start: end, end: manifest.duration))
    }
  }
}

/// A decoder a stream.
private struct Decoders: ~Copyable {
  private let streams: [StreamDescription]
  private var video: VideoDecoder?
  private var audio: AudioDecoder?

  init(_ streams: [StreamDescription]) { self.streams = streams }

  /// Decodes `packet`.
  /// - Returns: the pictures, or the frames of sound, that came of it.
  mutating func decode(_ packet: borrowing Packet) throws(RecorderError) -> Int {
    let stream = streams[packet.stream]
    var count = 0
    switch stream.kind {
    case .video:
      if video == nil { video = try VideoDecoder(stream) }
      try video?.decode(packet) { picture in
        _ = consume picture
        count += 1
      }
    case .audio:
      if audio == nil { audio = try AudioDecoder(stream) }
      try audio?.decode(packet) { samples, _ in count += samples.count / max(1, stream.channels) }
    case .other: break
    }
    return count
  }
}
