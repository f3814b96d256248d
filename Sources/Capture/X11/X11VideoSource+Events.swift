internal import CXCB
import SessionModel

// What the server tells, and who takes it.
extension X11VideoSource {
  /// Events that are taken before it is looked whether a frame is due: a few milliseconds' work.
  private static var eventsAtOnce: Int { 512 }

  /// Takes events that have come: those that were told before the request `sequence` was answered, or as many as need no
  /// patience. On a busy screen they may come faster than they can be taken.
  /// - Returns: whether none is left.
  @discardableResult
  mutating func receiveEvents(through sequence: UInt32? = nil) throws(RecorderError) -> Bool {
    var (taken, isCaughtUp) = (0, true)
    while let event = XReply(xcb_poll_for_event(connection.handle)) {
      try take(event)
      taken += 1
      // One that was told after the answer does no harm either.
      let isEnough = sequence.map { event.value.follows($0) } ?? (taken >= Self.eventsAtOnce)
      if isEnough {
        isCaughtUp = false
        break
      }
    }
    exclusions?.settle(isCaughtUp: isCaughtUp)
    try connection.checkAlive()
    return isCaughtUp
  }

  private mutating func take(_ event: borrowing XReply<xcb_generic_event_t>) throws(RecorderError) {
    if event.read({ isNewsOfFocus($0) }) { nextSearch = 0 }
    if event.read({ exclusions?.receive($0) }) == true { return }
    if event.read({ popups?.receive($0) }) == true { return }
    if damage?.receive(event.value) == true { return }
    do throws(RecorderError) {
      try event.read { (event) throws(RecorderError) in
        if pointer?.receive(event) != true { try target.receive(event) }
      }
    } catch {
      try lose(error)
    }
  }
}
