/// A format in which pixels are encoded.
package enum PixelFormat: String, Codable, Sendable, CaseIterable {
  /// Luma at full, chroma at half resolution each way.
  case yuv420p
  /// Luma and chroma at full resolution, for coloured text.
  case yuv444p
  /// Red, green and blue as they are on the screen; lossless.
  case bgr0
}

/// What becomes of the picture when what is recorded takes another size.
package enum ResizePolicy: String, Codable, Sendable, CaseIterable {
  /// All of it is shown, scaled down or with black bars, its shape kept; the picture keeps its size.
  case fit
  /// It is shown as large as it is from its left top corner, and what is past the picture is cut.
  case crop
  /// As `fit` until the size has stayed for half a second; then a new media file begins, whose picture has it.
  case segment
}

/// What happens when the recorded window is closed.
package enum ClosePolicy: String, Codable, Sendable, CaseIterable {
  /// The recording ends.
  case end
  /// The recording goes on with the next window that matches.
  case wait
}

/// The picture's options.
package struct VideoOptions: Hashable, Codable, Sendable {
  /// At most so many frames a second.
  package var framesPerSecond: Int = 30
  /// The frame's size in pixels; nil is the source's own.
  package var size: PixelSize?
  /// Whether what is smaller than the frame is scaled up to fill it; nil is no: black bars are around it.
  package var upscale: Bool?
  /// Whether the pointer is drawn.
  package var showsCursor = true
  /// Whether a window is recorded with its window manager's frame.
  package var decorations = false
  /// The encoder, by FFmpeg's name.
  package var codec = "libx264"
  /// What preset and quantiser were taken from, and how the encoder is tuned; nil tunes nothing: a preset was named, or
  /// there was no choice yet.
  package var quality: VideoQuality? = .balanced
  /// The encoder's preset.
  package var preset = VideoQuality.balanced.preset
  /// The encoder's constant rate factor (x264: 0 best … 51).
  package var constantRateFactor = VideoQuality.balanced.constantRateFactor
  /// The quantiser of every picture (x264: 0 best … 51), in place of the rate factor; nil leaves it to that.
  package var quantiser: Int? = VideoQuality.balanced.quantiser
  /// The encoded pixel format.
  package var pixelFormat = PixelFormat.yuv420p
  /// Whether every pixel is kept exactly (`libx264rgb` at quantiser 0).
  package var lossless = false
  /// What becomes of the picture when the source takes another size; nil is `fit`.
  package var onResize: ResizePolicy?
  /// What happens when the recorded window is closed; nil is `end`.
  package var onClose: ClosePolicy?
  /// Whether a source that is not there yet is waited for; nil is no.
  package var waits: Bool?
  /// Whether a window's menus and dialogs are in its picture; nil is no.
  package var popups: Bool?

  /// Whether the picture takes the source's size when that has changed. A size that was asked for stays.
  package var followsSize: Bool { onResize == .segment && size == nil }

  /// Makes the defaults.
  package init() {}

  /// Frames a second that can be asked for; X servers and 1 ms container ticks carry no more.
  package static let framesPerSecondRange = 1...240
}

/// How a recording treats the disk.
package struct StorageOptions: Hashable, Codable, Sendable {
  /// Nanoseconds between two times at which the disk is made to take what was recorded: what a power cut can cost.
  package var syncInterval: Int64 = 5_000_000_000
  /// The person is warned when the disk has fewer bytes left: some minutes of a busy screen.
  package var warnBelow: Int64 = 1_000_000_000
  /// The recording ends when the disk has fewer bytes left, and none is begun: other programs need some too.
  package var endBelow: Int64 = 50_000_000
  /// Nanoseconds that one call on the disk may take before the disk is given up, which ends the recording; nil is
  /// `standardTimeout`.
  package var timeout: Int64?

  /// Makes the defaults.
  package init() {}

  /// Nanoseconds: a network's file system that is mounted again and a disk that spins up are back sooner.
  package static let standardTimeout: Int64 = 60_000_000_000
  /// Nanoseconds that can be asked for, from what a busy disk takes now and then to a day.
  private static let timeoutRange: ClosedRange<Int64> = 2_000_000_000...86_400_000_000_000

  /// Checks the range.
  /// - Throws: `RecorderError` (usage) when it is left.
  func check() throws(RecorderError) {
    guard let timeout, !Self.timeoutRange.contains(timeout) else { return }
    throw RecorderError(
      .usage, "A disk cannot be waited for \(Timestamp(nanoseconds: timeout)).",
      hint: "Give --disk-timeout from 2s to 24h.")
  }
}

