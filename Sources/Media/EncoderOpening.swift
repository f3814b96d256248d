internal import CFFmpeg
internal import SessionModel

/// Finds and opens video encoders, and says why one cannot be.
enum EncoderOpening {
  /// Encoders worth naming when one is missing.
  private static let suggestions = ["libx264", "libx265", "libvpx-vp9", "libaom-av1", "mpeg4", "ffv1"]
  /// x264's presets (x264.h), which x265 has too. Asked beforehand, since x264 writes to stderr about another one.
  private static let presets = [
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
  ]
  /// Encoders that can keep every pixel of BGRX.
  private static let losslessEncoders = ["libx264rgb", "ffv1"]

  /// Opens an encoder of `settings`.
  static func open(_ settings: VideoEncoderSettings) throws(RecorderError) -> CodecContext {
    _ = ffmpegIsSilent
    let codec = try find(settings)
    if settings.codec.hasPrefix("libx26"), !presets.contains(settings.preset) { throw noPreset(settings) }
    let context = try CodecContext(codec)
    let status = attempt(codec, settings, context.pointer, preset: settings.preset)
    if status >= 0 { return context }
    // Encoders say only "invalid argument": whether it was the preset shows without one.
    let other = try CodecContext(codec)
    if attempt(codec, settings, other.pointer, preset: nil) >= 0 { throw noPreset(settings) }
    throw RecorderError(
      .usage,
      "\(settings.codec) refuses \(settings.size) pixels of \(settings.pixelFormat.rawValue) at quality "
        + "\(settings.constantRateFactor): \(words(forStatus: status)).")
  }

  private static func noPreset(_ settings: VideoEncoderSettings) -> RecorderError {
    RecorderError(
      .usage, "\(settings.codec) has no preset \"\(settings.preset.printable(atMost: 60))\".",
      hint: settings.codec.hasPrefix("libx26")
        ? "It has \(presets.joined(separator: ", "))." : "Give one of its own with --preset.")
  }

  private static func find(_ settings: VideoEncoderSettings) throws(RecorderError) -> UnsafePointer<AVCodec> {
    let name = settings.codec.printable(atMost: 60)
    guard let codec = avcodec_find_encoder_by_name(settings.codec) else {
      let present = suggestions.filter { avcodec_find_encoder_by_name($0) != nil }
      throw RecorderError(
        .unavailable, "FFmpeg has no encoder \"\(name)\" here.", hint: "It has \(present.joined(separator: ", ")).")
    }
    guard codec.pointee.type == AVMEDIA_TYPE_VIDEO else {
      throw RecorderError(.usage, "\(name) encodes no video.", hint: "Take libx264, the default.")
    }
    if settings.lossless, !losslessEncoders.contains(settings.codec) {
      throw RecorderError(
        .usage, "\(name) is not used losslessly here.", hint: "Take libx264, the default, or ffv1.")
    }
    guard takes(codec, settings.pixelFormat) else {
      let others = PixelFormat.allCases.filter { takes(codec, $0) }.map(\.rawValue)
      throw RecorderError(
        .usage, "\(name) does not encode \(settings.pixelFormat.rawValue).",
        hint: others.isEmpty ? nil : "It encodes \(others.joined(separator: " and ")).")
    }
    return codec
  }

  private static func takes(_ codec: UnsafePointer<AVCodec>, _ format: PixelFormat) -> Bool {
    guard var next = codec.pointee.pix_fmts else { return true }
    while next.pointee != AV_PIX_FMT_NONE {
      if next.pointee == format.ffmpeg { return true }
      next += 1
    }
    return false
  }

  /// Tries to open `context` as an encoder of `codec`.
  private static func attempt(
    _ codec: UnsafePointer<AVCodec>, _ settings: VideoEncoderSettings,
    _ context: UnsafeMutablePointer<AVCodecContext>, preset: String?
  ) -> Int32 {
    describe(settings, context)
    let status = setOptions(settings, context, preset: preset)
    return status < 0 ? status : avcodec_open2(context, codec, nil)
  }

