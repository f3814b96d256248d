package import Arguments
package import SessionModel

/// `recorder record`
package struct RecordCommand: CommandDeclaration {
  package static let configuration = CommandConfiguration(
    commandName: "record",
    abstract: "Record a display, a monitor, a window or a region until Ctrl-C.",
    discussion: """
      SOURCE is display (the whole of it), monitor:NAME, window:ID, window:title=TEXT, window:class=NAME, \
      window:active, or region:WxH+X+Y.

      The recording ends on Ctrl-C, on TERM or HUP, after --duration, when the recorded window closes, or when the X \
      server ends; the file is finished properly each time. The session's id is the only line on standard output.

      Sound is off unless it is asked for: --app-audio records what the applications play, --microphone what the \
      person says; both go into one track. A DEVICE is pulse:SOURCE or alsa:PCM.
      """,
    examples: [
      .init("recorder record", "Record the whole display until Ctrl-C."),
      .init("recorder record --app-audio --microphone", "With the desktop's sound and the default microphone."),
      .init("recorder record window:title=Invoice --duration 5m", "One window, for five minutes."),
      .init("recorder record --size h720 --fps 15 --tag support", "Smaller, slower, and tagged."),
    ])

  @Argument(help: ArgumentHelp("What to record.", valueName: "SOURCE"))
  package var source = SourceSpecification.display
  @Option(help: ArgumentHelp("The X display; $DISPLAY when absent.", valueName: "NAME"))
  package var display: String?
  @Option(help: ArgumentHelp("Frames a second, at most, from 1 to 240.", valueName: "N"))
  package var fps = VideoOptions().framesPerSecond
  @Option(
    help: ArgumentHelp(
      "Fit the picture into this size, keeping its shape: WxH, or a preset (h180 h360 h720 h1080 h1440 h2160).",
      valueName: "SIZE"))
  package var size: PixelSize?
  @Flag(inversion: .prefixedNo, help: "Draw the pointer; drawn unless --no-cursor.")
  package var cursor = VideoOptions().showsCursor
  @Flag(help: "Record a window with its window manager's frame.")
  package var decorations = VideoOptions().decorations
  @Option(
    defaultAsFlag: AudioDeviceSpecification.standard,
    help: ArgumentHelp("Record what the applications play.", valueName: "DEVICE"))
  package var appAudio: AudioDeviceSpecification?
  @Option(
    defaultAsFlag: AudioDeviceSpecification.standard,
    help: ArgumentHelp("Record the microphone.", valueName: "DEVICE"))
  package var microphone: AudioDeviceSpecification?
  @Option(help: ArgumentHelp("End after this time: 20, 1:30, 500ms, 20s, 5m, 2h.", valueName: "T"))
  package var duration: TimeSpan?
  @Option(help: ArgumentHelp("Give the session a title.", valueName: "TEXT"))
  package var title: String?
  @Option(help: ArgumentHelp("Give the session a tag.", valueName: "TAG"))
  package var tag: [String] = []
  @Option(help: ArgumentHelp("The video encoder, by FFmpeg's name.", valueName: "NAME"))
  package var codec = VideoOptions().codec
  @Option(help: ArgumentHelp("The encoder's preset.", valueName: "NAME"))
  package var preset = VideoOptions().preset
  @Option(help: ArgumentHelp("The encoder's constant rate factor; lower is better and larger.", valueName: "N"))
  package var crf = VideoOptions().constantRateFactor
  @Option(help: ArgumentHelp("The encoded pixel format.", valueName: "FORMAT"))
  package var pixelFormat = VideoOptions().pixelFormat
  @Flag(help: "Keep every pixel exactly; large.")
  package var lossless = VideoOptions().lossless

  package init() {}

  /// What the command line asks for.
  package var options: RecordingOptions {
    var options = RecordingOptions()
    options.source = source
    options.display = display
    options.video.framesPerSecond = fps
    options.video.size = size
    options.video.showsCursor = cursor
    options.video.decorations = decorations
    options.video.codec = codec
    options.video.preset = preset
    options.video.constantRateFactor = crf
    options.video.pixelFormat = pixelFormat
    options.video.lossless = lossless
    options.audio.application = appAudio
    options.audio.microphone = microphone
    options.duration = duration?.nanoseconds
    options.title = title
    options.tags = tag
    return options
  }
}
