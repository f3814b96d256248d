internal import CXCB
import SessionModel

/// A child of the root, as those see it who must not show it: a window, or a window manager's frame around one.
struct RootChild {
  /// To the outer edge of its border, in pixels of the root.
  var rect: PixelRect
  /// Whether it is on the screen.
  var isMapped: Bool
  /// Whether it is excluded; nil until its windows were looked at, and is taken for yes until then.
  var isExcluded: Bool?
  /// The excluded windows in it.
  var clients: Set<xcb_window_t> = []

  init(rect: PixelRect, isMapped: Bool) { (self.rect, self.isMapped) = (rect, isMapped) }

  /// One that is as `state` says.
  init(_ state: XConnection.WindowState) {
    let (rect, border) = (state.rect, state.border)
    self.rect = PixelRect(
      x: rect.x - border, y: rect.y - border, width: rect.width + 2 * border, height: rect.height + 2 * border)
    isMapped = state.isViewable
  }

  /// What a window covers whose event says this of its inner place and its border, in pixels.
  static func outer(_ x: Int16, _ y: Int16, _ width: UInt16, _ height: UInt16, _ border: UInt16) -> PixelRect {
    PixelRect(x: Int(x), y: Int(y), width: Int(width) + 2 * Int(border), height: Int(height) + 2 * Int(border))
  }
}
