/// By how much inputs are to be louder from now on, in dB over what the devices deliver; what is nil stays as it is.
package struct GainChange: Hashable, Codable, Sendable {
  /// What the applications play.
  package var application: Double?
  /// What the person says.
  package var microphone: Double?

  /// Makes a change of nothing.
  package init() {}

  /// The change that `text` names, as `app=-6dB,mic=+3dB`.
  /// - Throws: `RecorderError` (usage) that says what was expected.
  package init(parsing text: String) throws(RecorderError) {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      var number = words.count == 2 ? words[1] : ""
      if number.hasSuffix("dB") { number = number.dropLast(2) }
      let digits = number.drop { "+-".contains($0) }
      guard number.count - digits.count <= 1, digits.allSatisfy({ $0 == "." || isDigits(String($0)) }),
        let value = Double(number), AudioGains.range.contains(value), ["app", "mic"].contains(words[0])
      else {
        throw RecorderError(
          .usage, "\"\(text.printable(atMost: 60))\" is no gain.",
          hint: "Write app=-6dB, mic=+3dB or both with a comma, from -60 to 30 dB.")
      }
      if words[0] == "app" { application = value } else { microphone = value }
    }
  }

  /// Takes over what `later` changes.
  package mutating func merge(_ later: GainChange) {
    (application, microphone) = (later.application ?? application, later.microphone ?? microphone)
  }

  /// Whether it changes something, and to gains that an input can have.
  package var isPossible: Bool {
    let gains = [application, microphone].compactMap(\.self)
    return !gains.isEmpty && gains.allSatisfy(AudioGains.range.contains)
  }
}
