internal import CFFmpeg
package import SessionModel

/// Encodes interleaved floats to one sound stream.
package struct AudioEncoder: ~Copyable {
  /// What a container has to know of the encoded stream.
  package let stream: StreamDescription
  /// The format of what it is given.
  package let format: AudioFormat
  /// Frames in a packet.
  package let frameSize: Int
  private let context: CodecContext
  private let converter: SampleConverter
  private let received: Packet
  /// What is handed to the codec, in the codec's own sample format.
  private let block: Picture
  /// Samples that do not fill a packet yet.
  private let pending: UnsafeMutableBufferPointer<Float>
  private var pendingFrames = 0
  /// The index of the next frame; nil before the first.
  private var next: Int64?

  /// Opens an encoder.
  /// - Parameters:
  ///   - format: of what it is given and of the stream.
  ///   - bitRate: bits a second; lossless codecs have no use for it.
  ///   - codec: FFmpeg's name of the encoder.
  /// - Throws: `RecorderError`: unavailable when FFmpeg has no such encoder, usage when it refuses the format.
  package init(_ format: AudioFormat, bitRate: Int, codec name: String = "aac") throws(RecorderError) {
    _ = ffmpegIsSilent
    guard let codec = avcodec_find_encoder_by_name(name), codec.pointee.type == AVMEDIA_TYPE_AUDIO else {
      throw RecorderError(.unavailable, "FFmpeg has no sound encoder \"\(name.printable(atMost: 60))\" here.")
    }
    guard format.isUsable, let samples = codec.pointee.sample_fmts?.pointee else {
      throw RecorderError(.usage, "Sound of \(format.sampleRate) Hz and \(format.channels) channels is not encoded.")
    }
    let context = try CodecContext(codec)
    context.pointer.pointee.sample_fmt = samples
    context.pointer.pointee.sample_rate = Int32(clamping: format.sampleRate)
    av_channel_layout_default(&context.pointer.pointee.ch_layout, Int32(clamping: format.channels))
    context.pointer.pointee.time_base = AVRational(num: 1, den: Int32(clamping: format.sampleRate))
    context.pointer.pointee.bit_rate = Int64(bitRate)
    context.pointer.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
    let status = avcodec_open2(context.pointer, codec, nil)
    guard status >= 0 else {
      throw RecorderError(
        .usage,
        "\(name) refuses \(format.sampleRate) Hz, \(format.channels) channels, \(bitRate) bits a second: "
          + "\(words(forStatus: status)).")
    }
    // 0 is any number: PCM. 1024 is AAC's.
    let frameSize = context.pointer.pointee.frame_size > 0 ? Int(context.pointer.pointee.frame_size) : 1024
    let converter = try SampleConverter(
      from: .interleaved(format), to: SampleConverter.Shape(format: samples, audio: format))
    let block = try Picture(samples: frameSize, of: context.pointer)
    let received = try Packet()
    let stream = try StreamDescription(encoder: context.pointer)
    pending = .allocate(capacity: frameSize * format.channels)
    self.context = context
    self.converter = converter
    self.block = block
    self.received = received
    self.stream = stream
    (self.format, self.frameSize) = (format, frameSize)
  }

  deinit { pending.deallocate() }

  /// Encodes `samples`, any number of whole frames.
  /// - Parameters:
  ///   - index: the first frame's place, counted from the session's epoch at the format's rate. Frames missing since
  ///     the last call become silence; those that were there already are left out.
  ///   - emit: takes the packets that are ready. Their times have the encoder's delay taken off: the first one's is
  ///     `stream.initialPadding` frames before the first frame's.
  /// - Throws: `RecorderError` (systemCall) when the encoder fails.
  package mutating func encode(
    _ samples: UnsafeBufferPointer<Float>, at index: Int64, emit: (consuming Packet) -> Void
  ) throws(RecorderError) {
    let start = next ?? index
    if next == nil { next = index }
    if index > start { try append(nil, frames: Int(index - start), emit) }
    let overlap = Int(min(max(0, start - index), Int64(samples.count / format.channels)))
    try append(
      samples.baseAddress.map { $0 + overlap * format.channels }, frames: samples.count / format.channels - overlap,
      emit)
  }

  /// Encodes what does not fill a packet and takes all that the encoder holds. Nothing can be encoded afterwards.
  /// - Throws: `RecorderError` (systemCall) when the encoder fails.
  package mutating func finish(emit: (consuming Packet) -> Void) throws(RecorderError) {
    if pendingFrames > 0 { try encodePending(emit) }
    try context.encode(nil, received: received, emit: emit)
  }

  /// Appends samples, or silence for nil, encoding each full packet.
  private mutating func append(
    _ samples: UnsafePointer<Float>?, frames: Int, _ emit: (consuming Packet) -> Void
  ) throws(RecorderError) {
    var done = 0
    while done < frames {
      let count = min(frames - done, frameSize - pendingFrames)
      let target = pending.baseAddress.map { $0 + pendingFrames * format.channels }
      if let samples {
        target?.update(from: samples + done * format.channels, count: count * format.channels)
      } else {
        target?.update(repeating: 0, count: count * format.channels)
      }
      done += count
      pendingFrames += count
      next = next.map { $0 + Int64(count) }
      if pendingFrames == frameSize { try encodePending(emit) }
    }
  }

  private mutating func encodePending(_ emit: (consuming Packet) -> Void) throws(RecorderError) {
    let frame = block.frame
    frame.pointee.nb_samples = Int32(clamping: frameSize)
    guard av_frame_make_writable(frame) >= 0 else { throw outOfMemory("a block of sound") }
    var source = pending.baseAddress.map { UnsafeRawPointer($0).assumingMemoryBound(to: UInt8.self) }
    let status = swr_convert(
      converter.pointer, frame.pointee.extended_data, Int32(clamping: frameSize), &source,
      Int32(clamping: pendingFrames))
    guard status == pendingFrames else {
      throw RecorderError(.systemCall, "Sound could not be converted: \(words(forStatus: min(status, 0))).")
    }
    frame.pointee.nb_samples = status
    frame.pointee.pts = (next ?? 0) - Int64(pendingFrames)
    pendingFrames = 0
    try context.encode(frame, received: received, emit: emit)
  }
}

extension AudioCodec {
  /// FFmpeg's name of the encoder.
  package var encoder: String {
    switch self {
    case .aac: "aac"
    case .opus: "libopus"
    case .flac: "flac"
    case .pcm: "pcm_s16le"
    }
  }
}
