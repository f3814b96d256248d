package import SessionModel

/// How a source that was being recorded can end by itself.
package enum SourceLoss: Hashable, Sendable, CaseIterable {
  /// The recorded window was closed.
  case windowClosed
  /// The X server ended or hung up.
  case displayLost

  /// The loss that `error` reports; nil when it reports something else.
  package init?(_ error: RecorderError) {
    guard let loss = Self.allCases.first(where: { $0.error == error }) else { return nil }
    self = loss
  }

  /// What a source throws for it.
  package var error: RecorderError {
    switch self {
    case .windowClosed: RecorderError(.sourceLost, "The recorded window was closed.")
    case .displayLost: RecorderError(.sourceLost, "The X server ended or closed the connection.")
    }
  }

  /// The reason that the session's end gives for it.
  package var reason: Manifest.Reason {
    switch self {
    case .windowClosed: .windowClosed
    case .displayLost: .displayLost
    }
  }
}
