internal import CXCB
package import SessionModel
import Threading

/// Follows the windows of a display on a connection and a thread of its own: which is active, its title, which come and
/// go, and where they are.
///
/// It begins with the state it finds: `opened` for each window, bottom to top, then `focus`. `focus` without a window
/// says that none is active.
package final class WindowEventSource: Sendable {
  /// Nanoseconds in which changes are gathered after some were reported: a dragged window or a spinner in a title makes
  /// at most 20 events a second.
  private static let gathering: Int64 = 50_000_000

  private let wake: WakeSignal
  private let thread: WorkerThread

  /// Starts to follow `display`.
  /// - Parameters:
  ///   - display: the X display's name; nil is $DISPLAY.
  ///   - exclusions: windows of which nothing is told.
  ///   - epoch: the session's epoch in ns of `CLOCK_MONOTONIC`: the events' time 0.
  ///   - emit: takes each event, on the source's thread.
  ///   - ended: called once, last, on the source's thread: nil after `stop`, else why it ended by itself (unavailable,
  ///     `SourceLoss.displayLost`).
  /// - Throws: `RecorderError` (systemCall) when no thread or descriptor is left.
  package init(
    display: String?, epoch: Int64, exclusions: [WindowExclusion] = [], emit: @escaping @Sendable (Event) -> Void,
    ended: @escaping @Sendable (RecorderError?) -> Void = { _ in }
  ) throws(RecorderError) {
    let wake = try WakeSignal()
    self.wake = wake
    thread = try WorkerThread(name: "window-events") {
      do throws(RecorderError) {
        try Self.follow(display, epoch: epoch, exclusions, wake: wake, emit: emit)
        ended(nil)
      } catch {
        ended(error)
      }
    }
  }

  deinit { wake.notify() }

  /// Ends the following; no event comes after it returned, unless the X server hangs.
  /// - Parameter deadline: monotonic ns at which a thread that waits for a hanging server is given up.
  package func stop(until deadline: Int64 = .max) {
    wake.notify()
    thread.join(until: deadline)
  }

  private static func follow(
    _ display: String?, epoch: Int64, _ exclusions: [WindowExclusion], wake: WakeSignal, emit: (Event) -> Void
  ) throws(RecorderError) {
    let connection = try XConnection(display)
    var watcher = WindowWatcher(connection, without: try WindowMatcher.all(exclusions))
    while true {
      if watcher.receiveEvents() {
        watcher.report { kind, window in
          let time = Timestamp(nanoseconds: MonotonicClock.now() - epoch)
          emit(Event(time: time, kind: kind, window: window))
        }
        try connection.checkAlive()
        if wake.wait(until: MonotonicClock.now() + gathering) { return }
        continue
      }
      try connection.checkAlive()
      xcb_flush(connection.handle)
      if wake.wait(orFor: xcb_get_file_descriptor(connection.handle), until: .max) { return }
    }
  }
}
