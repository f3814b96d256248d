internal import CYUV
package import SessionModel

/// Turns the source's pixels into pictures in the encoder's format, converting only what changed.
///
/// A picture that differs from the source in size holds it scaled down, or up where that is asked for, its aspect ratio kept,
/// in the middle of black bars.
package struct FrameCanvas: ~Copyable {
  /// The source's size, in pixels.
  package private(set) var source: PixelSize
  private let picture: PixelSize
  private let enlarges: Bool
  private let settings: VideoEncoderSettings
  /// Where the source is inside the picture, in pixels; its corner is even.
  private var content: PixelRect
  /// The source as it is, in the encoder's format and without the pointer, where it has to be scaled; nil where it is
  /// converted into its place at once.
  private var clean: Picture?
  private var patch: PointerPatch
  private var history = RenderHistory()

  /// Makes a canvas.
  /// - Parameters:
  ///   - source: the size of what `render` is given, in pixels.
  ///   - settings: those of the encoder whose pictures are rendered.
  ///   - picture: the true picture inside the encoded one, in pixels.
  ///   - enlarges: whether a smaller source is scaled up to fill the picture.
  /// - Throws: `RecorderError`: usage for a size that cannot be, systemCall when no memory is left.
  package init(
    source: PixelSize, settings: VideoEncoderSettings, picture: PixelSize, enlarges: Bool = false
  ) throws(RecorderError) {
    let sides = 1...PixelSize.largestSide
    for size in [source, picture, settings.size]
    where !sides.contains(size.width) || !sides.contains(size.height) {
      throw RecorderError(.usage, "A picture of \(size) pixels cannot be recorded.")
    }
    guard picture.width <= settings.size.width, picture.height <= settings.size.height else {
      throw RecorderError(
        .brokenInvariant, "A picture of \(picture) pixels does not fit into an encoded one of \(settings.size).")
    }
    let content = Self.place(of: source, in: picture, enlarges)
    clean = try Self.clean(source, scaledTo: content, settings)
    self.content = content
    patch = PointerPatch()
    (self.source, self.picture, self.enlarges, self.settings) = (source, picture, enlarges, settings)
  }

  /// A black picture of the source; nil where none is needed.
  private static func clean(
    _ source: PixelSize, scaledTo content: PixelRect, _ settings: VideoEncoderSettings
  ) throws(RecorderError) -> Picture? {
    if content.size == source { return nil }
    let picture = try Picture(format: settings.pixelFormat.ffmpeg, size: source.paddedToEven)
    guard let planes = picture.planes else { throw outOfMemory("a canvas") }
    planes.fillBlack(source.paddedToEven)
    return picture
  }

  private static func place(of source: PixelSize, in picture: PixelSize, _ enlarges: Bool) -> PixelRect {
    let fitted = enlarges ? source.filling(picture) : source.fitted(into: picture)
    return PixelRect(
      x: (picture.width - fitted.width) / 2 & ~1, y: (picture.height - fitted.height) / 2 & ~1, width: fitted.width,
      height: fitted.height)
  }

  /// Makes the canvas ready for a source of another size, all of which has changed; the picture keeps its own.
  /// - Throws: `RecorderError` (systemCall) when no memory is left; the canvas is as it was then.
  package mutating func setSource(_ size: PixelSize) throws(RecorderError) {
    let content = Self.place(of: size, in: picture, enlarges)
    clean = try Self.clean(size, scaledTo: content, settings)
    (source, self.content) = (size, content)
    history = RenderHistory()
  }

  /// Makes a picture that `render` fills.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  package func makePicture() throws(RecorderError) -> Picture {
    try Picture(format: settings.pixelFormat.ffmpeg, size: settings.size)
  }

  /// Whether `render` fills `picture` as it is.
  package func takes(_ picture: borrowing Picture) -> Bool { picture.fits(settings) }

  /// Makes all of `target` black.
  package func blacken(_ target: borrowing Picture) { target.planes?.fillBlack(target.size) }

  /// Brings `target` up to date: converts what of the source changed since it was last rendered, scales where sizes differ,
  /// and draws the pointer over it.
  /// - Parameters:
  ///   - pixels: the source as it is now, all of it.
  ///   - parts: what of it changed since the last picture, in its pixels. Each is widened to whole 2x2 blocks and clipped.
  ///   - pointer: the pointer over it; nil draws none.
  ///   - target: one of the encoder's pictures.
  package mutating func render(
    _ pixels: SourcePixels, changed parts: UnsafeBufferPointer<PixelRect>, pointer: PointerOverlay?,
    into target: borrowing Picture
  ) {
    guard let output = target.planes, output.format == settings.pixelFormat, target.size == settings.size else {
      preconditionFailure("the picture is another encoder's")
    }
    let inside = output.at(x: content.x, y: content.y)
    let blended = pointer.flatMap { overlay in patch.blend(overlay, over: pixels, of: source) }
    if let clean = clean?.planes {
      for part in parts { convert(pixels, blocks(of: part), to: clean) }
      // Drawn into the clean one for the time of the scaling, then taken off again.
      if let blended { patch.convert(to: clean, rect: blended) }
      if content.size != picture { output.fillBlack(settings.size) }
      clean.scale(source, to: content.size, of: inside)
      if let blended { convert(pixels, blended, to: clean) }
    } else {
      for part in parts { history.note(blocks(of: part)) }
      if let parts = history.parts(since: target.stamp) {
        for part in parts { convert(pixels, part, to: inside) }
      } else {
        if content.size != picture { output.fillBlack(settings.size) }
        convert(pixels, PixelRect(source), to: inside)
      }
      if let blended { patch.convert(to: inside, rect: blended) }
      target.stamp = history.close(pointer: blended)
    }
    output.repeatEdge(of: picture, to: settings.size)
  }

  /// The whole 2x2 blocks of the source that hold `part`.
  private func blocks(of part: PixelRect) -> PixelRect {
    part.intersection(PixelRect(source)).alignedToEven.intersection(PixelRect(source))
  }

  private func convert(_ pixels: SourcePixels, _ rect: PixelRect, to planes: PixelPlanes) {
    if rect.isEmpty { return }
    planes.at(x: rect.x, y: rect.y).convert(
      from: pixels.at(x: rect.x, y: rect.y), bytesPerRow: pixels.bytesPerRow, size: rect.size)
  }
}

