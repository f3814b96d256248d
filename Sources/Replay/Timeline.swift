package import Archive
package import SessionModel

/// A session as a stretch of time: which media file holds a moment, what is in it, and how long all of it is.
package struct Timeline: Sendable {
  /// Where the session's files are read from.
  package let session: SessionReader
  /// The session's manifest, as it was when the timeline was made.
  package let manifest: Manifest
  /// The session's length. Of one that is being recorded: up to its last event.
  package let duration: Timestamp
  /// Its title; nil when it has none.
  package let title: String?

  /// Times that a session can have, in ns: 36 years leave room to add and subtract them.
  static let possible: ClosedRange<Int64> = 0...1 << 60

  /// Reads what there is to know of `session`.
  /// - Throws: `RecorderError` (damagedData) when its manifest cannot be read or it holds no picture.
  package init(_ session: SessionReader) throws(RecorderError) {
    let manifest = try session.manifest()
    var duration = manifest.duration
    if manifest.end == nil {
      for event in try session.events() { duration = max(duration, event.time) }
    }
    guard !manifest.segments.isEmpty, let video = manifest.tracks.first(where: { $0.kind == .video }) else {
      throw RecorderError(.damagedData, "The session \(session.id) holds no picture.")
    }
    let starts = manifest.segments.map(\.start)
    guard Self.possible.contains(duration.nanoseconds), starts.allSatisfy({ Self.possible.contains($0.nanoseconds) }),
      zip(starts, starts.dropFirst()).allSatisfy({ $0 <= $1 }),
      ([video.size] + manifest.segments.map(\.size)).allSatisfy({ $0?.isPossible ?? true })
    else {
      throw RecorderError(.damagedData, "The manifest of session \(session.id) has times or sizes that cannot be.")
    }
    (self.session, self.manifest, self.duration) = (session, manifest, duration)
    title = SessionLabels(manifest: manifest, annotations: try session.annotations()).title
  }

  /// What a person calls the session: its title, else its id.
  package var name: String { title ?? session.id.description }

  /// The picture's track; the first one, which is the one that is shown.
  package var videoTrack: Manifest.Track? { manifest.tracks.first { $0.kind == .video } }
  /// The sound's tracks: first the mix of all inputs, then each input's.
  package var audioTracks: [Manifest.Track] { manifest.tracks.filter { $0.kind == .audio } }
  /// The sound's first track, which is the mix; nil without sound.
  package var audioTrack: Manifest.Track? { audioTracks.first }

  /// The sound track that `specification` means.
  /// - Throws: `RecorderError` (usage) that names those that there are.
  package func audioTrack(_ specification: SoundTrackSpecification) throws(RecorderError) -> Manifest.Track {
    if let track = specification.track(in: manifest) { return track }
    let known = audioTracks.map { "\($0.index) (\($0.soundName.printable))" }.joined(separator: ", ")
    throw RecorderError(
      .usage, "The session \(session.id) has no such sound track.",
      hint: known.isEmpty ? "It was recorded without sound." : "It has \(known).")
  }

  /// Nanoseconds from one picture to the next while everything changes.
  package var frameInterval: Int64 { 1_000_000_000 / Int64(max(1, manifest.options.video.framesPerSecond)) }

  /// The true size in pixels of the picture in the file at `place` of the manifest's segments; nil when the manifest does
  /// not say it, and the decoded one's is right.
  package func pictureSize(at place: Int) -> PixelSize? { manifest.segments[place].size ?? videoTrack?.size }

  /// The place in `manifest.segments` of the file that holds `time`; the first one for a time before all.
  package func segment(at time: Timestamp) -> Int {
    max(0, (manifest.segments.firstIndex { $0.start > time } ?? manifest.segments.count) - 1)
  }

  /// `position` as a time of this session.
  /// - Throws: `RecorderError` (usage) that names the session's length, when it lies outside.
  package func timestamp(of position: TimePosition) throws(RecorderError) -> Timestamp {
    let time = position.timestamp(on: manifest.clock)
    // Times are printed in whole milliseconds: the length as it is printed is a time of the session too.
    guard time >= .zero, time - duration <= 500_000 else {
      let start = manifest.clock.utc.text(utcOffset: manifest.clock.utcOffset)
      throw RecorderError(
        .usage, "The session \(session.id) has nothing at \(time): it is \(duration) long and began at \(start).",
        hint: "Name a time from 0 to \(duration).")
    }
    return min(time, duration)
  }
}

extension PixelSize {
  /// Whether a picture can have it.
  fileprivate var isPossible: Bool {
    (1...Self.largestSide).contains(width) && (1...Self.largestSide).contains(height)
  }
}
