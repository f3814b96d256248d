package import SessionModel

/// The recordings that run now, and which of them a person means.
package struct RunningRecordings: Sendable {
  private let folder: RuntimeFolder?

  /// Looks into `folder`; nil is one that does not exist, and nothing runs.
  package init(_ folder: RuntimeFolder?) { self.folder = folder }

  /// Each recording that answers, with its status. One that does not answer is reported by its name.
  /// - Throws: `RecorderError` (systemCall) when no socket is left.
  package func all() throws(RecorderError) -> [RecorderStatus] {
    guard let folder else { return [] }
    var found: [RecorderStatus] = []
    for name in folder.instances() {
      guard var client = try ControlClient(name, in: folder) else {
        // Left behind by a recorder that was killed: whoever gets the name takes it away.
        _ = try InstanceClaim.claim(name, in: folder)
        continue
      }
      do throws(RecorderError) {
        if let status = try client.ask(ControlRequest(.status)).status { found.append(status) }
      } catch {
        var status = RecorderStatus(name: name.text, state: .stalled)
        status.message = error.message
        found.append(status)
      }
    }
    return found
  }

  /// Connects to the recording that `text` means: its name, its session's id or the beginning of that; nil means the one
  /// that runs.
  /// - Throws: `RecorderError` (sessionNotFound) when there is none, or more than one.
  package func connect(_ text: String?) throws(RecorderError) -> ControlClient {
    let running = try all()
    let status = try Self.choose(text, among: running)
    guard let folder, let name = InstanceName(status.name), let client = try ControlClient(name, in: folder) else {
      throw RecorderError(.sessionNotFound, "The recording \(status.name.printable) has just ended.")
    }
    return client
  }

  /// Connects to the recorder called `text` when it records nothing.
  /// - Returns: nil when there is none, or it does.
  /// - Throws: `RecorderError` (usage) when the text can be no name.
  package func idle(_ text: String) throws(RecorderError) -> ControlClient? {
    let name = try InstanceName(parsing: text)
    guard let folder, var client = try ControlClient(name, in: folder) else { return nil }
    guard let state = try client.ask(ControlRequest(.status)).status?.state, state == .idle || !state.isLive else {
      return nil
    }
    return client
  }

  /// The one of `running` that `text` means.
  /// - Throws: `RecorderError` (sessionNotFound) when there is none, or more than one.
  package static func choose(_ text: String?, among running: [RecorderStatus]) throws(RecorderError) -> RecorderStatus {
    guard let text else {
      // An embedded recorder that records nothing is meant only when there is no other.
      let recording = running.filter { $0.state != .idle && $0.state.isLive }
      let meant = recording.isEmpty ? running : recording
      if meant.count == 1 { return meant[0] }
      if running.isEmpty {
        throw RecorderError(.sessionNotFound, "Nothing is being recorded.", hint: "recorder start begins to.")
      }
      throw RecorderError(
        .sessionNotFound, "More than one recording runs: \(describe(meant)).", hint: "Name one by --name.")
    }
    let matches = running.filter { status in
      status.name == text || !text.isEmpty && status.session?.description.hasPrefix(text) == true
    }
    if let exact = matches.first(where: { $0.name == text }) ?? (matches.count == 1 ? matches[0] : nil) { return exact }
    let name = "\"\(text.printable(atMost: 60))\""
    if matches.isEmpty {
      let others = running.isEmpty ? "Nothing is being recorded." : "These run: \(describe(running))."
      throw RecorderError(.sessionNotFound, "No recording \(name) runs.", hint: others)
    }
    throw RecorderError(
      .sessionNotFound, "More than one recording begins with \(name): \(describe(matches)).", hint: "Write more of it.")
  }

  private static func describe(_ statuses: [RecorderStatus]) -> String {
    let shown = statuses.prefix(5).map { status in
      guard let session = status.session else { return status.name.printable }
      return "\(status.name.printable) (\(session))"
    }
    return shown.joined(separator: ", ") + (statuses.count > 5 ? " and more" : "")
  }
}
