import Dispatch

/// Runs an actor on a thread of its own queue, for actors that block (SQLite, files), or a task that lives as long as a
/// recording: once a task has run on the system's common threads, libdispatch wakes once a second for ever to see whether
/// there are enough of them (its workqueue.c). Threads of a queue's own it leaves alone.
package final class QueueExecutor: SerialExecutor, TaskExecutor {
  private let queue: DispatchQueue

  /// Makes an executor whose queue is called `label`.
  package init(label: String) { queue = DispatchQueue(label: label) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      job.runSynchronously(isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
    }
  }
}
