import Capture
import Glibc
import Media
import SessionModel
import Synchronization
import Testing
import Threading

@testable import Recorder

/// A source that follows a script: each step is a change at a time of its own choosing, in ns since the epoch.
struct ScriptedSource: ~Copyable, VideoSource {
  /// What a step does.
  enum Step: Sendable {
    /// A change at that time.
    case change(at: Int64)
    /// Changes, one after the other, until so many frames were taken; given up after ten seconds.
    case changes(frames: Int)
    /// A wake-up that turns out to be none.
    case nothing
    /// The source is lost.
    case lost
    /// A change that is not due yet when the recording is stopped; the last step.
    case pending
  }

  let size: PixelSize
  private let steps: [Step]
  private let control: PipelineControl
  private let end: Int64
  private let pixels: UnsafeMutablePointer<UInt32>
  /// Told of each frame that is encoded.
  private let encoded: BoundedQueue<Bool>?
  private var position = 0
  private var isGrabbed = false

  /// Plays `steps`, then stops the recording at `end` (ns since the epoch). With `encoded` each frame waits until the one
  /// before is encoded, so that none is dropped.
  init(
    size: PixelSize, steps: [Step], end: Int64, control: PipelineControl, encoded: BoundedQueue<Bool>? = nil
  ) {
    (self.size, self.steps, self.end, self.control, self.encoded) = (size, steps, end, control, encoded)
    pixels = .allocate(capacity: size.area)
    pixels.initialize(repeating: 0, count: size.area)
  }

  deinit { pixels.deallocate() }

  mutating func wait(until deadline: Int64) throws(RecorderError) -> Wake {
    if isGrabbed { _ = encoded?.pop() }
    isGrabbed = false
    if position > 0, case .changes(let frames) = steps[position - 1],
      control.frames.load(ordering: .relaxed) < frames, MonotonicClock.now() - control.epoch < 10_000_000_000
    {
      return .changed
    }
    guard position < steps.count else {
      isGrabbed = true
      control.stop(at: control.epoch + end)
      return .woken
    }
    position += 1
    if case .pending = steps[position - 1] {
      control.stop(at: control.epoch + end)
      return .woken
    }
    if case .lost = steps[position - 1] { throw SourceLoss.windowClosed.error }
    return .changed
  }

  mutating func invalidate() {}

  mutating func grab(_ body: (borrowing GrabbedFrame) -> Void) throws(RecorderError) -> Bool {
    let time: Int64
    switch steps[position - 1] {
    case .change(let moment): time = moment
    case .changes: time = 1_000_000
    case .pending: time = end + 1_000_000
    default: return false
    }
    if isGrabbed { return false }
    isGrabbed = true
    pixels.update(repeating: UInt32(position) &* 0x010101, count: size.area)
    let whole = [PixelRect(size)]
    whole.withUnsafeBufferPointer { rects in
      body(
        GrabbedFrame(
          time: control.epoch + time, pixels: UnsafeRawPointer(pixels), size: size, bytesPerRow: size.width * 4,
          rects: rects,
          pointer: nil))
    }
    return true
  }
}

/// A source whose first connection hangs after a frame, until it is cut; the next one delivers a frame and ends it all.
struct HangingSource: ~Copyable, VideoSource {
  /// What the connections have in common.
  final class Server: Sendable {
    let connections = Atomic<Int>(0)
    /// Told by the one that hangs.
    let hangs = BoundedQueue<Bool>(capacity: 1)
    /// Told to cut the one that hangs.
    let cut = BoundedQueue<Bool>(capacity: 1)
    /// How many hang within their first frame.
    let hangingAtOnce: Int

    init(hangingAtOnce: Int = 0) { self.hangingAtOnce = hangingAtOnce }

    /// Hangs until it is cut.
    func hang() throws(RecorderError) {
      _ = hangs.push(true)
      _ = cut.pop()
      throw SourceLoss.displayLost.error
    }
  }

  let size = PixelSize(width: 64, height: 48)
  private let server: Server
  private let control: PipelineControl
  private let number: Int
  private var grabs = 0
  private let pixels = [UInt32](repeating: 0x80_8080, count: 64 * 48)

  init(_ server: Server, _ control: PipelineControl) {
    (self.server, self.control) = (server, control)
    number = server.connections.add(1, ordering: .relaxed).newValue
  }

