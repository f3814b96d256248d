import Glibc

/// The signals that this process was started to ignore, as `nohup` and a shell's `trap ''` leave them: whoever did so means
/// the programs that are started in turn as well.
package enum InheritedSignals {
  /// Their numbers. They are read when they are first asked for, so a program asks before it ignores any itself.
  package static let ignored: Set<Int32> = Set((1..<firstRealTime).filter(isIgnored))

  /// The kernel's first real-time signal; those are nobody's to ignore for others.
  private static let firstRealTime: Int32 = 32

  /// Gives every signal that this process ignores by itself its default action again, for one that becomes another program
  /// (`execv`): what is ignored stays so across it.
  package static func restore() {
    for number in 1..<firstRealTime where !ignored.contains(number) && isIgnored(number) { signal(number, SIG_DFL) }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
