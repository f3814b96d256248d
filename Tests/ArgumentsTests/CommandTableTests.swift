import Arguments
import Commands
import SessionModel
import Testing

/// The real table: what people type becomes what the layers below take.
@Suite struct CommandTableTests {
  private func parse<Result>(_ line: String, as type: Result.Type) throws -> Result {
    let words = line.split(separator: " ").map { word in ArgumentText(word) }
    guard case .run(let command) = try CommandParser(RecorderCommand.self).parse(words) else {
      throw RecorderError(.usage, "not run")
    }
    return try #require(command as? Result)
  }

  @Test func recordWithoutOptionsIsTheDefaults() throws {
    #expect(try parse("record", as: RecordCommand.self).recording.options == RecordingOptions())
  }

  @Test func recordsOptions() throws {
    let line = """
      record window:title=Invoice --display :7 --fps 60 --size h720 --no-cursor --decorations --app-audio \
      --microphone=alsa:hw:1 --duration 1:30 --title T --tag a --tag b --codec libx265 --preset fast --crf 18 \
      --pixel-format yuv444p --lossless --until 07:30 --max-size 2G --stop-when-idle 5m --delay 3
      """
    var expected = RecordingOptions()
    expected.source = .window(.title("Invoice"))
    expected.display = ":7"
    expected.video.framesPerSecond = 60
    expected.video.size = PixelSize(width: 1280, height: 720)
    expected.video.showsCursor = false
    expected.video.decorations = true
    expected.audio.application = .standard
    expected.audio.microphone = .alsa(pcm: "hw:1")
    expected.duration = 90_000_000_000
    expected.title = "T"
    expected.tags = ["a", "b"]
    expected.video.take(.lossless)
    expected.video.codec = "libx265"
    (expected.video.preset, expected.video.quality) = ("fast", nil)
    (expected.video.constantRateFactor, expected.video.quantiser) = (18, nil)
    expected.video.pixelFormat = .yuv444p
    expected.limits.until = try TimeOfDay(parsing: "07:30:00")
    expected.limits.maximumBytes = 2_000_000_000
    expected.limits.idle = 300_000_000_000
    expected.limits.delay = 3_000_000_000
    #expect(try parse(line, as: RecordCommand.self).recording.options == expected)
    #expect(try parse("record --size native", as: RecordCommand.self).recording.options == RecordingOptions())
    let other = try parse("record --upscale --on-resize segment --size h360_43", as: RecordCommand.self).recording
      .options
    #expect(other.video.upscale == true && other.video.onResize == .segment && !other.video.followsSize)
    #expect(other.video.size == PixelSize(width: 480, height: 360))
  }

  /// A quality is a preset, a quantiser and whether every pixel is kept; what is named beside it goes before.
  @Test func qualitiesStandForSettings() throws {
    func video(_ options: String) throws -> VideoOptions {
      try parse("record \(options)", as: RecordCommand.self).recording.options.video
    }
    let plain = try video("--quality small")
    #expect(plain.quality == .small && plain.preset == "veryfast" && plain.quantiser == 23 && !plain.lossless)
    #expect(try video("--quality lossless") == video("--lossless"))
    #expect(try video("--quality lossless").lossless)
    let fast = try video("--quality fast --preset medium --crf 30")
    #expect(fast.quality == nil && fast.preset == "medium" && fast.constantRateFactor == 30 && fast.quantiser == nil)
    #expect(try video("--no-lossless --no-preset --no-crf") == VideoOptions())
  }

  @Test(arguments: [
    ("record --size 0x0", "--size: \"0x0\" is not a size."),
    ("record --size 16385x1", "--size: \"16385x1\" is not a size."),
    ("record --fps many", "--fps: \"many\" is not a whole number."),
    ("record screen", "SOURCE: \"screen\" is not a source."),
    ("record region:0x5+1+1", "SOURCE: \"0x5+1+1\" is not a region."),
    ("record --app-audio=hw:0", "--app-audio: \"hw:0\" names no sound device."),
    ("record --duration 0", "--duration: \"0\" is not a length of time."),
    ("frame last --at yesterday -o f.png", "--at: \"yesterday\" is not a time."),
    ("search x --since soon", "--since: \"soon\" is not a time."),
    ("search x --limit 0", "--limit: 0 is less than 1."),
    ("list --limit -3", "--limit: -3 is less than 1."),
    ("export last -o", "-o needs a value."),
  ])
  func badInputNamesWhatWasWrong(line: String, message: String) {
    let error = #expect(throws: RecorderError.self) { try parse(line, as: Any.self) }
    #expect(error?.message == message)
    #expect(error?.code == .usage)
    #expect(error?.hint != nil || message.contains("whole number") || message.contains("less than"))
  }

  /// The value of an option that may have none is written to it, and whoever left a blank is told so.
  @Test(arguments: [
    ("record --virtual-display 640x480 -- true", "--virtual-display=640x480"),
    ("record --app-audio app:firefox", "--app-audio=app:firefox"),
    ("record --microphone alsa:hw:1 --quiet", "--microphone=alsa:hw:1"),
    ("start display --microphone pulse:yeti", "--microphone=pulse:yeti"),
  ])
  func aValueThatStandsByItselfIsNoticed(line: String, spelling: String) {
    let error = #expect(throws: RecorderError.self) { try parse(line, as: Any.self) }
    let option = spelling.prefix { $0 != "=" }
    #expect(error?.code == .usage && error?.hint == "If it is the value of \(option), write \(spelling).")
  }

  @Test func pointsInTime() throws {
    let now = try #require(WallTime(rfc3339: "2026-11-30T12:00:00Z"))
    func resolve(_ text: String) throws -> String {
      try PointInTime(argument: ArgumentText(text)).wallTime(now: now).description
    }
    #expect(try resolve("2026-11-30T14:03:22+01:00") == "2026-11-30T13:03:22.000000000Z")
    #expect(try resolve("2h") == "2026-11-30T10:00:00.000000000Z")
    #expect(try resolve("3d") == "2026-11-27T12:00:00.000000000Z")
    let offset = now.localUTCOffset
    let midnight = try #require(WallTime(rfc3339: "2026-11-30T00:00:00Z"))
    #expect(
      try resolve("2026-11-30")
        == WallTime(nanoseconds: midnight.nanoseconds - Int64(offset) * 1_000_000_000).description)
    #expect(
      try resolve("2026-11-30 14:03")
        == WallTime(nanoseconds: midnight.nanoseconds + (50_580 - Int64(offset)) * 1_000_000_000).description)
    for wrong in ["2026-02-30", "12", "soon", "2026-11-30 25:00", ""] {
      #expect(throws: RecorderError.self) { try PointInTime(argument: ArgumentText(wrong)) }
    }
  }

  @Test func everyCommandHasAnAbstractAndAnExample() {
    for command in CommandDescription(RecorderCommand.self).leaves {
      #expect(command.configuration.abstract.hasSuffix("."), "\(command.name)")
      #expect(!command.configuration.examples.isEmpty, "\(command.name)")
    }
  }

  @Test func everyExampleParses() throws {
    for command in CommandDescription(RecorderCommand.self).leaves {
      for example in command.configuration.examples {
        // No example needs more of the shell's quoting than a pair of double quotes.
        let words = example.command.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap {
          $0.offset % 2 == 1 ? [$0.element] : $0.element.split(separator: " ")
        }
        let outcome = try CommandParser(RecorderCommand.self).parse(words.dropFirst().map { ArgumentText($0) })
        guard case .run = outcome else {
          Issue.record("\(example.command)")
          continue
        }
      }
    }
  }
}
