package import Arguments
package import SessionModel

extension SourceSpecification: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
  package var argumentDescription: String { text }
}

extension AudioDeviceSpecification: ExpressibleByArgument {
  package init(argument: ArgumentText) throws(RecorderError) { try self.init(parsing: String(argument: argument)) }
}

extension PixelFormat: ExpressibleByArgument {}

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

/// A length of time: `20`, `1:30`, `500ms`, `20s`, `5m`, `2h`, `3d`.
package struct TimeSpan: ExpressibleByArgument, Hashable {
  /// Its nanoseconds; more than none.
  package var nanoseconds: Int64
  package init(argument: ArgumentText) throws(RecorderError) {
    guard let nanoseconds = TimePosition.duration(try String(argument: argument)), nanoseconds > 0 else {
      throw RecorderError(
        .usage, "\"\(argument)\" is not a length of time.", hint: "Write 20, 1:30, 500ms, 20s, 5m or 2h.")
    }
    self.nanoseconds = nanoseconds
  }
}
