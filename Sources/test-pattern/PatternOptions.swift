import Glibc

/// What the command line asks for.
struct PatternOptions {
  /// What is drawn.
  enum Mode: String, CaseIterable {
    case counter, color, bars, checkerboard
  }

  static let help = """
    usage: test-pattern MODE [options]
           test-pattern layout             prints the counter's cells, in pixels, as JSON

    Draws a known picture in an X window, for tests and the demonstration of the recorder.

    Modes:
      counter       a binary frame counter on a background that changes wholly with each frame
      color         one colour (--color)
      bars          eight colour bars: white, yellow, cyan, green, magenta, red, blue, black
      checkerboard  black and white pixels in turn

    Options:
      --display NAME        the X display (default: $DISPLAY)
      --geometry WxH[+X+Y]  the window's size and place in pixels (default: all of the screen)
      --fps N               counter: frames a second; 0 draws one at each `next` (default: 30)
      --count N             counter: ends after N frames (default: never)
      --color RRGGBB        color: the colour, in hexadecimal (default: 404040)
      --title TEXT          the window's title (default: test-pattern)
      --title-bytes HEX     the window's title as any bytes, in hexadecimal
      --compound-title HEX  the window's title in COMPOUND_TEXT and in nothing else
      --input-only          makes a window that takes input and has no pixels
      --class NAME          the window's class and instance (default: test-pattern)
      --transient-for ID    the window that this one is a dialog of, as 0x1a00007
      --leader ID           the window that stands for its application (WM_CLIENT_LEADER), as 0x1a00007
      --no-background       has nothing painted by the server: what was above the window stays until it draws
      --backing-store       asks the server to keep the window's pixels while it is covered
      --watch               writes `event expose` and `event visibility` when the server says so
      --unmapped            makes the window without showing it
      --log FILE            writes the lines below to FILE instead of standard output

    Writes `ready 0xWINDOW` once the picture is drawn, and for each frame of the counter
    `frame COUNTER NS`, NS being CLOCK_MONOTONIC just before the server was told to draw it, the line
    written once it was drawn. Each line of standard input is a command, answered the same way by
    `done NS COMMAND` once the server has carried it out:

      next                  draws the next frame of the counter
      color RRGGBB          fills the window with a colour
      rect RRGGBB WxH+X+Y   fills a part of the window with a colour
      popup COLOR WxH+X+Y   opens a menu at a place of the screen, the last one closed; COLOR is RRGGBB, or
                            AARRGGBB (premultiplied) for one with an alpha channel
      popdown               closes it
      storm N               makes and closes N more windows, called "storm 1" and so on, at random moments
      flash                 fills the window with white, and 200 ms later with black
      title TEXT            changes the title
      move X Y              moves the window
      resize W H            changes its size
      raise, lower          changes its place in the stack
      map, unmap            shows and hides it
      focus                 gives it the keyboard
      quit                  ends the program

    Example: test-pattern counter --fps 60 --geometry 640x480+10+10
    """

  var mode = Mode.counter
  var display: String?
  var size: (width: Int, height: Int)?
  var place = (x: 0, y: 0)
  var framesPerSecond = 30
  var count = Int.max
  var color: UInt32 = 0x404040
  var title = Array("test-pattern".utf8)
  var isTitleCompound = false
  var isInputOnly = false
  var isKept = false
  var hasBackground = true
  var isWatched = false
  var className = "test-pattern"
  var owner: UInt32?
  var leader: UInt32?
  var isMapped = true
  var log: String?

  /// Reads the arguments after the program's name; nil, after saying why, when they are wrong.
  init?(_ arguments: [String]) {
    var rest = arguments[...]
    guard let word = rest.popFirst(), let mode = Mode(rawValue: word) else { return nil }
    self.mode = mode
    while let name = rest.popFirst() {
      switch name {
      case "--unmapped": isMapped = false
      case "--input-only": isInputOnly = true
      case "--backing-store": isKept = true
      case "--no-background": hasBackground = false
      case "--watch": isWatched = true
      default: guard let value = rest.popFirst(), set(name, value) else { return nil }
      }
    }
  }

  private mutating func set(_ name: String, _ value: String) -> Bool {
    switch name {
    case "--display": display = value
    case "--title": title = Array(value.utf8)
    case "--class": className = value
    case "--log": log = value
    case "--transient-for":
      guard value.hasPrefix("0x"), let id = UInt32(value.dropFirst(2), radix: 16) else { return false }
      owner = id
    case "--leader":
      guard value.hasPrefix("0x"), let id = UInt32(value.dropFirst(2), radix: 16) else { return false }
      leader = id
    case "--geometry":
      guard let geometry = Self.geometry(value) else { return false }
      (size, place) = geometry
    case "--fps":
      guard let number = Int(value), (0...1000).contains(number) else { return false }
      framesPerSecond = number
    case "--count":
      guard let number = Int(value), number > 0 else { return false }
      count = number
    case "--color":
      guard let number = UInt32(value, radix: 16) else { return false }
      color = number
    case "--title-bytes", "--compound-title":
      isTitleCompound = name == "--compound-title"
      let digits = Array(value)
      guard digits.count % 2 == 0 else { return false }
      title = []
      for index in stride(from: 0, to: digits.count, by: 2) {
        guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return false }
        title.append(byte)
      }
    default: return false
    }
    return true
  }

  /// The size and place that `WxH[+X+Y]` names.
  static func geometry(_ text: some StringProtocol) -> (size: (width: Int, height: Int)?, place: (x: Int, y: Int))? {
    let parts = text.split(separator: "+", omittingEmptySubsequences: false)
    let sides = parts[0].split(separator: "x").compactMap { Int($0) }
    guard sides.count == 2, sides.allSatisfy({ (1...32767).contains($0) }), parts.count == 1 || parts.count == 3
    else { return nil }
    guard parts.count == 3 else { return ((sides[0], sides[1]), (0, 0)) }
    guard let x = Int(parts[1]), let y = Int(parts[2]) else { return nil }
    return ((sides[0], sides[1]), (x, y))
  }
}
