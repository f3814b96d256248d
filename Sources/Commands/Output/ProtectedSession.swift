package import SessionModel

extension RecorderError {
  /// The refusal to take anything from the session `id`, which is protected for `reason`.
  package static func isProtected(_ id: SessionID, _ reason: String) -> RecorderError {
    RecorderError(
      .permission, "The session \(id) is protected\(reason.isEmpty ? "" : " (\(reason.printable(atMost: 200)))").",
      hint: "recorder unprotect \(id) takes that back.")
  }
}
