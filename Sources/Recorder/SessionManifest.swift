internal import Archive
import SessionModel
import Synchronization

/// The manifest of the session being recorded, as it is on disk: several threads add to it.
final class SessionManifest: Sendable {
  private let manifest: Mutex<Manifest>

  init(_ manifest: Manifest) { self.manifest = Mutex(manifest) }

  /// The manifest as it is now.
  var value: Manifest { manifest.withLock { $0 } }

  /// Changes it, on disk too when this returns.
  /// - Throws: `RecorderError` (writeFailed); the one before stays on disk.
  func update(_ session: SessionWriter, _ body: (inout Manifest) -> Void) throws(RecorderError) {
    try manifest.withLock { (manifest) throws(RecorderError) in
      body(&manifest)
      try session.replaceManifest(manifest)
    }
  }
}
