/// A stretch of a session that was taken out of it, for good and openly: one entry of the manifest's `redactions`.
package struct Redaction: Hashable, Codable, Sendable {
  /// The session's times of it: the first moment, and the one after the last.
  package var from: Timestamp, to: Timestamp
  /// When it was taken out.
  package var at: WallTime
  /// The user who did.
  package var by: String
  /// Why; nil when nothing was said.
  package var reason: String?
  /// The head of the chain that sealed the session before; nil when it had none.
  package var head: String?
  /// The first thing that was altered when it was taken out, as `verify` names it; nil when nothing was. What is made of the
  /// rest is sealed anew, which must not hide that.
  package var altered: String?

  /// Makes a redaction; set what else there is to say.
  package init(from: Timestamp, to: Timestamp, at: WallTime, by: String, reason: String?) {
    (self.from, self.to, self.at, self.by, self.reason) = (from, to, at, by, reason)
  }

  /// The event that stands in the place of what was taken out.
  package var event: Event {
    let words = "Taken out by \(by) at \(at)\(reason.map { ": \($0)" } ?? ".")"
    return Event(
      time: from, kind: .redacted, gap: Gap(track: "all", start: from, end: to, reason: "redacted"), text: words)
  }
}
