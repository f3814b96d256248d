import Glibc
import SessionModel
import TestSupport
import Testing

/// `recorder config`, and what the configuration does to the other commands.
@Suite(.serialized) struct ConfigCommandTests {
  private func configuration(_ rig: RecorderRig) throws -> String {
    String(decoding: try readFile(rig.folder.file("config/recorder/recorder.conf")), as: UTF8.self)
  }

  /// A value of every key that a recording without sound takes, other than the default.
  private static let values = [
    ("source", "region:320x240+0+0"), ("video.fps", "15"), ("video.size", "160x120"), ("video.cursor", "false"),
    ("video.decorations", "true"), ("video.popups", "true"), ("video.on-resize", "crop"), ("video.on-close", "wait"),
    ("exclude", "class=KeePassXC"), ("wait", "true"), ("audio.stems", "none"), ("audio.gain", "mic=+3dB"),
    ("audio.microphone-channel", "2"), ("audio.codec", "opus"), ("limits.duration", "300ms"), ("limits.max-size", "1G"),
    ("limits.stop-when-idle", "1h"), ("tag", "set"), ("video.codec", "libx264rgb"), ("video.preset", "ultrafast"),
    ("video.crf", "30"), ("video.quality", "small"), ("video.upscale", "true"), ("video.pixel-format", "bgr0"),
    ("video.lossless", "true"),
    ("strict", "true"),
    ("storage.sync", "7s"), ("storage.warn-below", "2M"), ("storage.end-below", "1M"),
    ("storage.timeout", "30s"), ("hold.memory", "64M"),
  ]
  /// Keys that the other tests set.
  private static let others =
    ["archive", "display", "audio.application", "audio.microphone", "storage.budget", "storage.keep"]
    + Hook.Event.allCases.map { "on.\($0.rawValue)" }
  @Test func everyKeyThatIsSetIsRecorded() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let display = try #require(rig.display?.environment["DISPLAY"] ?? nil)
    // The archive and the display are named by the configuration alone.
    let bare: [String: String?] = ["RECORDER_ARCHIVE": nil, "DISPLAY": nil]
    let all = Self.values + [("archive", rig.archive), ("display", display)]
    for (key, value) in all {
      let set = try rig.run(["config", "set", key, value], environment: bare)
      #expect(set.ending == .exit(0) && set.text == "" && set.errorText == "", "\(key): \(set.errorText)")
      #expect(try rig.run(["config", "get", key], environment: bare).text == "\(value)\n")
    }
    let listed = try rig.run(["config", "list"], environment: bare).lines.dropFirst().compactMap {
      $0.split(separator: " ").first
    }
    #expect(Set(listed.map(String.init)) == Set(Self.values.map(\.0) + Self.others))
    let result = try rig.run(["record"], environment: bare)
    #expect(result.ending == .exit(0), "\(result.errorText)")
    var expected = RecordingOptions()
    expected.source = .region(PixelRect(x: 0, y: 0, width: 320, height: 240))
    expected.display = display
    expected.video.framesPerSecond = 15
    expected.video.size = PixelSize(width: 160, height: 120)
    expected.video.showsCursor = false
    expected.video.decorations = true
    expected.video.popups = true
    expected.video.upscale = true
    expected.video.onResize = .crop
    expected.video.onClose = .wait
    expected.video.waits = true
    expected.video.codec = "libx264rgb"
    // A preset goes before it, and a rate factor before its quantiser.
    (expected.video.quality, expected.video.quantiser) = (nil, nil)
    expected.video.preset = "ultrafast"
    expected.video.constantRateFactor = 30
    expected.video.pixelFormat = .bgr0
    expected.video.lossless = true
    expected.exclusions = [.className("KeePassXC")]
    expected.audio.microphoneChannel = 2
    expected.audio.stems = .none
    expected.audio.gains.microphone = 3
    expected.audio.codec = .opus
    expected.duration = 300_000_000
    expected.limits.maximumBytes = 1_000_000_000
    expected.limits.idle = 3_600_000_000_000
    expected.tags = ["set"]
    expected.strict = true
    expected.storage.syncInterval = 7_000_000_000
    expected.storage.warnBelow = 2_000_000
    expected.storage.endBelow = 1_000_000
    expected.storage.timeout = 30_000_000_000
    let id = try #require(SessionID(result.text.dropLast()))
    #expect(try rig.manifest(id).options == expected)
    // The archive is that of every command.
    #expect(try rig.run(["list"], environment: bare).text.contains(id.description))
    // A flag goes before it, with the default's value too.
    let plain = try rig.run(
      ["record", "--fps", "30", "--no-lossless", "--codec", "libx264", "--pixel-format", "yuv420p", "--no-size"],
      environment: bare)
    let options = try rig.manifest(#require(SessionID(plain.text.dropLast()))).options
    #expect(options.video.framesPerSecond == 30 && !options.video.lossless && options.video.size == nil)
  }

