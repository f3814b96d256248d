/// How the program ends: the documented exit codes, with the meaning that manual and help print.
///
/// Most are sysexits(3)'s numbers, so that scripts may use its names.
package enum ExitCode: Int32, CaseIterable, Sendable {
  case success = 0
  case usage = 64
  case damagedData = 65
  case sessionNotFound = 66
  case unavailable = 69
  case brokenInvariant = 70
  case systemCall = 71
  case sourceLost = 72
  case cannotCreate = 73
  case writeFailed = 74
  case busy = 75
  case incomplete = 76
  case permission = 77
  case configuration = 78
  case interruptedTwice = 130

  /// What the code means, as the manual says it.
  package var meaning: String {
    switch self {
    case .success: "Done; also when INT, TERM, HUP, stop or --duration ended a recording."
    case .usage: "The command line was wrong."
    case .damagedData: "The archive or the input data is damaged, or was altered."
    case .sessionNotFound: "The session was not found, or more than one was meant."
    case .unavailable: "The display, a device or an encoder is missing (also: Wayland)."
    case .brokenInvariant: "A fault in the program itself."
    case .systemCall: "A system call failed."
    case .sourceLost: "The source was lost while recording; what was recorded is kept."
    case .cannotCreate: "The output exists already, or cannot be created."
    case .writeFailed: "Writing failed or the disk is full; everything before it is kept."
    case .busy: "Locked or busy; try again."
    case .incomplete: "Intact but incomplete, or ended because a part failed."
    case .permission: "No permission."
    case .configuration: "The configuration is wrong."
    case .interruptedTwice: "A second interrupt, or nothing was picked with --select."
    }
  }
}

/// What went wrong, in the one form every layer throws: a code, one sentence that names it, and what to do.
package struct RecorderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// How the program ends for it.
  package var code: ExitCode
  /// One sentence that names what was wrong; shown as it is, so outside text in it has been made printable.
  package var message: String
  /// What to do about it; nil when the sentence says it already.
  package var hint: String?

  /// Makes an error of `code` with one sentence and a remedy.
  package init(_ code: ExitCode, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  /// The sentence and, after it, the remedy.
  package var description: String { hint.map { "\(message) \($0)" } ?? message }
}
