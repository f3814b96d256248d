internal import Capture
import SessionModel
internal import Threading

/// What there is to capture on a display. Titles and names are as they came from outside: make them fit to be shown.
public struct CaptureSources: Hashable, Sendable {
  /// One monitor.
  public struct Monitor: Hashable, Sendable {
    /// Its name, as `HDMI-1`.
    public let name: String
    /// Its size, in pixels.
    public let dimensions: Dimensions
    /// Its left top corner on the display, in pixels.
    public let x: Int, y: Int
    /// Whether it is the primary one.
    public let isPrimary: Bool
    /// It as a source.
    public let source: CaptureSource
  }

  /// One window of an application.
  public struct Window: Hashable, Sendable {
    /// Its number.
    public let id: UInt32
    /// Its title.
    public let title: String
    /// Its application's name of its kind; nil when it has none.
    public let className: String?
    /// Its process; nil when it does not say.
    public let process: Int?
    /// Whether it is shown.
    public let isVisible: Bool
    /// Whether it is the active one.
    public let isActive: Bool
    /// It as a source.
    public let source: CaptureSource
  }

  /// One device that the person can be heard by.
  public struct Microphone: Hashable, Sendable {
    /// What ``MicrophoneCaptureOptions/init(device:)`` takes.
    public let device: String
    /// Its name for people.
    public let name: String
  }

  /// The whole of the display, as a source.
  public let mainDisplay: CaptureSource
  /// The display's size, in pixels.
  public let dimensions: Dimensions
  /// Its monitors.
  public let monitors: [Monitor]
  /// The applications' windows, the topmost first.
  public let windows: [Window]
  /// The microphones; none on a machine without sound.
  public let microphones: [Microphone]

  init(_ found: DesktopInventory, display: String?) {
    mainDisplay = CaptureSource(.display, display: display)
    dimensions = Dimensions(found.screen)
    monitors = found.monitors.map { monitor in
      Monitor(
        name: monitor.name, dimensions: Dimensions(monitor.rect.size), x: monitor.rect.x, y: monitor.rect.y,
        isPrimary: monitor.isPrimary, source: .monitor(monitor.name, on: display))
    }
    windows = found.windows.map { window in
      let info = window.window
      return Window(
        id: info.id, title: info.title, className: info.className, process: info.pid, isVisible: window.isVisible,
        isActive: window.isActive, source: .window(info.id, on: display))
    }
    microphones = found.soundDevices.filter { !$0.isMonitor }.map {
      Microphone(device: $0.specification, name: $0.description)
    }
  }

  /// Looks at `display`, nil being the one that $DISPLAY names, and at the machine's microphones.
  /// - Throws: ``CaptureError``: unavailable when the display cannot be opened, cancelled as soon as the task is, though
  ///   the display hangs.
  public static func find(on display: String? = nil) async throws(CaptureError) -> CaptureSources {
    let (stream, answer) = AsyncStream.makeStream(
      of: Result<DesktopInventory, RecorderError>.self, bufferingPolicy: .bufferingOldest(1))
    try translated { () throws(RecorderError) in
      // Looking waits for the X server and the sound server, so that it has a thread of its own, which ends by itself.
      _ = try WorkerThread(name: "inventory") {
        answer.yield(Result { () throws(RecorderError) in try DesktopInventory(display: display) })
        answer.finish()
      }.join(until: 0)
    }
    for await result in stream {
      return CaptureSources(try translated { () throws(RecorderError) in try result.get() }, display: display)
    }
    throw CaptureError(RecorderError(.interruptedTwice, "The look at what there is to capture was cancelled."))
  }
}
