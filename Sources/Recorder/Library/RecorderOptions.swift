internal import FoundationEssentials
package import SessionModel

/// What a ``ScreenRecorder`` does unless a call says otherwise.
///
/// They are all that counts: `recorder.conf` gives defaults to the commands alone. What a person sets there for their own
/// recordings does not change what your program makes.
public struct RecorderOptions: Sendable {
  /// All that a recording can be asked for; the properties below are views of it.
  package var recording: RecordingOptions
  /// Whether the microphone is on from the beginning.
  package var startsWithMicrophone: Bool
  /// Whether it is a command's: it has a control socket under its process's number when it has no name, and nobody
  /// else begins its recording.
  package var isCommand = false
  /// Where archive and control sockets are looked for.
  package var environment = ProcessInfo.processInfo.environment
  /// Takes each line of a recording's log too, on a thread of its own.
  package var journal: RecorderLog.Output = { _, _ in }
  /// The command that recordings are made for.
  package var command: Manifest.WrappedCommand?
  /// The commands that are run when something happens to a recording.
  package var hooks: [Hook] = []
  /// The descriptor that takes what hooks print; nil leaves it away.
  package var hookOutput: Int32?

  /// The archive's folder; nil is `$RECORDER_ARCHIVE`, else the person's own in `$XDG_DATA_HOME`, where `recorder list` finds
  /// it unless `recorder.conf` names another.
  public var archive: String?
  /// The name under which `recorder status`, `stop`, `pause`, `mark` and the others reach it, and under which
  /// `recorder start --name` begins a capture; nil keeps it to this program.
  public var controlName: String?

  /// Whether a capture that is begun from outside, by `recorder start --name`, is recorded at once. If not, it is held:
  /// its newest stretch stays in memory, and nothing of it is in the archive until the program publishes it by
  /// ``ScreenRecorder/publish(last:)``, or lets it go by ``ScreenRecorder/setScreenShare(enabled:options:)``.
  public var publishesAutomatically = true
  /// How much of a capture is held, from five seconds to a day.
  public var heldStretch = Duration.seconds(60)

  /// Makes the defaults: the main display at 30 frames a second, with a track for the microphone, which is off until
  /// ``ScreenRecorder/setMicrophone(enabled:)`` switches it on.
  /// - Parameters:
  ///   - screenShare: how a screen share is captured.
  ///   - microphone: which microphone is meant; nil is none, and recordings have no track for it.
  public init(
    screenShare: ScreenShareCaptureOptions = ScreenShareCaptureOptions(),
    microphone: MicrophoneCaptureOptions? = MicrophoneCaptureOptions()
  ) {
    recording = RecordingOptions()
    startsWithMicrophone = false
    recording.screenShare = screenShare
    recording.audio.microphone = microphone?.device
  }

  /// Makes the options of a program that has settled all of a recording's own.
  package init(_ recording: RecordingOptions) { (self.recording, startsWithMicrophone) = (recording, true) }

  /// How a screen share is captured.
  public var screenShare: ScreenShareCaptureOptions {
    get { recording.screenShare }
    set { recording.screenShare = newValue }
  }

  /// Which microphone is meant; nil is none, and recordings have no track for it.
  public var microphone: MicrophoneCaptureOptions? {
    get { recording.audio.microphone.map(MicrophoneCaptureOptions.init) }
    set { recording.audio.microphone = newValue?.device }
  }

  /// What a capture that is begun from outside is asked for.
  var outside: RecordingOptions {
    var recording = recording
    if !publishesAutomatically { recording.hold = HoldOptions(span: heldStretch.nanoseconds) }
    return recording
  }

  /// What ends each recording by itself.
  public var limits: RecordingLimits {
    get { recording.publicLimits }
    set { recording.publicLimits = newValue }
  }

  /// The title that each recording is given.
  public var title: String? {
    get { recording.title }
    set { recording.title = newValue }
  }

  /// The tags that each recording is given.
  public var tags: [String] {
    get { recording.tags }
    set { recording.tags = newValue }
  }
}
