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
    /// The session's event track.
    let track: EventTrack
    /// Told by the mux thread when the session has what was held, or why it does not.
    let answer: @Sendable (RecorderError?) -> Void
  }

  private enum Offer: Sendable {
    case none
    case waiting(Publication)
    /// The mux thread is at it.
    case taken(Publication)
    /// The mux thread has ended.
    case closed
  }

  private struct Open: Sendable {
    let session: OpenSession
    let track: EventTrack
  }

  /// What holds the capture; nil when it is recorded from its beginning.
  let ring: HoldRing?
  private let open: Mutex<Open?>
  private let offer = Mutex(Offer.none)
  /// Whether a publication waits: looked at once a packet.
  private let isOffered = Atomic<Bool>(false)

  /// Makes the sink of a capture that goes into `session` from its beginning, its events into `track`.
  init(_ session: OpenSession, _ track: EventTrack) {
    ring = nil
    open = Mutex(Open(session: session, track: track))
  }

  /// Makes the sink of a capture that is held in `ring`.
  init(_ ring: HoldRing) {
    self.ring = ring
    open = Mutex(nil)
  }

  /// The session that everything goes into; nil while it is held.
  var session: OpenSession? { open.withLock { $0?.session } }
  /// That session's event track.
  var track: EventTrack? { open.withLock { $0?.track } }

  /// Has an event written, or holds it; its times are the capture's. From any thread, none of which waits.
  func append(_ event: Event) {
    open.withLock { open in
      guard let open else {
        ring?.add(event)
        return
      }
      if let event = event.moved(to: open.session.origin) { open.track.add(event) }
    }
  }

  /// Tells `answer` when the events up to now are written, at once while they are held; or why they are not.
  func whenWritten(_ answer: @escaping EventTrack.Answer) {
    guard let track else { return answer(nil) }
    track.whenWritten(answer)
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
      offer = .taken(publication)
      return publication
    }
  }

  /// Notes that the session that was taken was answered for.
  func didAnswer() {
    offer.withLock { offer in if case .taken = offer { offer = .none } }
  }

  /// Takes no offer from now on: the mux thread ends, or is given up.
  /// - Returns: the last one, when nobody has answered for it yet.
  @discardableResult
  func closeOffers() -> Publication? {
    offer.withLock { offer in
      defer { offer = .closed }
      switch offer {
      case .waiting(let publication), .taken(let publication): return publication
      case .none, .closed: return nil
      }
    }
  }

  /// Has all events go into the session of `publication` from now on, first those that were held since `mark`: what was
  /// held before is in it already.
  func publish(_ publication: Publication, after mark: HoldRing.EventMark) {
    open.withLock { open in
      let session = publication.new.session
      publication.track.add(ring?.events(after: mark, from: session.origin) ?? [])
      ring?.drop(before: session.origin)
      open = Open(session: session, track: publication.track)
    }
  }
}
