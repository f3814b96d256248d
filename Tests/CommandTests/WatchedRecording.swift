import Control
import Glibc
import SessionModel
import TestSupport
import Threading

/// A recording by `recorder record` that a test follows step by step: each step waits until it is recorded, not for time.
struct WatchedRecording {
  let rig: RecorderRig
  let recording: RecorderRig.Recording
  private let runtime: RuntimeFolder

  /// Starts to record `arguments`, without loss and without the pointer.
  init(_ rig: RecorderRig, _ arguments: [String]) throws {
    self.rig = rig
    recording = try rig.record(arguments + ["--lossless", "--no-cursor"])
    let folder = try RuntimeFolder.open(
      ["XDG_RUNTIME_DIR": rig.folder.path], archive: rig.archive, creating: false)
    guard let folder else { throw TestFailure("no runtime folder") }
    runtime = folder
  }

  /// The session's media file.
  var media: String { rig.media(recording.id) }
  /// The session's epoch, in ns of `CLOCK_MONOTONIC`.
  func epoch() throws -> Int64 { try rig.manifest(recording.id).clock.monotonic }

  /// Waits until the session has an event that `condition` holds for.
  @discardableResult
  func event(_ what: String, where condition: (Event) -> Bool) throws -> Event {
    var found: Event?
    try waitUntil(what) {
      guard recording.process.isRunning else { throw TestFailure("record ended: \(recording.process.errorsSoFar)") }
      found = try rig.events(recording.id).last(where: condition)
      return found != nil
    }
    guard let found else { throw TestFailure(what) }
    return found
  }

  /// Fills the window of `client` with `color`, and waits until a frame that shows it is recorded.
  func show(_ color: UInt32, in client: PatternClient) throws {
    let command = "color \(String(color, radix: 16))"
    try client.tell(command)
    // A frame of after this moment shows what was drawn before it; drawn once more, there must be one.
    try wait("a frame of \(color)", at: try client.tell(command))
  }

  // Without a name it is controlled by its process's number.
  private func connect() throws -> ControlClient { try RunningRecordings(runtime).connect("\(recording.process.pid)") }

  /// The frames that are recorded by now.
  func frames() throws -> Int {
    var control = try connect()
    return try control.ask(ControlRequest(.status)).status?.frames ?? 0
  }

  /// Waits until a frame of `time` (ns of `CLOCK_MONOTONIC`) or later is recorded.
  func wait(_ what: String, at time: Int64) throws {
    let time = time - (try epoch())
    var control = try connect()
    try waitUntil(what) {
      guard recording.process.isRunning else { throw TestFailure("record ended: \(recording.process.errorsSoFar)") }
      let last = try control.ask(ControlRequest(.status)).status?.lastFrame
      return last.map { $0.nanoseconds >= time } ?? false
    }
  }

  /// Ends the recording by INT.
  @discardableResult
  func stop() throws -> ChildProcess.Result {
    recording.process.signal(SIGINT)
    return try recording.process.wait()
  }
}

/// What a recorded picture has to be.
enum ExpectedPicture {
  /// A window or screen of `size` filled with `color` in a picture of `canvas`: never larger than it is, in the middle of
  /// black bars that begin on even pixels. BGRX, the last byte 0.
  static func filled(_ size: PixelSize, _ color: UInt32, in canvas: PixelSize) -> [UInt8] {
    let fitted = size.fitted(into: canvas)
    let (left, top) = ((canvas.width - fitted.width) / 2 & ~1, (canvas.height - fitted.height) / 2 & ~1)
    let pixel = [UInt8(color & 0xFF), UInt8(color >> 8 & 0xFF), UInt8(color >> 16 & 0xFF), 0]
    let black = [UInt8](repeating: 0, count: 4)
    func run(_ pixel: [UInt8], _ count: Int) -> [UInt8] { Array(repeatElement(pixel, count: count).joined()) }
    let row = run(black, left) + run(pixel, fitted.width) + run(black, canvas.width - left - fitted.width)
    let empty = run(black, canvas.width)
    return Array(
      (0..<canvas.height).lazy.map { (top..<top + fitted.height).contains($0) ? row : empty }.joined())
  }

  /// Whether one of `pictures` is what a source of `size` filled with `color` has to be; others with that colour may be of
  /// the moment of a change. What is scaled down may be off by one: libyuv rounds its means down.
  static func isShown(_ color: UInt32, _ size: PixelSize, in pictures: [[UInt8]], _ canvas: PixelSize) -> Bool {
    let tolerance = size.fitted(into: canvas) == size ? 0 : 1
    let wanted = filled(size, color, in: canvas)
    let middle = (canvas.height / 2 * canvas.width + canvas.width / 2) * 4
    func isNear(_ picture: [UInt8], _ index: Int) -> Bool {
      abs(Int(picture[index]) - Int(wanted[index])) <= tolerance
    }
    return pictures.contains { picture in
      // The fourth byte of a pixel means nothing.
      (middle..<middle + 3).allSatisfy { isNear(picture, $0) }
        && wanted.indices.allSatisfy { $0 % 4 == 3 || isNear(picture, $0) }
    }
  }
}
