import SessionModel

extension Manifest.Sound {
  /// All that was measured, as `-23.1 LUFS, peak -3.2 dBFS, 4 % silent`.
  var description: String {
    let parts = [
      loudness.map { "\(Self.tenths($0)) LUFS" }, peak.map { "peak \(Self.tenths($0)) dBFS" },
      "\(Int((silentShare * 100).rounded())) % silent",
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }

  /// What tells good sound from bad at a glance, as `-23 LUFS`, `-23 LUFS, 40 % silent` or `silent`.
  var text: String {
    let share = Int((silentShare * 100).rounded())
    guard share < 100 else { return "silent" }
    // What is too soft for a loudness still has a peak.
    let level = loudness.map { "\(Int($0.rounded())) LUFS" } ?? peak.map { "peak \(Int($0.rounded())) dBFS" }
    return [level, share > 0 ? "\(share) % silent" : nil].compactMap(\.self).joined(separator: ", ")
  }

  private static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