  mutating func wait(until deadline: Int64) throws(RecorderError) -> Wake {
    if grabs == 0 { return .changed }
    if number > 1 {
      control.stop(at: control.epoch + 5_000_000_000)
      return .woken
    }
    try server.hang()
    return .timedOut
  }

  mutating func invalidate() {}

  mutating func grab(_ body: (borrowing GrabbedFrame) -> Void) throws(RecorderError) -> Bool {
    grabs += 1
    if number <= server.hangingAtOnce { try server.hang() }
    if grabs > 1 { return false }
    let whole = [PixelRect(size)]
    pixels.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      whole.withUnsafeBufferPointer { rects in
        body(
          GrabbedFrame(
            time: control.epoch + Int64(number) * 1_000_000_000, pixels: base, size: size, bytesPerRow: size.width * 4,
            rects: rects, pointer: nil))
      }
    }
    return true
  }
}

struct VideoPipelineTests {
  /// The one that takes over goes on in the time and the pictures of the one that hung, and nothing failed.
  @Test func aGrabThreadThatHangsIsReplaced() throws {
    var options = VideoOptions()
    options.preset = "ultrafast"
    let size = PixelSize(width: 64, height: 48)
    let settings = VideoEncoderSettings(options, picture: size)
    let control = try PipelineControl(epoch: MonotonicClock.now())
    let packets = BoundedQueue<MuxItem>(capacity: 100)
    let pipeline = try VideoPipeline(settings, sizes: PictureSizes(size), control: control, packets: packets)
    let server = HangingSource.Server()
    try pipeline.start(
      source: { () throws(RecorderError) in HangingSource(server, control) }, cut: { _ = server.cut.push(true) })
    _ = server.hangs.pop()
    pipeline.restart()
    while control.stopRequested == nil { sched_yield() }
    #expect(pipeline.finish() == nil)
    packets.close()
    var times: [Int64] = []
    while let item = packets.pop() { times.append(item.packet.pts.nanoseconds / 1_000_000) }
    #expect(times == [1000, 2000, 5000])
    #expect(server.connections.load(ordering: .relaxed) == 2)
    #expect(control.firstFailure == nil)
    // No other begins once it is finished.
    pipeline.restart()
    #expect(server.connections.load(ordering: .relaxed) == 2)
  }

  /// Each of them had a picture in its hands when it was cut: none is lost.
  @Test func noPictureIsLostByThreadsThatHang() throws {
    var options = VideoOptions()
    options.preset = "ultrafast"
    let size = PixelSize(width: 64, height: 48)
    let settings = VideoEncoderSettings(options, picture: size)
    let control = try PipelineControl(epoch: MonotonicClock.now())
    let packets = BoundedQueue<MuxItem>(capacity: 100)
    let pipeline = try VideoPipeline(settings, sizes: PictureSizes(size), control: control, packets: packets)
    let server = HangingSource.Server(hangingAtOnce: VideoEncodeLoop.pictures + 1)
    try pipeline.start(
      source: { () throws(RecorderError) in HangingSource(server, control) }, cut: { _ = server.cut.push(true) })
    for _ in 0..<server.hangingAtOnce {
      _ = server.hangs.pop()
      // One that has not grabbed anything gives no sign of life.
      #expect(control.heartbeat.load(ordering: .relaxed) == control.epoch)
      pipeline.restart()
    }
    while control.stopRequested == nil, control.droppedFrames.load(ordering: .relaxed) == 0 { sched_yield() }
    control.stop(at: control.epoch + 9_000_000_000)
    #expect(pipeline.finish() == nil)
    packets.close()
    var times: [Int64] = []
    while let item = packets.pop() { times.append(item.packet.pts.nanoseconds / 1_000_000) }
    #expect(times.first == Int64(server.hangingAtOnce + 1) * 1000)
    #expect(control.firstFailure == nil)
  }

  static let second: Int64 = 1_000_000_000

  struct Seen: Equatable, CustomStringConvertible {
    var milliseconds: Int64
    var keyframe: Bool
    var description: String { "\(milliseconds)\(keyframe ? "K" : "")" }
  }

