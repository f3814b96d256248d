package import Arguments
package import SessionModel

/// `recorder replay`
package struct ReplayCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Play a session in a window.",
    discussion: """
      Keys: space or p pauses, left and right go 5 seconds, down and up a minute, comma and full stop one picture back \
      and forward, [ and ] make it half and twice as fast, m mutes, 9 and 0 make it quieter and louder, t plays the \
      next sound track, f fills the screen, q or Escape ends.

      The picture follows the sound that is heard. Without a sound device, and at another speed than 1, there is no \
      sound. At the session's end the last picture stays; space begins again.
      """,
    examples: [
      .init("recorder replay last", "The newest session."),
      .init("recorder replay last --track mic", "What the microphone heard alone."),
      .init("recorder replay last --at 1:30 --speed 2", "From a minute and a half on, twice as fast."),
    ])

  @OptionGroup package var session: SessionArgument
  @Option(help: ArgumentHelp("Begin at this time.", valueName: "T")) package var at: TimePosition?
  @Option(help: ArgumentHelp("How fast it plays; 1 is as recorded.", valueName: "X")) package var speed = 1.0
  @Option(help: ArgumentHelp("How loud it plays, from 0 to 1.", valueName: "V")) package var volume = 1.0
  @Option(
    help: ArgumentHelp(
      "The sound track: mix, app, mic, or its number as recorder show counts them; the mix when absent.",
      valueName: "TRACK"))
  package var track: SoundTrackSpecification?
  @Flag(help: "Stand still at the start until a key is pressed.") package var paused = false
  @Flag(help: "Fill the screen from the start.") package var fullScreen = false

  package init() {}
}
