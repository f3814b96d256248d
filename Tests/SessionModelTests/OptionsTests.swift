import FoundationEssentials
import SessionModel
import Testing

/// The options as the manifest keeps them.
@Suite struct OptionsTests {
  /// Options of which every field is another than the default.
  private func unusual() throws -> RecordingOptions {
    var options = RecordingOptions()
    options.source = .window(.active)
    options.display = ":7"
    options.video.framesPerSecond = 7
    options.video.size = .h1080_169
    options.video.showsCursor = false
    options.video.decorations = true
    options.video.codec = "libx265"
    options.video.preset = "fast"
    options.video.constantRateFactor = 7
    options.video.pixelFormat = .yuv444p
    options.video.lossless = true
    options.video.quality = .small
    options.video.quantiser = 7
    options.video.onResize = .crop
    options.video.onClose = .wait
    options.video.waits = true
    options.video.popups = true
    options.video.upscale = true
    options.audio.application = .standard
    options.audio.microphone = .alsa(pcm: "hw:7")
    options.audio.microphoneChannel = 7
    options.audio.codec = .opus
    options.audio.bitRate = 7
    options.audio.stems = .none
    options.audio.gains = try AudioGains(parsing: "app=-7,mic=7")
    options.storage.syncInterval = 7
    options.storage.warnBelow = 7
    options.storage.endBelow = 7
    options.storage.timeout = 7
    options.strict = true
    options.exclusions = [.className("Seven")]
    options.hold = HoldOptions(span: 7)
    options.hold?.memory = 7
    options.duration = 7_000_000
    options.limits.delay = 7
    options.limits.until = try TimeOfDay(parsing: "07:07")
    options.limits.maximumBytes = 7
    options.limits.idle = 7
    options.title = "Seven"
    options.tags = ["seven"]
    return options
  }

  /// The fields in which `value` is as `other`, by their path.
  private func equalFields(_ value: Any, _ other: Any, _ path: String) -> [String] {
    let (mirror, others) = (Mirror(reflecting: value), Mirror(reflecting: other))
    // Of structures the fields count, of everything else the value.
    guard mirror.displayStyle == .struct, !mirror.children.isEmpty else {
      return "\(value)" == "\(other)" ? [path] : []
    }
    return zip(mirror.children, others.children).flatMap { child, other in
      equalFields(child.value, other.value, "\(path).\(child.label ?? "")")
    }
  }

  @Test func everyFieldSurvivesTheManifest() throws {
    let options = try unusual()
    // A new field must be set above; then a reader that forgets it is found out below.
    #expect(equalFields(options, RecordingOptions(), "options") == [])
    let json = try JSONEncoder.canonical().encode(options)
    #expect(try JSONDecoder().decode(RecordingOptions.self, from: json) == options)
  }

  @Test(arguments: [0, -1, 65])
  func aChannelThatNoMicrophoneHasIsNamed(channel: Int) {
    var options = RecordingOptions()
    options.audio.microphoneChannel = channel
    let error = #expect(throws: RecorderError.self) { try options.check() }
    #expect(error?.code == .usage && error?.message == "No microphone has a channel \(channel).")
  }

  @Test(arguments: [1_999_999_999, 86_400_000_000_001])
  func aDiskThatCannotBeWaitedForIsNamed(timeout: Int64) {
    var options = RecordingOptions()
    options.storage.timeout = timeout
    let error = #expect(throws: RecorderError.self) { try options.check() }
    #expect(error?.code == .usage && error?.hint == "Give --disk-timeout from 2s to 24h.")
  }

  @Test func optionsOfTheFirstVersionAreRead() throws {
    let json = """
      {"audio":{"bitRate":160000},"source":"display","tags":[],"video":{"codec":"libx264","constantRateFactor":23,\
      "decorations":false,"framesPerSecond":30,"lossless":false,"pixelFormat":"yuv420p","preset":"superfast",\
      "showsCursor":true}}
      """
    var expected = RecordingOptions()
    // The first version had the mix alone, and an encoder that was tuned for nothing.
    expected.audio.stems = .none
    (expected.video.quality, expected.video.quantiser, expected.video.preset) = (nil, nil, "superfast")
    #expect(try JSONDecoder().decode(RecordingOptions.self, from: Data(json.utf8)) == expected)
  }

  @Test(arguments: [("00:00", 0, "00:00:00"), ("23:59:59", 86_399, "23:59:59"), ("07:30", 27_000, "07:30:00")])
  func timesOfDay(text: String, seconds: Int, full: String) throws {
    let time = try TimeOfDay(parsing: text)
    #expect(time.seconds == seconds && time.text == full)
  }

  @Test(arguments: ["24:00", "7:30", "07:60", "07:00:60", "07", "", "07:0a", "07:00:00:00", "+7:00"])
  func wrongTimesOfDayAreNamed(text: String) {
    let error = #expect(throws: RecorderError.self) { try TimeOfDay(parsing: text) }
    #expect(error?.message == "\"\(text)\" is not a time of day.")
  }
}
