internal import CXCB
import Glibc

/// Sole owner of something that xcb allocated: a reply or an event.
struct XReply<Body>: ~Copyable {
  private let pointer: UnsafeMutablePointer<Body>

  /// Takes `pointer` over; nil when xcb had nothing to give (an X error, or a dead connection).
  init?(_ pointer: UnsafeMutablePointer<Body>?) {
    guard let pointer else { return nil }
    self.pointer = pointer
  }

  deinit { free(pointer) }

  /// The fixed part.
  var value: Body { pointer.pointee }

  /// Calls `body` with the reply, for what follows its fixed part.
  func read<Result, Failure>(
    _ body: (UnsafeMutablePointer<Body>) throws(Failure) -> Result
  ) throws(Failure) -> Result { try body(pointer) }
}

extension xcb_generic_event_t {
  /// Whether the server had taken the request `sequence` already when it told this.
  func follows(_ sequence: UInt32) -> Bool { Int32(bitPattern: full_sequence &- sequence) >= 0 }
}

extension Optional where Wrapped: ~Copyable {
  /// Calls `body` with the value, if there is one, without taking it out: optional chaining would consume it.
  borrowing func borrow<Result>(_ body: (borrowing Wrapped) -> Result?) -> Result? {
    switch self {
    case .some(let value): body(value)
    case .none: nil
    }
  }
}
