package import Arguments

/// `recorder record`
package struct RecordCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a display, a monitor, a window or a region until Ctrl-C.",
    discussion: """
      SOURCE is display (the whole of it), monitor:NAME, region:WxH+X+Y, window:ID, window:active, or window: with \
      title=TEXT, title~=REGEX, class=NAME, pid=NUMBER or command=NAME; recorder sources lists what there is. When \
      several windows match, the topmost is recorded.

      The recording ends on Ctrl-C, on TERM or HUP, by recorder stop, after --duration, when the recorded window closes, \
      or when the X server ends; the files are finished properly each time. The session's id is the only line on \
      standard output.

      While it runs it takes recorder pause, resume, mute, unmute, mark, split, status and stop from anywhere.

      Sound is off unless it is asked for: --app-audio records what the applications play, --microphone what the \
      person says; both go into one track. A DEVICE is pulse:SOURCE, alsa:PCM, or one application alone: app:NAME, pid:N or \
      window, the recorded window's.
      """,
    examples: [
      .init("recorder record", "Record the whole display until Ctrl-C."),
      .init("recorder record --app-audio --microphone", "With the desktop's sound and the default microphone."),
      .init("recorder record window:title=Invoice --duration 5m", "One window, for five minutes."),
      .init("recorder record window:active --app-audio=window", "A window, with the sound of its program alone."),
      .init("recorder record --size h720 --fps 15 --tag support", "Smaller, slower, and tagged."),
    ])

  @OptionGroup package var recording: RecordingArguments

  package init() {}
}
