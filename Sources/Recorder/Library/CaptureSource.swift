package import SessionModel

/// What a screen share takes its picture from.
public struct CaptureSource: Hashable, Sendable, CustomStringConvertible {
  package let specification: SourceSpecification
  /// The display it is on; nil is the one that $DISPLAY names.
  package let display: String?

  package init(_ specification: SourceSpecification, display: String?) {
    (self.specification, self.display) = (specification, display)
  }

  /// The whole of the display that $DISPLAY names.
  public static let mainDisplay = CaptureSource(.display, display: nil)

  /// The whole of the display `name`, as `:1`.
  public static func display(_ name: String) -> CaptureSource { CaptureSource(.display, display: name) }

  /// One monitor, by the name that ``CaptureSources/Monitor/name`` gives, as `HDMI-1`.
  /// - Parameters:
  ///   - name: its name.
  ///   - display: the display it belongs to; nil is the one that $DISPLAY names.
  public static func monitor(_ name: String, on display: String? = nil) -> CaptureSource {
    CaptureSource(.monitor(name: name), display: display)
  }

  /// One window, by the number that ``CaptureSources/Window/id`` gives.
  /// - Parameters:
  ///   - id: its number.
  ///   - display: the display it is on; nil is the one that $DISPLAY names.
  public static func window(_ id: UInt32, on display: String? = nil) -> CaptureSource {
    CaptureSource(.window(.id(id)), display: display)
  }

  /// The topmost window whose title contains `text`, in any case.
  /// - Parameters:
  ///   - text: a part of its title.
  ///   - display: the display it is on; nil is the one that $DISPLAY names.
  public static func window(titled text: String, on display: String? = nil) -> CaptureSource {
    CaptureSource(.window(.title(text)), display: display)
  }

  /// As `recorder record` takes it: `display`, `monitor:HDMI-1`, `window:0x1a00007`.
  public var description: String { specification.text }
}