  @Test func theArchivesVariableGoesBeforeTheFiles() throws {
    let rig = try RecorderRig()
    #expect(try rig.run(["config", "set", "archive", rig.folder.file("other")]).ending == .exit(0))
    #expect(try rig.run(["config", "get", "archive"]).text == "\(rig.archive)\n")
    #expect(try rig.run(["list"]).errorText.contains(rig.archive))
    // A variable may name a folder from where one is.
    let here = try rig.run(["list"], environment: ["RECORDER_ARCHIVE": "here"])
    #expect(
      here.ending == .exit(0)
        && here.errorText == "recorder: There are no sessions in here. recorder record makes the first.\n")
    let bare: [String: String?] = ["RECORDER_ARCHIVE": nil, "HOME": rig.folder.path]
    #expect(try rig.run(["list"], environment: bare).errorText.contains(rig.folder.file("other")))
    #expect(try rig.run(["config", "set", "archive", "~/third"]).ending == .exit(0))
    #expect(try rig.run(["list"], environment: bare).errorText.contains(rig.folder.file("third")))
  }

  @Test func theBoundsOfTheCleanUpAreConfigured() throws {
    let rig = try RecorderRig()
    #expect(try rig.run(["gc"]).ending == .exit(64))
    _ = try rig.run(["config", "set", "storage.budget", "50G"])
    #expect(try rig.run(["gc", "--dry-run"]).ending == .exit(0))
    #expect(try rig.run(["gc", "--no-budget"]).ending == .exit(64))
    _ = try rig.run(["config", "set", "storage.budget", ""])
    #expect(try rig.run(["gc"]).ending == .exit(64))
    #expect(try rig.run(["gc", "--dry-run"], environment: ["RECORDER_STORAGE_KEEP": "90d"]).ending == .exit(0))
  }

  @Test func soundIsConfiguredAndTurnedOff() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: ["PULSE_SERVER": "unix:/nowhere"])
    _ = try rig.run(["config", "set", "audio.application", "default"])
    func application(_ words: String...) throws -> AudioDeviceSpecification? {
      let result = try rig.run(["record", "--duration", "0.2"] + words)
      return try rig.manifest(#require(SessionID(result.text.dropLast()))).options.audio.application
    }
    #expect(try application() == .standard)
    #expect(try application("--no-app-audio") == nil)
  }

  @Test func aBrokenConfigurationStopsNothingButRecording() throws {
    let rig = try RecorderRig()
    try run(["mkdir", "-p", rig.folder.file("config/recorder")])
    let path = rig.folder.file("config/recorder/recorder.conf")
    let content = "video.fps = many\narchive = \(rig.archive)\nnonsense\n"
    try writeFile(path, content.utf8)
    let sentence =
      "recorder: \(path):1: video.fps: \"many\" is not a whole number. recorder config check tells of 1 more.\n"
    for (words, status) in [
      (["list"], Int32(0)), (["search", "x"], 0), (["show", "last"], 66), (["stop"], 66), (["status"], 0),
      (["recover"], 0),
    ] {
      let result = try rig.run(words)
      #expect(result.status == status, "\(words)")
      #expect(result.errorText.hasPrefix(sentence), "\(result.errorText)")
    }
    for words in [["record"], ["start"], ["gc", "--keep", "1d"], ["record", "--fps", "5", "--", "true"]] {
      let result = try rig.run(words)
      #expect(result.status == 78 && result.text == "")
      #expect(result.errorText == sentence)
    }
    // Nothing was made, and help does not mind.
    #expect(try rig.run(["list", "--json"]).text == "")
    #expect(try rig.run(["record", "--help"]).errorText == "")
    let check = try rig.run(["config", "check"])
    #expect(check.status == 78)
    #expect(
      check.errorText == """
        recorder: \(path):1: video.fps: "many" is not a whole number.
        recorder: \(path):3: The line is no KEY = VALUE, no [SECTION] and no comment.

        """)
    // It is mended in steps, each of which keeps the rest.
    #expect(try rig.run(["config", "unset", "video.fps"]).ending == .exit(0))
    #expect(try configuration(rig) == "archive = \(rig.archive)\nnonsense\n")
  }

  @Test func aWrongSettingIsRefusedAndTheFileStays() throws {
    let rig = try RecorderRig()
    _ = try rig.run(["config", "set", "video.fps", "15"])
    for (words, sentence) in [
      (["video.fsp", "1"], "There is no setting \"video.fsp\". Did you mean \"video.fps\"?"),
      (["video.fps", "x"], "video.fps: \"x\" is not a whole number."),
      (["video.fps", "15\nstrict = true"], "video.fps: \"15 strict = true\" is not a whole number."),
      (
        ["display", ":1\nstrict = true"],
        "display: the value cannot be written to a configuration file. A value is one line of at most 4096 bytes that neither begins nor ends with a blank."
      ),
      (["video.fps", "1", "2"], "video.fps has one value. Write recorder config set video.fps VALUE."),
    ] {
      let result = try rig.run(["config", "set"] + words)
      #expect(result.status == 64 && result.errorText == "recorder: \(sentence)\n", "\(result.errorText)")
    }
    #expect(try configuration(rig) == "video.fps = 15\n")
  }

  @Test func theFileIsForItsOwnerAndItsCommentsStay() throws {
    let rig = try RecorderRig()
    try run(["mkdir", "-p", rig.folder.file("config/recorder"), rig.folder.file("dotfiles")])
    let real = rig.folder.file("dotfiles/recorder.conf")
    try writeFile(real, "# Mine.\n[video]\nfps = 10 \n; end\n".utf8)
    chmod(real, 0o644)
    symlink("../../dotfiles/recorder.conf", rig.folder.file("config/recorder/recorder.conf"))
    let program = builtProgram("recorder")
    try run(
      ["bash", "-c", "umask 0; \(program) config set video.fps 15; \(program) config set exclude class=A class=B"],
      environment: rig.environment)
    #expect(try configuration(rig) == "exclude = class=A\nexclude = class=B\n# Mine.\n[video]\nfps = 15\n; end\n")
    // The link is a link still, and what it leads to is no longer readable for others.
    var status = stat()
    #expect(lstat(rig.folder.file("config/recorder/recorder.conf"), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    #expect(lstat(real, &status) == 0 && status.st_mode & 0o777 == 0o600)
    #expect(try rig.run(["config", "path"]).text == rig.folder.file("config/recorder/recorder.conf\n"))
  }

  @Test func thoseWhoSetAtOnceLoseNothing() throws {
    let rig = try RecorderRig()
    let processes = try (0..<8).map { number in
      try ChildProcess(
        [builtProgram("recorder"), "config", "set", "--add", "exclude", "class=\(number)"], environment: rig.environment
      )
    }
    for process in processes { #expect(try process.wait().ending == .exit(0)) }
    #expect(Set(try rig.run(["config", "get", "exclude"]).lines) == Set((0..<8).map { "class=\($0)" }))
  }

  @Test func jsonIsAsTheSchemasSay() throws {
    let rig = try RecorderRig()
    _ = try rig.run(["config", "set", "exclude", "class=A", "class=B"])
    try run(["bash", "-c", "echo 'video.fsp = 1' >> \(rig.folder.file("config/recorder/recorder.conf"))"])
    let environment: [String: String?] = ["RECORDER_VIDEO_CRF": "20", "RECORDER_VIDEO_FPS": "x"]
    let list = try rig.run(["config", "list", "--json"], environment: environment)
    #expect(try JSONSchema.problems("setting", list.lines) == list.lines.map { _ in "" })
    let path = rig.folder.file("config/recorder/recorder.conf")
    #expect(
      list.lines.contains {
        $0.contains(
          #""key":"exclude","option":"--exclude of record and start","origin":{"file":"\#(path)","kind":"user","line":2},"value":"class=B""#
        )
      })
    #expect(
      list.lines.contains {
        $0.contains(#""origin":{"kind":"environment","variable":"RECORDER_VIDEO_CRF"},"value":"20""#)
      })
    let check = try rig.run(["config", "check", "--json"], environment: environment)
    #expect(check.lines.count == 2 && check.status == 78)
    #expect(try JSONSchema.problems("problem", check.lines) == ["", ""])
    let wrong = [
      #"{"key":"A","origin":{"kind":"default"},"about":""}"#, #"{"key":"a","origin":{"kind":"user"},"about":""}"#,
      #"{"key":"a","origin":{"kind":"default","line":1},"about":""}"#, #"{"key":"a","about":""}"#,
    ]
    for problem in try JSONSchema.problems("setting", wrong) { #expect(problem != "") }
    for problem in try JSONSchema.problems(
      "problem", [#"{"message":"a"}"#, #"{"origin":{"kind":"default"},"message":""}"#])
    { #expect(problem != "") }
  }
}
