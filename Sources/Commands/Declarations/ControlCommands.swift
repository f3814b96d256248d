package import Arguments
package import Control
package import SessionModel

/// Which of the recordings that run a command is for.
package struct RecordingArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The recording: its name, or its session's id or the beginning of it.", valueName: "RECORDING"))
  package var recording: String?
  @OptionGroup package var option: RecordingOption

  package init() {}
  /// What was given; nil means the one that runs.
  package var name: String? { recording ?? option.name }
}

/// Which of the recordings that run a command is for, when its arguments are something else.
package struct RecordingOption: ParsableArguments {
  @Option(
    help: ArgumentHelp("The recording, when more than one runs: its name or its session's id.", valueName: "NAME"))
  package var name: String?

  package init() {}
}

/// A sound input as a person names it.
package enum InputName: String, CaseIterable, RequirableArgument {
  /// The microphone.
  case mic
  /// What the applications play.
  case app

  package static var unset: InputName { .mic }
  /// The input that it names.
  package var input: ControlRequest.Input { self == .mic ? .microphone : .application }
}

/// `recorder stop`
package struct StopCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "stop", abstract: "End a recording and wait until its files are finished.",
    discussion: """
      The session's id is the only line on standard output. With one recording running none need be named.

      What a capture holds (--hold) is given up, and a sentence says how much that was; with --save it becomes a session.
      """,
    examples: [
      .init("recorder stop", "The one that runs."), .init("recorder stop demo", "The one called demo."),
    ])

  @OptionGroup package var recording: RecordingArgument
  @Flag(help: "Save what is held.") package var save = false
  package init() {}
}

/// `recorder save`
package struct SaveCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Keep the last minutes of a capture that is held.",
    discussion: """
      What recorder start --hold holds becomes a session of the archive, with its sound and its events, while the capture \
      goes on; the next save may cover the same time again. The session's id is the only line on standard output, and the \
      session is complete then.

      A session begins with a whole picture, so that it may be two seconds longer than was asked for. When less is held, \
      that is saved, and a sentence says so. A disk without room for it is refused with 74; it is still held then.
      """,
    examples: [
      .init("recorder save --last 2m --title \"login fails\"", "The last two minutes, with a title."),
      .init("recorder save", "All that is held."),
    ])

  @Option(help: ArgumentHelp("Save the last T; all that is held when absent.", valueName: "T"))
  package var last: TimeSpan?
  @Option(help: ArgumentHelp("Give the session a title.", valueName: "TEXT")) package var title: String?
  @Option(help: ArgumentHelp("Give the session a tag.", valueName: "TAG")) package var tag: [String] = []
  @OptionGroup package var recording: RecordingArgument
  package init() {}
}

/// `recorder publish`
package struct PublishCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "publish", abstract: "Make a recording of a capture that is held: keep all from now on.",
    discussion: """
      The same capture goes on, and recorder stop ends its session as any other. It begins with the last whole picture, at \
      most two seconds ago, or with --last as long ago as that says. The session's id is the only line on standard output.
      """,
    examples: [
      .init("recorder publish", "From now on."), .init("recorder publish --last 1m", "From a minute ago on."),
    ])

  @Option(help: ArgumentHelp("Begin with the last T that is held.", valueName: "T")) package var last: TimeSpan?
  @Option(help: ArgumentHelp("Give the session a title.", valueName: "TEXT")) package var title: String?
  @Option(help: ArgumentHelp("Give the session a tag.", valueName: "TAG")) package var tag: [String] = []
  @OptionGroup package var recording: RecordingArgument
  package init() {}
}

/// `recorder status`
package struct StatusCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show what is being recorded, and whether every part of it works.",
    discussion: """
      A recording is idle, holding (nothing is kept yet), recording, paused, degraded (a sound input is missing, or frames are left out since the encoder or the disk is too slow), stalled (a part of the picture hangs), \
      stopping, finished or failed. A still screen is no fault: the parts are judged, not the pixels. A recorder that was \
      killed is shown as failed until the next command closes its session; one that was killed while it held a capture \
      has left nothing, and is not shown.

      With --watch a line of JSON comes at each change and once a second, until the recording ends.
      """,
    examples: [
      .init("recorder status", "All recordings that run."),
      .init("recorder status --json", "The same, one JSON object a line."),
      .init("recorder status demo --watch", "Follow one of them."),
    ])

  @OptionGroup package var recording: RecordingArgument
  @Flag(help: "Follow one recording, as lines of JSON.") package var watch = false
  @OptionGroup package var output: OutputOptions
  package init() {}
}

/// `recorder mark`
package struct MarkCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "mark", abstract: "Mark this moment of a recording.",
    discussion: "recorder search finds the mark by its words. The moment is the only line on standard output.",
    examples: [.init("recorder mark \"login fails\"", "With words.")])

  @Argument(help: ArgumentHelp("Words for it.", valueName: "TEXT")) package var text: String?
  @OptionGroup package var recording: RecordingOption
  package init() {}
}

/// `recorder pause`
package struct PauseCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Record nothing until resume; the session's time goes on.",
    discussion: """
      The session has no pictures and silence there, and says so by a gap. The moment is the only line on standard output.
      """,
    examples: [.init("recorder pause", "The recording that runs.")])

  @OptionGroup package var recording: RecordingArgument
  package init() {}
}

/// `recorder resume`
package struct ResumeCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Record again after pause.",
    examples: [.init("recorder resume", "The recording that runs.")])

  @OptionGroup package var recording: RecordingArgument
  package init() {}
}

/// `recorder mute`
package struct MuteCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "mute", abstract: "Record silence in place of a sound input.",
    examples: [.init("recorder mute mic", "The microphone.")])

  @Argument(help: ArgumentHelp("The input: mic or app.", valueName: "INPUT")) package var input: InputName
  @OptionGroup package var recording: RecordingOption
  package init() {}
}

/// `recorder unmute`
package struct UnmuteCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "unmute", abstract: "Record a muted sound input again.",
    examples: [.init("recorder unmute", "All of them.")])

  @Argument(help: ArgumentHelp("The input: mic or app; all when absent.", valueName: "INPUT"))
  package var input: InputName?
  @OptionGroup package var recording: RecordingOption
  package init() {}
}

/// `recorder gain`
package struct GainCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "gain", abstract: "Make a sound input louder or softer in the mix.",
    discussion: """
      The gain is over what the device delivers, and the inputs' own tracks stay as they are. recorder status shows it. \
      The moment is the only line on standard output.
      """,
    examples: [
      .init("recorder gain mic=+6dB", "A quiet voice."),
      .init("recorder gain app=-12dB mic=0dB", "Both, of the recording that runs."),
    ])

  @Argument(
    help: ArgumentHelp("The input, app or mic, and its gain from -60 to 30 dB.", valueName: "INPUT=dB"))
  package var gains: [GainChange]
  @OptionGroup package var recording: RecordingOption
  package init() {}
}

/// `recorder split`
package struct SplitCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "split", abstract: "Go on in a new media file of the same session.",
    discussion: """
      Nothing is lost between the two. The file before is never written again. The moment at which the new one begins is \
      the only line on standard output.
      """,
    examples: [.init("recorder split", "The recording that runs.")])

  @OptionGroup package var recording: RecordingArgument
  package init() {}
}
