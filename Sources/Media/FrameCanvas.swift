internal import CYUV
package import SessionModel

/// The kept picture of the source in the encoder's format, updated where the source changed.
///
/// A picture that differs from the source in size holds it scaled down, or up where that is asked for, its aspect ratio kept,
/// in the middle of black bars.
package struct FrameCanvas: ~Copyable {
  /// The size of what `update` is given, in pixels.
  package private(set) var source: PixelSize
  private let picture: PixelSize
  private let enlarges: Bool
  private let settings: VideoEncoderSettings
  /// Where the source is inside the picture, in pixels; its corner is even.
  private var content: PixelRect
  /// The source as it is, in the encoder's format; without the pointer.
  private var clean: Picture
  private var planes: PixelPlanes
  private var patch: PointerPatch
  private var history = RenderHistory()

  /// Makes a black canvas.
  /// - Parameters:
  ///   - source: the size of what `update` is given, in pixels.
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
    let clean = try Self.black(source, settings)
    guard let planes = clean.planes else { throw outOfMemory("a canvas") }
    self.planes = planes
    self.clean = clean
    content = Self.place(of: source, in: picture, enlarges)
    patch = PointerPatch()
    (self.source, self.picture, self.enlarges, self.settings) = (source, picture, enlarges, settings)
  }

  private static func black(
    _ size: PixelSize, _ settings: VideoEncoderSettings
  ) throws(RecorderError) -> Picture {
    let picture = try Picture(format: settings.pixelFormat.ffmpeg, size: size.paddedToEven)
    picture.planes?.fillBlack(size.paddedToEven)
    return picture
  }

  private static func place(of source: PixelSize, in picture: PixelSize, _ enlarges: Bool) -> PixelRect {
    let fitted = enlarges ? source.filling(picture) : source.fitted(into: picture)
    return PixelRect(
      x: (picture.width - fitted.width) / 2 & ~1, y: (picture.height - fitted.height) / 2 & ~1, width: fitted.width,
      height: fitted.height)
  }

  /// Makes the canvas black and ready for a source of another size; the picture keeps its own.
  /// - Throws: `RecorderError` (systemCall) when no memory is left; the canvas is as it was then.
  package mutating func setSource(_ size: PixelSize) throws(RecorderError) {
    let black = try Self.black(size, settings)
    guard let planes = black.planes else { throw outOfMemory("a canvas") }
    clean = black
    self.planes = planes
    history = RenderHistory()
    (source, content) = (size, Self.place(of: size, in: picture, enlarges))
  }

  /// Makes a picture that `render` fills.
  /// - Throws: `RecorderError` (systemCall) when no memory is left.
  package func makePicture() throws(RecorderError) -> Picture {
    try Picture(format: settings.pixelFormat.ffmpeg, size: settings.size)
  }

  /// Whether `render` fills `picture` as it is.
  package func takes(_ picture: borrowing Picture) -> Bool { picture.fits(settings) }

  /// Converts what changed. The part is widened to whole 2x2 blocks and clipped to the source.
  /// - Parameters:
  ///   - pixels: the source's first pixel; BGRX, 4 bytes a pixel.
  ///   - bytesPerRow: bytes from one row to the next.
  ///   - rect: what changed, in pixels of the source.
  package mutating func update(from pixels: UnsafeRawPointer, bytesPerRow: Int, rect: PixelRect) {
    let rect = rect.intersection(PixelRect(source)).alignedToEven.intersection(PixelRect(source))
    guard !rect.isEmpty else { return }
    let start = pixels.assumingMemoryBound(to: UInt8.self) + rect.y * bytesPerRow + rect.x * 4
    planes.at(x: rect.x, y: rect.y).convert(from: start, bytesPerRow: bytesPerRow, size: rect.size)
    history.note(rect)
  }

  /// Copies the canvas into `picture`, scaled where sizes differ, with the pointer over it; the canvas stays clean. What the
  /// picture holds already, of an earlier time, is left as it is.
  /// - Parameters:
  ///   - target: one of the encoder's pictures.
  ///   - pointer: the pointer over the source as it was last updated; nil draws none.
  package mutating func render(into target: borrowing Picture, pointer: PointerOverlay?) {
    guard let output = target.planes, output.format == planes.format, target.size == settings.size else {
      preconditionFailure("the picture is another encoder's")
    }
    let inside = output.at(x: content.x, y: content.y)
    let blended = pointer.flatMap { overlay in patch.blend(overlay, source: source) }
    if content.size == source {
      if let parts = history.parts(since: target.stamp) {
        for part in parts { planes.at(x: part.x, y: part.y).copy(to: inside.at(x: part.x, y: part.y), size: part.size) }
      } else {
        if content.size != picture { output.fillBlack(settings.size) }
        planes.copy(to: inside, size: source)
      }
      if let blended { patch.convert(to: inside, rect: blended) }
    } else {
      if content.size != picture { output.fillBlack(settings.size) }
      // Drawn into the canvas for the time of the scaling, then taken off again.
      if let blended { patch.convert(to: planes, rect: blended) }
      planes.scale(source, to: content.size, of: inside)
      if let blended, let pointer {
        update(from: pointer.pixels, bytesPerRow: pointer.bytesPerRow, rect: blended)
      }
    }
    output.repeatEdge(of: picture, to: settings.size)
    target.stamp = history.close(pointer: blended)
  }
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
  mutating func blend(_ overlay: PointerOverlay, source: PixelSize) -> PixelRect? {
    let place = PixelRect(x: overlay.x, y: overlay.y, width: overlay.width, height: overlay.height)
    let visible = place.intersection(PixelRect(source))
    guard !visible.isEmpty else { return nil }
    let rect = visible.alignedToEven.intersection(PixelRect(source))
    if rect.area > capacity {
      pixels.deallocate()
      (pixels, capacity) = (.allocate(capacity: 4 * rect.area), rect.area)
    }
    let clean =
      overlay.pixels.assumingMemoryBound(to: UInt8.self) + rect.y * overlay.bytesPerRow + rect.x * 4
    let stride = Int32(4 * rect.width)
    ARGBCopy(clean, Int32(overlay.bytesPerRow), pixels, stride, Int32(rect.width), Int32(rect.height))
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
