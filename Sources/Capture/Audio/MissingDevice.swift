import SessionModel

/// What there is to say of a sound device that is not there. The names that there are stand beside it, the nearest first,
/// so that a slip of the hand is seen.
enum MissingDevice {
  /// The names that are told; `recorder sources` lists the others.
  private static let toldNames = 3

  /// The error that says that there is no device `asked` (`pulse:NAME`, `alsa:PCM`).
  /// - Parameter others: what there is of its kind; outside text.
  static func error(_ asked: String, among others: Set<String>) -> RecorderError {
    let (told, sentence) = (told(others, nearestTo: asked), "There is no sound device \(asked.printable(atMost: 66))")
    let verb = others.count == 1 ? "is" : "are"
    return RecorderError(
      .unavailable, told.isEmpty ? "\(sentence)." : "\(sentence); there \(verb) \(told).",
      hint: "`recorder sources` lists them.")
  }

  /// Some of `names` in words, those first that are most like `asked`; empty when there are none.
  static func told(_ names: Set<String>, nearestTo asked: String) -> String {
    let wanted = words(of: asked)
    let nearest = names.map { name in (name, score: likeness(wanted, words(of: name))) }
      .sorted { $0.score == $1.score ? $0.0 < $1.0 : $0.score > $1.score }
      .map { $0.0.printable(atMost: 60) }
    if nearest.count > toldNames {
      return "\(nearest.prefix(toldNames).joined(separator: ", ")) and \(nearest.count - toldNames) more"
    }
    guard let last = nearest.last, nearest.count > 1 else { return nearest.last ?? "" }
    return "\(nearest.dropLast().joined(separator: ", ")) and \(last)"
  }

  /// What of a name a likeness is looked for in: without its kind, which all have.
  private static func words(of name: String) -> [UInt8] {
    Array((name.split(separator: ":", maxSplits: 1).last ?? "").lowercased().utf8)
  }

  /// How many letters at the beginning and the end are the same; one that is within the other is nearer than all others.
  private static func likeness(_ asked: [UInt8], _ name: [UInt8]) -> Int {
    if name.firstRange(of: asked) != nil || asked.firstRange(of: name) != nil { return .max }
    let start = zip(asked, name).prefix { $0 == $1 }.count
    return start + zip(asked.reversed(), name.reversed()).prefix { $0 == $1 }.count
  }
}
