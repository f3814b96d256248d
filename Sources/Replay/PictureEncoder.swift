import Media
import SessionModel

/// Encodes decoded pictures again: as they are where the encoder takes them, converted where it does not. Smaller ones are in
/// the middle of black bars.
struct PictureEncoder: ~Copyable {
  private let settings: VideoEncoderSettings
  private let size: PixelSize
  private var encoder: VideoEncoder
  /// Made when the first picture needs it.
  private var conversion: PictureConversion?

  /// Opens an encoder for pictures of up to `size` pixels.
  /// - Throws: `RecorderError` (unavailable) when FFmpeg lacks it.
  init(_ options: VideoOptions, size: PixelSize) throws(RecorderError) {
    var settings = VideoEncoderSettings(options, picture: size)
    // Nothing waits for its time here: all processors work.
    settings.isPaced = false
    self.settings = settings
    encoder = try VideoEncoder(settings)
    self.size = size
  }

  /// What a container has to know of the encoded stream.
  var stream: StreamDescription { encoder.stream }

  /// Encodes `frame` to be shown at `time` of the file that `writer` writes.
  /// - Parameter duration: how long it is shown, in ns, where nothing comes after it.
  /// - Throws: `RecorderError`: damagedData for a picture smaller than it must be, systemCall when the encoder fails,
  ///   writeFailed.
  mutating func write(
    _ frame: borrowing Frame, at time: Timestamp, isKeyframe: Bool, lasting duration: Int64? = nil,
    to writer: inout some PacketTarget & ~Copyable
  ) throws(RecorderError) {
    if frame.size == size, frame.picture.fits(settings) {
      try encoder.encode(frame.picture, at: time, keyframe: isKeyframe) { packet in
        writer.write(packet, stream: 0, lasting: duration)
      }
    } else {
      if conversion == nil {
        conversion = try PictureConversion(to: encoder.makePicture(), settings: settings, size: size)
      }
      guard var conversion = conversion.take() else { return }
      try conversion.convert(frame)
      try encoder.encode(conversion.target, at: time, keyframe: isKeyframe) { packet in
        writer.write(packet, stream: 0, lasting: duration)
      }
      self.conversion = consume conversion
    }
    try writer.check()
  }
}

extension PictureEncoder {
  /// Encodes black, to be shown at `time` of the file that `writer` writes.
  /// - Throws: `RecorderError`: systemCall when the encoder fails, writeFailed.
  mutating func writeBlack(
    at time: Timestamp, isKeyframe: Bool, to writer: inout some PacketTarget & ~Copyable
  ) throws(RecorderError) {
    let canvas = try FrameCanvas(source: size, settings: settings, picture: size)
    let black = try canvas.makePicture()
    canvas.blacken(black)
    try encoder.encode(black, at: time, keyframe: isKeyframe) { packet in
      writer.write(packet, stream: 0, lasting: nil)
    }
    try writer.check()
  }
}

/// Turns decoded pictures into one that the encoder takes.
struct PictureConversion: ~Copyable {
  /// The converted picture.
  let target: Picture
  private var canvas: FrameCanvas
  private var converter: PictureConverter
  /// Room for the largest.
  private let pixels: UnsafeMutableRawPointer

  /// Converts pictures of up to `size` pixels into `target`.
  init(to target: consuming Picture, settings: VideoEncoderSettings, size: PixelSize) throws(RecorderError) {
    let converter = try PictureConverter(crop: size, output: size)
    canvas = try FrameCanvas(source: size, settings: settings, picture: size)
    self.converter = converter
    self.target = target
    pixels = .allocate(byteCount: size.area * 4, alignment: 4)
  }

  deinit { pixels.deallocate() }

  /// Converts `frame`, whose size may be another than the one before had.
  mutating func convert(_ frame: borrowing Frame) throws(RecorderError) {
    let size = frame.size
    if size != canvas.source {
      converter = try PictureConverter(crop: size, output: size)
      try canvas.setSource(size)
    }
    try converter.convert(frame.picture, into: pixels, bytesPerRow: size.width * 4)
    withUnsafePointer(to: PixelRect(size)) { all in
      canvas.render(
        SourcePixels(pixels, bytesPerRow: size.width * 4), changed: UnsafeBufferPointer(start: all, count: 1),
        pointer: nil,
        into: target)
    }
  }
}
