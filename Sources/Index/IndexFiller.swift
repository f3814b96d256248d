import Archive
import SessionModel

/// Brings sessions of the archive into the index, each in a transaction: what it reads of the archive it reads while no
/// other process can write the index, so that an older state never replaces a newer one.
struct IndexFiller {
  let archive: ArchiveReader
  let database: Database

  /// Makes the tables anew and brings all sessions in.
  /// - Returns: the number of sessions in it, and those whose recorder had been killed and that are closed now.
  func fill() throws(IndexError) -> (count: Int, recovered: [SessionID]) {
    let result = try database.write { () throws(IndexError) in
      try database.execute(Schema.drop)
      for migration in Schema.migrations { try database.execute(migration) }
      try database.execute("PRAGMA application_id = \(Schema.applicationID)")
      try database.execute("PRAGMA user_version = \(Schema.version)")
      var result = (count: 0, recovered: [SessionID]())
      for id in try asIndexError({ () throws(RecorderError) in try archive.sessionIDs() }) {
        // A session that cannot be read even as a damaged one keeps none of the others out.
        do throws(IndexError) {
          if case .recovered = try put(id, depth: .everything) { result.recovered.append(id) }
        } catch {
          guard case .other = error else { throw error }
          continue
        }
        result.count += 1
      }
      return result
    }
    // Puts the version into the file itself, where it is looked for.
    try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return result
  }

  /// Brings the session `id` in as it is now, and takes it off the list of changes unless it is being recorded.
  /// - Returns: whether its recorder had been killed and it is closed now.
  func update(_ id: SessionID, depth: IndexWriter.Depth) throws(IndexError) -> Bool {
    let found = try database.write { () throws(IndexError) in
      // A session that has no folder is being made, or was moved away; what the index knows of it stays.
      archive.contains(id) ? try put(id, depth: depth) : nil
    }
    // The list is for the index on disk.
    if database.isInMemory { return false }
    try asIndexError { () throws(RecorderError) in
      switch found {
      case .live: break
      case .closed, .recovered, .damaged: try archive.settle(id)
      case nil: try archive.settleAbsent(id)
      }
    }
    if case .recovered = found { return true }
    return false
  }

  /// Takes the deleted session `id` out, and its words out of the file.
  func remove(_ id: SessionID) throws(IndexError) {
    let known = try database.write { () throws(IndexError) in try IndexWriter(database: database).remove(id) }
    if database.isInMemory { return }
    // The write-ahead log still has them.
    if known { try database.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
    try asIndexError { () throws(RecorderError) in
      try IndexFile(archive.location)?.removeDamaged(knowing: id)
      try archive.settleDeleted(id)
    }
  }

  /// Takes what the index knows of the session `id`, of which a part was taken out, and its words out of the file, and brings
  /// in what is left of it.
  /// - Returns: false while the part is being taken out.
  func replace(_ id: SessionID) throws(IndexError) -> Bool {
    let lock = try asIndexError { () throws(RecorderError) -> FileDescriptor? in try archive.endRedaction(id) }
    guard let lock else { return false }
    defer { lock.unlock() }
    try remove(id)
    _ = try update(id, depth: .everything)
    try asIndexError { () throws(RecorderError) in try archive.settleRedacted(id) }
    return true
  }

  private func put(_ id: SessionID, depth: IndexWriter.Depth) throws(IndexError) -> Recovery {
    let session = try asIndexError { () throws(RecorderError) in try archive.session(id) }
    let found = try asIndexError { () throws(RecorderError) in try look(at: session) }
    var depth = depth
    // Only of one that is being recorded does a list need no more than a line.
    if case .live = found {} else if depth == .summary { depth = .everything }
    try IndexWriter(database: database).write(session, found, depth: depth)
    return found
  }

  /// What the session is. One that was killed and cannot be closed, since the disk is full or may only be read, is
  /// shown as it would be; it stays on the list of changes.
  private func look(at session: SessionReader) throws(RecorderError) -> Recovery {
    do { return try archive.recover(session.id) } catch {
      guard var manifest = try? session.manifest() else { throw error }
      if try session.isLive() { return .live(manifest) }
      let end = try tolerating(.zero) { () throws(RecorderError) in try session.lastEventTime() }
      manifest.state = .interrupted
      manifest.end = Manifest.End(reason: .killed, time: max(.zero, end), message: error.description)
      return .closed(manifest)
    }
  }
}
