package import Arguments
package import SessionModel

/// What `record` and `start` are told about the recording to make.
package struct RecordingArguments: ParsableArguments {
  @Argument(settings: ["source"], help: ArgumentHelp("What to record.", valueName: "SOURCE"))
  package var source = SourceSpecification.display
  @Option(settings: ["display"], help: ArgumentHelp("The X display; $DISPLAY when absent.", valueName: "NAME"))
  package var display: String?
  @Option(settings: ["video.fps"], help: ArgumentHelp("Frames a second, at most, from 1 to 240.", valueName: "N"))
  package var fps = VideoOptions().framesPerSecond
  @Option(
    settings: ["video.size"],
    help: ArgumentHelp(
      "Fit the picture into this size, keeping its shape: WxH, native, or a preset (h180 h360 h720 h1080 h1440 h2160, at "
        + "4:3 h720_43 and so on).",
      valueName: "SIZE"))
  package var size: PictureSize?
  @Flag(settings: ["video.upscale"], help: "Scale up what is smaller than the picture; else black bars are around it.")
  package var upscale = false
  @Flag(inversion: .prefixedNo, settings: ["video.cursor"], help: "Draw the pointer; drawn unless --no-cursor.")
  package var cursor = VideoOptions().showsCursor
  @Flag(settings: ["video.decorations"], help: "Record a window with its window manager's frame.")
  package var decorations = VideoOptions().decorations
  @Flag(settings: ["video.popups"], help: "Record a window with its menus and dialogs, where they are over it.")
  package var popups = false
  @Flag(help: "Pick the window (a click) or the region (dragged) on the screen, in place of SOURCE; Escape gives up.")
  package var select = false
  @Option(
    settings: ["video.on-resize"],
    help: ArgumentHelp(
      "When what is recorded takes another size: fit scales it down or adds black bars; crop shows it as large as it is; "
        + "segment begins a media file in the new size, once that has stayed for half a second (without --size).",
      valueName: "POLICY"))
  package var onResize = ResizePolicy.fit
  @Option(
    settings: ["video.on-close"],
    help: ArgumentHelp(
      "When the recorded window closes: end the recording, or wait for the next one that matches and go on with it.",
      valueName: "POLICY"))
  package var onClose = ClosePolicy.end
  @Option(
    settings: ["exclude"],
    help: ArgumentHelp(
      "Blank the windows with this class=NAME or title~=REGEX, and leave their titles out.", valueName: "WINDOWS"))
  package var exclude: [WindowExclusion] = []
  @Flag(settings: ["wait"], help: "Wait until the window or monitor appears.")
  package var wait = false
  @Option(
    defaultAsFlag: AudioDeviceSpecification.standard,
    settings: ["audio.application"], help: ArgumentHelp("Record what the applications play.", valueName: "DEVICE"))
  package var appAudio: AudioDeviceSpecification?
  @Option(
    defaultAsFlag: AudioDeviceSpecification.standard,
    settings: ["audio.microphone"], help: ArgumentHelp("Record the microphone.", valueName: "DEVICE"))
  package var microphone: AudioDeviceSpecification?
  @Option(
    settings: ["audio.microphone-channel"],
    help: ArgumentHelp("Record this one of the microphone's channels, from 1, on both sides.", valueName: "N"))
  package var microphoneChannel: Int?
  @Option(
    settings: ["audio.stems"],
    help: ArgumentHelp(
      "Keep each input as a track of its own after the mix (all), or the mix alone (none).", valueName: "S"))
  package var stems = AudioOptions().stems
  @Option(
    settings: ["audio.gain"],
    help: ArgumentHelp("Make an input louder or softer in the mix, in dB: app=-6dB,mic=+3dB.", valueName: "GAIN"))
  package var gain: AudioGains?
  @Option(
    settings: ["audio.codec"], help: ArgumentHelp("How sound is encoded: aac, opus, flac or pcm.", valueName: "CODEC"))
  package var audioCodec = AudioOptions().codec
  @Option(
    help: ArgumentHelp(
      "Keep nothing, and hold the last T in memory: recorder save keeps it, recorder publish all from then on.",
      valueName: "T"))
  package var hold: TimeSpan?
  @Option(
    settings: ["hold.memory"],
    help: ArgumentHelp("Hold at most so many bytes with --hold; 512M when absent.", valueName: "SIZE"))
  package var memory: ByteSize?
  @Option(
    settings: ["limits.duration"],
    help: ArgumentHelp("End after this time: 20, 1:30, 500ms, 20s, 5m, 2h.", valueName: "T"))
  package var duration: TimeSpan?
  @Option(help: ArgumentHelp("End at this time of day, today or tomorrow: HH:MM or HH:MM:SS.", valueName: "TIME"))
  package var until: TimeOfDay?
  @Option(
    settings: ["limits.max-size"],
    help: ArgumentHelp("End when the media files have reached this size: 500M, 2G.", valueName: "SIZE"))
  package var maxSize: ByteSize?
  @Option(
    settings: ["limits.stop-when-idle"],
    help: ArgumentHelp("End when the picture has not changed for this time.", valueName: "T"))
  package var stopWhenIdle: TimeSpan?
  @Option(help: ArgumentHelp("Begin after this time.", valueName: "T"))
  package var delay: TimeSpan?
  @Option(
    help: ArgumentHelp("The name by which to control it; the recorder's process id when absent.", valueName: "NAME"))
  package var name: String?
  @Option(
    settings: Hook.Event.allCases.map { SettingBinding("on.\($0.rawValue)", words: [$0.rawValue]) },
    help: ArgumentHelp(
      "Run COMMAND, without a shell, when EVENT happens: recorder-hooks(7).", valueName: "EVENT COMMAND"))
  package var on: [Hook] = []
  @Option(help: ArgumentHelp("Give the session a title.", valueName: "TEXT"))
  package var title: String?
  @Option(settings: ["tag"], help: ArgumentHelp("Give the session a tag.", valueName: "TAG"))
  package var tag: [String] = []
  @Option(
    settings: ["video.quality"],
    help: ArgumentHelp(
      "What the encoder is to save: processor time (fast), disk (small), some of both (balanced), or every pixel (lossless).",
      valueName: "QUALITY"))
  package var quality = VideoQuality.balanced
  @Option(settings: ["video.codec"], help: ArgumentHelp("The video encoder, by FFmpeg's name.", valueName: "NAME"))
  package var codec = VideoOptions().codec
  @Option(
    settings: ["video.preset"],
    help: ArgumentHelp("The encoder's preset, in place of the one that --quality stands for.", valueName: "NAME"))
  package var preset: String?
  @Option(
    settings: ["video.crf"],
    help: ArgumentHelp(
      "The encoder's constant rate factor, in place of --quality's; lower is better and larger.", valueName: "N"))
  package var crf: Int?
  @Option(settings: ["video.pixel-format"], help: ArgumentHelp("The encoded pixel format.", valueName: "FORMAT"))
  package var pixelFormat = VideoOptions().pixelFormat
  @Flag(settings: ["video.lossless"], help: "Keep every pixel exactly, as --quality lossless.")
  package var lossless = VideoOptions().lossless
  @Flag(
    settings: ["strict"],
    help: "Begin with every sound device or not at all, and end when sound or events fail; else it goes on without.")
  package var strict = RecordingOptions().strict
  @Option(
    settings: ["storage.sync"],
    help: ArgumentHelp("Make the disk take what is recorded this often; what a power cut can cost.", valueName: "T"))
  package var sync = TimeSpan(nanoseconds: StorageOptions().syncInterval)
  @Option(settings: ["storage.warn-below"], help: ArgumentHelp("Warn when the disk has less left.", valueName: "SIZE"))
  package var warnFree = ByteSize(bytes: StorageOptions().warnBelow)
  @Option(
    settings: ["storage.end-below"],
    help: ArgumentHelp("End the recording, or do not begin it, when the disk has less left.", valueName: "SIZE"))
  package var minFree = ByteSize(bytes: StorageOptions().endBelow)
  @Option(
    settings: ["storage.timeout"],
    help: ArgumentHelp("End the recording when the disk has taken nothing for this time.", valueName: "T"))
  package var diskTimeout = TimeSpan(nanoseconds: StorageOptions.standardTimeout)

  package init() {}
  package func validate() throws(RecorderError) {
    if let memory { try HoldOptions.check(memory: memory.bytes) }
    // The configuration's is for those that hold.
    if $memory.isGiven, memory != nil, hold == nil {
      throw RecorderError(.usage, "--memory needs --hold.", hint: "Write --hold 5m --memory 512M.")
    }
    if select, $source.isGiven {
      throw RecorderError(.usage, "--select and a SOURCE exclude each other.", hint: "Leave one of the two out.")
    }
    try options.check()
  }

  /// What the command line asks for.
  package var options: RecordingOptions {
    var options = RecordingOptions()
    options.source = source
    options.display = display
    options.video.framesPerSecond = fps
    options.video.size = size?.pixels
    options.video.showsCursor = cursor
    options.video.decorations = decorations
    options.video.codec = codec
    options.video.take(lossless ? .lossless : quality)
    if let preset { (options.video.preset, options.video.quality) = (preset, nil) }
    if let crf { (options.video.constantRateFactor, options.video.quantiser) = (crf, nil) }
    options.video.pixelFormat = pixelFormat
    if onResize != .fit { options.video.onResize = onResize }
    if onClose != .end { options.video.onClose = onClose }
    if !exclude.isEmpty { options.exclusions = exclude }
    if wait { options.video.waits = true }
    if popups { options.video.popups = true }
    if upscale { options.video.upscale = true }
    options.audio.application = appAudio
    options.audio.microphone = microphone
    options.audio.microphoneChannel = microphoneChannel
    options.audio.stems = stems
    options.audio.gains = gain ?? AudioGains()
    options.audio.codec = audioCodec
    options.strict = strict
    options.storage.syncInterval = sync.nanoseconds
    options.storage.warnBelow = warnFree.bytes
    options.storage.endBelow = minFree.bytes
    if diskTimeout.nanoseconds != StorageOptions.standardTimeout { options.storage.timeout = diskTimeout.nanoseconds }
    if let hold {
      var ring = HoldOptions(span: hold.nanoseconds)
      if let memory { ring.memory = memory.bytes }
      options.hold = ring
    }
    options.duration = duration?.nanoseconds
    options.limits.delay = delay?.nanoseconds
    options.limits.until = until
    options.limits.maximumBytes = maxSize?.bytes
    options.limits.idle = stopWhenIdle?.nanoseconds
    options.title = title
    options.tags = tag
    return options
  }
}
