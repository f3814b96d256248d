import Arguments
import SessionModel
import Testing

@Suite struct ParserTests {
  @Test func defaultsStayWithoutOptions() throws {
    let copy = try #require(try parseCopy("a"))
    #expect(copy.source == FilePath("a"))
    #expect(copy.places == [] && copy.output == nil && copy.count == 3 && copy.mode == .fast && copy.word == [])
    #expect(copy.nearBy == nil && !copy.quiet && copy.lines && !copy.shared.json && copy.shared.ratio == 0.5)
  }

  @Test func everyFormOfAnOption() throws {
    let copy = try #require(
      try parseCopy(
        "--count=5", "a", "-qj", "-ofile", "--word", "x", "b", "--word=y=z", "--mode", "careful", "--no-lines",
        "--near-by", "c", "--ratio", "1.5"))
    #expect(copy.count == 5 && copy.quiet && copy.shared.json && copy.output == FilePath("file"))
    #expect(copy.word == ["x", "y=z"] && copy.mode == .careful && !copy.lines && copy.shared.ratio == 1.5)
    #expect(copy.nearBy == "here" && copy.source == FilePath("a") && copy.places == ["b", "c"])
  }

  @Test func anOptionalValueComesAfterEqualsAlone() throws {
    #expect(try parseCopy("a", "--near-by=there")?.nearBy == "there")
    #expect(try parseCopy("a", "--near-by=")?.nearBy == "")
  }

  @Test func theLastOneCounts() throws {
    let copy = try #require(try parseCopy("a", "--count", "4", "--count", "6", "--no-lines", "--lines"))
    #expect(copy.count == 6 && copy.lines)
  }

  @Test func aValueMayHaveTwoWords() throws {
    #expect(try parseCopy("a", "--at", "start", "x y", "--at=end", "z")?.at.map(\.word) == ["x y", "z"])
    for (words, sentence) in [
      (["copy", "a", "--at"], "--at needs a value. Write --at PLACE WORD."),
      (["copy", "a", "--at", "start"], "--at needs a value. Write --at PLACE WORD."),
      (
        ["copy", "a", "--at", "start", "--loud"],
        "--at needs a value before --loud. Write --at PLACE WORD, or --at=--loud if that is the value."
      ),
    ] {
      let error = #expect(throws: RecorderError.self) { try parseSample(words) }
      #expect(error?.description == sentence)
    }
  }

  @Test func theConfigurationComesFirstOnTheLine() throws {
    let settings = [
      "sample.tint": ["red", "blue"], "sample.layer": ["1", "2"], "sample.at.start": ["w"], "sample.loud": ["yes"],
    ]
    let configured = try #require(try parseCopy("a", settings: settings))
    #expect(configured.tint == "blue" && configured.layer == ["1", "2"] && configured.loud)
    #expect(configured.at == [SamplePair(place: "start", word: "w")])
    let added = try #require(try parseCopy("a", "--layer", "3", "--tint", "green", settings: settings))
    #expect(added.layer == ["1", "2", "3"] && added.tint == "green")
    let off = try #require(
      try parseCopy("a", "--no-layer", "--layer", "3", "--no-tint", "--no-at", "--no-loud", settings: settings))
    #expect(off.layer == ["3"] && off.tint == nil && off.at == [] && !off.loud)
    #expect(try parseCopy("a", "--loud", settings: ["sample.loud": ["off"]])?.loud == true)
  }

  @Test func whatHasNoKeyHasNoInverse() {
    #expect(throws: RecorderError.self) { try parseCopy("a", "--no-word") }
    #expect(throws: RecorderError.self) { try parseCopy("a", "--no-tint=x") }
  }

  @Test func theKeysOfATableAreFound() throws {
    let found = ConfigurableArgument.all(of: SampleProgram.self)
    #expect(found.map(\.setting.key) == ["sample.tint", "sample.layer", "sample.at.start", "sample.loud"])
    #expect(found.map(\.valueName) == ["TINT", "LAYER", "WORD", "true|false"])
    #expect(found.map(\.definition.builtIn) == [nil, nil, nil, "false"])
    #expect(found.allSatisfy { $0.command == "copy" })
    let error = #expect(throws: RecorderError.self) { try found[3].check("maybe") }
    #expect(error?.message == "\"maybe\" is neither true nor false.")
    #expect(throws: Never.self) { try found[2].check("any word") }
  }

  @Test func anyWordMayBeAValue() throws {
    #expect(try parseCopy("a", "-o", "-y.mkv")?.output == FilePath("-y.mkv"))
    #expect(try parseCopy("a", "-o", "--")?.output == FilePath("--"))
    #expect(try parseCopy("a", "--output=--count")?.output == FilePath("--count"))
    #expect(try parseCopy("--", "-q")?.source == FilePath("-q"))
    #expect(try parseCopy("-")?.source == FilePath("-"))
    #expect(try parseCopy("a", "--count", "-7")?.count == -7)
  }

  @Test func bytesThatAreNoTextNameFiles() throws {
    let odd: [UInt8] = [0x2D, 0xFF, 0xC3, 0x0A, 0x20, 0x22]
    let words = ["copy", "--"].map { word in ArgumentText(word) } + [ArgumentText(bytes: odd)]
    guard case .run(let command as SampleCopy) = try CommandParser(SampleProgram.self).parse(words) else {
      Issue.record("no copy command")
      return
    }
    #expect(command.source.bytes == odd)
    #expect(command.source.description == "-\u{FFFD}\u{FFFD}  \"")
  }

  @Test(arguments: [
    ("copy", "copy needs FILE. See sample copy --help."),
    ("copy a --cuont 3", "copy has no option \"--cuont\". Did you mean \"--count\"?"),
    ("copy a --zzz", "copy has no option \"--zzz\". See sample copy --help."),
    ("copy a -x", "copy has no option \"-x\". See sample copy --help."),
    ("copy a -qx", "copy has no option \"-x\". See sample copy --help."),
    ("copy a --count", "--count needs a value. Write --count COUNT."),
    (
      "copy a --count --quiet",
      "--count needs a value before --quiet. Write --count COUNT, or --count=--quiet if that is the value."
    ),
    ("copy a --count=", "--count: \"\" is not a whole number."),
    ("copy a --count 3.5", "--count: \"3.5\" is not a whole number."),
    ("copy a --count 99999999999999999999", "--count: \"99999999999999999999\" is not a whole number."),
    ("copy a --ratio nan", "--ratio: \"nan\" is not a number."),
    ("copy a --ratio=-1", "--ratio: -1.0 is less than 0."),
    ("secret --near x", "\"x\" is one argument too many for secret. If it is the value of --near, write --near=x."),
    ("secret --near -- x", "\"x\" is one argument too many for secret. See sample secret --help."),
    ("secret --near --near=y x", "\"x\" is one argument too many for secret. See sample secret --help."),
    ("copy a --mode fats", "--mode: \"fats\" is none of fast, careful. Did you mean \"fast\"?"),
    ("copy a --quiet=yes", "--quiet takes no value."),
    ("copy a --no-lines=yes", "--no-lines takes no value."),
    ("copy a --no-quiet", "copy has no option \"--no-quiet\". See sample copy --help."),
    ("group member x", "group member needs --name NAME. See sample group member --help."),
    ("group member --name n", "group member needs WORDS. See sample group member --help."),
    ("group membre", "group has no command \"membre\". Did you mean \"member\"?"),
    ("group zzz", "group has no command \"zzz\". See sample group --help."),
    ("secret x", "\"x\" is one argument too many for secret. See sample secret --help."),
    ("secre", "There is no command \"secre\". See sample --help."),
    ("cpoy", "There is no command \"cpoy\". Did you mean \"copy\"?"),
    ("--quiet copy", "The option \"--quiet\" stands before the command. Options follow it. See sample --help."),
    ("help cpoy", "There is no command \"cpoy\". Did you mean \"copy\"?"),
  ])
  func aWrongLineIsOneSentence(line: String, sentence: String) {
    let error = #expect(throws: RecorderError.self) {
      try parseSample(line.split(separator: " ").map { word in String(word) })
    }
    #expect(error?.description == sentence)
    #expect(error?.code == .usage)
  }

  @Test func outsideTextInASentenceIsPrintableAndShort() {
    let error = #expect(throws: RecorderError.self) {
      try parseSample(["\u{1B}[31m" + String(repeating: "x", count: 10_000)])
    }
    #expect(error?.message.contains("\u{1B}") == false)
    #expect((error?.message.count ?? .max) < 100)
  }

  @Test(arguments: [["--help"], ["-h"], ["help"]])
  func theProgramHelps(words: [String]) throws {
    guard case .help(let command) = try parseSample(words) else {
      Issue.record("no help")
      return
    }
    #expect(command.name == "sample" && command.subcommands.map { $0.name } == ["sample copy", "sample group"])
  }

  @Test(arguments: [
    ["group", "member", "--help"], ["group", "member", "a", "-h", "--wrong"], ["help", "group", "member"],
  ])
  func aCommandHelps(words: [String]) throws {
    guard case .help(let command) = try parseSample(words) else {
      Issue.record("no help")
      return
    }
    #expect(command.name == "sample group member")
  }

  @Test func aGroupAloneIsIncomplete() throws {
    for (words, name) in [([], "sample"), (["group"], "sample group")] {
      guard case .incomplete(let command) = try parseSample(words) else {
        Issue.record("not incomplete")
        return
      }
      #expect(command.name == name)
    }
  }

  @Test func versionIsTheProgramsAlone() throws {
    guard case .version = try parseSample(["--version"]) else {
      Issue.record("no version")
      return
    }
    #expect(throws: RecorderError.self) { try parseSample(["group", "--version"]) }
  }
}
