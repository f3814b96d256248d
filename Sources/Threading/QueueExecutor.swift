import Dispatch

/// Runs an actor on a thread of its own queue, for actors that block (SQLite, files).
package final class QueueExecutor: SerialExecutor {
  private let queue: DispatchQueue

  /// Makes an executor whose queue is called `label`.
  package init(label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
