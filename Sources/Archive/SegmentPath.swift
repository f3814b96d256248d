import SessionModel

/// The path of a media file inside its session. A manifest is outside data: only what this type makes is ever opened.
struct SegmentPath: Hashable, Comparable {
  /// The files that a session can hold; six digits sort by name.
  static let numbers = 1...999_999
  private static let suffix = ".mkv"

  /// Its number.
  let number: Int

  /// The path of file `number`; nil when no session holds so many.
  init?(number: Int) {
    guard Self.numbers.contains(number) else { return nil }
    self.number = number
  }

  /// The path that a file called `name` in `media/` has; nil when it is none of ours.
  init?(name: String) {
    guard name.hasSuffix(Self.suffix), let number = Int(name.dropLast(Self.suffix.count)) else { return nil }
    self.init(number: number)
    guard self.name == name else { return nil }
  }

  /// The path that `file` in a manifest is; nil when it is none of ours.
  init?(file: String) {
    let folder = ArchiveLocation.Name.media + "/"
    guard file.hasPrefix(folder) else { return nil }
    self.init(name: String(file.dropFirst(folder.count)))
  }

  /// The file's name in `media/`: `000001.mkv`.
  var name: String { padded(number, 6) + Self.suffix }
  /// The path relative to the session: `media/000001.mkv`.
  var file: String { "\(ArchiveLocation.Name.media)/\(name)" }

  static func < (left: SegmentPath, right: SegmentPath) -> Bool { left.number < right.number }
}
