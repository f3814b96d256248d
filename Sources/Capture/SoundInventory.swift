import Threading

/// What a machine's sound server and ALSA offer to record.
struct SoundInventory {
  private(set) var devices: [DesktopInventory.SoundDevice] = []
  private(set) var players: [DesktopInventory.Player] = []

  /// Asks both; what does not answer offers nothing.
  init() {
    if let connection = try? PulseConnection(server: nil) {
      let served = PulseInventory(connection, until: MonotonicClock.now() + PulseConnection.patience)
      (devices, players) = (served.devices, served.players)
    }
    devices += ALSAInventory.devices
  }
}
