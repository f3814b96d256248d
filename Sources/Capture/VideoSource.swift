package import SessionModel

/// Where the picture comes from. Used generically on the grab thread, which makes, uses and frees it.
///
/// The loop is `wait`, then `grab`: `wait` reports a change at most once a frame interval, and a change that was not
/// grabbed (because the encoder was busy) stays pending and grows until it is.
package protocol VideoSource: ~Copyable, SendableMetatype {
  /// The picture's size in pixels at the beginning; each frame says its own.
  var size: PixelSize { get }

  /// How it gets its pictures, for the log.
  var facts: [String: String] { get }

  /// Sleeps until a frame is due.
  /// - Parameter deadline: ns of `CLOCK_MONOTONIC` at which to return anyway.
  /// - Throws: `SourceLoss.error` when there is nothing left to record.
  mutating func wait(until deadline: Int64) throws(RecorderError) -> Wake

  /// Brings the kept picture up to date, fetching only what changed, and shows it to `body`.
  /// - Returns: false, without calling `body`, when nothing had changed after all. The first call always shows the
  ///   whole picture.
  /// - Throws: `SourceLoss.error` when there is nothing left to record.
  mutating func grab(_ body: (borrowing GrabbedFrame) -> Void) throws(RecorderError) -> Bool

  /// Makes a frame due at once that shows the whole picture, whether it has changed or not.
  mutating func invalidate()
}

extension VideoSource where Self: ~Copyable {
  package var facts: [String: String] { ["size": "\(size)"] }
}

/// When a screen counts as still.
package enum StillScreen {
  /// Nanoseconds without a change. What no event announces is looked at once a heartbeat from then on, since a recording
  /// of nothing is to cost nothing: a person or a program at work has paused for longer than between two actions.
  package static let after: Int64 = 5_000_000_000
}

/// Why `VideoSource.wait` returned.
package enum Wake: Hashable, Sendable {
  /// Picture or pointer changed, and a frame is due.
  case changed
  /// The deadline came.
  case timedOut
  /// The `WakeSignal` was set; it has been taken back.
  case woken
}

/// One state of the picture. The memory belongs to the source and holds until the call that was given it returns.
package struct GrabbedFrame: ~Copyable {
  /// When the pixels were fetched, in ns of `CLOCK_MONOTONIC`.
  package let time: Int64
  /// The whole picture without the pointer: rows from the top, four bytes a pixel (blue, green, red, undefined).
  package let pixels: UnsafeRawPointer
  /// The picture's size in pixels. When it is another than the last frame's, all of it has changed.
  package let size: PixelSize
  /// Bytes from one row to the next.
  package let bytesPerRow: Int
  /// What changed since the last frame, in picture pixels: at most `GrabPlan.mostRects`, none of them overlapping;
  /// empty when only the pointer moved.
  package let rects: UnsafeBufferPointer<PixelRect>
  /// The pointer, when it is recorded and over the picture.
  package let pointer: PointerState?

  /// Makes a view of a picture; what it points to must outlive it.
  package init(
    time: Int64, pixels: UnsafeRawPointer, size: PixelSize, bytesPerRow: Int, rects: UnsafeBufferPointer<PixelRect>,
    pointer: PointerState?
  ) {
    (self.time, self.pixels, self.size, self.bytesPerRow) = (time, pixels, size, bytesPerRow)
    (self.rects, self.pointer) = (rects, pointer)
  }
}

/// The pointer's shape and place.
package struct PointerState {
  /// Its pixels, row after row without padding: premultiplied ARGB, one native 32-bit word each. The source's memory.
  package let image: UnsafePointer<UInt32>
  /// Pixels across.
  package let width: Int
  /// Pixels down.
  package let height: Int
  /// The image's left edge in picture pixels, the hot spot already applied; may be negative.
  package let x: Int
  /// The image's top edge in picture pixels, the hot spot already applied; may be negative.
  package let y: Int
}
