internal import Capture
package import SessionModel

/// Has a person pick on the screen what to record.
package enum SourceSelection {
  /// Waits for a click on a window, or for a region that is dragged, on `display`; nil is $DISPLAY.
  /// - Parameter tell: told what to do once a click counts.
  /// - Throws: `RecorderError`: unavailable without a display, busy when another program holds the pointer,
  ///   interruptedTwice when the person gave up.
  package static func pick(display: String?, tell: (String) -> Void) throws(RecorderError) -> SourceSpecification {
    var picker = try SourcePicker(display: display)
    tell("Click on the window to record, or drag a region; Escape gives up.")
    return try picker.pick()
  }
}
