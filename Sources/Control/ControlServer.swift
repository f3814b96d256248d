import Glibc
package import SessionModel
import Synchronization
internal import Threading

/// Serves one recording's control socket on a thread of its own.
package final class ControlServer: Sendable {
  /// What a recorder does for its clients. Both are called on the server's thread and must not wait.
  package struct Handlers: Sendable {
    let status: @Sendable () -> RecorderStatus
    let perform: @Sendable (ControlRequest, @escaping @Sendable (ControlResponse) -> Void) -> Void
    let heard: @Sendable (ControlRequest, Int32) -> Void

    /// Makes handlers.
    /// - Parameters:
    ///   - status: what the recording is doing.
    ///   - perform: carries a request out that is neither `status` nor `watch`, and gives the answer, once, at any time
    ///     and on any thread.
    ///   - heard: told each request other than `status`, with the process that sent it (0 when it is not known).
    package init(
      status: @escaping @Sendable () -> RecorderStatus,
      perform: @escaping @Sendable (ControlRequest, @escaping @Sendable (ControlResponse) -> Void) -> Void,
      heard: @escaping @Sendable (ControlRequest, Int32) -> Void = { _, _ in }
    ) {
      (self.status, self.perform, self.heard) = (status, perform, heard)
    }
  }

  private let thread: WorkerThread
  private let mailbox: ControlMailbox

  /// Begins to serve under the name of `claim`, which is given back when the server is closed.
  /// - Throws: `RecorderError`: cannotCreate (the socket), systemCall.
  package init(_ claim: consuming InstanceClaim, _ handlers: Handlers) throws(RecorderError) {
    let mailbox = try ControlMailbox()
    let listener = try claim.listen()
    let holder = ClaimHolder(claim)
    self.mailbox = mailbox
    thread = try WorkerThread(name: "control") {
      var loop = ControlLoop(listener: listener, mailbox: mailbox, handlers: handlers)
      loop.run()
      Glibc.close(listener)
      holder.release()
    }
  }

  /// Sends what is still to be sent, closes the socket and gives the name back; later calls do nothing.
  package func close() {
    mailbox.close()
    thread.join()
  }

  deinit { close() }
}

/// Keeps a claim until its thread gives it back.
private final class ClaimHolder: Sendable {
  private let claim: Mutex<InstanceClaim?>
  init(_ claim: consuming InstanceClaim) { self.claim = Mutex(claim) }
  func release() { claim.withLock { claim in claim = nil } }
}
