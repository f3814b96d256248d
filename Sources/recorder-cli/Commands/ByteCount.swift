import SessionModel

/// Sizes of files as people read them.
enum ByteCount {
  private static let units = ["kB", "MB", "GB", "TB", "PB", "EB"]

  /// `bytes` in the unit of a thousand that leaves one to three digits before the point: `999 B`, `1.2 MB`.
  static func text(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return "\(bytes) B" }
    // In tenths of the unit, rounded down: a size is never said to be more than it is.
    var (tenths, unit) = (bytes / 100, 0)
    while tenths >= 10_000 { (tenths, unit) = (tenths / 1000, unit + 1) }
    return "\(tenths / 10).\(tenths % 10) \(units[unit])"
  }
}
