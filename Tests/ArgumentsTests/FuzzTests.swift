import Arguments
import Commands
import SessionModel
import TestSupport
import Testing

@Suite struct FuzzTests {
  /// Random command lines, as many as there are inputs, half of their words from the table itself, the rest bytes or broken words.
  @Test func anyCommandLineIsRunOrRefusedInOneSentence() throws {
    var generator = Fuzzing.Generator(seed: Fuzzing.seed)
    let root = CommandDescription(RecorderCommand.self)
    let known =
      root.leaves.flatMap { command in
        command.path.dropFirst() + command.options.flatMap { option in option.spellings }
      } + ["--", "-", "--=", "-o", "=", "", "1:30", "last", "30", "h1080", "window:active", "region:1x1+0+0", "index"]
    let parser = CommandParser(RecorderCommand.self)
    var outcomes: [String: Int] = [:]
    for _ in 0..<Fuzzing.inputs {
      let words = (0..<Int.random(in: 0...8, using: &generator)).map { _ -> ArgumentText in
        var bytes = Array((known.randomElement(using: &generator) ?? "").utf8)
        if Bool.random(using: &generator) {
          for _ in 0..<Int.random(in: 0...4, using: &generator) {
            // No NUL: a command line cannot hold one.
            let byte = UInt8.random(in: 1...255, using: &generator)
            bytes.insert(byte, at: Int.random(in: 0...bytes.count, using: &generator))
          }
        }
        return ArgumentText(bytes: bytes)
      }
      do throws(RecorderError) {
        switch try parser.parse(words) {
        case .run: outcomes["run", default: 0] += 1
        case .help, .version, .incomplete: outcomes["help", default: 0] += 1
        }
      } catch {
        outcomes["refused", default: 0] += 1
        #expect(error.code == .usage)
        #expect(error.message.hasSuffix("."), "\(error)")
        #expect(error.description == error.description.printable, "\(error)")
      }
    }
    // The generator reaches every side of the parser.
    for outcome in ["run", "help", "refused"] { #expect((outcomes[outcome] ?? 0) > 20, "\(outcomes)") }
  }
}
