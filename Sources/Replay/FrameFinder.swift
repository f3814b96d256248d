import Media
package import SessionModel

/// A picture of a session as it was on the screen.
package struct StillPicture: Sendable {
  /// When it appeared.
  package let time: Timestamp
  /// Its true size in pixels.
  package let size: PixelSize
  /// Its pixels, 4 bytes each: blue, green, red, unused; rows follow one another without a gap.
  package let pixels: [UInt8]

  /// The picture as a PNG file.
  /// - Throws: `RecorderError` (unavailable) when FFmpeg was built without PNG.
  package func png() throws(RecorderError) -> [UInt8] {
    var failure: RecorderError?
    let file = pixels.withUnsafeBytes { bytes -> [UInt8] in
      guard let start = bytes.baseAddress else { return [] }
      do throws(RecorderError) { return try PNGImage.encode(start, bytesPerRow: size.width * 4, size: size) } catch {
        failure = error
        return []
      }
    }
    if let failure { throw failure }
    return file
  }
}

/// Finds what was on the screen at a moment.
package struct FrameFinder: ~Copyable {
  private var cursor: VideoCursor

  /// Makes a finder in `timeline`.
  package init(_ timeline: Timeline) { cursor = VideoCursor(timeline) }

  /// The picture at `time`: the last that appeared at or before it, which stands until the next one or the session's
  /// end, or the first of all.
  /// - Throws: `RecorderError` (damagedData) when no picture can be decoded there.
  package mutating func picture(at time: Timestamp) throws(RecorderError) -> StillPicture {
    let moment = try cursor.moment(at: time)
    let size = moment.current.size
    var converter = try PictureConverter(crop: size, output: size)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size.area * 4, alignment: 4)
    defer { buffer.deallocate() }
    if let start = buffer.baseAddress {
      try converter.convert(moment.current.picture, into: start, bytesPerRow: size.width * 4)
    }
    return StillPicture(time: moment.current.time, size: size, pixels: Array(buffer))
  }
}
