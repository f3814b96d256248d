import Archive
import Commands
import FoundationEssentials
import Replay
import SessionModel

extension SessionArgument {
  /// The session as a stretch of time.
  /// - Throws: `RecorderError`: sessionNotFound, damagedData.
  func timeline() throws(RecorderError) -> Timeline {
    let archive = ArchiveReader(try ArchiveLocation.standard(ProcessInfo.processInfo.environment))
    let id = try archive.resolve(name.text)
    // Closes a session whose recorder was killed; one that cannot be written is played as it is.
    if case .recovered = try? archive.recover(id) { Diagnostics.reportRecovered(id) }
    return try Timeline(archive.session(id))
  }
}
