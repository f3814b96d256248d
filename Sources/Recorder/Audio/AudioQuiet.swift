import SessionModel
import Synchronization

/// The stretches in which inputs are to be silent although they deliver: a person paused the recording or muted them.
/// They are told from any thread and carried out by the mix, which is late enough to be exact to the sample.
final class AudioQuiet: Sendable {
  /// Why an input is silent.
  enum Cause: Sendable { case pause, mute }

  private struct Span {
    let input: Int
    let cause: Cause
    /// In frames since the epoch.
    let start: Int64
    /// `.max` while nobody has said.
    var end = Int64.max
  }

  private let spans = Mutex<[Span]>([])

  /// Silences the input `input` from `frame` on.
  func begin(_ input: Int, at frame: Int64, _ cause: Cause) {
    spans.withLock { $0.append(Span(input: input, cause: cause, start: frame)) }
  }

  /// Lets it be heard from `frame` on, as far as that cause goes.
  func end(_ input: Int, at frame: Int64, _ cause: Cause) {
    spans.withLock { spans in
      for index in spans.indices where spans[index].input == input && spans[index].cause == cause {
        spans[index].end = min(spans[index].end, frame)
      }
    }
  }

  /// Makes what is to be silent so in the `count` stereo frames of `input` from frame `first` on; forgets what lies
  /// before.
  func silence(_ samples: UnsafeMutablePointer<Float>, _ input: Int, from first: Int64, count: Int) {
    let channels = AudioFormat.mix.channels
    spans.withLock { spans in
      for span in spans where span.input == input {
        let start = max(span.start, first)
        let end = min(span.end, first + Int64(count))
        guard start < end else { continue }
        (samples + Int(start - first) * channels).update(repeating: 0, count: Int(end - start) * channels)
      }
      spans.removeAll { $0.input == input && $0.end <= first }
    }
  }
}
