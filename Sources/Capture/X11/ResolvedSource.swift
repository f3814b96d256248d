package import SessionModel

/// A source that was found on its display: what a `VideoSource` is made of.
package struct ResolvedSource: Hashable, Sendable {
  /// The X display's name, as it was opened.
  package let display: String
  /// What was asked for and what was found.
  package let source: Manifest.Source
  /// The X id of the window that is recorded (with decorations, the window manager's frame); nil for a part of the root.
  package let window: UInt32?
  /// The picture's size, unless another is asked for: the source's, or the whole screen's when the focus is followed.
  package let canvas: PixelSize
  /// The picture's size where it takes that of what is recorded: the active window's when the focus is followed.
  package var ownSize: PixelSize { source.rect.size.recordable }
  /// How many more windows match what was asked for; the topmost is recorded.
  package let otherMatches: Int

  /// What to say when more than one window matches; nil when only one does.
  package var ambiguity: String? {
    guard otherMatches > 0, let window = source.window else { return nil }
    return
      "\(otherMatches + 1) windows match \(source.specification.text); the topmost is recorded, \"\(window.title)\" "
      + "(0x\(String(window.id, radix: 16)))."
  }
}

extension PixelSize {
  /// As much of it as can be recorded, in pixels: a window can be larger.
  var recordable: PixelSize {
    PixelSize(width: min(width, Self.largestSide), height: min(height, Self.largestSide))
  }
}
