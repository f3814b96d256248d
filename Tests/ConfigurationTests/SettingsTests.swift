import Arguments
import Commands
import Configuration
import Glibc
import SessionModel
import TestSupport
import Testing

/// The layers of the configuration, and what a command line makes of them.
@Suite struct SettingsTests {
  /// Two system folders, the user's, and an environment that names them.
  private struct Layers {
    let folder: TemporaryFolder
    var environment: [String: String]

    /// - Parameters: the files' contents, nil for none, and variables.
    init(lower: String? = nil, system: String? = nil, user: String? = nil, _ variables: [String: String] = [:]) throws {
      folder = try TemporaryFolder()
      environment = [
        "XDG_CONFIG_DIRS": "\(folder.file("system")):relative:\(folder.file("lower"))",
        "XDG_CONFIG_HOME": folder.file("user"), "HOME": folder.path,
      ]
      environment.merge(variables) { _, new in new }
      for (name, content) in [("lower", lower), ("system", system), ("user", user)] {
        guard let content else { continue }
        try run(["mkdir", "-p", folder.file("\(name)/recorder")])
        try writeFile(folder.file("\(name)/recorder/recorder.conf"), content.utf8)
      }
    }

    var settings: Settings { Settings(SettingKey.all, environment) }

    /// What `record` is asked to do with `words` after it.
    func options(_ words: String...) throws -> RecordingOptions {
      let arguments = (["record"] + words).map { ArgumentText($0) }
      let outcome = try CommandParser(RecorderCommand.self).parse(arguments, configured: settings.defaults)
      guard case .run(let command as RecordCommand) = outcome else { throw TestFailure("no record command") }
      return command.recording.options
    }
  }

