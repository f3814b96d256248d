import Arguments
import Commands
import Glibc
import Replay
import SessionModel
import Threading

extension ReplayCommand: Command {
  package mutating func run() async throws {
    var options = ReplayOptions()
    (options.speed, options.volume) = (speed, volume)
    options.track = track
    (options.isPaused, options.isFullScreen) = (paused, fullScreen)
    try options.check()
    let timeline = try session.timeline()
    if let at { options.start = try timeline.timestamp(of: at) }
    let stop = try WakeSignal()
    let signals = ProcessSignals([SIGINT, SIGTERM, SIGHUP])
    Task.detached {
      for await _ in signals.stream { stop.notify() }
    }
    var player = try Player(timeline, options: options) { error in Diagnostics.report(error) }
    signals.attend()
    try player.play(until: stop)
  }
}
