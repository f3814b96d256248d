internal import CFFmpeg
internal import SessionModel

/// The sole owner of a libswresample context: converts sample formats and rates, keeping the channels.
struct SampleConverter: ~Copyable {
  /// How samples lie in memory.
  struct Shape: Equatable {
    var format: AVSampleFormat
    var audio: AudioFormat

    /// Interleaved floats, as this program keeps sound.
    static func interleaved(_ audio: AudioFormat) -> Shape { Shape(format: AV_SAMPLE_FMT_FLT, audio: audio) }
  }

  let pointer: OpaquePointer
  let input: Shape

  /// Makes a converter.
  /// - Parameter adjustable: resamples also between equal rates, so that `swr_set_compensation` need not begin to.
  /// - Throws: `RecorderError` (usage) for a conversion that cannot be.
  init(from input: Shape, to output: Shape, adjustable: Bool = false) throws(RecorderError) {
    _ = ffmpegIsSilent
    var (from, to) = (AVChannelLayout(), AVChannelLayout())
    av_channel_layout_default(&from, Int32(clamping: input.audio.channels))
    av_channel_layout_default(&to, Int32(clamping: output.audio.channels))
    var context: OpaquePointer?
    var status = swr_alloc_set_opts2(
      &context, &to, output.format, Int32(clamping: output.audio.sampleRate), &from, input.format,
      Int32(clamping: input.audio.sampleRate), 0, nil)
    if let context, status >= 0 {
      if adjustable { av_opt_set_int(UnsafeMutableRawPointer(context), "flags", Int64(SWR_FLAG_RESAMPLE), 0) }
      // FFmpeg would spread one channel's power over two, 3 dB less on each; a voice is as loud as it was.
      if input.audio.channels == 1, output.audio.channels == 2 { status = swr_set_matrix(context, [1, 1], 1) }
      if status >= 0 { status = swr_init(context) }
    }
    guard let made = context, status >= 0 else {
      swr_free(&context)
      throw RecorderError(
        .usage,
        "Sound of \(input.audio.sampleRate) Hz and \(input.audio.channels) channels cannot be converted: "
          + "\(words(forStatus: status)).")
    }
    (pointer, self.input) = (made, input)
  }

  deinit {
    var pointer: OpaquePointer? = pointer
    swr_free(&pointer)
  }

  /// The most frames that converting `frames` more can give.
  func outputCapacity(for frames: Int) -> Int { max(0, Int(swr_get_out_samples(pointer, Int32(clamping: frames)))) }
}

extension AudioFormat {
  /// Whether sound of that format can be: 64 channels are FFmpeg's bound, 768 kHz the fastest converters' rate.
  var isUsable: Bool { (1...64).contains(channels) && (1...768_000).contains(sampleRate) }
}
