import SessionModel

/// Something in a session that can be searched for.
struct Moment: Hashable {
  /// What it is.
  enum Kind: String, CaseIterable {
    /// The session's title.
    case session
    /// A tag of the session.
    case tag
    /// What a person wrote about it.
    case note
    /// A window was active, or on the screen.
    case window
    /// A person marked it.
    case marker
    /// The recorded command wrote it.
    case text
    /// The recorder warned of something.
    case warning
    /// A track had nothing.
    case gap
    /// A sound device came, went or changed.
    case device

    /// How much a match counts against one in a window's title: what a person wrote was meant to be found.
    var weight: Double {
      switch self {
      case .session, .tag, .note, .marker: 2
      case .window, .text: 1
      case .warning, .gap, .device: 0.5
      }
    }

    /// Whether it comes from the manifest and the annotations alone.
    var isLabel: Bool { self == .session || self == .tag || self == .note }
  }

  /// What it is.
  var kind: Kind
  /// A time at which it can be seen.
  var time: Timestamp
  /// How long it lasted, in ns.
  var length: Int64
  /// What is searched and shown.
  var words: String
  /// Title and class of the window that it is about or that was active then.
  var window: String
}
