internal import CYUV
package import SessionModel

/// How a visual's pixels lie in memory, and how they become blue, green, red and one more byte.
package struct PixelLayout: Hashable, Sendable {
  /// What decides about a visual's pixels.
  package struct Description: Hashable, Sendable {
    /// The visual's id.
    package var id: UInt32
    /// Bits that count.
    package var depth: Int
    /// Bits that a pixel takes in an image.
    package var bitsPerPixel: Int
    /// Bits that a row is padded to.
    package var rowPadding: Int
    /// Whether the lowest byte of a pixel comes first.
    package var isLittleEndian: Bool
    /// Whether pixels are numbers of a colour map's cells.
    package var isIndexed: Bool
    /// The bits of red, green and blue.
    package var masks: [UInt32]

    /// Describes a visual.
    package init(
      id: UInt32, depth: Int, bitsPerPixel: Int, rowPadding: Int, isLittleEndian: Bool, isIndexed: Bool, masks: [UInt32]
    ) {
      (self.id, self.depth, self.bitsPerPixel, self.rowPadding) = (id, depth, bitsPerPixel, rowPadding)
      (self.isLittleEndian, self.isIndexed, self.masks) = (isLittleEndian, isIndexed, masks)
    }
  }

  private enum Encoding: Hashable { case eight, ten, packed565, packed555, indexed }

  private let encoding: Encoding
  private let bytesPerPixel: Int
  private let rowPadding: Int
  private let isLittleEndian: Bool
  /// Whether blue has the highest bits.
  private let isBlueFirst: Bool

  /// The layout of `visual`.
  /// - Throws: `RecorderError` (unavailable) that names a visual whose pixels are not known: none are guessed.
  package init(_ visual: Description) throws(RecorderError) {
    // Red's, green's and blue's masks by encoding, red highest.
    let known: [(encoding: Encoding, bits: [Int], masks: [UInt32])] = [
      (.eight, [24, 32], [0xFF_0000, 0xFF00, 0xFF]), (.ten, [32], [0x3FF0_0000, 0xF_FC00, 0x3FF]),
      (.packed565, [16], [0xF800, 0x7E0, 0x1F]), (.packed555, [16], [0x7C00, 0x3E0, 0x1F]),
    ]
    let match = known.first {
      $0.bits.contains(visual.bitsPerPixel) && ($0.masks == visual.masks || $0.masks.reversed() == visual.masks)
    }
    let isPalette = visual.isIndexed && visual.bitsPerPixel == 8 && visual.depth <= 8
    guard visual.rowPadding % 8 == 0, (8...32).contains(visual.rowPadding),
      isPalette || (match != nil && !visual.isIndexed)
    else { throw Self.unknown(visual) }
    encoding = match.map(\.encoding) ?? .indexed
    isBlueFirst = match.map { $0.masks != visual.masks } ?? false
    (bytesPerPixel, rowPadding) = (visual.bitsPerPixel / 8, visual.rowPadding / 8)
    isLittleEndian = visual.isLittleEndian
  }

  private static func unknown(_ visual: Description) -> RecorderError {
    let masks = visual.masks.map { String($0, radix: 16) }.joined(separator: "/")
    return RecorderError(
      .unavailable,
      "Pixels of the visual 0x\(String(visual.id, radix: 16)) (depth \(visual.depth), \(visual.bitsPerPixel) bits a pixel, "
        + "\(visual.isIndexed ? "colour map" : "masks \(masks)")\(visual.isLittleEndian ? "" : ", big-endian")) "
        + "cannot be recorded.",
      hint: "Run the X server at depth 24.")
  }

  /// Whether pixels are as they have to be already.
  package var isDirect: Bool { encoding == .eight && bytesPerPixel == 4 && isLittleEndian && !isBlueFirst }
  /// Whether a palette is needed.
  package var isIndexed: Bool { encoding == .indexed }

  /// Bytes that a row of `width` pixels takes in an image; at most four a pixel.
  package func bytesPerRow(_ width: Int) -> Int {
    (width * bytesPerPixel + rowPadding - 1) / rowPadding * rowPadding
  }

  /// Converts `size` pixels to blue, green, red and one more byte. Bytes of the wrong order are turned in place first.
  /// - Parameters:
  ///   - pixels: rows of `bytesPerRow(size.width)` bytes, which are written to.
  ///   - target: where to, rows of `targetStride` bytes.
  ///   - palette: 256 words of blue, green, red, 0; used when `isIndexed`.
  package func unpack(
    _ pixels: UnsafeMutableRawPointer, size: PixelSize, to target: UnsafeMutableRawPointer, targetStride: Int,
    palette: UnsafePointer<UInt32>
  ) {
    let stride = bytesPerRow(size.width)
    let source = pixels.assumingMemoryBound(to: UInt8.self)
    let output = target.assumingMemoryBound(to: UInt8.self)
    let (from, to, width, height) = (Int32(stride), Int32(targetStride), Int32(size.width), Int32(size.height))
    func convert(
      _ body: (
        UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32
      ) -> Int32
    ) { _ = body(source, from, output, to, width, height) }
    switch encoding {
    // libyuv names bytes from the highest: its "ARGB" is blue, green, red, alpha in memory.
    case .eight where bytesPerPixel == 3: convert(isLittleEndian != isBlueFirst ? RGB24ToARGB : RAWToARGB)
    case .eight:
      switch (isLittleEndian, isBlueFirst) {
      case (true, false): convert(ARGBCopy)
      case (true, true): convert(ABGRToARGB)
      case (false, false): convert(BGRAToARGB)
      case (false, true): convert(RGBAToARGB)
      }
    case .ten:
      if !isLittleEndian { _ = BGRAToARGB(source, from, source, from, width, height) }
      convert(isBlueFirst ? AR30ToABGR : AR30ToARGB)
    case .packed565, .packed555:
      if !isLittleEndian { swapPairs(pixels, bytes: stride * size.height) }
      convert(encoding == .packed565 ? RGB565ToARGB : ARGB1555ToARGB)
      if isBlueFirst { _ = ABGRToARGB(output, to, output, to, width, height) }
    case .indexed:
      for row in 0..<size.height {
        let line = (target + row * targetStride).assumingMemoryBound(to: UInt32.self)
        for column in 0..<size.width { line[column] = palette[Int(source[row * stride + column])] }
      }
    }
  }

  private func swapPairs(_ pixels: UnsafeMutableRawPointer, bytes: Int) {
    let words = pixels.assumingMemoryBound(to: UInt16.self)
    for index in 0..<bytes / 2 { words[index] = words[index].byteSwapped }
  }
}
