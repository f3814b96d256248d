/// What a recording takes its picture from, as a person names it.
package enum SourceSpecification: Hashable, Sendable {
  /// The whole of the display.
  case display
  /// One RandR monitor, by its name.
  case monitor(name: String)
  /// One window.
  case window(WindowSelector)
  /// A part of the display, in pixels of the root window.
  case region(PixelRect)
  /// One window after the other, as something leads to them.
  case follow(Lead)

  /// What leads from one window to the next.
  package enum Lead: String, Hashable, Sendable {
    /// The active window is recorded, whichever it is.
    case focus
  }

  /// How a window is named.
  package enum WindowSelector: Hashable, Sendable {
    /// By its X id.
    case id(UInt32)
    /// The topmost whose title contains the text, in any case.
    case title(String)
    /// The topmost whose title the regular expression is found in; upper and lower case differ.
    case titlePattern(String)
    /// The topmost whose class or instance is the text, in any case.
    case className(String)
    /// The topmost of the process, as the window says.
    case pid(Int)
    /// The topmost of a process whose program has this name, in any case.
    case command(String)
    /// The one that is active when the recording begins.
    case active
  }

  /// The source that `text` names.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let value = parts.count == 2 ? String(parts[1]) : ""
    switch (String(parts[0]), value.isEmpty) {
    case ("display", _) where parts.count == 1: self = .display
    case ("monitor", false): self = .monitor(name: value)
    case ("window", false): self = .window(try Self.window(value))
    case ("follow", false) where value == Lead.focus.rawValue: self = .follow(.focus)
    case ("region", false):
      guard let rect = PixelRect(geometry: value) else {
        throw RecorderError(
          .usage, "\"\(value.printable(atMost: 60))\" is not a region.",
          hint: "Write region:WIDTHxHEIGHT+X+Y, as region:640x480+10+20, with sides from 1 to \(PixelSize.largestSide)."
        )
      }
      self = .region(rect)
    default:
      throw RecorderError(
        .usage, "\"\(text.printable(atMost: 60))\" is not a source.",
        hint:
          "A source is display, monitor:NAME, region:WxH+X+Y, follow:focus, window:ID, window:active, or window: with "
          + "title=TEXT, title~=REGEX, class=NAME, pid=NUMBER or command=NAME.")
    }
  }

  private static func window(_ value: String) throws(RecorderError) -> WindowSelector {
    if value == "active" { return .active }
    let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    if parts.count == 2, !parts[1].isEmpty {
      let text = String(parts[1])
      switch parts[0] {
      case "title": return .title(text)
      case "title~": return .titlePattern(try TitlePattern(text).text)
      case "class": return .className(text)
      case "command": return .command(text)
      case "pid": if let pid = Int(text), pid > 0 { return .pid(pid) }
      default: break
      }
    }
    let id = value.hasPrefix("0x") ? UInt32(value.dropFirst(2), radix: 16) : UInt32(value)
    guard let id, id != 0 else {
      throw RecorderError(
        .usage, "\"\(value.printable(atMost: 60))\" names no window.",
        hint: "Write window:0x1A00007, window:active, or window: with title=TEXT, title~=REGEX, class=NAME, pid=NUMBER "
          + "or command=NAME.")
    }
    return .id(id)
  }

  /// The text that names it: what `init(parsing:)` takes.
  package var text: String {
    switch self {
    case .display: "display"
    case .monitor(let name): "monitor:\(name)"
    case .window(.id(let id)): "window:0x\(String(id, radix: 16))"
    case .window(.title(let text)): "window:title=\(text)"
    case .window(.titlePattern(let text)): "window:title~=\(text)"
    case .window(.className(let name)): "window:class=\(name)"
    case .window(.pid(let pid)): "window:pid=\(pid)"
    case .window(.command(let name)): "window:command=\(name)"
    case .window(.active): "window:active"
    case .region(let rect): "region:\(rect)"
    case .follow(let lead): "follow:\(lead.rawValue)"
    }
  }
}

extension SourceSpecification: Codable {
  package init(from decoder: any Decoder) throws {
    try self.init(parsing: decoder.singleValueContainer().decode(String.self))
  }
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension PixelRect {
  /// The rectangle that an X geometry (`640x480+10-20`) names, as it is or as X's own programs print it
  /// (`640x480+10+-20`); nil when it names none, an empty one, or one past `largestSide`.
  package init?(geometry text: some StringProtocol) {
    let text = String(text).replacing("+-", with: "-")
    guard let signs = text.firstIndex(where: { $0 == "+" || $0 == "-" }), let size = PixelSize(text[..<signs])
    else { return nil }
    let rest = text[signs...]
    guard let second = rest.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }),
      let x = Int(rest[..<second]), let y = Int(rest[second...]), abs(x) <= 32767, abs(y) <= 32767
    else { return nil }
    self.init(x: x, y: y, width: size.width, height: size.height)
  }
}

extension PixelSize {
  /// The largest side of a picture, in pixels: X coordinates are 16 bits, and encoders stop at the same order.
  package static let largestSide = 16384

  /// The size that `WIDTHxHEIGHT` names; nil when it names none, an empty one, or one past `largestSide`.
  package init?(_ text: some StringProtocol) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, sides.allSatisfy({ isDigits($0) }),
      let width = Int(sides[0]), let height = Int(sides[1]), (1...Self.largestSide).contains(width),
      (1...Self.largestSide).contains(height)
    else { return nil }
    self.init(width: width, height: height)
  }

  /// The named sizes, by height and aspect ratio; `h1080` alone is the 16:9 one.
  package static let presets: [(name: String, size: PixelSize)] = [180, 360, 720, 1080, 1440, 2160].flatMap {
    (height: Int) -> [(name: String, size: PixelSize)] in
    let wide = PixelSize(width: height * 16 / 9, height: height)
    let classic = PixelSize(width: height * 4 / 3, height: height)
    return [("h\(height)", wide), ("h\(height)_169", wide), ("h\(height)_43", classic)]
  }

  /// 1920x1080.
  package static let h1080_169 = PixelSize(width: 1920, height: 1080)
}

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
