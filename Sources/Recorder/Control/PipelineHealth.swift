import Control
import SessionModel
import Synchronization
internal import Threading

/// Whether each stage of a recording works, judged by the stages themselves and not by what they carry: a still screen
/// and a silent room are healthy.
final class PipelineHealth: Sendable {
  private let control: PipelineControl
  private let audio: AudioPipeline?
  private let controls: SessionControls

  /// A stage that gave no sign of life for so many ns hangs: three times what the slowest sign takes, and early enough
  /// to be told within two seconds.
  static let patience: Int64 = 1_500_000_000

  init(control: PipelineControl, audio: AudioPipeline?, controls: SessionControls) {
    (self.control, self.audio, self.controls) = (control, audio, controls)
  }

  /// The stages, from the source on.
  func stages() -> [RecorderStatus.Stage] {
    let now = MonotonicClock.now()
    var stages = [
      stage("grab", since: control.heartbeat.load(ordering: .relaxed), now),
      stage("encode", since: control.encodingSince.load(ordering: .relaxed), now),
      stage("mux", since: control.writingSince.load(ordering: .relaxed), now),
    ]
    guard let audio else { return stages }
    for ((name, level), last) in zip(zip(audio.inputs, audio.levels), audio.lastSound) {
      // One that never delivered has been missed since the beginning.
      var stage = stage(name, since: last.time == 0 ? control.epoch : last.time, now)
      if stage.state == .stalled, !last.isLive { stage.state = .lost }
      stage.level = level
      stage.isMuted = ControlRequest.Input(rawValue: name).map { controls.isMuted($0) } ?? false
      stages.append(stage)
    }
    return stages
  }

  /// The stage `name`, which began what it does now, or gave its last sign of life, at `since`; 0 is one that waits for
  /// work.
  private func stage(_ name: String, since: Int64, _ now: Int64) -> RecorderStatus.Stage {
    let age = since == 0 ? 0 : max(0, now - since)
    return RecorderStatus.Stage(name: name, state: age > Self.patience ? .stalled : .ok, age: age)
  }
}
