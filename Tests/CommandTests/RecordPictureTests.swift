import Glibc
import SessionModel
import TestSupport
import Testing

/// What `record` keeps of a picture, read back by another program.
@Suite(.serialized) struct RecordPictureTests {
  /// What is drawn at 1080p30 is kept, each frame once and at its time. A frame may be missing for each whole frame's time
  /// for which the recorder or the X server was kept from the processors; on an idle machine there is none.
  @Test func everyFrameOfAFullScreenAt1080p30IsKeptOnce() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "1920x1080"))
    let display = try #require(rig.display)
    let client = try PatternClient(on: display, ["counter", "--fps", "30"])
    let recording = try rig.record(["--no-cursor", "--duration", "20"])
    let grabbing = ProcessorWait(of: [recording.process.pid, display.server.pid], threads: ["grab", "Xvfb"])
    // The encoder's helpers have no names of their own.
    let encoding = ProcessorWait(of: [recording.process.pid])
    let drawing = ProcessorWait(of: [client.process.pid])
    var control = try rig.connect()
    // Its threads can be asked as long as they run.
    try control.wait(until: Timestamp(nanoseconds: 19_700_000_000))
    let (late, mayDrop, notDrawn) = (Self.frames(grabbing), Self.frames(encoding), Self.frames(drawing))
    let memory = try ownMemory(of: recording.process.pid)
    #expect(memory <= (try CostBounds().ownMebibytesAt1080p) * 1_048_576, "\(memory) bytes")
    let waits = Int(max(0, grabbing.seconds - Self.idleWait) * 1000)
    #expect(try recording.process.wait().ending == .exit(0))
    try client.process.stop()

    let file = rig.media(recording.id)
    let counters = try MediaFile.counters(file)
    let seen = counters.compactMap { $0 }
    #expect(seen.count == counters.count)
    #expect(seen == seen.sorted())
    // The last frame is repeated at the stop. What is drawn between the look at what has changed and the fetching of it is
    // fetched twice, which takes a grab thread that is kept waiting just there.
    #expect(seen.count - Set(seen).count <= 1 + waits, "counters twice; \(waits) waits")
    let (first, last) = (try #require(seen.first), try #require(seen.last))
    let manifest = try rig.manifest(recording.id)
    let epoch = Double(manifest.clock.monotonic) / 1e9
    let drawn = client.frames.map { (counter: $0.counter, time: Double($0.time) / 1e9 - epoch) }
    let times = Dictionary(uniqueKeysWithValues: drawn.map { ($0.counter, $0.time) })
    let missing = last - first + 1 - Set(seen).count
    let dropped = try #require(manifest.statistics?.droppedFrames)
    #expect(dropped <= mayDrop)
    let excused = late + dropped
    #expect(missing <= 2 + excused, "\(missing) counters missing; \(late) frames late, \(dropped) dropped")
    // From what stood on the screen at the beginning to what was drawn last.
    let wanted = drawn.filter { $0.time > Self.interval && $0.time < 20 - Self.interval }.map(\.counter)
    let (earliest, latest) = try (#require(wanted.first), #require(wanted.last))
    #expect(first <= earliest + excused && last >= latest - excused)
    #expect(wanted.count >= 590 - late - notDrawn)

    // Each is in the file within a frame interval of its drawing.
    var wrong: [String] = []
    for (counter, milliseconds) in zip(seen, try MediaFile.times(file)).dropFirst().dropLast() {
      let age = Double(milliseconds) / 1000 - (try #require(times[counter]))
      if !(-0.001...Self.interval).contains(age) { wrong.append("\(counter) is \(age) s late") }
    }
    #expect(wrong.count <= excused, "\(excused) excused: \(wrong)")
    // The last one counts as a frame when it was grabbed at the stop, and does not when it repeats the one before.
    let frames = try #require(manifest.statistics?.frames)
    #expect(frames == seen.count || frames == seen.count - 1)
    // The last picture lasts a tick of the container. An end that is heard of more than a second late is later.
    let length = try #require(Double(try MediaFile.entries(file)["duration"] ?? ""))
    #expect(abs(length - manifest.duration.seconds - 0.001) < 0.000_6)
    #expect(manifest.duration == Timestamp(seconds: 20) || late > 0 && manifest.duration.seconds > 20)
  }

  /// Seconds between the frames of that test.
  private static let interval = 1.0 / 30
  /// The frames of that test that a thread may have missed by its waits.
  private static func frames(_ wait: ProcessorWait) -> Int { Int(max(0, wait.seconds - idleWait) / interval) }
  /// Seconds that the waking up for 600 frames adds up to where nobody else wants the processors.
  private static let idleWait = 0.1

  @Test func aChangeAfterAnIdleSecondIsInTheFileAtItsTime() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "000000"])
    let recording = try rig.record(["--lossless", "--no-cursor"])
    // A second without a change: two `alive` events.
    try waitUntil("two alive events") { try rig.events(recording.id).filter { $0.kind == .alive }.count >= 2 }
    let display = try #require(rig.display)
    let busy = ProcessorWait(of: [recording.process.pid, display.server.pid], threads: ["grab", "Xvfb"])
    let drawn = try client.tell("rect ff8000 100x50+20+30")
    try waitUntil("an alive event after the change") {
      let epoch = try rig.manifest(recording.id).clock.monotonic
      return try rig.events(recording.id).contains { $0.kind == .alive && epoch + $0.time.nanoseconds > drawn }
    }
    let waited = Int64(busy.seconds * 1e9)
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)

    let pictures = try MediaFile.pictures(rig.media(recording.id), PixelRect(x: 20, y: 30, width: 100, height: 50))
    let orange: [UInt8] = [0, 0x80, 0xFF]
    let shows = pictures.map { picture in
      stride(from: 0, to: picture.count, by: 4).allSatisfy { Array(picture[$0..<$0 + 3]) == orange }
    }
    // Black, the change, and the change again at the stop.
    #expect(shows == [false, true, true])
    let times = try MediaFile.times(rig.media(recording.id))
    let late = try rig.manifest(recording.id).clock.monotonic + Int64(times[1]) * 1_000_000 - drawn
    #expect((-1_000_000...10_000_000 + waited).contains(late), "\(late) ns late, \(waited) waited")
  }

  /// Case X12: sides that are odd, of a pixel, and of two screens less a column.
  @Test(arguments: ["641x479", "641x481", "1x1", "3x2000", "16x16", "3839x1080"])
  func oddSizesAreKeptTruly(size: String) throws {
    let asked = try #require(PixelSize(size))
    // One pixel more on each side.
    let screen = PixelSize(width: max(320, asked.width + 2), height: max(200, asked.height + 2))
    let rig = try RecorderRig(display: VirtualDisplay(size: "\(screen)"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "3060c0"])
    let id = try rig.record(seconds: 0.3, ["region:\(size)+1+1", "--no-cursor", "--lossless"])
    try client.process.stop()
    let track = try #require(try rig.manifest(id).tracks.first)
    #expect(track.size?.description == size)
    let entries = try MediaFile.entries(rig.media(id))
    #expect(entries["width"] == track.encodedSize.map { "\($0.width)" })
    #expect(entries["height"] == track.encodedSize.map { "\($0.height)" })
    let rect = PixelRect(try #require(track.size))
    let picture = try #require(try MediaFile.pictures(rig.media(id), rect).first)
    #expect(picture.count == rect.area * 4 && Array(picture[..<3]) == [0xC0, 0x60, 0x30])
    // Each pixel is the one before it: nothing that is written in Swift is as quick for four million of them.
    let isEven = picture.withUnsafeBytes { bytes in
      bytes.baseAddress.map { memcmp($0, $0 + 4, bytes.count - 4) == 0 }
    }
    #expect(isEven == true)
  }

  @Test func colourBarsAreWithinFourOfTheirValues() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["bars"])
    let id = try rig.record(seconds: 0.5, ["--no-cursor"])
    try client.process.stop()
    let entries = try MediaFile.entries(rig.media(id))
    #expect(entries["color_space"] == "smpte170m")
    #expect(entries["color_range"] == "tv")
    let picture = try MediaFile.pictures(rig.media(id), PixelRect(x: 0, y: 240, width: 640, height: 1))[0]
    for (index, colour) in PatternLayout.bars.enumerated() {
      let column = index * 80 + 40
      for channel in 0..<3 {
        let value = Int(colour >> UInt32(8 * channel) & 0xFF)
        #expect(abs(Int(picture[column * 4 + channel]) - value) <= 4, "bar \(index), channel \(channel)")
      }
    }
  }

  @Test func aCheckerboardOfPixelsSurvives() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    let client = try PatternClient(on: try #require(rig.display), ["checkerboard"])
    let id = try rig.record(seconds: 0.5, ["--no-cursor"])
    try client.process.stop()
    let picture = try MediaFile.pictures(rig.media(id), PixelRect(x: 0, y: 0, width: 640, height: 480))[0]
    func green(_ x: Int, _ y: Int) -> Int { Int(picture[(y * 640 + x) * 4 + 1]) }
    var worst = 255
    for y in 0..<479 { for x in 0..<639 { worst = min(worst, abs(green(x, y) - green(x + 1, y))) } }
    // Neighbours are black and white; what is left of 255 after encoding tells them apart everywhere.
    #expect(worst > 128)
  }

  @Test func aSmallerSizeIsLetterboxed() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "1280x960"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "ffffff"])
    let id = try rig.record(seconds: 0.5, ["--no-cursor", "--size", "h360"])
    try client.process.stop()
    #expect(try rig.manifest(id).tracks.first?.size == PixelSize(width: 640, height: 360))
    let picture = try MediaFile.pictures(rig.media(id), PixelRect(x: 0, y: 180, width: 640, height: 1))[0]
    // 4:3 in 640x360 is 480 wide: 80 columns of black on each side.
    #expect(picture[70 * 4] <= 4 && picture[570 * 4] <= 4)
    #expect(picture[90 * 4] >= 250 && picture[550 * 4] >= 250)
  }

  /// Larger than what is recorded, the picture has black bars around it, and none when it may be scaled up.
  @Test func nothingIsScaledUpUnlessAsked() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "200x150"))
    let client = try PatternClient(on: try #require(rig.display), ["color", "--color", "C08040"])
    let size = PixelSize(width: 480, height: 360)
    for upscale in [false, true] {
      let arguments = upscale ? ["--upscale"] : []
      let id = try rig.record(seconds: 0.3, ["--no-cursor", "--lossless", "--size", "h360_43"] + arguments)
      #expect(
        try rig.manifest(id).tracks.first?.size == size
          && rig.manifest(id).options.video.upscale == (upscale ? true : nil))
      let row = try MediaFile.pictures(rig.media(id), PixelRect(x: 0, y: 180, width: 480, height: 1))[0]
      // Two levels, as the canvas's tests say.
      let columns = (0..<480).filter { abs(Int(row[$0 * 4 + 2]) - 0xC0) <= 2 }
      #expect(columns == Array(upscale ? 0..<480 : 140..<340))
    }
    try client.process.stop()
  }
}
