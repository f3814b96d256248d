internal import CFFmpeg
internal import CYUV
package import SessionModel

/// Turns decoded pictures into BGRX for a window or a file: cropped to the true size, in the colours the stream was
/// tagged with, scaled where that is asked for.
package struct PictureConverter: ~Copyable {
  private let crop: PixelSize
  private let output: PixelSize
  /// The cropped picture before it is scaled; empty when it is not.
  private let unscaled: UnsafeMutableBufferPointer<UInt8>
  /// swscale, for the formats that libyuv lacks; made when one comes.
  private var scaler: OpaquePointer?

  /// Makes a converter.
  /// - Parameters:
  ///   - crop: the true picture in the decoded one's left top corner, in pixels.
  ///   - output: the size to make of it, in pixels.
  /// - Throws: `RecorderError` (usage) for a size that cannot be.
  package init(crop: PixelSize, output: PixelSize) throws(RecorderError) {
    let sides = 1...PixelSize.largestSide
    for size in [crop, output] where !sides.contains(size.width) || !sides.contains(size.height) {
      throw RecorderError(.usage, "A picture of \(size) pixels cannot be made.")
    }
    unscaled = .allocate(capacity: crop == output ? 0 : crop.area * 4)
    (self.crop, self.output) = (crop, output)
  }

  deinit {
    unscaled.deallocate()
    sws_freeContext(scaler)
  }

  /// Converts `picture`.
  /// - Parameters:
  ///   - pixels: room for `output.height` rows.
  ///   - bytesPerRow: bytes from one row to the next, at least four a pixel.
  /// - Throws: `RecorderError` (damagedData) when the picture is smaller than the crop or in no known format.
  package mutating func convert(
    _ picture: borrowing Picture, into pixels: UnsafeMutableRawPointer, bytesPerRow: Int
  ) throws(RecorderError) {
    guard picture.size.width >= crop.width, picture.size.height >= crop.height else {
      throw RecorderError(.damagedData, "A picture of \(crop) pixels is only \(picture.size) in the media file.")
    }
    let target = pixels.assumingMemoryBound(to: UInt8.self)
    guard let start = unscaled.baseAddress, crop != output else {
      return try convert(picture.frame, to: target, bytesPerRow)
    }
    try convert(picture.frame, to: start, crop.width * 4)
    let status = ARGBScale(
      start, Int32(crop.width * 4), Int32(crop.width), Int32(crop.height), target, Int32(bytesPerRow),
      Int32(output.width), Int32(output.height), kFilterBox)
    guard status == 0 else { throw outOfMemory("scaling a picture") }
  }

  private mutating func convert(
    _ frame: UnsafeMutablePointer<AVFrame>, to target: UnsafeMutablePointer<UInt8>, _ bytesPerRow: Int
  ) throws(RecorderError) {
    let (width, height) = (Int32(crop.width), Int32(crop.height))
    let (data, strides) = (frame.pointee.data, frame.pointee.linesize)
    // libyuv's functions differ only in their matrix: I is BT.601 limited, J BT.601 full, H BT.709 limited.
    typealias Function = (
      UnsafePointer<UInt8>?, Int32, UnsafePointer<UInt8>?, Int32, UnsafePointer<UInt8>?, Int32,
      UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
    ) -> Int32
    let function: Function?
    switch (AVPixelFormat(frame.pointee.format), Matrix(frame)) {
    case (AV_PIX_FMT_YUV420P, .limited601): function = I420ToARGB
    case (AV_PIX_FMT_YUVJ420P, .full601), (AV_PIX_FMT_YUV420P, .full601): function = J420ToARGB
    case (AV_PIX_FMT_YUV420P, .limited709): function = H420ToARGB
    case (AV_PIX_FMT_YUV444P, .limited601): function = I444ToARGB
    case (AV_PIX_FMT_YUVJ444P, .full601), (AV_PIX_FMT_YUV444P, .full601): function = J444ToARGB
    case (AV_PIX_FMT_YUV444P, .limited709): function = H444ToARGB
    case (AV_PIX_FMT_GBRP, _):
      MergeARGBPlane(
        data.2, strides.2, data.0, strides.0, data.1, strides.1, nil, 0, target, Int32(bytesPerRow), width, height)
      return
    default: function = nil
    }
    if let function {
      _ = function(
        data.0, strides.0, data.1, strides.1, data.2, strides.2, target, Int32(bytesPerRow), width, height)
    } else {
      try scale(frame, to: target, bytesPerRow)
    }
  }

  /// What swscale does: every format that a decoder can deliver.
  private mutating func scale(
    _ frame: UnsafeMutablePointer<AVFrame>, to target: UnsafeMutablePointer<UInt8>, _ bytesPerRow: Int
  ) throws(RecorderError) {
    let (width, height) = (Int32(crop.width), Int32(crop.height))
    scaler = sws_getCachedContext(
      scaler, width, height, AVPixelFormat(frame.pointee.format), width, height, AV_PIX_FMT_BGR0,
      SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, nil, nil, nil)
    guard let scaler else {
      throw RecorderError(.damagedData, "The media file's pixel format \(frame.pointee.format) is not known.")
    }
    let full: Int32 = frame.pointee.color_range == AVCOL_RANGE_JPEG ? 1 : 0
    // 1 << 16 is 1.0: brightness, contrast and saturation stay.
    sws_setColorspaceDetails(
      scaler, sws_getCoefficients(Int32(frame.pointee.colorspace.rawValue)), full,
      sws_getCoefficients(SWS_CS_DEFAULT), 1, 0, 1 << 16, 1 << 16)
    var output: [UnsafeMutablePointer<UInt8>?] = [target, nil, nil, nil]
    let data = frame.pointee.data
    let source: [UnsafePointer<UInt8>?] = [data.0, data.1, data.2, data.3].map { $0.map { UnsafePointer($0) } }
    let lines = frame.pointee.linesize
    let rows = sws_scale(
      scaler, source, [lines.0, lines.1, lines.2, lines.3], 0, height, &output, [Int32(bytesPerRow), 0, 0, 0])
    guard rows == height else { throw RecorderError(.damagedData, "A picture could not be converted.") }
  }

  /// How YUV stands for RGB.
  private enum Matrix {
    case limited601, full601, limited709, other

    /// As the frame is tagged; an untagged one is taken as BT.601, as libswscale does.
    init(_ frame: UnsafeMutablePointer<AVFrame>) {
      let full = frame.pointee.color_range == AVCOL_RANGE_JPEG
      switch frame.pointee.colorspace {
      case AVCOL_SPC_SMPTE170M, AVCOL_SPC_BT470BG, AVCOL_SPC_UNSPECIFIED: self = full ? .full601 : .limited601
      case AVCOL_SPC_BT709: self = full ? .other : .limited709
      default: self = .other
      }
    }
  }
}
