import Media
import SessionModel

/// Encodes decoded pictures again: as they are where the encoder takes them, converted where it does not.
struct PictureEncoder: ~Copyable {
  private let settings: VideoEncoderSettings
  private let size: PixelSize
  private var encoder: VideoEncoder
  /// Made when the first picture needs it.
  private var conversion: PictureConversion?

  /// Opens an encoder for pictures of `size` pixels.
  /// - Throws: `RecorderError` (unavailable) when FFmpeg lacks it.
  init(_ options: VideoOptions, size: PixelSize) throws(RecorderError) {
    settings = VideoEncoderSettings(options, picture: size)
    encoder = try VideoEncoder(settings)
    self.size = size
  }

  /// What a container has to know of the encoded stream.
  var stream: StreamDescription { encoder.stream }

  /// Encodes `picture` to be shown at `time` of the file that `writer` writes.
  /// - Parameter duration: how long it is shown, in ns, where nothing comes after it.
  /// - Throws: `RecorderError`: damagedData for a picture smaller than it must be, systemCall when the encoder fails,
  ///   writeFailed.
  mutating func write(
    _ picture: borrowing Picture, at time: Timestamp, isKeyframe: Bool, lasting duration: Int64? = nil,
    to writer: inout ExportWriter
  ) throws(RecorderError) {
    if picture.fits(settings) {
      try encoder.encode(picture, at: time, keyframe: isKeyframe) { packet in
        writer.write(packet, stream: 0, lasting: duration)
      }
    } else {
      if conversion == nil {
        conversion = try PictureConversion(to: encoder.makePicture(), settings: settings, size: size)
      }
      guard var conversion = conversion.take() else { return }
      try conversion.convert(picture)
      try encoder.encode(conversion.target, at: time, keyframe: isKeyframe) { packet in
        writer.write(packet, stream: 0, lasting: duration)
      }
      self.conversion = consume conversion
    }
    try writer.check()
  }
}

/// Turns decoded pictures into one that the encoder takes.
struct PictureConversion: ~Copyable {
  /// The converted picture.
  let target: Picture
  private var converter: PictureConverter
  private var canvas: FrameCanvas
  private let size: PixelSize
  private let pixels: UnsafeMutableRawPointer

  /// Converts pictures of `size` pixels into `target`.
  init(to target: consuming Picture, settings: VideoEncoderSettings, size: PixelSize) throws(RecorderError) {
    let converter = try PictureConverter(crop: size, output: size)
    canvas = try FrameCanvas(source: size, settings: settings, picture: size)
    self.converter = converter
    self.target = target
    self.size = size
    pixels = .allocate(byteCount: size.area * 4, alignment: 4)
  }

  deinit { pixels.deallocate() }

  /// Converts `picture`.
  mutating func convert(_ picture: borrowing Picture) throws(RecorderError) {
    try converter.convert(picture, into: pixels, bytesPerRow: size.width * 4)
    canvas.update(from: pixels, bytesPerRow: size.width * 4, rect: PixelRect(size))
    canvas.render(into: target, pointer: nil)
  }
}
