import FoundationEssentials
package import SessionModel
import Synchronization
internal import Threading

/// Runs the hooks of one recording one after the other on a thread of its own, so that none of them, however many events
/// there are and however long they take, holds the recording up.
package final class HookRunner: Sendable {
  private struct State {
    var waiting: [HookMessage] = []
    /// Messages that found no room, since the last one of their event that did.
    var omitted: [Hook.Event: Int] = [:]
    var isFinishing = false
  }

  private let hooks: [Hook]
  private let output: Int32?
  private let limit: Int64
  private let tell: @Sendable (String) -> Void
  private let state = Mutex(State())
  private let wake = BoundedQueue<Bool>(capacity: 1)
  private let thread = Mutex<WorkerThread?>(nil)
  private let log = Mutex<RecorderLog?>(nil)

  /// Messages of one event that wait at most: as many saves as a person asks for at once; a flood of gaps is told by a
  /// few messages, each with the number of those left out.
  package static let capacity = 8
  /// Nanoseconds that a hook may take: many times what a notification or a request to a server takes, and few enough
  /// that a recording's end waits for it. One that has more to do leaves it to a process that it starts.
  package static let limit: Int64 = 10_000_000_000

  /// Begins to wait for events.
  /// - Parameters:
  ///   - hooks: what to run; an event's hooks in this order.
  ///   - output: takes what they print; nil leaves it away.
  ///   - limit: ns that each may take.
  ///   - tell: told, in one sentence, when one of them failed.
  /// - Throws: `RecorderError` (systemCall) when no thread is left.
  package init(
    _ hooks: [Hook], output: Int32?, limit: Int64 = HookRunner.limit, tell: @escaping @Sendable (String) -> Void
  ) throws(RecorderError) {
    (self.hooks, self.output, self.limit, self.tell) = (hooks, output, limit, tell)
    guard !hooks.isEmpty else { return }
    let worker = try WorkerThread(name: "hooks") { [self] in
      while let message = next() { run(message) }
    }
    thread.withLock { $0 = worker }
  }

  /// Writes failures to `log` too from now on.
  func note(in log: RecorderLog?) { self.log.withLock { $0 = log } }

  /// Has the hooks of the message's event run as soon as those before it have ended; returns at once.
  package func raise(_ message: HookMessage) {
    guard hooks.contains(where: { $0.event == message.event }) else { return }
    state.withLock { state in
      if state.waiting.count(where: { $0.event == message.event }) < Self.capacity {
        state.waiting.append(message)
      } else {
        state.omitted[message.event, default: 0] += 1
      }
    }
    _ = wake.tryPush(true)
  }

  /// Waits until the hooks have ended, each in its time. What only concerns a recording that runs is left out now.
  /// Later calls return at once.
  package func finish() {
    let late: Set<Hook.Event> = [.degraded, .gap, .disk]
    let dropped = state.withLock { state in
      state.isFinishing = true
      let count = state.waiting.count(where: { late.contains($0.event) }) + state.omitted.values.reduce(0, +)
      state.waiting.removeAll { late.contains($0.event) }
      state.omitted = [:]
      return count
    }
    wake.close()
    if dropped > 0 { tell("The recording has ended before its hooks were told of \(dropped) more events.") }
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }?.join()
  }

  /// Waits for the next message; nil when there is none any more.
  private func next() -> HookMessage? {
    while true {
      let (message, isFinishing) = state.withLock { state in
        guard !state.waiting.isEmpty else { return (HookMessage?.none, state.isFinishing) }
        var message = state.waiting.removeFirst()
        message.omitted = state.omitted.removeValue(forKey: message.event)
        return (message, false)
      }
      if let message { return message }
      if isFinishing { return nil }
      _ = wake.pop()
    }
  }

  private func run(_ message: HookMessage) {
    guard let json = try? JSONEncoder.canonical().encode(message) else { return }
    let input = Array(json) + [UInt8(ascii: "\n")]
    for hook in hooks where hook.event == message.event {
      guard let fault = HookProcess.run(hook, input: input, output: output, limit: limit) else { continue }
      let text = "The hook \"\(hook.words[0].printable(atMost: 60))\" for \(hook.event.rawValue) \(fault)."
      tell(text)
      log.withLock { $0 }?.noteLate(.warning, .control, text)
    }
  }
}