  private static func describe(_ settings: VideoEncoderSettings, _ context: UnsafeMutablePointer<AVCodecContext>) {
    context.pointee.width = Int32(clamping: settings.size.width)
    context.pointee.height = Int32(clamping: settings.size.height)
    context.pointee.pix_fmt = settings.pixelFormat.ffmpeg
    context.pointee.time_base = VideoEncoder.ticks
    context.pointee.framerate = AVRational(num: Int32(clamping: settings.framesPerSecond), den: 1)
    // The containers keep the codec's header once, not before each keyframe.
    context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
    context.pointee.max_b_frames = 0
    context.pointee.thread_type = FF_THREAD_SLICE
    context.pointee.thread_count = Int32(clamping: settings.threads)
    // The caller forces keyframes, sooner than this; x264 allows no shortest distance beyond half of it. FFV1 takes no such
    // wish, so all of its frames are ones.
    context.pointee.gop_size =
      context.pointee.codec_id == AV_CODEC_ID_FFV1 ? 1 : Int32(clamping: 4 * VideoOptions.keyframeDistance)
    // Where x264 finds a scene's beginning and codes it intra anyway, a seek can use it, too.
    context.pointee.keyint_min = 1
    // What libyuv makes of a screen, which shows sRGB: BT.601 in limited range, chroma in the middle of its 2x2 pixels.
    let isRGB = settings.pixelFormat == .bgr0
    context.pointee.colorspace = isRGB ? AVCOL_SPC_RGB : AVCOL_SPC_SMPTE170M
    context.pointee.color_range = isRGB ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    context.pointee.color_primaries = AVCOL_PRI_BT709
    context.pointee.color_trc = AVCOL_TRC_IEC61966_2_1
    if settings.pixelFormat == .yuv420p { context.pointee.chroma_sample_location = AVCHROMA_LOC_CENTER }
  }

  /// Sets the encoder's own options where it has them; the first failure of one that was asked for.
  private static func setOptions(
    _ settings: VideoEncoderSettings, _ context: UnsafeMutablePointer<AVCodecContext>, preset: String?
  ) -> Int32 {
    guard let own = context.pointee.priv_data else { return 0 }
    func has(_ name: String) -> Bool { av_opt_find(own, name, nil, 0, 0) != nil }
    // No look-ahead, in the words of x264 and x265, libvpx, libaom; forced keyframes are such that a seek can use;
    // x265 writes to stderr by itself.
    for (name, value) in [
      ("tune", "zerolatency"), ("forced-idr", "1"), ("deadline", "realtime"), ("lag-in-frames", "0"),
      ("usage", "realtime"), ("cpu-used", "8"), ("row-mt", "1"), ("x265-params", "log-level=none"),
    ] where has(name) { _ = av_opt_set(own, name, value, 0) }
    if let preset, has("preset") {
      let status = av_opt_set(own, "preset", preset, 0)
      if status < 0 { return status }
    }
    if let parameters = settings.parameters, has("x264-params") {
      let status = av_opt_set(own, "x264-params", parameters, 0)
      if status < 0 { return status }
    }
    if settings.lossless, has("qp") { return av_opt_set(own, "qp", "0", 0) }
    if let quantiser = settings.quantiser, has("qp") { return av_opt_set(own, "qp", String(quantiser), 0) }
    if has("crf") { return av_opt_set(own, "crf", String(settings.constantRateFactor), 0) }
    // MPEG-4 and its kin: quantisers 1 … 31 for x264's 0 … 51, as multiples of FF_QP2LAMBDA.
    context.pointee.flags |= AV_CODEC_FLAG_QSCALE
    context.pointee.global_quality = Int32(clamping: 1 + settings.constantRateFactor * 30 / 51) * FF_QP2LAMBDA
    return 0
  }
}
