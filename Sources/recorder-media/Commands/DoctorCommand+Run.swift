import Archive
import Arguments
import Commands
import FoundationEssentials
import Recorder
import SessionModel

extension DoctorCommand: Command {
  package mutating func run() throws {
    let archive = try ArchiveLocation.standard(ProcessInfo.processInfo.environment)
    let findings = Checkup.findings(display: display, archive: archive, StorageOptions())
    if output.json {
      try StandardOutput.json(Diagnosis(isAble: findings.allSatisfy { $0.state != .problem }, findings: findings))
    } else {
      // No table, whose lines a narrow terminal would cut: the remedy stands at their end.
      let width = findings.map(\.subject.count).max() ?? 0
      for finding in findings {
        let subject = finding.subject.padding(toLength: width)
        try StandardOutput.line(
          "\(finding.state.rawValue.padding(toLength: 7))  \(subject)  \(finding.text.printable)")
        if let remedy = finding.remedy {
          try StandardOutput.line("\("".padding(toLength: 9 + width))  \(remedy.printable)")
        }
      }
    }
    guard let problem = findings.first(where: { $0.state == .problem }) else { return }
    throw RecorderError(.unavailable, "Nothing can be recorded here: \(problem.text.printable)", hint: problem.remedy)
  }

  /// What `doctor --json` prints.
  private struct Diagnosis: Encodable {
    /// Whether a recording can be made.
    var isAble: Bool
    /// All that was looked at.
    var findings: [Finding]
  }
}

extension String {
  /// The text with spaces behind it up to `length` characters.
  fileprivate func padding(toLength length: Int) -> String {
    self + String(repeating: " ", count: max(0, length - count))
  }
}
