internal import CXCB
import Glibc
import Threading

/// Draws at its times and carries out the commands of standard input.
struct PatternProgram: ~Copyable {
  /// How long a flash is white, in ns: some frames at any rate that is recorded.
  private static let flash: Int64 = 200_000_000

  private let options: PatternOptions
  private let output: Output
  private var window: PatternWindow
  private var counter = 0
  /// When the next frame of the counter is due, in ns of `CLOCK_MONOTONIC`.
  private var due = Int64.max
  private var flashEnd = Int64.max
  private var input: [UInt8] = []
  private var isInputOpen = true
  private var isRunning = true

  /// Prepares to run with `window`.
  init(_ options: PatternOptions, _ window: consuming PatternWindow, _ output: Output) {
    (self.options, self.output) = (options, output)
    self.window = window
  }

  /// Runs until it is told to quit, has drawn its frames, or the server ends.
  /// - Returns: the exit status.
  mutating func run() -> Int32 {
    window.setMapped(options.isMapped)
    draw()
    window.synchronize()
    // A window manager shows the window when it likes.
    while true {
      // A round trip may have brought events already: they are looked for before each wait.
      _ = receiveEvents()
      if window.isShown || !options.isMapped || !window.isAlive { break }
      wait(until: .max)
    }
    draw()
    window.synchronize()
    output.write("ready 0x\(String(window.id, radix: 16))")
    if options.mode == .counter, options.framesPerSecond > 0 { due = MonotonicClock.now() }
    while isRunning {
      if receiveEvents() { draw() }
      if !window.isAlive { return 69 }
      let now = MonotonicClock.now()
      if now >= flashEnd {
        flashEnd = .max
        window.fill(0)
        window.present()
      }
      if now >= due { drawDueFrame() }
      if isRunning { wait(until: min(due, flashEnd)) }
    }
    return 0
  }

  private mutating func receiveEvents() -> Bool {
    let output = output
    return window.receiveEvents { output.write("event \($0)") }
  }

  private mutating func drawDueFrame() {
    let interval = 1_000_000_000 / Int64(options.framesPerSecond)
    drawNextFrame()
    due += interval
    // Frames that could not be drawn in time are left out, not hurried after.
    if due < MonotonicClock.now() { due = MonotonicClock.now() + interval }
    if counter >= options.count { isRunning = false }
  }

  private mutating func drawNextFrame() {
    counter += 1
    let time = MonotonicClock.now()
    draw()
    window.synchronize()
    output.write("frame \(counter) \(time)")
  }

  private func draw() {
    switch options.mode {
    case .color: window.fill(options.color)
    case .checkerboard: window.fillCheckerboard()
    case .bars:
      for (index, color) in PatternLayout.bars.enumerated() {
        let (left, right) = (window.size.width * index / 8, window.size.width * (index + 1) / 8)
        window.fill(color, x: left, y: 0, width: right - left, height: window.size.height)
      }
    case .counter: drawCounter()
    }
    window.present()
  }

  private func drawCounter() {
    let (cell, margin) = (PatternLayout.cell, PatternLayout.margin)
    window.fill(PatternLayout.background(counter))
    window.fill(
      0, x: 0, y: 0, width: PatternLayout.counterSize.width, height: PatternLayout.counterSize.height)
    for row in 0...1 {
      for column in 0..<PatternLayout.counterBits where PatternLayout.isWhite(counter, row: row, column: column) {
        window.fill(0xFFFFFF, x: margin + column * cell, y: margin + row * cell, width: cell, height: cell)
      }
    }
  }

  /// Sleeps until the window or the input has something, or the deadline.
  private mutating func wait(until deadline: Int64) {
    window.flush()
    var entries = [pollfd(fd: window.fileDescriptor, events: Int16(POLLIN), revents: 0)]
    if isInputOpen { entries.append(pollfd(fd: 0, events: Int16(POLLIN), revents: 0)) }
    let left = deadline - MonotonicClock.now()
    // poll knows milliseconds only; the rest of the time is slept exactly.
    let milliseconds = deadline == .max ? -1 : Int32(clamping: max(0, left / 1_000_000))
    if poll(&entries, UInt(entries.count), milliseconds) == 0, deadline != .max {
      var time = timespec(tv_sec: Int(deadline / 1_000_000_000), tv_nsec: Int(deadline % 1_000_000_000))
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
    }
    if entries.count > 1, entries[1].revents != 0 { readInput() }
  }

  private mutating func readInput() {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(0, &buffer, buffer.count)
    if count <= 0 {
      isInputOpen = false
      return
    }
    input += buffer[..<count]
    while let end = input.firstIndex(of: 0x0A) {
      let line = String(decoding: input[..<end], as: UTF8.self)
      input.removeSubrange(...end)
      let time = MonotonicClock.now()
      guard carryOut(line) else {
        Output.errors.write("test-pattern: \"\(line)\" is no command; see test-pattern --help.")
        continue
      }
      window.synchronize()
      output.write("done \(time) \(line)")
    }
  }

  private mutating func carryOut(_ line: String) -> Bool {
    let words = line.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int($0) }
    switch (words.first, words.count) {
    case ("next", 1): drawNextFrame()
    case ("color", 2):
      guard let color = UInt32(words[1], radix: 16) else { return false }
      window.fill(color)
      window.present()
    case ("rect", 3):
      guard let color = UInt32(words[1], radix: 16), let (size, place) = PatternOptions.geometry(words[2]), let size
      else { return false }
      window.fill(color, x: place.x, y: place.y, width: size.width, height: size.height)
      window.present(x: place.x, y: place.y, width: size.width, height: size.height)
    case ("popup", 3):
      guard let color = UInt32(words[1], radix: 16), let (size, place) = PatternOptions.geometry(words[2]), let size
      else { return false }
      window.openPopup(
        color, hasAlpha: words[1].count == 8, x: place.x, y: place.y, width: size.width, height: size.height)
    case ("popdown", 1): window.closePopup()
    case ("storm", 2) where numbers.count == 1: window.storm(numbers[0])
    case ("flash", 1):
      window.fill(0xFFFFFF)
      window.present()
      flashEnd = MonotonicClock.now() + Self.flash
    case ("title", _): window.setTitle(Array(line.utf8.dropFirst("title ".utf8.count)))
    case ("move", 3) where numbers.count == 2:
      window.configure(xcb_config_window_t(XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue), numbers)
    case ("resize", 3) where numbers.count == 2 && numbers.allSatisfy({ $0 > 0 }):
      window.configure(
        xcb_config_window_t(XCB_CONFIG_WINDOW_WIDTH.rawValue | XCB_CONFIG_WINDOW_HEIGHT.rawValue), numbers)
    case ("raise", 1): window.configure(XCB_CONFIG_WINDOW_STACK_MODE, [Int(XCB_STACK_MODE_ABOVE.rawValue)])
    case ("lower", 1): window.configure(XCB_CONFIG_WINDOW_STACK_MODE, [Int(XCB_STACK_MODE_BELOW.rawValue)])
    case ("map", 1): window.setMapped(true)
    case ("unmap", 1): window.setMapped(false)
    case ("focus", 1): window.takeFocus()
    case ("quit", 1): isRunning = false
    default: return false
    }
    return true
  }
}
