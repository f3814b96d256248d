package import Arguments
package import SessionModel

/// How a command that prints data prints it.
package struct OutputOptions: ParsableArguments {
  /// Whether JSON is printed in place of text.
  @Flag(help: "Print JSON.") package var json = false
  package init() {}
}

/// The session that a command is about.
package struct SessionArgument: ParsableArguments {
  /// Its name as it was given.
  @Argument(help: ArgumentHelp("The session: an id, the beginning of one, or last.", valueName: "SESSION"))
  package var name: SessionName
  package init() {}
}

/// A session as a person names it: an id, the beginning of one, `last` or `last~2`. The archive resolves it.
package struct SessionName: RequirableArgument, Hashable {
  /// The name.
  package var text: String
  package init(argument: ArgumentText) throws(RecorderError) { text = try String(argument: argument) }
  private init(text: String) { self.text = text }
  package static let unset = SessionName(text: "")
  package static var completion: CompletionKind { .session }
}

/// Refuses a count below 1.
func requirePositive(_ count: Int?, _ option: String) throws(RecorderError) {
  guard let count, count < 1 else { return }
  throw RecorderError(.usage, "\(option): \(count) is less than 1.")
}