/// The source's pixels, borrowed for the call that they are given to.
package struct SourcePixels {
  private let start: UnsafePointer<UInt8>
  /// Bytes from one row to the next.
  package let bytesPerRow: Int

  /// - Parameters:
  ///   - start: the first pixel; BGRX, 4 bytes a pixel.
  ///   - bytesPerRow: bytes from one row to the next.
  package init(_ start: UnsafeRawPointer, bytesPerRow: Int) {
    (self.start, self.bytesPerRow) = (start.assumingMemoryBound(to: UInt8.self), bytesPerRow)
  }

  /// The pixel (`x`, `y`).
  func at(x: Int, y: Int) -> UnsafePointer<UInt8> { start + y * bytesPerRow + x * 4 }
}

/// The few pixels under the pointer, with the pointer drawn over them.
// Not private: Swift 6.3.1 names a private noncopyable type in the code of other modules when it optimises, and the release
// build then fails to link.
struct PointerPatch: ~Copyable {
  private var pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: 4 * 66 * 66)
  /// Pixels that fit: a pointer of 64x64, the usual large one, widened to whole 2x2 blocks.
  private var capacity = 66 * 66

  deinit { pixels.deallocate() }

  /// Draws `overlay` over the clean pixels below it; allocates only when it is larger than all before.
  /// - Returns: the part of the source that is now in the patch, in whole 2x2 blocks; nil when the pointer is outside.
  mutating func blend(_ overlay: PointerOverlay, over source: SourcePixels, of size: PixelSize) -> PixelRect? {
    let place = PixelRect(x: overlay.x, y: overlay.y, width: overlay.width, height: overlay.height)
    let visible = place.intersection(PixelRect(size))
    guard !visible.isEmpty else { return nil }
    let rect = visible.alignedToEven.intersection(PixelRect(size))
    if rect.area > capacity {
      pixels.deallocate()
      (pixels, capacity) = (.allocate(capacity: 4 * rect.area), rect.area)
    }
    let stride = Int32(4 * rect.width)
    ARGBCopy(
      source.at(x: rect.x, y: rect.y), Int32(source.bytesPerRow), pixels, stride, Int32(rect.width), Int32(rect.height))
    let image = overlay.image + (visible.y - overlay.y) * overlay.width + (visible.x - overlay.x)
    let below = pixels + ((visible.y - rect.y) * rect.width + (visible.x - rect.x)) * 4
    image.withMemoryRebound(to: UInt8.self, capacity: 4) { image in
      _ = ARGBBlend(
        image, Int32(4 * overlay.width), below, stride, below, stride, Int32(visible.width), Int32(visible.height))
    }
    return rect
  }

  /// Converts the patch to its place `rect` in `planes`.
  func convert(to planes: PixelPlanes, rect: PixelRect) {
    planes.at(x: rect.x, y: rect.y).convert(from: pixels, bytesPerRow: 4 * rect.width, size: rect.size)
  }
}
