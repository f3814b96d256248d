package import SessionModel

/// What a person calls a session and says about it: what the recording was given at its start, changed by the
/// annotations in their order.
package struct SessionLabels: Hashable, Sendable {
  /// The title; nil when it has none.
  package private(set) var title: String?
  /// The tags, in the order they were added.
  package private(set) var tags: [String]
  /// The notes, in the order they were added.
  package private(set) var notes: [Annotation]
  /// Why no clean-up may delete it; nil when one may.
  package private(set) var protection: String?
  /// How the command ended that it was recorded for, as a shell says it; nil without one, and when it is not known.
  package private(set) var commandStatus: Int32?

  /// The labels of a session with `manifest` (nil when it is damaged) and `annotations`.
  package init(manifest: Manifest?, annotations: [Annotation]) {
    title = manifest?.options.title.flatMap { $0.isEmpty ? nil : $0 }
    (tags, notes) = ([], [])
    commandStatus = manifest?.command?.status
    for tag in manifest?.options.tags ?? [] where !tags.contains(tag) { tags.append(tag) }
    for annotation in annotations {
      switch annotation.kind {
      case .title: title = annotation.text.isEmpty ? nil : annotation.text
      case .tag: if !tags.contains(annotation.text) { tags.append(annotation.text) }
      case .untag: tags.removeAll { $0 == annotation.text }
      case .note: notes.append(annotation)
      case .protect: protection = annotation.text
      case .unprotect: protection = nil
      case .command: commandStatus = Int32(annotation.text) ?? commandStatus
      }
    }
  }
}
