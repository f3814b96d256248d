import SessionModel
import Synchronization

/// Ends the wait for a disk that hangs: a call on it cannot be broken off, and no other thread could do better. What
/// hangs for longer than the disk is waited for is given up with the thread that it hangs in, so that the recording ends
/// and says why. Looked at twice a second, from the recording's beginning until its last file is closed.
struct DiskPatience: Sendable {
  let control: PipelineControl
  let mux: MuxPipeline
  /// Keeps what a held capture is told to keep; nil when it is recorded from its beginning.
  let hold: HoldKeeper?

  /// Looks at `now` (monotonic ns).
  func look(at now: Int64) {
    hold?.look(at: now)
    let patience = control.diskPatience
    func hangs(_ since: borrowing Atomic<Int64>) -> Bool {
      let since = since.load(ordering: .relaxed)
      return since != 0 && now - since >= patience
    }
    let isMuxHanging = hangs(control.writingSince)
    guard isMuxHanging || hangs(control.notingSince) || hangs(control.syncingSince) else { return }
    let error = control.giveUpDisk()
    if isMuxHanging { mux.giveUp(error) }
  }
}
