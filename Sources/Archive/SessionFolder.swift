import FoundationEssentials
import Glibc
import SessionModel

/// What writing and reading a session share: its folder's place, its manifest and its lines.
extension Folder {
  /// The folder of the session `id` below an archive's root; nil when there is none.
  func session(_ id: SessionID) throws(RecorderError) -> Folder? {
    try day(of: id)?.folder(id.description)
  }

  /// The folder of the day of the session `id`; nil when there is none.
  func day(of id: SessionID) throws(RecorderError) -> Folder? {
    var folder = try folder(ArchiveLocation.Name.sessions)
    for name in id.dateComponents { folder = try folder?.folder(name) }
    return folder
  }

  /// Puts `manifest` in the place of the one that is here, so that a reader finds the old or the new one whole, even
  /// after a power cut.
  func replaceManifest(_ manifest: Manifest) throws(RecorderError) {
    let name = ArchiveLocation.Name.manifest
    let temporary = "\(name).new"
    // One that was left by a process that was killed.
    try removeFile(temporary)
    let file = try createFile(temporary)
    try file.write(try encode(manifest, pretty: true))
    try file.synchronize()
    try rename(temporary, to: name)
    try synchronize()
  }
}

/// `value` as JSON bytes.
func encode(_ value: some Encodable, pretty: Bool = false) throws(RecorderError) -> [UInt8] {
  do {
    return Array(try JSONEncoder.canonical(pretty: pretty).encode(value))
  } catch {
    throw RecorderError(
      .brokenInvariant, "A value cannot be written as JSON: \(String(describing: error).printable(atMost: 200)).")
  }
}