  /// Runs `steps` through both threads and returns the packets, and the counts of frames and drops.
  private func run(
    _ steps: [ScriptedSource.Step], end: Int64, packetCapacity: Int = 1000, readAtOnce: Bool = true,
    isPaced: Bool = false
  ) throws -> (packets: [Seen], frames: Int, dropped: Int, failure: RecorderError?) {
    var options = VideoOptions()
    options.preset = "ultrafast"
    let size = PixelSize(width: 64, height: 48)
    let settings = VideoEncoderSettings(options, picture: size)
    let control = try PipelineControl(epoch: MonotonicClock.now())
    let packets = BoundedQueue<MuxItem>(capacity: packetCapacity)
    let pipeline = try VideoPipeline(settings, sizes: PictureSizes(size), control: control, packets: packets)
    let encoded = isPaced ? BoundedQueue<Bool>(capacity: 1) : nil
    try pipeline.start(
      source: { () throws(RecorderError) in
        ScriptedSource(size: size, steps: steps, end: end, control: control, encoded: encoded)
      })
    let seen = Mutex<[Seen]>([])
    let reader = { @Sendable in
      while let item = packets.pop() {
        let packet = Seen(
          milliseconds: (item.packet.pts.nanoseconds + 500_000) / 1_000_000, keyframe: item.packet.isKeyframe)
        seen.withLock { $0.append(packet) }
        // The last one repeats what nobody waits for.
        if packet.milliseconds < end / 1_000_000 { _ = encoded?.push(true) }
      }
    }
    if !readAtOnce {
      // The encoder's packets go nowhere until the script is over: the encoder must not hold up the grab thread.
      while control.stopRequested == nil { sched_yield() }
    }
    let thread = try WorkerThread(name: "reader", body: reader)
    if isPaced { while control.stopRequested == nil { sched_yield() } }
    #expect(pipeline.finish() == nil)
    packets.close()
    thread.join()
    return (
      seen.withLock { $0 }, control.frames.load(ordering: .relaxed), control.droppedFrames.load(ordering: .relaxed),
      control.firstFailure
    )
  }

  @Test func keyframesComeWithTheFirstFrameTenSecondsOn() throws {
    let times: [Double] = [0.024, 1, 9.9, 10.023, 10.024, 19, 20.1, 60, 60.1]
    let result = try run(
      times.map { .change(at: Int64($0 * 1e9)) }, end: 61 * Self.second, isPaced: true)
    #expect(result.packets.filter(\.keyframe).map(\.milliseconds) == [24, 10_024, 20_100, 60_000])
    #expect(result.packets.count == times.count + 1)
    #expect(result.packets.last == Seen(milliseconds: 61_000, keyframe: false))
  }

  /// However many frames a second there are: a seek decodes no more than these.
  @Test func keyframesComeAfterTwoHundredAndFiftyFrames() throws {
    let steps = (0..<600).map { ScriptedSource.Step.change(at: Int64($0) * 5_000_000) }
    let result = try run(steps, end: 4 * Self.second, isPaced: true)
    #expect(result.packets.count == 601)
    #expect(result.packets.indices.filter { result.packets[$0].keyframe } == [0, 250, 500])
  }

