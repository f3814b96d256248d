internal import CFFmpeg
package import SessionModel

/// Changes the rate and channels of sound, and stretches it by a little while it does: libswresample.
package struct Resampler: ~Copyable {
  private let converter: SampleConverter
  private let from: AudioFormat
  private let to: AudioFormat

  /// Makes a resampler.
  /// - Throws: `RecorderError` (usage) for formats between which there is no conversion.
  package init(from: AudioFormat, to: AudioFormat) throws(RecorderError) {
    guard from.isUsable, to.isUsable else {
      throw RecorderError(.usage, "Sound of \(from.sampleRate) Hz and \(from.channels) channels cannot be converted.")
    }
    converter = try SampleConverter(from: .interleaved(from), to: .interleaved(to), adjustable: true)
    (self.from, self.to) = (from, to)
  }

  /// The most frames that the next `convert` of `frames` gives.
  package func outputCapacity(for frames: Int) -> Int { converter.outputCapacity(for: frames) }

  /// Frames of the output, in `to`'s rate, that have come in and not yet out: what a sample is late by.
  package var delay: Int { Int(swr_get_delay(converter.pointer, Int64(to.sampleRate))) }

  /// Converts `samples`; what does not fit into `output` is kept inside.
  /// - Parameters:
  ///   - samples: whole frames, interleaved.
  ///   - output: interleaved, whole frames; `outputCapacity` of them hold everything.
  /// - Returns: the frames written.
  /// - Throws: `RecorderError` (systemCall).
  package mutating func convert(
    _ samples: UnsafeBufferPointer<Float>, into output: UnsafeMutableBufferPointer<Float>
  ) throws(RecorderError) -> Int {
    try convert(samples.baseAddress, frames: samples.count / from.channels, into: output)
  }

  /// Takes what is still inside, after the last samples.
  /// - Returns: the frames written; when `output` is full there may be more.
  /// - Throws: `RecorderError` (systemCall).
  package mutating func finish(into output: UnsafeMutableBufferPointer<Float>) throws(RecorderError) -> Int {
    try convert(nil, frames: 0, into: output)
  }

  private func convert(
    _ samples: UnsafePointer<Float>?, frames: Int, into output: UnsafeMutableBufferPointer<Float>
  ) throws(RecorderError) -> Int {
    var source = samples.map { UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self) } as UnsafePointer<UInt8>?
    var target = output.baseAddress.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt8.self) }
    let room = Int32(clamping: output.count / to.channels)
    // A null list of inputs, not a list of null, means the end.
    let status =
      samples == nil
      ? swr_convert(converter.pointer, &target, room, nil, 0)
      : swr_convert(converter.pointer, &target, room, &source, Int32(clamping: frames))
    guard status >= 0 else {
      throw RecorderError(.systemCall, "Sound could not be resampled: \(words(forStatus: status)).")
    }
    return Int(status)
  }

  /// Stretches (`frames` above 0) or squeezes the next `distance` frames of the output by `frames`, spread evenly.
  /// - Throws: `RecorderError` (usage) when that is more than can be spread.
  package mutating func compensate(frames: Int, over distance: Int) throws(RecorderError) {
    let status = swr_set_compensation(converter.pointer, Int32(clamping: frames), Int32(clamping: distance))
    guard status >= 0 else {
      throw RecorderError(.usage, "\(frames) frames cannot be spread over \(distance): \(words(forStatus: status)).")
    }
  }
}
