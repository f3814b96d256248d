internal import Archive
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The thread that writes the media files, or fills the ring.
final class MuxPipeline: Sendable {
  private let packets: BoundedQueue<MuxItem>
  private let thread: WorkerThread
  private let result = BoundedQueue<Result<(all: Int64, last: Int64), RecorderError>>(capacity: 1)
  private let control: PipelineControl

  /// Packets of each stream that may wait for the disk (DESIGN section 5): two seconds of picture at 30 frames a second,
  /// 1.4 of AAC.
  static let packetsAStream = 64

  /// Opens the file on its thread and begins to write what comes through `packets`.
  /// - Parameters:
  ///   - new: the session to write into; nil holds what comes in the sink's ring.
  /// - Throws: `RecorderError` when the file cannot be begun.
  init(
    _ new: NewSession?, sink: CaptureSink, control: PipelineControl, packets: BoundedQueue<MuxItem>,
    report: @escaping @Sendable (Event) -> Void
  ) throws(RecorderError) {
    (self.packets, self.control) = (packets, control)
    let opened = BoundedQueue<RecorderError?>(capacity: 1)
    let result = result
    thread = try WorkerThread(name: "mux") {
      do throws(RecorderError) {
        var loop = try MuxLoop(new, sink: sink, control: control, packets: packets, report: report)
        _ = opened.push(nil)
        _ = result.push(.success(try loop.run()))
      } catch {
        sink.closeOffers()?.answer(error)
        _ = opened.tryPush(error)
        control.fail(.writeFailed, error)
        control.writingSince.store(0, ordering: .relaxed)
        // Nobody must wait for a file that takes no more.
        packets.close()
        while packets.pop() != nil {}
        _ = result.push(.failure(error))
      }
    }
    if let error = opened.pop() ?? nil { throw error }
  }

  /// Has the thread look at what the sink offers it.
  func wake() { packets.interrupt() }

  /// Writes what is left, finishes the files and joins the thread.
  /// - Returns: the bytes of all files and of the last one, as far as they are known and there are any, and what went
  ///   wrong.
  func finish() -> (bytes: Int64, last: Int64?, error: RecorderError?) {
    packets.close()
    let ended = result.pop()
    thread.join()
    switch ended {
    case .success(let bytes): return (bytes.all, bytes.last, nil)
    case .failure(let error): return (control.bytes.load(ordering: .relaxed), nil, error)
    case nil: return (0, nil, RecorderError(.brokenInvariant, "The media file's thread did not answer."))
    }
  }
}
