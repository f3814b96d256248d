package import Arguments
package import SessionModel

/// `recorder record`
package struct RecordCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a display, a monitor, a window or a region until Ctrl-C.",
    discussion: """
      SOURCE is display (the whole of it), monitor:NAME, region:WxH+X+Y, follow:focus (the active window, whichever \
      it is), window:ID, window:active, or window: with \
      title=TEXT, title~=REGEX, class=NAME, pid=NUMBER or command=NAME; recorder sources lists what there is. When \
      several windows match, the topmost is recorded.

      The recording ends on Ctrl-C, on TERM or HUP, by recorder stop, by --duration, --until, --max-size or --stop-when-idle, when the recorded window closes, \
      or when the X server ends; the files are finished properly each time. The session's id is the only line on \
      standard output.

      While it runs it takes recorder pause, resume, mute, unmute, gain, mark, split, status and stop from anywhere.

      With -- COMMAND it records while the command runs, passes its output through as it is, and exits with its status, or \
      128 and the number of the signal that ended it. Standard output is the command's alone then; --keep says when the \
      session is kept. INT, TERM, HUP and QUIT are passed on to the command.

      A window that takes another size is fitted into the picture, which keeps its own; hidden, it stays as it was, and \
      the session says so. Nothing is ever shown larger than it is, but with --upscale; what is scaled down may be up to three \
      levels of 255 darker, two with --lossless. follow:focus fits each window into a picture of the screen's size. With --on-resize segment it begins in the active window's size, and each window that \
      keeps the focus for half a second has a media file in its own, as has the one that --on-close wait goes on with. \
      With --popups what a menu or dialog has beyond its window's edges is cut.

      --quality says what the encoder saves: fast, processor time, at several times the disk where pages scroll; balanced is \
      as sharp as x264's own defaults for little more time than fast; small makes the smallest files whose text is as easy \
      to read, for twice the time of balanced, and what moves is a little softer; lossless keeps every pixel, for three \
      times the time. A --preset is taken as it is, and a --crf goes before the quantiser of the quality.

      --exclude makes the matching windows black wherever they are, with their dialogs and pop-ups, also where another \
      window covers them, and tells nothing of them; a place that one has left stays black until something is drawn \
      there. What a window showed before its title first matched is recorded.

      Sound is off unless it is asked for: --app-audio records what the applications play, --microphone what the \
      person says; both are mixed into the first track, and each follows as a track of its own. A DEVICE is pulse:SOURCE, alsa:PCM, or one application alone: app:NAME, pid:N or \
      window, the recorded window's. One that is missing, and an application that plays nothing yet, are waited for: the \
      recording begins without them, says so, is silent there, and has their sound from the moment that they come. With \
      --strict a device has to be there.
      """,
    examples: [
      .init("recorder record", "Record the whole display until Ctrl-C."),
      .init("recorder record --app-audio --microphone", "With the desktop's sound and the default microphone."),
      .init("recorder record window:title=Invoice --duration 5m", "One window, for five minutes."),
      .init("recorder record window:active --app-audio=window", "A window, with the sound of its program alone."),
      .init("recorder record --keep failure -- make test", "Keep the session only when the command fails."),
      .init("recorder record --virtual-display --log -- ./ui-test", "On a display of its own, its output searchable."),
      .init("recorder record --size h720 --fps 15 --tag support", "Smaller, slower, and tagged."),
    ])

  @OptionGroup package var recording: RecordingArguments
  @Option(
    help: ArgumentHelp(
      "Keep the session always, on failure of the command, never, or when a line of its output matches: match=REGEX.",
      valueName: "WHEN"))
  package var keep = KeepPolicy.always
  @Option(
    help: ArgumentHelp("End the command after this time, by TERM and five seconds later by KILL.", valueName: "T"))
  package var timeout: TimeSpan?
  @Flag(help: "Record the lines that the command writes, so that recorder search finds them.")
  package var log = false
  @Option(
    defaultAsFlag: PixelSize.h1080_169,
    help: ArgumentHelp("Run the command on an Xvfb of its own, of this size, and record that.", valueName: "SIZE"))
  package var virtualDisplay: PixelSize?
  @Argument(afterTerminator: ArgumentHelp("The command to record, and its arguments.", valueName: "COMMAND"))
  package var command: [ArgumentText]

  package init() {}

  package func validate() throws(RecorderError) {
    let needing: [(String, Bool)] = [
      ("--keep", keep != .always), ("--timeout", timeout != nil), ("--log", log),
      ("--virtual-display", virtualDisplay != nil),
    ]
    if !command.isEmpty, recording.hold != nil {
      throw RecorderError(
        .usage, "--hold and a command exclude each other: a command's recording is kept or not when it ends.",
        hint: "--keep says when.")
    }
    if command.isEmpty, let option = needing.first(where: { $0.1 })?.0 {
      throw RecorderError(
        .usage, "\(option) needs a command.", hint: "Write it after --: recorder record \(option) … -- COMMAND.")
    }
  }
}
