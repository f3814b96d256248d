internal import CFFmpeg
package import SessionModel

/// One uncompressed picture: the sole owner of an FFmpeg frame, in the format and size of the encoder that made it, or
/// as a decoder delivered it.
package struct Picture: ~Copyable {
  let frame: UnsafeMutablePointer<AVFrame>

  /// Makes a picture of undefined pixels.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  init(format: AVPixelFormat, size: PixelSize) throws(RecorderError) {
    var frame = av_frame_alloc()
    guard let made = frame else { throw outOfMemory("a picture") }
    made.pointee.format = format.rawValue
    made.pointee.width = Int32(clamping: size.width)
    made.pointee.height = Int32(clamping: size.height)
    // 0: FFmpeg's own alignment, what the widest vector instructions of this machine want.
    guard av_frame_get_buffer(made, 0) >= 0 else {
      av_frame_free(&frame)
      throw outOfMemory("a picture of \(size) pixels")
    }
    self.frame = made
  }

  /// Makes a block of `samples` undefined frames of sound in the format of an opened encoder.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  init(samples: Int, of encoder: UnsafeMutablePointer<AVCodecContext>) throws(RecorderError) {
    var frame = av_frame_alloc()
    guard let made = frame else { throw outOfMemory("a block of sound") }
    made.pointee.format = encoder.pointee.sample_fmt.rawValue
    made.pointee.nb_samples = Int32(clamping: samples)
    made.pointee.sample_rate = encoder.pointee.sample_rate
    guard av_channel_layout_copy(&made.pointee.ch_layout, &encoder.pointee.ch_layout) >= 0,
      av_frame_get_buffer(made, 0) >= 0
    else {
      av_frame_free(&frame)
      throw outOfMemory("a block of sound")
    }
    self.frame = made
  }

  /// Makes a frame that holds nothing yet.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  init(empty: Void) throws(RecorderError) {
    guard let frame = av_frame_alloc() else { throw outOfMemory("a block of sound") }
    self.frame = frame
  }

  /// Takes the frame that a decoder filled.
  init(taking frame: UnsafeMutablePointer<AVFrame>) { self.frame = frame }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = frame
    av_frame_free(&frame)
  }

  /// The size in pixels, padding included.
  package var size: PixelSize { PixelSize(width: Int(frame.pointee.width), height: Int(frame.pointee.height)) }
  /// Whether an encoder with `settings` takes it as it is.
  package func fits(_ settings: VideoEncoderSettings) -> Bool {
    size == settings.size && frame.pointee.format == settings.pixelFormat.ffmpeg.rawValue
  }
  /// When a decoder says that it is shown; the session's epoch in a picture that was not decoded.
  package var time: Timestamp {
    Timestamp(nanoseconds: frame.pointee.pts == recorder_no_pts ? 0 : frame.pointee.pts)
  }
  /// Says what it was last rendered with (`RenderHistory`); 0 is unknown.
  var stamp: Int {
    get { Int(bitPattern: frame.pointee.opaque) }
    nonmutating set { frame.pointee.opaque = UnsafeMutableRawPointer(bitPattern: newValue) }
  }
  /// Where the pixels are; nil in a format that this program only decodes.
  var planes: PixelPlanes? { PixelPlanes(frame) }
}