  @Test func eachLayerGoesBeforeTheOneBelow() throws {
    let lower = "video.fps = 11\nvideo.size = 110x110\naudio.codec = opus\nvideo.crf = 11\nvideo.preset = slow\n"
    let system = "video.fps = 12\nvideo.size = 120x120\naudio.codec = flac\nvideo.crf = 12\n"
    let user = "[video]\nfps = 13\nsize = 130x130\ncrf = 13\n"
    let layers = try Layers(
      lower: lower, system: system, user: user, ["RECORDER_VIDEO_FPS": "14", "RECORDER_VIDEO_SIZE": "140x140"])
    let options = try layers.options("--fps", "15")
    #expect(options.video.framesPerSecond == 15)
    #expect(options.video.size == PixelSize(width: 140, height: 140))
    #expect(options.video.constantRateFactor == 13)
    #expect(options.audio.codec == .flac)
    #expect(options.video.preset == "slow")
    #expect(options.video.codec == "libx264")
    let origins = ["video.fps", "video.size", "video.crf", "audio.codec", "video.preset"].map {
      layers.settings.values[$0]?.last?.origin.description
    }
    #expect(
      origins == [
        "RECORDER_VIDEO_FPS", "RECORDER_VIDEO_SIZE", "\(layers.folder.path)/user/recorder/recorder.conf:4",
        "\(layers.folder.path)/system/recorder/recorder.conf:3", "\(layers.folder.path)/lower/recorder/recorder.conf:5",
      ])
  }

  @Test func aFlagWithTheDefaultsValueCounts() throws {
    let layers = try Layers(user: "video.fps = 13\naudio.stems = none\nvideo.on-resize = crop\n")
    let options = try layers.options("--fps", "30", "--stems", "all", "--on-resize", "fit")
    #expect(options == RecordingOptions())
  }

  @Test func whatTheConfigurationTurnedOnIsTurnedOff() throws {
    let user = """
      display = :9
      exclude = class=A
      tag = a
      wait = true
      strict = on
      video.size = h720
      video.cursor = no
      video.decorations = yes
      video.lossless = true
      audio.application = default
      audio.microphone = alsa:hw:1
      audio.gain = mic=3
      limits.duration = 5m
      limits.max-size = 1G
      limits.stop-when-idle = 5m
      """
    let layers = try Layers(user: user)
    let options = try layers.options()
    #expect(options.display == ":9" && options.exclusions == [.className("A")] && options.tags == ["a"])
    #expect(options.video.waits == true && options.strict && options.video.size?.height == 720)
    #expect(!options.video.showsCursor && options.video.decorations && options.video.lossless)
    #expect(options.audio.application == .standard && options.audio.microphone == .alsa(pcm: "hw:1"))
    #expect(options.audio.gains.microphone == 3 && options.duration == 300_000_000_000)
    #expect(options.limits.maximumBytes == 1_000_000_000 && options.limits.idle == 300_000_000_000)
    #expect(
      try layers.options(
        "--no-display", "--no-exclude", "--no-tag", "--no-wait", "--no-strict", "--no-size", "--cursor",
        "--no-decorations", "--no-lossless", "--no-app-audio", "--no-microphone", "--no-gain", "--no-duration",
        "--no-max-size", "--no-stop-when-idle") == RecordingOptions())
  }

  @Test func whatRepeatsAddsUp() throws {
    let layers = try Layers(
      system: "exclude = class=S\n", user: "exclude = class=U\nexclude = class=V\n",
      ["RECORDER_EXCLUDE": "class=E\nclass=F"])
    let all = try layers.options("--exclude", "class=X").exclusions
    #expect(all == ["S", "U", "V", "E", "F", "X"].map { WindowExclusion.className($0) })
    #expect(try layers.options("--no-exclude", "--exclude", "class=X").exclusions == [.className("X")])
    #expect(try layers.options("--exclude", "class=X", "--no-exclude").exclusions == nil)
  }

  @Test func anEmptyValueTakesBackWhatIsBelow() throws {
    let layers = try Layers(
      system: "exclude = class=S\nvideo.fps = 12\nstrict = yes\n",
      user: "exclude =\nexclude = class=U\nvideo.fps =\nstrict =\n", ["RECORDER_VIDEO_CRF": ""])
    var expected = RecordingOptions()
    expected.exclusions = [.className("U")]
    #expect(try layers.options() == expected)
    #expect(layers.settings.problems == [])
  }

  @Test(arguments: [
    ("video.fsp = 15", 1, "There is no setting \"video.fsp\". Did you mean \"video.fps\"?"),
    ("\n[vidio]\nfps = 15", 3, "There is no setting \"vidio.fps\". Did you mean \"video.fps\"?"),
    ("zzz = 15", 1, "There is no setting \"zzz\". recorder config list shows all."),
    ("video.fps = many", 1, "video.fps: \"many\" is not a whole number."),
    ("video.fps = 1000", 1, "video.fps: 1000 frames a second cannot be recorded. Give --fps a number from 1 to 240."),
    ("video.crf = 99", 1, "video.crf: 99 is no rate factor. Give --crf a number from 0 (best) to 51."),
    ("strict = maybe", 1, "strict: \"maybe\" is neither true nor false."),
    ("audio.codec = acc", 1, "audio.codec: \"acc\" is none of aac, opus, flac, pcm. Did you mean \"aac\"?"),
    ("exclude = KeePass", 1, "exclude: \"KeePass\" names no windows to leave out. Write class=NAME or title~=REGEX."),
    ("archive = here", 1, "archive: \"here\" is no absolute path. Begin it with / or with ~/."),
    ("storage.keep = 3x", 1, "storage.keep: \"3x\" is not a length of time. Write 20, 1:30, 500ms, 20s, 5m or 2h."),
    ("video.fps = 15\nvideo.fps = 16", 2, "video.fps is set already, in line 1."),
    ("video.fps 15", 1, "The line is no KEY = VALUE, no [SECTION] and no comment."),
  ])
  func whatIsWrongIsNamedWithFileAndLine(content: String, line: Int, sentence: String) throws {
    // Below a header it would be another key.
    let layers = try Layers(user: content + (content.contains("[") ? "" : "\nvideo.preset = slow\n"))
    let problems = layers.settings.problems
    #expect(problems.count == 1)
    let place = "\(layers.folder.path)/user/recorder/recorder.conf:\(line)"
    #expect(problems.first?.error.description == "\(place): \(sentence)")
    #expect(problems.first?.error.code == .configuration)
    // What is right counts.
    if !content.contains("[") { #expect(try layers.options().video.preset == "slow") }
  }

  @Test func aVariableThatIsWrongIsNamed() throws {
    let layers = try Layers(user: "video.fps = 13", ["RECORDER_VIDEO_FPS": "many"])
    #expect(
      layers.settings.problems.map(\.error.description) == [
        "RECORDER_VIDEO_FPS: video.fps: \"many\" is not a whole number."
      ])
    #expect(try layers.options().video.framesPerSecond == 13)
  }

  @Test(arguments: [
    ("RECORDER_VIDEO_FSP", "Did you mean \"RECORDER_VIDEO_FPS\"?"),
    ("RECORDER_ARCHIV", "Did you mean \"RECORDER_ARCHIVE\"?"),
    ("RECORDER_STROAGE_SYNC", "Did you mean \"RECORDER_STORAGE_SYNC\"?"),
    ("RECORDER_AUDIO_SOMETHING_ELSE", "recorder.conf(5) lists all."),
  ])
  func aVariableThatIsMistypedIsNamed(name: String, hint: String) throws {
    let problems = try Layers([name: "7"]).settings.problems
    #expect(problems.map(\.error.description) == ["\(name): There is no setting of this name. \(hint)"])
    #expect(problems.first?.error.code == .configuration)
  }

  /// What only begins with the same letters is another program's, or for the tests of this one.
  @Test(arguments: [
    "RECORDER_TORTURE_SEED", "RECORDER_HOME", "RECORDER_", "RECORDER_VIDEO", "RECORDER_ARCHIVE", "XRECORDER_VIDEO_FSP",
  ])
  func otherVariablesAreNobodysBusiness(name: String) throws {
    #expect(try Layers([name: "7"]).settings.problems == [])
  }

  /// The memory of a ring can be configured, and is for those who hold alone.
  @Test func aRingsMemoryIsConfigured() throws {
    let layers = try Layers(user: "hold.memory = 64M\n")
    #expect(layers.settings.problems == [])
    #expect(try layers.options().hold == nil)
    #expect(try layers.options("--hold", "5m").hold?.memory == 64_000_000)
    #expect(try layers.options("--hold", "5m", "--memory", "32M").hold?.memory == 32_000_000)
    #expect(try layers.options("--hold", "5m", "--no-memory").hold?.memory == 512_000_000)
    let error = #expect(throws: RecorderError.self) { try layers.options("--memory", "32M") }
    #expect(error?.message == "--memory needs --hold.")
    let small = try Layers(user: "hold.memory = 1M\n").settings.problems
    #expect(small.first?.message == "hold.memory: A ring of 1000000 bytes cannot be held.")
  }

  @Test(arguments: ["folder", "fifo", "large", "loop"])
  func aFileThatIsNoneIsNamed(kind: String) throws {
    let layers = try Layers(user: "")
    let path = layers.folder.file("user/recorder/recorder.conf")
    unlink(path)
    switch kind {
    case "folder": mkdir(path, 0o700)
    case "fifo": mkfifo(path, 0o600)
    case "loop": symlink(path, path)
    default: try writeFile(path, [UInt8](repeating: 10, count: ConfigurationText.largestFile + 1))
    }
    let problems = layers.settings.problems
    #expect(problems.map(\.origin.description) == [path])
    #expect(problems.first?.message.hasPrefix("The file cannot be read: ") == true)
  }

  @Test func namesOfKeysAndVariablesAreOneToOne() {
    let keys = SettingKey.all
    #expect(Set(keys.map(\.name)).count == keys.count)
    #expect(Set(keys.map(\.variable)).count == keys.count)
    for key in keys { #expect(key.abstract.hasSuffix("."), "\(key.name)") }
    // What is built in is right.
    for key in keys { if let value = key.builtIn { #expect(throws: Never.self) { try key.check(value) } } }
  }
}
