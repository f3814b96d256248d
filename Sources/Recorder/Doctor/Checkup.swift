package import Archive
internal import Capture
internal import Media
package import SessionModel

/// All that `recorder doctor` looks at.
package enum Checkup {
  /// Looks at `display` (nil is $DISPLAY), the machine and the archive at `archive`. What is missing is a finding, not an
  /// error; nothing is left behind.
  package static func findings(display: String?, archive: ArchiveLocation, _ storage: StorageOptions) -> [Finding] {
    DisplayCheckup.findings(display: display) + SoundCheckup.findings() + EncoderCheckup.findings()
      + ArchiveCheckup.findings(of: archive, storage) + SystemCheckup.findings()
  }
}
