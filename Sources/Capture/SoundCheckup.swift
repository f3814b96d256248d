import Glibc
package import SessionModel
import Threading

/// What a machine offers to record sound from.
package enum SoundCheckup {
  /// Looks at the sound server and at ALSA. A machine without sound can record pictures.
  package static func findings() -> [Finding] {
    let devices = SoundInventory().devices.filter { $0.specification.hasPrefix("alsa:") }.count
    let alsa =
      devices == 0
      ? Finding(
        .sound, "ALSA", .note, "ALSA names no device to record from.",
        remedy: "Plug a microphone in, or install the sound card's driver; alsa-utils' arecord -L shows what there is.")
      : Finding(.sound, "ALSA", .fine, "ALSA names \(devices) devices to record from: recorder sources lists them.")
    return server() + [alsa]
  }

  private static func server() -> [Finding] {
    let connection: PulseConnection
    do throws(RecorderError) {
      connection = try PulseConnection(server: nil)
    } catch {
      return [Finding(.sound, "sound server", .note, error.message, remedy: error.hint)]
    }
    let answers = Finding(.sound, "sound server", .fine, "A sound server answers.")
    guard let defaults = PulseDefaults.ask(connection, until: MonotonicClock.now() + PulseConnection.patience) else {
      return [
        Finding(
          .sound, "sound server", .note, "The sound server takes connections and does not answer.",
          remedy: "Start it again: systemctl --user restart pipewire-pulse, or pulseaudio -k.")
      ]
    }
    func check(_ subject: String, _ name: String, _ found: String, _ without: String, _ remedy: String) -> Finding {
      defaults.source(called: name).map { Finding(.sound, subject, .fine, "\(found) comes from \($0).") }
        ?? Finding(.sound, subject, .note, without, remedy: remedy)
    }
    return [
      answers,
      check(
        "output", AudioDevice.defaultMonitorName, "What the applications play",
        "There is no default output whose sound --app-audio could record.", "Choose one: pactl set-default-sink NAME."),
      check(
        "microphone", AudioDevice.defaultSourceName, "The microphone's sound",
        "There is no default input for --microphone.", "Choose one: pactl set-default-source NAME."),
    ]
  }
}
