import Commands
import Glibc
import Recorder
import SessionModel

/// The library's recorder as the commands that record use it: made from a command line, with what it has to tell going to
/// standard error.
struct CommandRecorder {
  /// The recorder.
  let recorder: ScreenRecorder
  /// Where its messages go.
  let messages: OutputThread
  private let screenShare: ScreenShareCaptureOptions

  /// Claims the name that `arguments` give; nothing is recorded yet.
  /// - Parameter command: the command that it is recorded for.
  /// - Throws: `RecorderError`: busy when the name is taken; usage, configuration, permission, cannotCreate, systemCall.
  init(
    _ arguments: RecordingArguments, command: Manifest.WrappedCommand? = nil
  ) throws(RecorderError) {
    try AddressSpace.check()
    var options = RecorderOptions(arguments.options)
    (options.controlName, options.isCommand, options.command) = (arguments.name, true, command)
    options.journal = Journal.output
    options.hooks = arguments.on
    // A wrapped command's standard error has nothing in it that is not the command's.
    if command == nil { options.hookOutput = STDERR_FILENO }
    let messages = try OutputThread()
    (self.messages, screenShare) = (messages, options.screenShare)
    do throws(CaptureError) {
      recorder = try ScreenRecorder(options: options) { messages.message($0) }
    } catch {
      throw error.cause
    }
  }

  /// Begins to record.
  /// - Parameter display: the X display, in place of the one that the command line says.
  /// - Returns: the session; nil while the capture is held, and when somebody asked for the end before it began.
  /// - Throws: `RecorderError` that says why it cannot begin; all that waited for it has been told.
  func begin(on display: String? = nil) async throws(RecorderError) -> SessionID? {
    do throws(CaptureError) {
      var options = screenShare
      if let display { options.source = CaptureSource(options.source.specification, display: display) }
      let session = try await recorder.setScreenShare(enabled: true, options: options)
      recorder.add { messages.stage }
      return session.flatMap { SessionID($0.id) }
    } catch {
      messages.close()
      await recorder.close()
      throw error.cause
    }
  }
}
