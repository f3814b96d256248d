/// The root of a session on disk, `manifest.json`: what was recorded, of what, how, and how it ended.
package struct Manifest: Hashable, Codable, Sendable {
  /// The format this program writes.
  package static let currentFormat = 1

  /// The format of the session on disk.
  package var format: Int
  /// The session's name.
  package var id: SessionID
  /// Whether it is being recorded or how far it came.
  package var state: State
  /// The program and version that wrote it.
  package var generator: String
  /// How timestamps map to the wall clock.
  package var clock: Clock
  /// The machine and display.
  package var host: Host
  /// What the picture was taken from, as it was found.
  package var source: Source
  /// The resolved options.
  package var options: RecordingOptions
  /// The encoded streams, in the order of the media file.
  package var tracks: [Track]
  /// The media files, in order.
  package var segments: [Segment]
  /// How it ended; nil while it records.
  package var end: End?
  /// The command that it was recorded for; nil without one.
  package var command: WrappedCommand?
  /// Counts at the end; nil while it records, or when it was interrupted.
  package var statistics: Statistics?
  /// What a first look found when it ended; nil while it records, and in sessions of before this was made.
  package var check: Check?
  /// The end of the chain that seals it; nil while it records, and in sessions of before there was one.
  package var chain: Chain?
  /// The stretches that were taken out of it afterwards, in the order in which that was done; nil when none was.
  package var redactions: [Redaction]?

  /// Makes the manifest of a session that begins.
  package init(
    id: SessionID, generator: String, clock: Clock, host: Host, source: Source, options: RecordingOptions,
    tracks: [Track], segments: [Segment] = []
  ) {
    format = Self.currentFormat
    state = .recording
    (self.id, self.generator, self.clock, self.host, self.source) = (id, generator, clock, host, source)
    (self.options, self.tracks, self.segments) = (options, tracks, segments)
  }

  /// The session's length; 0 when it is not known.
  package var duration: Timestamp { end?.time ?? .zero }

  /// What players show of its media files, by FFmpeg's keys.
  package var mediaMetadata: [String: String] {
    ["title": options.title ?? id.description, "encoder": generator, "creation_time": clock.utc.description]
  }

  /// How far a session came.
  package enum State: String, Codable, Sendable {
    /// It records now, or was killed and not yet recovered.
    case recording
    /// It ended properly.
    case finished
    /// It was killed; recovery has closed it.
    case interrupted
  }

  /// How a session's timestamps map to the wall clock.
  package struct Clock: Hashable, Codable, Sendable {
    /// The wall clock at the session's epoch.
    package var utc: WallTime
    /// `CLOCK_MONOTONIC` at the session's epoch, in ns.
    package var monotonic: Int64
    /// Seconds that the recording machine's time zone was east of Greenwich.
    package var utcOffset: Int
    /// Where the wall clock went on from another time, oldest first: it was set, or the machine slept. Nil is nowhere.
    package var steps: [Step]?

    /// The wall clock from a point of the session on.
    package struct Step: Hashable, Codable, Sendable {
      /// The session's time.
      package var time: Timestamp
      /// The wall clock there.
      package var utc: WallTime
      /// Makes a step.
      package init(time: Timestamp, utc: WallTime) { (self.time, self.utc) = (time, utc) }
    }

    /// Makes the mapping of one epoch.
    package init(utc: WallTime, monotonic: Int64, utcOffset: Int) {
      (self.utc, self.monotonic, self.utcOffset) = (utc, monotonic, utcOffset)
    }

    /// The wall clock at `timestamp`; the earliest or the latest there is, when it is past them.
    package func wallTime(of timestamp: Timestamp) -> WallTime {
      let piece = steps?.last { $0.time <= timestamp } ?? Step(time: .zero, utc: utc)
      return WallTime(nanoseconds: Self.sum(piece.utc.nanoseconds, Self.difference(timestamp, piece.time)))
    }
    /// The timestamp at `time` of the wall clock; the first or the last there is, when it is past them. Of a time that
    /// the wall clock showed twice it is the first, and of one that it never showed where it went on.
    package func timestamp(of time: WallTime) -> Timestamp {
      let pieces = [Step(time: .zero, utc: utc)] + (steps ?? [])
      func found(_ piece: Step) -> Int64 { Self.sum(piece.time.nanoseconds, Self.difference(time, piece.utc)) }
      for (piece, next) in zip(pieces, pieces.dropFirst()) {
        if time >= piece.utc, found(piece) < next.time.nanoseconds { return Timestamp(nanoseconds: found(piece)) }
      }
      if let last = pieces.last, time >= last.utc { return Timestamp(nanoseconds: found(last)) }
      let skipped = zip(pieces, pieces.dropFirst()).first { piece, next in
        found(piece) >= next.time.nanoseconds && time < next.utc
      }
      return skipped?.1.time ?? Timestamp(nanoseconds: found(pieces[0]))
    }

    /// Sums and differences end at the largest and the smallest number there is.
    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
      let (sum, overflow) = left.addingReportingOverflow(right)
      return overflow ? (right < 0 ? .min : .max) : sum
    }
    private static func difference(_ left: Timestamp, _ right: Timestamp) -> Int64 {
      difference(WallTime(nanoseconds: left.nanoseconds), WallTime(nanoseconds: right.nanoseconds))
    }
    private static func difference(_ left: WallTime, _ right: WallTime) -> Int64 {
      let (difference, overflow) = left.nanoseconds.subtractingReportingOverflow(right.nanoseconds)
      return overflow ? (left < right ? .min : .max) : difference
    }
  }

  /// The machine a session was recorded on.
  package struct Host: Hashable, Codable, Sendable {
    /// The machine's name.
    package var name: String
    /// The X display.
    package var display: String
    /// Makes a host from its name and X display.
    package init(name: String, display: String) { (self.name, self.display) = (name, display) }
  }

  /// What the picture was taken from, as it was found at the start.
  package struct Source: Hashable, Codable, Sendable {
    /// What was asked for.
    package var specification: SourceSpecification
    /// Its place on the root window, in pixels; its size is the true size of the picture taken.
    package var rect: PixelRect
    /// The window, when it is one.
    package var window: WindowInfo?

    /// Makes a source.
    package init(specification: SourceSpecification, rect: PixelRect, window: WindowInfo? = nil) {
      (self.specification, self.rect, self.window) = (specification, rect, window)
    }
  }

  /// One encoded stream.
  package struct Track: Hashable, Codable, Sendable {
    /// What a track carries.
    package enum Kind: String, Codable, Sendable { case video, audio }
    /// The stream's place in the media file, from 0.
    package var index: Int
    /// Picture or sound.
    package var kind: Kind
    /// FFmpeg's name of the codec (`h264`, `aac`).
    package var codec: String
    /// Video: the picture's true size in pixels, in the files that name no other; what is past it in the file is padding.
    package var size: PixelSize?
    /// Video: that size in the file.
    package var encodedSize: PixelSize?
    /// Sound: samples a second.
    package var sampleRate: Int?
    /// Sound: channels.
    package var channels: Int?
    /// Sound: which inputs it carries (`application`, `microphone`).
    package var inputs: [String]?

    /// Makes a track; set what its kind has.
    package init(index: Int, kind: Kind, codec: String) { (self.index, self.kind, self.codec) = (index, kind, codec) }
  }

  /// One media file.
  package struct Segment: Hashable, Codable, Sendable {
    /// Its path, relative to the session's folder (`media/000001.mkv`).
    package var file: String
    /// The session's time at the file's time 0.
    package var start: Timestamp
    /// The session's time at its end; nil while it is written.
    package var end: Timestamp?
    /// Its size; nil while it is written.
    package var bytes: Int64?
    /// The true size of its picture in pixels, where that is not the track's: `--on-resize segment`.
    package var size: PixelSize?

    /// Makes a segment that begins.
    package init(file: String, start: Timestamp, size: PixelSize? = nil) {
      (self.file, self.start, self.size) = (file, start, size)
    }
  }

  /// What a session's files were found to be when it ended: the short form of a certificate.
  package struct Check: Hashable, Codable, Sendable {
    /// Whether nothing is missing.
    package var isComplete: Bool
    /// One sentence for each thing that is.
    package var findings: [String]

    /// Makes a check of what was found.
    package init(findings: [String]) { (isComplete, self.findings) = (findings.isEmpty, findings) }
  }

  /// The end of the chain of hashes that seals a session.
  package struct Chain: Hashable, Codable, Sendable {
    /// The hash of the last line of `chain.ndjson`, in hexadecimal.
    package var head: String
    /// The lines of `chain.ndjson`.
    package var links: Int
    /// Who made the last of them: `recorder`, `recovery` after the recorder was killed, or `redaction`.
    package var sealedBy: String

    /// Makes the end of a chain.
    package init(head: String, links: Int, sealedBy: String) {
      (self.head, self.links, self.sealedBy) = (head, links, sealedBy)
    }
  }

  /// A command that was recorded while it ran.
  package struct WrappedCommand: Hashable, Codable, Sendable {
    /// Its words, secrets masked.
    package var arguments: [String]
    /// How it ended, as a shell says it: its status, or 128 and the number of a signal; nil while it runs.
    package var status: Int32?
    /// Whether it was ended because it took too long.
    package var timedOut: Bool?

    /// Makes a command that runs.
    package init(arguments: [String]) { self.arguments = arguments }
  }

  /// What was heard of one input, or of the mix.
  package struct Sound: Hashable, Codable, Sendable {
    /// `mix`, `application` or `microphone`.
    package var name: String
    /// The part of the time in which it was digital silence, 0 to 1.
    package var silentShare: Double
    /// The highest sample, in dB of full scale; nil when all was silence.
    package var peak: Double?
    /// How loud it was after EBU R 128, in LUFS; nil when nothing was loud enough to count.
    package var loudness: Double?

    /// Makes what was heard.
    package init(name: String, silentShare: Double, peak: Double?, loudness: Double?) {
      (self.name, self.silentShare, self.peak, self.loudness) = (name, silentShare, peak, loudness)
    }
  }

  /// Counts of one recording.
  package struct Statistics: Hashable, Codable, Sendable {
    /// Frames encoded.
    package var frames: Int
    /// Frames that were due but left to the next one because the encoder was busy.
    package var droppedFrames: Int
    /// Bytes of all media files.
    package var bytes: Int64
    /// What was heard: the mix, then each input; nil without sound.
    package var sound: [Sound]?

    /// Makes counts.
    package init(frames: Int, droppedFrames: Int, bytes: Int64) {
      (self.frames, self.droppedFrames, self.bytes) = (frames, droppedFrames, bytes)
    }
  }
}
