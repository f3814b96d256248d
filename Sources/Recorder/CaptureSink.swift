internal import Archive
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// Where what is captured goes: into a session of the archive or, while nothing is kept, into a ring. This is the one
/// place that knows which, and how the capture's time line lies to the session's.
final class CaptureSink: Sendable {
  /// A session that a held capture is to become.
  struct Publication: Sendable {
    let new: NewSession
    /// Told by the mux thread when the session has what was held, or why it does not.
    let answer: @Sendable (RecorderError?) -> Void
  }

  private enum Offer: Sendable {
    case none
    case waiting(Publication)
    /// The mux thread has ended.
    case closed
  }

  /// What holds the capture; nil when it is recorded from its beginning.
  let ring: HoldRing?
  private let open: Mutex<OpenSession?>
  private let offer = Mutex(Offer.none)
  /// Whether a publication waits: looked at once a packet.
  private let isOffered = Atomic<Bool>(false)

  /// Makes the sink of a capture that goes into `session` from its beginning.
  init(_ session: OpenSession) {
    ring = nil
    open = Mutex(session)
  }

  /// Makes the sink of a capture that is held in `ring`.
  init(_ ring: HoldRing) {
    self.ring = ring
    open = Mutex(nil)
  }

  /// The session that everything goes into; nil while it is held.
  var session: OpenSession? { open.withLock { $0 } }

  /// Writes or holds an event, whose times are the capture's; from any thread.
  /// - Throws: `RecorderError` (writeFailed).
  func append(_ event: Event) throws(RecorderError) {
    try open.withLock { (session) throws(RecorderError) in
      guard let session else {
        ring?.add(event)
        return
      }
      if let event = event.moved(to: session.origin) { try session.writer.append(event) }
    }
  }

  /// The session's time at `time` of the capture; the capture's own while it is held.
  func sessionTime(_ time: Timestamp) -> Timestamp {
    guard let origin = session?.origin else { return time }
    return Timestamp(nanoseconds: max(0, time - origin))
  }

  /// Offers a session to the mux thread, which has to be woken.
  /// - Returns: false when it has ended.
  func offer(_ publication: Publication) -> Bool {
    offer.withLock { offer in
      if case .closed = offer { return false }
      offer = .waiting(publication)
      isOffered.store(true, ordering: .releasing)
      return true
    }
  }

  /// The session that was offered, for the mux thread; nil when none was.
  func takeOffer() -> Publication? {
    guard isOffered.exchange(false, ordering: .acquiring) else { return nil }
    return offer.withLock { offer in
      guard case .waiting(let publication) = offer else { return nil }
      offer = .none
      return publication
    }
  }

  /// Takes no offer from now on, for the mux thread when it ends.
  /// - Returns: the last one, when it was not taken yet.
  @discardableResult
  func closeOffers() -> Publication? {
    offer.withLock { offer in
      defer { offer = .closed }
      if case .waiting(let publication) = offer { return publication }
      return nil
    }
  }

  /// Writes the events that are held from the session's beginning on into `session`, and has all that follow go there.
  /// - Throws: `RecorderError` (writeFailed); the capture is still held then.
  func publish(_ session: OpenSession) throws(RecorderError) {
    try open.withLock { (open) throws(RecorderError) in
      for event in ring?.events(from: session.origin) ?? [] { try session.writer.append(event) }
      ring?.drop(before: session.origin)
      open = session
    }
  }
}
