internal import CFFmpeg
package import SessionModel

/// Decodes the packets of one sound stream to interleaved floats, full scale at ±1.
package struct AudioDecoder: ~Copyable {
  /// The format of what it gives back: the container's sample rate and channels.
  package let format: AudioFormat
  private let context: CodecContext
  private var converter: SampleConverter?
  private var samples: UnsafeMutableBufferPointer<Float>

  /// Opens a decoder.
  /// - Throws: `RecorderError`: unavailable when FFmpeg has none for the codec, damagedData when the stream's header is bad.
  package init(_ stream: StreamDescription) throws(RecorderError) {
    let format = AudioFormat(sampleRate: stream.sampleRate, channels: stream.channels)
    guard stream.kind == .audio, format.isUsable else {
      throw RecorderError(.damagedData, "The \(stream.codecName.printable) stream has no sound that can be played.")
    }
    context = try CodecContext.decoder(of: stream)
    self.format = format
    samples = .allocate(capacity: 0)
  }

  deinit { samples.deallocate() }

  /// Decodes `packet`.
  /// - Parameter emit: takes interleaved samples, valid during the call, and the time of the first, from which the
  ///   encoder's delay has been taken off.
  /// - Throws: `RecorderError` (damagedData) for a packet that cannot be decoded; the next one can be tried.
  package mutating func decode(
    _ packet: borrowing Packet, emit: (UnsafeBufferPointer<Float>, Timestamp) -> Void
  ) throws(RecorderError) {
    try decode(packet.pointer, emit)
  }

  /// Takes what the decoder still holds. `reset` must follow before anything else is decoded.
  /// - Throws: `RecorderError` (damagedData).
  package mutating func finish(emit: (UnsafeBufferPointer<Float>, Timestamp) -> Void) throws(RecorderError) {
    try decode(nil, emit)
  }

  /// Forgets all packets before, after a seek.
  package mutating func reset() {
    avcodec_flush_buffers(context.pointer)
    converter = nil
  }

  private mutating func decode(
    _ packet: UnsafePointer<AVPacket>?, _ emit: (UnsafeBufferPointer<Float>, Timestamp) -> Void
  ) throws(RecorderError) {
    try context.send(packet)
    while let block = try context.receive() {
      let time = block.time
      let frames = try convert(block.frame)
      if frames > 0 { emit(UnsafeBufferPointer(rebasing: samples[..<(frames * format.channels)]), time) }
    }
  }

  /// Converts a decoded block into `samples`.
  /// - Returns: its frames.
  private mutating func convert(_ frame: UnsafeMutablePointer<AVFrame>) throws(RecorderError) -> Int {
    let shape = SampleConverter.Shape(
      format: AVSampleFormat(frame.pointee.format),
      audio: AudioFormat(
        sampleRate: Int(frame.pointee.sample_rate), channels: Int(frame.pointee.ch_layout.nb_channels)))
    guard shape.audio.isUsable, frame.pointee.nb_samples >= 0, let planes = frame.pointee.extended_data else {
      throw RecorderError(.damagedData, "A part of the sound cannot be decoded.")
    }
    // Decided by each block: AAC's header may say half of the rate that comes out.
    if converter?.input != shape { converter = try SampleConverter(from: shape, to: .interleaved(format)) }
    guard let context = converter?.pointer else { return 0 }
    let capacity = max(0, Int(swr_get_out_samples(context, frame.pointee.nb_samples)))
    if capacity * format.channels > samples.count {
      samples.deallocate()
      samples = .allocate(capacity: capacity * format.channels)
    }
    var target = samples.baseAddress.map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: UInt8.self) }
    let status = planes.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: shape.audio.channels) { planes in
      swr_convert(context, &target, Int32(clamping: capacity), planes, frame.pointee.nb_samples)
    }
    guard status >= 0 else {
      throw RecorderError(.damagedData, "A part of the sound cannot be converted: \(words(forStatus: status)).")
    }
    return Int(status)
  }
}
