/// One thing that `recorder doctor` looked at.
package struct Finding: Hashable, Codable, Sendable {
  /// What it belongs to.
  package enum Area: String, Codable, Sendable, CaseIterable {
    /// The X server and what it can do.
    case display
    /// The window manager and the compositor.
    case desktop
    /// The sound server and ALSA.
    case sound
    /// FFmpeg's encoders.
    case encoders
    /// The archive and its disk.
    case archive
    /// The clocks.
    case clock
    /// What the system lets the recorder use.
    case limits
  }

  /// How much it matters.
  package enum State: String, Codable, Sendable, CaseIterable {
    /// As it should be.
    case fine
    /// Recordings are made without it, in the way that the text says.
    case note
    /// Nothing can be recorded.
    case problem
  }

  /// What it belongs to.
  package var area: Area
  /// Its name: an extension's, an encoder's.
  package var subject: String
  /// How much it matters.
  package var state: State
  /// What was found, and what is done without it. Text from outside is as it is: who prints it makes it printable.
  package var text: String
  /// What to do about it; nil when there is nothing to be done.
  package var remedy: String?

  /// Makes a finding.
  package init(_ area: Area, _ subject: String, _ state: State, _ text: String, remedy: String? = nil) {
    (self.area, self.subject, self.state, self.text, self.remedy) = (area, subject, state, text, remedy)
  }

  /// Makes the finding that `error` says why nothing can be recorded.
  package init(_ area: Area, _ subject: String, _ error: RecorderError) {
    self.init(area, subject, .problem, error.message, remedy: error.hint)
  }
}
