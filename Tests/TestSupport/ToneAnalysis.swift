import Glibc

/// The amplitude (1 is full scale) of the sine of `frequency` Hz in `samples`: one bin of a discrete Fourier transform
/// under a Hann window, whose side lobes keep other tones out.
package func amplitude(of frequency: Double, in samples: some Collection<Float>, sampleRate: Int = 48_000) -> Double {
  var (real, imaginary, weight) = (0.0, 0.0, 0.0)
  let count = Double(samples.count)
  for (index, sample) in samples.enumerated() {
    let window = 0.5 - 0.5 * cos(2 * .pi * Double(index) / count)
    let phase = 2 * .pi * frequency * Double(index) / Double(sampleRate)
    real += Double(sample) * window * cos(phase)
    imaginary += Double(sample) * window * sin(phase)
    weight += window
  }
  return weight == 0 ? 0 : 2 * (real * real + imaginary * imaginary).squareRoot() / weight
}

/// The usual amplitude of the sine of `frequency` Hz: the median over windows of 50 ms, short enough that a drift
/// correction of 0.3 % does not blur the line, and long enough to tell tones apart that are 100 Hz from each other.
package func usualAmplitude(of frequency: Double, in samples: [Float], sampleRate: Int = 48_000) -> Double {
  let length = sampleRate / 20
  let amplitudes = stride(from: 0, through: samples.count - length, by: length).map { start in
    amplitude(of: frequency, in: samples[start..<(start + length)], sampleRate: sampleRate)
  }.sorted()
  return amplitudes.isEmpty ? 0 : amplitudes[amplitudes.count / 2]
}

/// `measured` over `expected` in dB.
package func decibels(_ measured: Double, over expected: Double) -> Double { 20 * log10(measured / expected) }

/// The index of the first sample louder than `threshold`; nil when there is none.
package func onset(in samples: [Float], above threshold: Float) -> Int? {
  samples.firstIndex { $0.magnitude > threshold }
}

/// The usual frequency, in Hz, of a lone tone in `samples`: the median over windows of so many seconds, so that a hole that
/// a busy machine tears does not count. In each, the rising zero crossings between the first and the last are counted, each
/// placed between its two samples by a straight line.
package func pitch(of samples: [Float], sampleRate: Int = 48_000, window: Double = 0.1) -> Double {
  let length = Int(Double(sampleRate) * window)
  let pitches = stride(from: 0, through: samples.count - length, by: length).map { start in
    var crossings: [Double] = []
    for index in (start + 1)..<(start + length) where samples[index - 1] < 0 && samples[index] >= 0 {
      crossings.append(Double(index) - Double(samples[index] / (samples[index] - samples[index - 1])))
    }
    guard let first = crossings.first, let last = crossings.last, last > first else { return 0.0 }
    return Double(crossings.count - 1) * Double(sampleRate) / (last - first)
  }.sorted()
  return pitches.isEmpty ? 0 : pitches[pitches.count / 2]
}
