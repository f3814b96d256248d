internal import Archive
import SessionModel
internal import Threading

/// Brings what there is to say of the media files into the manifest, on a thread of its own: that waits for the disk, and
/// what the mux thread would have to write meanwhile would be lost with a recorder that is killed. A file of which the
/// manifest has not heard yet is found by recovery, which knows from the event track when it began.
final class FileNotes: Sendable {
  private struct Note: Sendable {
    let change: @Sendable (inout Manifest) -> Void
    let isOfFinishedFile: Bool
    let isDone: @Sendable (_ isKept: Bool) -> Void
  }
  // More than are made while a disk takes its time; a file lasts longer than that.
  private let notes = BoundedQueue<Note>(capacity: 16)
  private let thread: WorkerThread

  /// Starts the thread. What the disk does not take ends the recording.
  /// - Throws: `RecorderError` (systemCall) when there can be no more threads.
  init(_ session: OpenSession, control: PipelineControl) throws(RecorderError) {
    let notes = notes
    thread = try WorkerThread(name: "notes") {
      while let note = notes.pop() {
        do throws(RecorderError) {
          if note.isOfFinishedFile { try session.writer.synchronizeMedia() }
          try session.manifest.update(session.writer, note.change)
          note.isDone(true)
        } catch {
          control.fail(.writeFailed, error)
          note.isDone(false)
        }
      }
    }
  }

  deinit { notes.close() }

  /// Has the manifest changed, one change after the other.
  /// - Parameters:
  ///   - isOfFinishedFile: whether the disk is to have the media files before it hears of the change.
  ///   - isAwaited: whether to return no sooner than the disk has it.
  ///   - isDone: called when the disk has it or has refused it.
  func add(
    isOfFinishedFile: Bool = false, isAwaited: Bool = false,
    then isDone: @escaping @Sendable (_ isKept: Bool) -> Void = { _ in },
    _ change: @escaping @Sendable (inout Manifest) -> Void
  ) {
    let done = isAwaited ? BoundedQueue<Bool>(capacity: 1) : nil
    _ = notes.push(
      Note(change: change, isOfFinishedFile: isOfFinishedFile) { isKept in
        isDone(isKept)
        _ = done?.push(isKept)
      })
    _ = done?.pop()
  }

  /// Waits until the disk has all of them.
  func finish() {
    notes.close()
    thread.join()
  }
}
