/// What a key asks a player to do.
package enum PresentationKey: Hashable, Sendable, CaseIterable {
  /// Pause, or go on (`space`, `p`).
  case pause
  /// Five seconds back and forward (`left`, `right`).
  case back, forward
  /// A minute back and forward (`down`, `up`).
  case farBack, farForward
  /// One frame back and forward (`,`, `.`).
  case stepBack, stepForward
  /// Half and twice as fast (`[`, `]`).
  case slower, faster
  /// Sound off and on (`m`).
  case mute
  /// Quieter and louder (`9`, `0`).
  case quieter, louder
  /// The next sound track (`t`).
  case track
  /// The whole screen, or the window again (`f`).
  case fullScreen
  /// The end (`q`, `Escape`).
  case quit

  /// The key that an X keysym means; nil when it means none.
  ///
  /// The numbers are those of X11/keysymdef.h; a Latin-1 keysym is the character itself.
  init?(keysym: UInt32) {
    switch keysym {
    case 0xFF1B: self = .quit  // XK_Escape
    case 0xFF51, 0xFF96: self = .back  // XK_Left, XK_KP_Left
    case 0xFF52, 0xFF97: self = .farForward  // XK_Up, XK_KP_Up
    case 0xFF53, 0xFF98: self = .forward  // XK_Right, XK_KP_Right
    case 0xFF54, 0xFF99: self = .farBack  // XK_Down, XK_KP_Down
    default:
      guard keysym < 0x80, let scalar = Unicode.Scalar(keysym) else { return nil }
      switch Character(scalar) {
      case " ", "p", "P": self = .pause
      case ",": self = .stepBack
      case ".": self = .stepForward
      case "[": self = .slower
      case "]": self = .faster
      case "m", "M": self = .mute
      case "9": self = .quieter
      case "0": self = .louder
      case "t", "T": self = .track
      case "f", "F": self = .fullScreen
      case "q", "Q": self = .quit
      default: return nil
      }
    }
  }
}

/// Something that a window tells its player.
package enum WindowEvent: Hashable, Sendable {
  /// A key was pressed.
  case key(PresentationKey)
  /// The window has another size: the picture is due again.
  case resized
  /// The person closed the window.
  case closed
}