  @Test func theLastFrameIsRepeatedAtTheStop() throws {
    let result = try run([.change(at: 24_000_000), .nothing], end: 9 * Self.second)
    #expect(
      result.packets == [Seen(milliseconds: 24, keyframe: true), Seen(milliseconds: 9000, keyframe: false)])
    #expect(result.frames == 1)
    #expect(result.dropped == 0)
  }

  @Test func aChangeThatIsNotDueYetAtTheStopIsTheLastFrame() throws {
    let result = try run([.change(at: 24_000_000), .pending], end: 11 * Self.second)
    #expect(
      result.packets == [Seen(milliseconds: 24, keyframe: true), Seen(milliseconds: 11_000, keyframe: true)])
    #expect(result.frames == 2)
  }

  @Test func aFrameAtTheVeryStopIsNotRepeated() throws {
    let result = try run([.change(at: Self.second)], end: Self.second)
    #expect(result.packets == [Seen(milliseconds: 1000, keyframe: true)])
  }

  @Test func timesNeverStandStill() throws {
    let result = try run(
      [.change(at: 5_000_000), .change(at: 5_000_000), .change(at: 4_000_000)], end: Self.second)
    let times = result.packets.map(\.milliseconds)
    #expect(times == [5, 6, 7, 1000])
  }

  @Test func aBusyEncoderMakesCountedDropsAndBoundsTheQueue() throws {
    let steps = (1...200).map { ScriptedSource.Step.change(at: Int64($0) * 10_000_000) }
    let result = try run(steps, end: 3 * Self.second, packetCapacity: 1, readAtOnce: false)
    #expect(result.frames + result.dropped == 200)
    // One packet waits, and the next is held up on its way: its picture and the others are all there are.
    #expect(result.frames <= 1 + VideoEncodeLoop.pictures)
    #expect(result.frames >= VideoEncodeLoop.pictures)
    #expect(result.packets.count == result.frames + 1)
    #expect(result.packets.last?.milliseconds == 3000)
  }

  /// The encoder is at a picture, and all the others can be filled: none is kept from the grab thread.
  @Test func allOtherPicturesCanBeFilledWhileOneIsEncoded() throws {
    let most = 1 + VideoEncodeLoop.pictures
    let result = try run([.changes(frames: most)], end: Self.second, packetCapacity: 1, readAtOnce: false)
    #expect(result.frames == most)
    #expect(result.packets.count == most + 1)
  }

  /// Its packets go nowhere, which is a hang as good as any.
  @Test func anEncoderThatHangsIsGivenUpAtTheEnd() throws {
    var options = VideoOptions()
    options.preset = "ultrafast"
    let size = PixelSize(width: 64, height: 48)
    let settings = VideoEncoderSettings(options, picture: size)
    let control = try PipelineControl(epoch: MonotonicClock.now())
    let packets = BoundedQueue<MuxItem>(capacity: 1)
    let pipeline = try VideoPipeline(settings, sizes: PictureSizes(size), control: control, packets: packets)
    let steps = (1...3).map { ScriptedSource.Step.change(at: Int64($0) * 10_000_000) }
    try pipeline.start(
      source: { () throws(RecorderError) in
        ScriptedSource(size: size, steps: steps, end: Self.second, control: control)
      })
    let error = try #require(pipeline.finish(encoderPatience: 50_000_000))
    #expect(error.code == .incomplete)
    #expect(error.message.contains("The encoder hangs"))
    packets.close()
  }

  @Test func aLostSourceKeepsWhatWasGrabbed() throws {
    let result = try run([.change(at: 1_000_000), .lost], end: 0)
    #expect(result.failure == SourceLoss.windowClosed.error)
    #expect(result.packets.first == Seen(milliseconds: 1, keyframe: true))
  }

  @Test func aSizeCountsOnceItHasStayed() {
    let (picture, other, third) = (
      PixelSize(width: 64, height: 48), PixelSize(width: 50, height: 50), PixelSize(width: 1, height: 9)
    )
    var watch = SizeWatch()
    func look(_ source: PixelSize, at time: Int64) -> PixelSize? {
      watch.note(source: source, picture: picture, at: time)
      return watch.settled(at: time)
    }
    let half = SizeWatch.patience
    #expect(look(picture, at: 0) == nil && watch.due == .max)
    #expect(look(other, at: 10) == nil && watch.due == 10 + half)
    // More pictures of the same size change nothing, another size begins anew.
    #expect(look(other, at: 9 + half) == nil && watch.due == 10 + half)
    #expect(look(third, at: 9 + half) == nil && watch.due == 9 + 2 * half)
    // Back in the picture's own size there is nothing to wait for.
    #expect(look(picture, at: 10 + half) == nil && watch.due == .max)
    #expect(look(third, at: 100) == nil && watch.settled(at: 99 + half) == nil)
    #expect(watch.settled(at: 100 + half) == third)
    #expect(watch.settled(at: .max - 1) == nil && look(third, at: 2 * half) == nil)
  }

  @Test func aMissingEncoderIsKnownBeforeAnythingRuns() throws {
    var options = VideoOptions()
    options.codec = "no-such-codec"
    let size = PixelSize(width: 64, height: 48)
    let settings = VideoEncoderSettings(options, picture: size)
    let control = try PipelineControl(epoch: 0)
    let error = #expect(throws: RecorderError.self) {
      _ = try VideoPipeline(
        settings, sizes: PictureSizes(size), control: control, packets: BoundedQueue<MuxItem>(capacity: 1))
    }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("no-such-codec") == true)
  }
}
