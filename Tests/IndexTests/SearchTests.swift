import Archive
import SessionModel
import TestSupport
import Testing

@testable import Index

@Suite struct SearchTests {
  let archive: IndexedArchive
  init() throws { archive = try IndexedArchive() }

  @Test func aHitSaysEverythingThatLeadsThere() async throws {
    let id = try archive.add(
      0, title: "Support call",
      [
        event(0, .start), event(1, .focus, window(1, "Quarterly report.ods", "libreoffice")),
        event(5, .focus, window(2, "Inbox", "Thunderbird")), event(9.9, .stop),
      ])
    let index = try await archive.index()
    let hits = try await index.search(SearchQuery(words: "quarterly repo"))
    let expected = SearchHit(
      session: id, timestamp: Timestamp(nanoseconds: ns(1.2)),
      wallTime: try #require(WallTime(rfc3339: "2026-11-30T02:15:01.2Z")), utcOffset: 3600, kind: "window",
      snippet: "Quarterly report.ods (libreoffice)")
    #expect(hits == [expected])
    #expect(hits.first?.command == "recorder replay \(id) --at 0:01.200")
    #expect(try await index.snippets("thunder") == ["Inbox (Thunderbird)"])
    #expect(try await index.snippets("SUPPORT") == ["Support call"])
    #expect(try await index.snippets("quarterly inbox") == [])
  }

  @Test func everythingThatWasSaidOrHappenedIsFound() async throws {
    let id = try archive.add(
      0, tags: ["customer"],
      [
        event(1, .focus, window(1, "Terminal", "XTerm")), event(2, .marker, text: "here it breaks"),
        event(3, .warning, text: "The picture is black."), event(4, .device, text: "Headset unplugged"),
        Event(
          time: Timestamp(nanoseconds: ns(6)), kind: .gap,
          gap: Gap(
            track: "microphone", start: Timestamp(nanoseconds: ns(5)), end: Timestamp(nanoseconds: ns(6)),
            reason: "stalled")),
        event(7, .opened, window(9, "Update available", "notifier")), event(8, .closed, window(9, "")),
      ])
    try archive.reader.annotate(
      id,
      Annotation(
        added: WallTime(nanoseconds: 0), kind: .note, text: "asked for a refund",
        time: Timestamp(nanoseconds: ns(4.5))))
    let index = try await archive.index()
    let expected = [
      ("customer", "tag", 0), ("breaks", "marker", 2), ("black", "warning", 3), ("headset", "device", 4),
      ("stalled", "gap", 5), ("update", "window", 7.2), ("refund", "note", 4.5), ("xterm", "window", 1.2),
    ]
    for (word, kind, time) in expected {
      let hits = try await index.search(SearchQuery(words: word))
      #expect(hits.map(\.kind) == [kind], "\(word)")
      #expect(hits.map(\.timestamp.nanoseconds) == [ns(time)], "\(word)")
    }
  }

  /// Case I01: what looks like the index's own syntax is words.
  /// SQLite's time grows with the square of a word's repetitions.
  @Test func aWordIsAskedForOnce() {
    #expect(SearchText.pattern("a b a A b a", column: "words") == "words : (\"a\" AND \"b\" AND \"A\" AND \"a\" *)")
  }

  @Test(arguments: [
    "multi-agent", "a'b", "\"", "\"a", "a\"b\"c", "NOT x", "a OR b", "a AND", "(", ")", "a*", "*", "^a", "a:b",
    "words:x", "{words}: x", "-x", "+x", "NEAR(a b)", "a NEAR/2 b", ";", "--", "%", "_", "\\", "\0", "a\0b", "[", "]",
    "'; DROP TABLE session; --", "\u{301}", "\u{200B}", "🎉", "日", "ﷺ", "\u{10FFFF}", "", " ", "\n\t",
  ])
  func noTextIsSyntax(text: String) async throws {
    try archive.add(0, [event(0, .focus, window(1, "before \(text) after"))])
    let index = try await archive.index()
    let hits = try await index.search(SearchQuery(words: text))
    let isWord = SearchText.pattern(text, column: "words") != nil
    let isEmpty = text.allSatisfy(\.isWhitespace)
    #expect(hits.map(\.snippet) == (isWord || isEmpty ? ["before \(text) after"] : []))
  }