/// What a recording waits for before it begins, and what ends it beside its duration; nil is nothing.
package struct LimitOptions: Hashable, Codable, Sendable {
  /// Nanoseconds that pass before it begins.
  package var delay: Int64?
  /// The time of day at which it ends, today or tomorrow.
  package var until: TimeOfDay?
  /// The bytes of its media files at which it ends.
  package var maximumBytes: Int64?
  /// Nanoseconds without a change of the picture after which it ends.
  package var idle: Int64?

  /// Makes no limits.
  package init() {}
}

/// Everything that a recording is asked to do.
package struct RecordingOptions: Hashable, Codable, Sendable {
  /// What the picture is taken from.
  package var source = SourceSpecification.display
  /// The X display (`:0`); nil is $DISPLAY.
  package var display: String?
  /// The picture.
  package var video = VideoOptions()
  /// The sound.
  package var audio = AudioOptions()
  /// The disk.
  package var storage = StorageOptions()
  /// Whether the recording ends, or does not begin, when sound or the event track fails; else it goes on without.
  package var strict = false
  /// Windows that are blanked, and whose titles are left out; nil is none. In a manifest the patterns are left out too.
  package var exclusions: [WindowExclusion]?
  /// What is held while nothing is kept; nil keeps everything from the start.
  package var hold: HoldOptions?
  /// Nanoseconds after which the recording ends by itself; nil is never.
  package var duration: Int64?
  /// When it begins, and what else ends it.
  package var limits = LimitOptions()
  /// The title it is given at the start.
  package var title: String?
  /// The tags it is given at the start.
  package var tags: [String] = []

  /// Makes the defaults: the whole of $DISPLAY at 30 frames a second without sound.
  package init() {}
}

extension RecordingOptions {
  /// Checks what needs no source and no device, so that a wrong option is named before anything is opened.
  /// - Throws: `RecorderError` (usage) that names the first option out of its range.
  package func check() throws(RecorderError) {
    let rates = VideoOptions.framesPerSecondRange
    guard rates.contains(video.framesPerSecond) else {
      throw RecorderError(
        .usage, "\(video.framesPerSecond) frames a second cannot be recorded.",
        hint: "Give --fps a number from \(rates.lowerBound) to \(rates.upperBound).")
    }
    if let size = video.size {
      let sides = 1...PixelSize.largestSide
      guard sides.contains(size.width), sides.contains(size.height) else {
        throw RecorderError(
          .usage, "A picture of \(size) pixels cannot be recorded.",
          hint: "Give --size two numbers from 1 to \(PixelSize.largestSide), as 1280x720.")
      }
    }
    guard (0...51).contains(video.constantRateFactor) else {
      throw RecorderError(
        .usage, "\(video.constantRateFactor) is no rate factor.", hint: "Give --crf a number from 0 (best) to 51.")
    }
    try audio.check()
    try storage.check()
    if let duration, duration < 1_000_000 {
      throw RecorderError(.usage, "The duration is shorter than a millisecond.", hint: "Give --duration as 20s or 5m.")
    }
    if limits.maximumBytes == 0 {
      throw RecorderError(.usage, "A session of no bytes holds nothing.", hint: "Give --max-size as 500M or 2G.")
    }
    if let hold {
      try hold.check()
      if limits.maximumBytes != nil {
        throw RecorderError(
          .usage, "--hold and --max-size exclude each other: what is held has no files.", hint: "--memory bounds it.")
      }
    }
  }

  /// Reads options; sessions of earlier versions do not have all of them.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    source = try values.decode(SourceSpecification.self, forKey: .source)
    display = try values.decodeIfPresent(String.self, forKey: .display)
    video = try values.decode(VideoOptions.self, forKey: .video)
    audio = try values.decode(AudioOptions.self, forKey: .audio)
    storage = try values.decodeIfPresent(StorageOptions.self, forKey: .storage) ?? StorageOptions()
    strict = try values.decodeIfPresent(Bool.self, forKey: .strict) ?? false
    exclusions = try values.decodeIfPresent([WindowExclusion].self, forKey: .exclusions)
    hold = try values.decodeIfPresent(HoldOptions.self, forKey: .hold)
    duration = try values.decodeIfPresent(Int64.self, forKey: .duration)
    limits = try values.decodeIfPresent(LimitOptions.self, forKey: .limits) ?? LimitOptions()
    title = try values.decodeIfPresent(String.self, forKey: .title)
    tags = try values.decode([String].self, forKey: .tags)
  }
}
