import Arguments
import SessionModel

/// A small table that has every form an argument can take.
struct SampleProgram: CommandDeclaration {
  static let configuration = CommandConfiguration(
    commandName: "sample", abstract: "Try every form.",
    subcommands: [SampleCopy.self, SampleGroup.self, SampleSecret.self])
}

struct SampleCopy: CommandDeclaration {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a file.",
    discussion:
      "The first paragraph is long enough that it has to be broken into two lines of eighty columns.\n\nThe second.",
    examples: [.init("sample copy a b", "From a to b.")])

  enum Mode: String, CaseIterable, ExpressibleByArgument { case fast, careful }

  @Argument(help: ArgumentHelp("What is copied.", valueName: "FILE")) var source: FilePath
  @Argument(help: "Places.") var places: [String] = []
  @Option(name: [.customShort("o"), .long], help: "Where to.") var output: FilePath?
  @Option(help: "How often.") var count = 3
  @Option(help: "How.") var mode = Mode.fast
  @Option(help: "A word.") var word: [String] = []
  @Option(defaultAsFlag: "here", help: "A place.") var nearBy: String?
  @Flag(name: [.customShort("q"), .long], help: "Say nothing.") var quiet = false
  @Flag(inversion: .prefixedNo, help: "Draw lines.") var lines = true
  @Option(settings: ["sample.tint"], help: "A colour.") var tint: String?
  @Option(settings: ["sample.layer"], help: "A layer.") var layer: [String] = []
  @Option(
    settings: [SettingBinding("sample.at.start", words: ["start"])],
    help: ArgumentHelp("When.", valueName: "PLACE WORD"))
  var at: [SamplePair] = []
  @Flag(settings: ["sample.loud"], help: "Be loud.") var loud = false
  @OptionGroup var shared: SampleShared
}

/// A value of two words.
struct SamplePair: ExpressibleByArgument, Hashable {
  let place: String, word: String
  static var wordCount: Int { 2 }
  static var allValueStrings: [String] { ["start", "end"] }
  init(place: String, word: String) { (self.place, self.word) = (place, word) }
  init(argument: ArgumentText) throws(RecorderError) { try self.init(words: [argument]) }
  init(words: [ArgumentText]) throws(RecorderError) {
    guard words.count == 2 else { throw RecorderError(.usage, "There must be two words.") }
    (place, word) = (try String(argument: words[0]), try String(argument: words[1]))
  }
}

struct SampleShared: ParsableArguments {
  @Flag(name: [.customShort("j")], help: "JSON.") var json = false
  @Option(help: "At least 0.") var ratio = 0.5
  func validate() throws(RecorderError) {
    if ratio < 0 { throw RecorderError(.usage, "--ratio: \(ratio) is less than 0.") }
  }
}

struct SampleGroup: CommandDeclaration {
  static let configuration = CommandConfiguration(
    commandName: "group", abstract: "Hold one command.", subcommands: [SampleMember.self])
}

struct SampleMember: CommandDeclaration {
  static let configuration = CommandConfiguration(commandName: "member", abstract: "Be in a group.")
  @Option(help: "Must be given.") var name: String
  @Argument(help: "At least one.") var words: [String]
}

struct SampleSecret: CommandDeclaration {
  static let configuration = CommandConfiguration(
    commandName: "secret", abstract: "Be hidden.", shouldDisplay: false)

  @Option(defaultAsFlag: "here", help: "A place.") var near: String?
}

/// What the sample's parser makes of `words`, with values that the configuration gives.
func parseSample(_ words: [String], _ settings: [String: [String]] = [:]) throws -> CommandParser.Outcome {
  let configured = ConfiguredValues(settings.mapValues { values in values.map { ArgumentText($0) } })
  return try CommandParser(SampleProgram.self).parse(words.map { ArgumentText($0) }, configured: configured)
}

/// The `copy` command that `words` after its name spell; nil when they ask for something else.
func parseCopy(_ words: String..., settings: [String: [String]] = [:]) throws -> SampleCopy? {
  guard case .run(let command) = try parseSample(["copy"] + words, settings) else { return nil }
  return command as? SampleCopy
}
