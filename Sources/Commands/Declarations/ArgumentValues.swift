package import Arguments
package import SessionModel

extension SourceSpecification: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
  package var argumentDescription: String { text }
}

extension AudioDeviceSpecification: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
}

extension AudioGains: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
}

extension GainChange: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
}

extension SoundTrackSpecification: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
}

extension AudioCodec: ExpressibleByArgument {}

extension StemSelection: ExpressibleByArgument {}

extension VideoQuality: ExpressibleByArgument {}

extension PixelFormat: ExpressibleByArgument {}
extension WindowExclusion: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
}

extension ResizePolicy: ExpressibleByArgument {}
extension ClosePolicy: ExpressibleByArgument {}

extension PixelSize: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) {
    let text = try String(argument: argument)
    guard let size = PixelSize(text) ?? Self.presets.first(where: { preset in preset.name == text })?.size else {
      throw RecorderError(
        .usage, "\"\(argument)\" is not a size.",
        hint: "Write WIDTHxHEIGHT with sides from 1 to \(Self.largestSide), or a preset such as h1080.")
    }
    self = size
  }
}

/// A picture's size as a person names it: in pixels, by a preset, or `native`.
package enum PictureSize: ExpressibleByArgument, Hashable {
  /// That of what is recorded.
  case native
  /// This one.
  case fixed(PixelSize)

  package init(argument: ArgumentText) throws(RecorderError) {
    self = try String(argument: argument) == "native" ? .native : .fixed(PixelSize(argument: argument))
  }

  /// The size in pixels; nil for that of what is recorded.
  package var pixels: PixelSize? {
    switch self {
    case .native: nil
    case .fixed(let size): size
    }
  }
}

extension TimePosition: RequirableArgument {
  package init(argument: ArgumentText) throws(RecorderError) {
    guard let position = TimePosition(try String(argument: argument)) else {
      throw RecorderError(
        .usage, "\"\(argument)\" is not a time.",
        hint: "Write seconds or M:SS from the start, HH:MM:SS on the session's clock, or RFC 3339.")
    }
    self = position
  }
  package static var unset: TimePosition { .offset(.zero) }
}

extension Hook: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(words: [argument]) }
  package init(words: [ArgumentText]) throws(RecorderError) {
    guard words.count == Self.wordCount else { throw RecorderError(.usage, "A hook is an event and a command.") }
    try self.init(event: String(argument: words[0]), command: String(argument: words[1]))
  }
  package static var wordCount: Int { 2 }
  package static var allValueStrings: [String] { Event.allCases.map(\.rawValue) }
}

extension TimeOfDay: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
}

/// A length of time: `20`, `1:30`, `500ms`, `20s`, `5m`, `2h`, `3d`.
package struct TimeSpan: ExpressibleByArgument, Hashable {
  /// Its nanoseconds; more than none.
  package var nanoseconds: Int64
  /// Makes a length of so many ns.
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
  package var argumentDescription: String {
    nanoseconds % 1_000_000_000 == 0 ? "\(nanoseconds / 1_000_000_000)s" : "\(nanoseconds / 1_000_000)ms"
  }
  package init(argument: ArgumentText) throws(RecorderError) {
    guard let nanoseconds = TimePosition.duration(try String(argument: argument)), nanoseconds > 0 else {
      throw RecorderError(
        .usage, "\"\(argument)\" is not a length of time.", hint: "Write 20, 1:30, 500ms, 20s, 5m or 2h.")
    }
    self.nanoseconds = nanoseconds
  }
}

/// A number of bytes: `0`, `1500000`, `50G`, `1.5T`.
package struct ByteSize: ExpressibleByArgument, Hashable {
  /// The bytes; none or more.
  package var bytes: Int64
  /// Makes a size of so many bytes.
  package init(bytes: Int64) { self.bytes = bytes }
  package init(argument: ArgumentText) throws(RecorderError) {
    let text = try String(argument: argument)
    let units: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12]
    let unit = text.last.flatMap { units[$0] }
    let digits = unit == nil ? text[...] : text.dropLast()
    let isNumber = !digits.isEmpty && digits.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
    // An exabyte is more than any archive has, and exact in 64 bits.
    guard isNumber, let value = Double(digits), value * (unit ?? 1) <= 1e18 else {
      throw RecorderError(
        .usage, "\"\(argument)\" is not a size.", hint: "Write bytes, or a number with k, M, G or T, as 50G.")
    }
    bytes = Int64(value * (unit ?? 1))
  }
  package var argumentDescription: String {
    let units: [(Int64, String)] = [
      (1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1000, "k"),
    ]
    let unit = units.first { bytes != 0 && bytes % $0.0 == 0 }
    return unit.map { "\(bytes / $0.0)\($0.1)" } ?? "\(bytes)"
  }
}
