internal import Archive
internal import Media
import SessionModel
import Synchronization
internal import Threading

/// The thread that writes the media files, or fills the ring.
final class MuxPipeline: Sendable {
  private let packets: BoundedQueue<MuxItem>
  private let thread: WorkerThread
  private let result = BoundedQueue<Ending>(capacity: 1)
  private let control: PipelineControl
  private let sink: CaptureSink

  /// What became of the thread.
  private enum Ending: Sendable {
    /// All was written, or held.
    case written(all: Int64, last: Int64)
    /// The disk takes no more.
    case failed(RecorderError)
    /// It hangs in a call, and is left alone.
    case givenUp(RecorderError)
  }

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
    (self.packets, self.control, self.sink) = (packets, control, sink)
    let opened = BoundedQueue<RecorderError?>(capacity: 1)
    let result = result
    thread = try WorkerThread(name: "mux") {
      do throws(RecorderError) {
        var loop = try MuxLoop(new, sink: sink, control: control, packets: packets, report: report)
        _ = opened.push(nil)
        let bytes = try loop.run()
        // Nobody asks any more when it was given up.
        _ = result.tryPush(.written(all: bytes.all, last: bytes.last))
      } catch {
        sink.closeOffers()?.answer(error)
        _ = opened.tryPush(error)
        control.fail(.writeFailed, error)
        control.writingSince.store(0, ordering: .relaxed)
        // Nobody must wait for a file that takes no more.
        packets.close()
        while packets.pop() != nil {}
        _ = result.tryPush(.failed(error))
      }
    }
    if let error = opened.pop() ?? nil { throw error }
  }

  /// Has the thread look at what the sink offers it.
  func wake() { packets.interrupt() }

  /// Gives the thread up, which hangs in a call on the disk: those who hand it packets and those who wait for it go on
  /// without, because of `error`.
  func giveUp(_ error: RecorderError) {
    sink.closeOffers()?.answer(error)
    packets.close()
    _ = result.tryPush(.givenUp(error))
  }

  /// Writes what is left, finishes the files and joins the thread, unless that is given up.
  /// - Returns: the bytes of all files and of the last one, as far as they are known and there are any, and what went
  ///   wrong.
  func finish() -> (bytes: Int64, last: Int64?, error: RecorderError?) {
    packets.close()
    let ended = result.pop()
    if case .givenUp = ended { thread.join(until: 0) } else { thread.join() }
    switch ended {
    case .written(let all, let last): return (all, last, nil)
    case .failed(let error), .givenUp(let error): return (control.bytes.load(ordering: .relaxed), nil, error)
    case nil: return (0, nil, RecorderError(.brokenInvariant, "The media file's thread did not answer."))
    }
  }
}
