package import Arguments
package import SessionModel

/// When the session of a wrapped command is kept.
package enum KeepPolicy: ExpressibleByArgument, Hashable {
  /// Whatever comes.
  case always
  /// When the command's status is not 0.
  case failure
  /// Not at all: a rehearsal.
  case never
  /// When a line of its output matches the expression, which has been tried.
  case match(String)

  package init(argument: ArgumentText) throws(RecorderError) {
    let text = try String(argument: argument)
    switch text {
    case "always": self = .always
    case "failure": self = .failure
    case "never": self = .never
    default:
      guard text.hasPrefix("match="), text.utf8.count > "match=".utf8.count else {
        throw RecorderError(
          .usage, "\"\(argument)\" is none of always, failure, never and match=REGEX.")
      }
      let pattern = String(text.dropFirst("match=".count))
      guard (try? Regex(pattern)) != nil else {
        throw RecorderError(.usage, "\"\(argument)\" holds no regular expression.")
      }
      self = .match(pattern)
    }
  }

  package var argumentDescription: String {
    switch self {
    case .always: "always"
    case .failure: "failure"
    case .never: "never"
    case .match(let pattern): "match=\(pattern)"
    }
  }
}
