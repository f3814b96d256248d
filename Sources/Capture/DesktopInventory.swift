package import SessionModel

/// What there is to record on a machine. Everything that came from outside is kept as it is: who prints it makes it
/// printable.
package struct DesktopInventory: Hashable, Encodable, Sendable {
  /// The X display.
  package var display: String
  /// The root window's size, in pixels.
  package var screen: PixelSize
  /// Its monitors.
  package var monitors: [Monitor]
  /// The applications' windows, the topmost first.
  package var windows: [Window]
  /// What sound can be recorded from.
  package var soundDevices: [SoundDevice]
  /// Applications that play sound now.
  package var players: [Player]

  /// One monitor.
  package struct Monitor: Hashable, Encodable, Sendable {
    /// RandR's name of it (`HDMI-1`): what `monitor:` takes.
    package var name: String
    /// Its place on the root, in pixels.
    package var rect: PixelRect
    /// Whether it is the primary one.
    package var isPrimary: Bool
  }

  /// One window.
  package struct Window: Hashable, Encodable, Sendable {
    /// Its description.
    package var window: WindowInfo
    /// The name of its program; nil when it is not known, or runs on another machine.
    package var command: String?
    /// Whether it is shown.
    package var isVisible: Bool
    /// Whether it is the active one.
    package var isActive: Bool
  }

  /// One device that sound can be recorded from.
  package struct SoundDevice: Hashable, Encodable, Sendable {
    /// What `--microphone` and `--app-audio` take: `pulse:NAME`, `alsa:PCM`.
    package var specification: String
    /// Its name for people.
    package var description: String
    /// Whether it carries what an output plays.
    package var isMonitor: Bool
  }

  /// One application that plays sound.
  package struct Player: Hashable, Encodable, Sendable {
    /// Its name.
    package var name: String
    /// Its process; nil when the sound server does not say.
    package var pid: Int?
    /// Whether it is paused.
    package var isPaused: Bool
  }

  /// Looks at `display`, nil being $DISPLAY, and at the machine's sound. A machine without sound has none of it.
  /// - Throws: `RecorderError` (unavailable) when the display cannot be opened.
  package init(display: String?) throws(RecorderError) {
    let connection = try XConnection(display)
    self.display = connection.display
    screen = connection.rootSize
    monitors = connection.monitors().map { Monitor(name: $0.name, rect: $0.rect, isPrimary: $0.isPrimary) }
    let active = connection.activeWindow()
    windows = connection.clientWindows().reversed().compactMap { client in
      connection.info(of: client.id).map { info in
        Window(
          window: info, command: connection.command(of: info), isVisible: client.isViewable,
          isActive: client.id == active)
      }
    }
    try connection.checkAlive()
    let sound = SoundInventory()
    (soundDevices, players) = (sound.devices, sound.players)
  }
}
