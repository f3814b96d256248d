internal import CALSA
import Glibc

/// What ALSA offers to record.
enum ALSAInventory {
  /// The PCMs that ALSA's configuration names and that can be captured from.
  static var devices: [DesktopInventory.SoundDevice] {
    recorder_alsa_silence()
    var hints: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    guard snd_device_name_hint(-1, "pcm", &hints) == 0, let hints else { return [] }
    defer { snd_device_name_free_hint(hints) }
    var devices: [DesktopInventory.SoundDevice] = []
    var next = hints
    while let hint = next.pointee {
      next += 1
      func text(_ key: String) -> String? {
        guard let value = snd_device_name_get_hint(hint, key) else { return nil }
        defer { free(value) }
        return String(cString: value)
      }
      // No IOID is both directions. "null" has no clock and records nothing.
      guard let name = text("NAME"), name != "null", text("IOID") != "Output" else { continue }
      let words = (text("DESC") ?? "").split(separator: "\n").joined(separator: ", ")
      devices.append(
        DesktopInventory.SoundDevice(specification: "alsa:\(name)", description: words, isMonitor: false))
    }
    return devices
  }
}
