import Glibc
package import SessionModel

/// Finds sessions in an archive by looking at its folders, newest first.
package struct ArchiveReader: Sendable {
  /// Where the archive is.
  package let location: ArchiveLocation

  /// The archive at `location`, which need not exist.
  package init(_ location: ArchiveLocation) { self.location = location }

  /// The archive's folder; nil when there is none.
  package func root() throws(RecorderError) -> Folder? { try Folder.open(path: location.path) }

  /// Whether the session `id` is there.
  package func contains(_ id: SessionID) -> Bool { (try? root()?.session(id)) != nil }

  /// Whether its folder of sessions is there: an archive on a disk that is not mounted is missing, not empty.
  package func isPresent() throws(RecorderError) -> Bool {
    try root()?.folder(ArchiveLocation.Name.sessions) != nil
  }

  /// The names of all sessions, newest first; a day's folder is read when its turn comes, and one that cannot be read
  /// is passed over.
  /// - Parameter prefix: only names that begin with it.
  package func sessionIDs(prefix: String = "") throws(RecorderError) -> SessionIDs {
    SessionIDs(sessions: try root()?.folder(ArchiveLocation.Name.sessions), prefix: prefix)
  }

  /// What a person is to be told of what lies among the sessions and is none by its name, as one that was renamed; nil
  /// when nothing does.
  package func strayNotice() throws(RecorderError) -> String? {
    var ids = try sessionIDs()
    while ids.next() != nil {}
    guard let first = ids.strays.first else { return nil }
    let more = ids.strays.count > 1 ? " and \(ids.strays.count - 1) more are" : " is"
    let path = "\(location.path)/\(ArchiveLocation.Name.sessions)/\(first)".printable
    return "\(path)\(more) passed over: a session's folder has the id for its name that its manifest gives, and lies "
      + "in the year, month and day of that."
  }

  /// The session `id`.
  /// - Throws: `RecorderError` (sessionNotFound) when there is none.
  package func session(_ id: SessionID) throws(RecorderError) -> SessionReader {
    guard let folder = try root()?.session(id) else {
      throw RecorderError(
        .sessionNotFound, "There is no session \(id) in \(location.path.printable).",
        hint: "recorder list shows the sessions.")
    }
    return SessionReader(id: id, folder: folder)
  }

  /// The session that a person means by `text`: a name or its unique beginning, `last`, or `last~N` for the Nth before
  /// the last.
  /// - Throws: `RecorderError` (sessionNotFound) when there is none, or more than one.
  package func resolve(_ text: String) throws(RecorderError) -> SessionID {
    if text == "last" || text.hasPrefix("last~") {
      let digits = text.dropFirst("last~".count)
      if let back = digits.isEmpty && text == "last" ? 0 : Int(digits), back >= 0 {
        var ids = try sessionIDs()
        for _ in 0..<back where ids.next() == nil { break }
        if let id = ids.next() { return id }
        throw RecorderError(
          .sessionNotFound, "There is no session \(text.printable(atMost: 40)) in \(location.path.printable).",
          hint: "recorder list shows the sessions.")
      }
    }
    // Names are date, T, time, Z and a lower-case suffix; a person may type them in either case.
    let wanted = text.prefix(16).uppercased() + text.dropFirst(16).lowercased()
    let matches = text.isEmpty ? [] : Array(try sessionIDs(prefix: wanted).prefix(Self.matchesShown + 1))
    if matches.count == 1 { return matches[0] }
    let name = "\"\(text.printable(atMost: 40))\""
    if matches.isEmpty {
      throw RecorderError(
        .sessionNotFound, "There is no session \(name) in \(location.path.printable).",
        hint: "recorder list shows the sessions; a session is named by its id, the beginning of it, last or last~2.")
    }
    let shown = matches.prefix(Self.matchesShown).map(\.description).joined(separator: ", ")
    let more = matches.count > Self.matchesShown ? " and more" : ""
    throw RecorderError(
      .sessionNotFound, "More than one session begins with \(name): \(shown)\(more).", hint: "Write more of the id.")
  }

  /// The sessions that an ambiguous beginning is answered with at most; a screen's line or two.
  private static let matchesShown = 5
}

/// The names of an archive's sessions, newest first, read a day at a time.
package struct SessionIDs: Sequence, IteratorProtocol {
  /// What the names begin with.
  private let prefix: String
  /// Folders yet to be entered, the newest last: years, then months, then days of the one entered.
  private var folders: [(folder: Folder, date: String)]
  /// The names of the day entered, the newest last.
  private var day: [SessionID] = []
  /// What has been met that is no session where it lies, by its path below the folder of sessions; hidden files aside.
  private(set) var strays: [String] = []

  init(sessions: Folder?, prefix: String) {
    self.prefix = prefix
    folders = sessions.map { [($0, "")] } ?? []
  }

  package mutating func next() -> SessionID? {
    while true {
      if let id = day.popLast() { return id }
      guard let (folder, date) = folders.popLast() else { return nil }
      guard let names = try? folder.names() else { continue }
      note(names, in: date)
      if date.utf8.count == 8 {
        day = names.compactMap { SessionID($0) }.filter { id in
          id.description.hasPrefix(date) && id.description.hasPrefix(prefix)
        }.sorted()
        continue
      }
      for name in names.sorted() where Self.isPartOfDate(name, after: date) {
        let deeper = date + name
        let fits = prefix.hasPrefix(deeper) || deeper.hasPrefix(prefix)
        if fits, let child = try? folder.folder(name) { folders.append((child, deeper)) }
      }
    }
  }

  /// Whether `name` is the year, month or day that comes after `date`.
  private static func isPartOfDate(_ name: String, after date: String) -> Bool {
    name.utf8.count == (date.isEmpty ? 4 : 2) && name.utf8.allSatisfy { (48...57).contains($0) }
  }

  private mutating func note(_ names: [String], in date: String) {
    let isDay = date.utf8.count == 8
    for name in names.sorted() where !name.hasPrefix(".") {
      let isRight = isDay ? SessionID(name)?.description.hasPrefix(date) == true : Self.isPartOfDate(name, after: date)
      if isRight { continue }
      let parts = [date.prefix(4), date.dropFirst(4).prefix(2), date.dropFirst(6)].filter { !$0.isEmpty }
      strays.append((parts.map(String.init) + [name]).joined(separator: "/"))
    }
  }
}
