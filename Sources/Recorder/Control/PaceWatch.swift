/// Whether the encoder keeps up with the screen, by the frames that were recorded and those that were left out. Pure.
struct PaceWatch {
  /// Nanoseconds of one judgement: long enough for a hiccup to be none.
  private static let span: Int64 = 1_000_000_000
  /// Judgements in a row that make a change: a second of start-up, or of a busy machine, is no state of the recording.
  private static let needed = 2

  private var began: (frames: Int, dropped: Int, time: Int64)?
  private var isBehind = false
  private var differing = 0

  /// Looks at the counts since the recording began.
  /// - Parameter now: monotonic ns.
  /// - Returns: whether more than every fourth frame that was due is left out.
  mutating func look(frames: Int, dropped: Int, at now: Int64) -> Bool {
    guard let began else {
      began = (frames, dropped, now)
      return isBehind
    }
    guard now - began.time >= Self.span else { return isBehind }
    let (recorded, left) = (frames - began.frames, dropped - began.dropped)
    self.began = (frames, dropped, now)
    differing = (left * 4 > recorded + left) == isBehind ? 0 : differing + 1
    if differing == Self.needed { (isBehind, differing) = (!isBehind, 0) }
    return isBehind
  }
}
