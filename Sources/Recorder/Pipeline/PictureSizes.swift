internal import Media
import SessionModel
import Synchronization

/// The size of the recorded picture, as the grab and the encode thread agree on it. It changes only where the picture takes
/// the source's size: the grab thread wishes for one, the encode thread has an encoder for it or not, and only then do
/// pictures of that size come. So a size that no encoder takes costs nothing but a warning.
final class PictureSizes: Sendable {
  private struct State {
    /// The size of the pictures that the grab thread makes: the true one, in pixels.
    var current: PixelSize
    var wish: PixelSize?
    /// What no encoder was found for: it is not wished for again.
    var refused: PixelSize?
  }

  /// Whether the picture takes the source's size when that has changed.
  let follows: Bool
  private let state: Mutex<State>
  private let warn: @Sendable (RecorderError) -> Void

  /// - Parameters:
  ///   - size: the picture's true size at first, in pixels.
  ///   - warn: told, on the encode thread, why the picture does not take a size.
  init(_ size: PixelSize, follows: Bool = false, warn: @escaping @Sendable (RecorderError) -> Void = { _ in }) {
    state = Mutex(State(current: size))
    (self.follows, self.warn) = (follows, warn)
  }

  /// The size in which pictures are to be made, in pixels.
  var current: PixelSize { state.withLock { $0.current } }

  /// Has an encoder for `size` (pixels) looked for.
  /// - Returns: false when that is known to be in vain.
  func wish(for size: PixelSize) -> Bool {
    state.withLock { state in
      guard size != state.current, size != state.refused else { return false }
      state.wish = size
      return true
    }
  }

  /// The size that an encoder is to be found for; nil when there is none.
  func takeWish() -> PixelSize? {
    state.withLock { state in
      defer { state.wish = nil }
      return state.wish
    }
  }

  /// Pictures of `size` (pixels) are taken from now on.
  func accept(_ size: PixelSize) { state.withLock { $0.current = size } }

  /// There is no encoder for `size`, because of `error`: the picture stays as it is.
  func refuse(_ size: PixelSize, _ error: RecorderError) {
    state.withLock { $0.refused = size }
    warn(error)
  }
}

/// Says when a source of another size than its picture's is to have pictures of that size: when it has kept it for half a
/// second, since a window that is dragged takes a size a frame. Pure.
struct SizeWatch {
  /// Nanoseconds that a size stays before it counts: longer than the pauses of a hand that drags a window's edge.
  static let patience: Int64 = 500_000_000

  private var size: PixelSize?
  /// When `size` will have stayed long enough, in monotonic ns; `.max` while there is nothing to wait for.
  private(set) var due = Int64.max

  /// Takes the size of the source and of the picture as they are at `time` (monotonic ns).
  mutating func note(source: PixelSize, picture: PixelSize, at time: Int64) {
    guard source != size || source == picture else { return }
    (size, due) = source == picture ? (nil, .max) : (source, time + Self.patience)
  }

  /// The size that has stayed long enough at `time` (monotonic ns); said once.
  mutating func settled(at time: Int64) -> PixelSize? {
    guard time >= due else { return nil }
    due = .max
    return size
  }
}

/// What the encoder makes of the picture as long as that keeps its size: what a media file has to know of it.
final class PictureFormat: Sendable {
  /// The true size, in pixels.
  let size: PixelSize
  /// The encoded stream.
  let stream: StreamDescription

  init(size: PixelSize, stream: StreamDescription) { (self.size, self.stream) = (size, stream) }
}
