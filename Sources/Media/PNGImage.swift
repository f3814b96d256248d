internal import CFFmpeg
internal import CYUV
package import SessionModel

/// PNG files of pictures.
package enum PNGImage {
  /// zlib's effort: half the time of its own 6, for files of screens that are 9 % (a terminal) to 17 % (an office desk)
  /// larger, and 13 % smaller where all of it moves (measured at 1920x1080).
  private static let compressionLevel: Int32 = 3

  /// Encodes a picture without loss, tagged as sRGB.
  /// - Parameters:
  ///   - pixels: the first pixel; BGRX, 4 bytes a pixel.
  ///   - bytesPerRow: bytes from one row to the next.
  ///   - size: in pixels.
  /// - Returns: the file's bytes.
  /// - Throws: `RecorderError`: usage for a size that cannot be, unavailable when FFmpeg was built without PNG.
  package static func encode(
    _ pixels: UnsafeRawPointer, bytesPerRow: Int, size: PixelSize
  ) throws(RecorderError) -> [UInt8] {
    _ = ffmpegIsSilent
    let sides = 1...PixelSize.largestSide
    guard sides.contains(size.width), sides.contains(size.height) else {
      throw RecorderError(.usage, "A picture of \(size) pixels cannot be written.")
    }
    guard let codec = avcodec_find_encoder(AV_CODEC_ID_PNG) else {
      throw RecorderError(.unavailable, "FFmpeg has no PNG encoder here.")
    }
    let context = try CodecContext(codec)
    context.pointer.pointee.width = Int32(size.width)
    context.pointer.pointee.height = Int32(size.height)
    context.pointer.pointee.pix_fmt = AV_PIX_FMT_RGB24
    context.pointer.pointee.time_base = nanosecondTicks
    context.pointer.pointee.compression_level = compressionLevel
    let status = avcodec_open2(context.pointer, codec, nil)
    guard status >= 0 else {
      throw RecorderError(.systemCall, "The PNG encoder did not open: \(words(forStatus: status)).")
    }
    let picture = try Picture(format: AV_PIX_FMT_RGB24, size: size)
    picture.frame.pointee.color_primaries = AVCOL_PRI_BT709
    picture.frame.pointee.color_trc = AVCOL_TRC_IEC61966_2_1
    picture.frame.pointee.pts = 0
    // libyuv calls R, G, B in memory "RAW".
    ARGBToRAW(
      pixels.assumingMemoryBound(to: UInt8.self), Int32(bytesPerRow), picture.frame.pointee.data.0,
      picture.frame.pointee.linesize.0, Int32(size.width), Int32(size.height))
    var file: [UInt8] = []
    let received = try Packet()
    try context.encode(picture.frame, received: received) { packet in
      packet.withBytes { file.append(contentsOf: $0) }
    }
    try context.encode(nil, received: received) { packet in packet.withBytes { file.append(contentsOf: $0) } }
    return file
  }
}