  /// Case I02: ten thousand queries of any characters are answered.
  @Test func anyTextIsAnswered() async throws {
    try archive.add(0, [event(0, .focus, window(1, "a title with words"))])
    let index = try await archive.index()
    var generator = SplitMix(state: 20_261_130)
    let pieces = Array("\"'()*^:;+-{}[]<>=,.|&!?\\/%_~`@#$ \t\n\0aN9é日本한ก🎉\u{301}\u{200D}\u{202E}").map(String.init)
    let keywords = ["AND", "OR", "NOT", "NEAR", "NEAR(", "words", "window", "rank", "u1f389", " "]
    for _ in 0..<10_000 {
      var text = ""
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: text += keywords.randomElement(using: &generator) ?? ""
        case 1:
          let value = UInt32.random(in: 0...0x10FFFF, using: &generator)
          if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        default: text += pieces.randomElement(using: &generator) ?? ""
        }
      }
      do {
        var query = SearchQuery(words: text)
        query.window = Bool.random(using: &generator) ? text : nil
        _ = try await index.search(query)
      } catch {
        Issue.record("\(Array(text.unicodeScalars)): \(error)")
        return
      }
    }
    let long = String(repeating: "word ", count: 10_000)
    #expect(try await index.search(SearchQuery(words: long)) == [])
    #expect(try await index.snippets("title") == ["a title with words"])
  }

  /// Case I05: parts of words in scripts without spaces are found, and so is ASCII that stands beside them.
  @Test func scriptsWithoutSpacesAreFoundByTheirParts() async throws {
    let titles = [
      "東京都庁の報告書", "日本語Error入力", "서울특별시 보고서", "ขอใบเสนอราคา", "カタカナﾊﾝｶｸ", "𠮷野家", "Ünïcödé ẞtraße", "Done 🎉 build",
    ]
    for (index, title) in titles.enumerated() { try archive.add(index, [event(0, .focus, window(1, title))]) }
    let index = try await archive.index()
    let expected = [
      ("京都", 0), ("報告", 0), ("都庁の", 0), ("日本", 1), ("error", 1), ("err", 1), ("入力", 1), ("특별", 2), ("고서", 2),
      ("เสนอ", 3), ("タカ", 4), ("ﾝｶ", 4), ("𠮷野", 5), ("野家", 5), ("unicode", 6), ("🎉", 7), ("🎉 build", 7),
    ]
    for (words, number) in expected {
      #expect(try await index.snippets(words) == [titles[number]], "\(words)")
    }
    for words in ["京報", "庁都", "本日", "入力日", "🎈"] { #expect(try await index.snippets(words) == [], "\(words)") }
  }

  @Test func filtersNarrowWhatIsFound() async throws {
    let first = try archive.add(
      0, tags: ["a", "b"],
      [
        event(1, .focus, window(1, "Report", "Writer")), event(2, .marker, text: "look"),
        event(5, .focus, window(2, "Other", "Mail")), event(6, .marker, text: "look"),
      ])
    let second = try archive.add(30, tags: ["b"], [event(1, .focus, window(1, "Report", "Writer"))])
    let index = try await archive.index()
    func found(_ words: String, _ change: (inout SearchQuery) throws -> Void) async throws -> [SearchHit] {
      var query = SearchQuery(words: words)
      try change(&query)
      return try await index.search(query)
    }
    let at = { (second: String) in try #require(WallTime(rfc3339: "2026-11-30T02:15:\(second)Z")) }
    #expect(try await found("report") { _ in }.map(\.session) == [second, first])
    #expect(try await found("report") { $0.tags = ["a"] }.map(\.session) == [first])
    #expect(try await found("report") { $0.tags = ["a", "c"] } == [])
    #expect(try await found("report") { $0.since = try at("01.3") }.map(\.session) == [second])
    #expect(try await found("report") { $0.until = try at("31.2") }.map(\.session) == [first])
    #expect(try await found("report") { $0.limit = 1 }.map(\.session) == [second])
    let inMail = try await found("look") { $0.window = "mail" }
    #expect(inMail.map(\.timestamp.nanoseconds) == [ns(6)])
    #expect(try await found("look") { $0.window = "writer" }.map(\.timestamp.nanoseconds) == [ns(2)])
    #expect(try await found("look") { $0.window = "\"" } == [])
    let all = try await found("") { $0.window = "writer" }
    #expect(all.map(\.kind) == ["window", "marker", "window"])
  }

  @Test func whatAPersonWroteComesFirst() async throws {
    try archive.add(
      0, [event(1, .focus, window(1, "crash")), event(2, .focus, window(2, "x")), event(3, .marker, text: "crash")])
    try archive.add(10, [event(1, .warning, text: "crash")])
    let index = try await archive.index()
    #expect(try await index.search(SearchQuery(words: "crash")).map(\.kind) == ["marker", "window", "warning"])
  }

  @Test func ofWordsThatAreEverywhereTheLastMomentsComeFirst() async throws {
    for number in 0..<3 {
      // The fewer other words, the better it fits.
      let title = "Report" + String(repeating: " of the year", count: number)
      try archive.add(number, [event(1, .focus, window(1, title, "Calc"))])
    }
    try archive.add(
      3, title: "The report that a person named so, in many words", [event(1, .focus, window(1, "x", "y"))])
    let index = try await archive.index()
    func found(_ mostRanked: Int) async throws -> [String] {
      var query = SearchQuery(words: "report")
      query.mostRanked = mostRanked
      return try await index.search(query).map { $0.kind == "session" ? "named" : "\($0.snippet.count)" }
    }
    let lengths = (0..<3).map { "\("Report (Calc)".count + $0 * " of the year".count)" }
    // What a person wrote comes first all the same.
    #expect(try await found(4).suffix(3) == lengths)
    #expect(try await found(3) == ["named"] + lengths.reversed())
  }

  @Test func aLongTitleIsCutAroundTheWord() async throws {
    let title = String(repeating: "lorem ", count: 12_000) + "needle" + String(repeating: " ipsum", count: 12_000)
    try archive.add(0, [event(0, .focus, window(1, title))])
    let index = try await archive.index()
    let snippet = try #require(try await index.snippets("NEEDLE").first)
    #expect(snippet.contains("lorem needle ipsum") && snippet.hasPrefix("…") && snippet.hasSuffix("…"))
    #expect(snippet.count == Snippet.length + 2)
  }
}

/// Sebastiano Vigna's SplitMix64: the same numbers on every run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
