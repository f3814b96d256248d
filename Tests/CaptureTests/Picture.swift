import Capture
import SessionModel
import TestSupport
import Threading

/// A copy of one grabbed frame.
struct Picture: Hashable {
  var size: PixelSize
  /// 0xRRGGBB, row after row.
  var pixels: [UInt32]
  /// What was said to have changed.
  var rects: [PixelRect]
  var time: Int64
  var pointer: Pointer?

  struct Pointer: Hashable {
    var rect: PixelRect
    /// Premultiplied ARGB.
    var image: [UInt32]
  }

  init(_ frame: borrowing GrabbedFrame) {
    let size = frame.size
    self.size = size
    let (base, bytesPerRow) = (frame.pixels, frame.bytesPerRow)
    pixels = (0..<size.area).map { index in
      let offset = index / size.width * bytesPerRow + index % size.width * 4
      return base.load(fromByteOffset: offset, as: UInt32.self) & 0xFF_FFFF
    }
    rects = Array(frame.rects)
    time = frame.time
    pointer = frame.pointer.map { pointer in
      let image = UnsafeBufferPointer(start: pointer.image, count: pointer.width * pointer.height)
      return Pointer(
        rect: PixelRect(x: pointer.x, y: pointer.y, width: pointer.width, height: pointer.height), image: Array(image))
    }
  }

  subscript(x: Int, y: Int) -> UInt32 { pixels[y * size.width + x] }

  /// The colours inside `rect`.
  func colors(in rect: PixelRect) -> Set<UInt32> {
    var found: Set<UInt32> = []
    for y in rect.y..<rect.maxY { for x in rect.x..<rect.maxX { found.insert(self[x, y]) } }
    return found
  }
}

/// A source as the grab thread uses it.
struct Grabber: ~Copyable {
  static let interval: Int64 = 5_000_000

  var source: X11VideoSource
  /// Held: an Xvfb (21.1) without XFIXES aborts when a client goes.
  private let resolver: SourceResolver
  let wake: WakeSignal

  init(
    _ specification: SourceSpecification, on display: VirtualDisplay, through name: String? = nil, cursor: Bool = false,
    decorations: Bool = false, _ adjust: (inout X11SourceOptions) -> Void = { _ in }
  ) throws {
    let wake = try WakeSignal()
    var options = X11SourceOptions(cursor: cursor, frameInterval: Self.interval, wake: wake)
    adjust(&options)
    let resolver = try SourceResolver(display: name ?? display.name)
    let resolved = try resolver.resolve(
      specification, decorations: decorations, exclusions: options.exclusions)
    let source = try X11VideoSource(resolved, options)
    self.wake = wake
    self.source = source
    self.resolver = resolver
  }

  /// Waits for a change and grabs it; nil when nothing had changed after all.
  mutating func next(seconds: Double = 10) throws -> Picture? {
    guard try source.wait(until: MonotonicClock.now() + Int64(seconds * 1e9)) == .changed else {
      throw TestFailure("no change came")
    }
    var picture: Picture?
    let isNew = try source.grab { picture = Picture($0) }
    guard isNew == (picture != nil) else { throw TestFailure("grab returned \(isNew)") }
    return picture
  }

  /// Grabs once when something changed within a moment; nil when there is no new frame.
  mutating func poll() throws -> Picture? {
    guard try source.wait(until: MonotonicClock.now() + 100_000_000) == .changed else { return nil }
    var picture: Picture?
    _ = try source.grab { picture = Picture($0) }
    return picture
  }

  /// Grabs until a frame meets `condition`, and returns that.
  mutating func next(_ what: String, where condition: (Picture) -> Bool) throws -> Picture {
    var last: Picture?
    for _ in 0..<2000 {
      do {
        guard let picture = try next() else { continue }
        if condition(picture) { return picture }
        last = picture
      } catch { throw TestFailure("\(error) while waiting for \(what); last \(String(describing: last?.rects))") }
    }
    throw TestFailure("2000 frames without \(what)")
  }

  /// How often the thread is woken for a frame within `seconds`, whether it finds one or not.
  mutating func wakes(within seconds: Double) throws -> Int {
    let deadline = MonotonicClock.now() + Int64(seconds * 1e9)
    var count = 0
    while try source.wait(until: deadline) == .changed {
      _ = try source.grab({ _ in })
      count += 1
    }
    return count
  }
}
