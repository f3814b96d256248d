internal import CLinux
import Glibc

/// What is known of the terminal that a descriptor leads to.
package enum Terminal {
  /// The columns of the terminal at `descriptor`; nil when it is none.
  package static func width(of descriptor: Int32) -> Int? {
    guard isatty(descriptor) == 1 else { return nil }
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The columns that `character` takes on a terminal: 2 for the wide ones of East Asia and emoji.
  package static func columns(_ character: Character) -> Int {
    // Below U+0300 no printable character is wide or combining.
    if let scalar = character.unicodeScalars.first, scalar.value < 0x300 { return 1 }
    let widest = character.unicodeScalars.map { scalar in Int(recorder_columns(scalar.value)) }.max() ?? 1
    return max(0, widest)
  }
}
