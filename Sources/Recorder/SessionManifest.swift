internal import Archive
import SessionModel
import Synchronization

/// The manifest of the session being recorded, as it is on disk or on its way there: several threads add to it.
final class SessionManifest: Sendable {
  private let manifest: Mutex<Manifest>
  /// Held while it is brought to the disk, which may take long: who looks at it does not wait for that.
  private let writing = Mutex(())

  init(_ manifest: Manifest) { self.manifest = Mutex(manifest) }

  /// The manifest as it is now.
  var value: Manifest { manifest.withLock { $0 } }

  /// Changes it, on disk too when this returns.
  /// - Throws: `RecorderError` (writeFailed); the one before stays on disk.
  func update(_ session: SessionWriter, _ body: (inout Manifest) -> Void) throws(RecorderError) {
    try writing.withLock { (_) throws(RecorderError) in
      let changed = manifest.withLock { manifest in
        body(&manifest)
        return manifest
      }
      try session.replaceManifest(changed)
    }
  }
}
