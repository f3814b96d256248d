import Glibc
package import SessionModel

/// What was measured of a tenth of a second of sound.
package struct SoundBlock: Hashable, Sendable {
  /// Its frames; fewer than 4800 in a last one.
  package var frames = 0
  /// Those of them that are digital silence.
  package var silentFrames = 0
  /// The highest sample, 1 being full scale.
  package var highest: Float = 0
  /// The loudness of the 400 ms that it ends, in LUFS; -infinity when they are silent or not known.
  package var loudness = -Float.infinity

  /// Makes one of no frames.
  package init() {}

  /// The block's length, in ns.
  package static let length: Int64 = 100_000_000
}

/// What was heard in a stretch: the sum of its blocks, of the same size however long it is. The library that measures them
/// sums up what one meter has heard from its beginning; a stretch that is cut out afterwards is summed up here, by the
/// gates of ITU-R BS.1770-4.
package struct SoundMeasure: Sendable {
  private var frames: Int64 = 0
  private var silentFrames: Int64 = 0
  private var highest: Float = 0
  /// How many blocks are of each loudness, in tenths of a LU from the absolute gate on.
  private var counts = [Int](repeating: 0, count: Self.loudest)

  /// The absolute gate, in LUFS: what is softer counts for nothing.
  private static let gate = -70.0
  /// The relative gate, in LU below the loudness of all that passes the first.
  private static let relativeGate = 10.0
  /// Tenths of a LU from the gate to more than sound can have, 30 LUFS.
  private static let loudest = 1000

  /// Makes a measure of nothing.
  package init() {}

  /// Adds `block`.
  package mutating func add(_ block: SoundBlock) {
    frames += Int64(block.frames)
    silentFrames += Int64(block.silentFrames)
    highest = max(highest, block.highest)
    guard Double(block.loudness) >= Self.gate else { return }
    counts[min(Int((Double(block.loudness) - Self.gate) * 10), Self.loudest - 1)] += 1
  }

  /// The loudness, in LUFS; nil when nothing was loud enough to count.
  package var loudness: Double? {
    guard let all = mean(from: 0) else { return nil }
    return mean(from: max(0, Int(((all - Self.relativeGate - Self.gate) * 10).rounded())))
  }

  /// The loudness of the mean energy of the blocks that are at least of loudness `index`.
  private func mean(from index: Int) -> Double? {
    var (sum, count) = (0.0, 0)
    for place in min(index, counts.count)..<counts.count where counts[place] > 0 {
      // The middle of the tenth.
      sum += Double(counts[place]) * pow(10, (Self.gate + (Double(place) + 0.5) / 10) / 10)
      count += counts[place]
    }
    return count == 0 ? nil : 10 * log10(sum / Double(count))
  }

  /// The highest sample, in dB of full scale; nil when all was silence.
  package var peak: Double? { highest > 0 ? 20 * log10(Double(highest)) : nil }

  /// The part of all frames that are digital silence, 0 to 1; 1 when there was none.
  package var silentShare: Double { frames == 0 ? 1 : Double(silentFrames) / Double(frames) }

  /// It as the manifest has it, of the track or input `name`.
  package func sound(_ name: String) -> Manifest.Sound {
    Manifest.Sound(name: name, silentShare: silentShare, peak: peak, loudness: loudness)
  }
}
