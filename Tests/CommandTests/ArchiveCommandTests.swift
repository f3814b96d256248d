import Archive
import FoundationEssentials
import Glibc
import Index
import SessionModel
import TestSupport
import Testing

/// `list`, `show`, `search`, `tag`, `note`, `delete` and `index rebuild`, as a person types them.
@Suite struct ArchiveCommandTests {
  let rig: RecorderRig
  let location: ArchiveLocation

  init() throws { try self.init(rig: RecorderRig()) }

  init(rig: RecorderRig) throws {
    self.rig = rig
    location = ArchiveLocation(path: rig.archive)
  }

  func window(_ title: String, _ className: String? = nil) -> WindowInfo {
    var window = WindowInfo(id: 5, title: title)
    window.className = className
    return window
  }

  /// INT while a long search is under way: nothing is printed, and the index is closed, not left as by a killed program, after
  /// which the next command would have to look through all of it.
  @Test func aSearchThatIsInterruptedEndsAtOnceAndClosesTheIndex() throws {
    let id = try add("20261130T021533Z-aaaa")
    let count = 20_000
    let lines = (0..<count).map { "{\"kind\":\"marker\",\"text\":\"a long row of words \($0)\",\"time\":\($0)}\n" }
    let file = "\(rig.session(id))/events.ndjson"
    try writeFile(file, readFile(file) + Array(lines.joined().utf8))
    #expect(try rig.run(["list", "--json"]).lines.count == 1)
    let words = ["search", "--json", "--limit", "\(count)", "long"]
    #expect(try rig.run(words).lines.count == count)
    let search = try ChildProcess([builtProgram("recorder")] + words, environment: rig.environment)
    // While it lasts, INT is caught (bit 1 of SigCgt).
    try waitUntil("the search to be under way") {
      guard search.isRunning else { throw TestFailure("the search was over") }
      let status = String(decoding: try readFile("/proc/\(search.pid)/status"), as: UTF8.self)
      let caught = status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") }?.dropFirst(8) ?? ""
      return (UInt64(caught, radix: 16) ?? 0) & 2 != 0
    }
    search.signal(SIGINT)
    let result = try search.wait()
    #expect(result.ending == .signal(SIGINT) && result.text == "" && result.errorText == "", "\(result.ending)")
    #expect(access("\(rig.archive)/index.sqlite-wal", F_OK) != 0)
    #expect(try rig.run(["search", "19999"]).lines.count == 2)
  }

  /// Writes the session `text`, ten seconds long, as a recorder an hour east of Greenwich would.
  @discardableResult
  func add(
    _ text: String, title: String? = nil, tags: [String] = [], window: WindowInfo? = nil, isKilled: Bool = false,
    utcOffset: Int = 3600, sound: [Manifest.Sound]? = nil
  ) throws -> SessionID {
    let id = try #require(SessionID(text))
    var options = RecordingOptions()
    (options.title, options.tags) = (title, tags)
    var video = Manifest.Track(index: 0, kind: .video, codec: "h264")
    (video.size, video.encodedSize) = (PixelSize(width: 641, height: 479), PixelSize(width: 642, height: 480))
    var manifest = Manifest(
      id: id, generator: "recorder 0.1.0",
      clock: Manifest.Clock(utc: try #require(id.began), monotonic: 0, utcOffset: utcOffset),
      host: Manifest.Host(name: "host", display: ":1"),
      source: Manifest.Source(specification: .display, rect: PixelRect(x: 0, y: 0, width: 641, height: 479)),
      options: options, tracks: [video])
    let writer = try SessionWriter.create(in: location, id: id, manifest: manifest)
    close(try writer.createSegment(1).fileDescriptor)
    try writer.append(Event(time: .zero, kind: .start))
    if let window {
      try writer.append(Event(time: Timestamp(nanoseconds: 2_000_000_000), kind: .focus, window: window))
    }
    try writer.append(Event(time: Timestamp(nanoseconds: 9_000_000_000), kind: .alive))
    if !isKilled {
      manifest.state = .finished
      manifest.end = Manifest.End(reason: .duration, time: Timestamp(nanoseconds: 10_000_000_000))
      if let sound {
        manifest.statistics = Manifest.Statistics(frames: 1, droppedFrames: 0, bytes: 0)
        manifest.statistics?.sound = sound
      }
      try writer.replaceManifest(manifest)
    }
    writer.close()
    return id
  }

  @Test func anEmptyArchiveIsNoError() throws {
    for words in [["list"], ["list", "--json"], ["search", "x"], ["search", "--json", "x"]] {
      let result = try rig.run(words)
      #expect(result.status == 0 && result.text == "", "\(words)")
    }
    #expect(try rig.run(["list"]).errorText.hasPrefix("recorder: There are no sessions in \(rig.archive)."))
    #expect(try rig.run(["show", "last"]).status == 66)
    #expect(access(rig.archive, F_OK) != 0)
  }

  @Test func listIsATable() throws {
    let sound = [Manifest.Sound(name: "mix", silentShare: 0.25, peak: -3, loudness: -23.4)]
    try add("20261130T021533Z-aaaa", title: "First call", tags: ["support", "vip"], sound: sound)
    try add("20261130T031533Z-bbbb", isKilled: true)
    let result = try rig.run(["list"])
    #expect(
      result.text == """
        ID                     STARTED              DURATION  STATE        SIZE  SOURCE   SOUND                  TITLE       TAGS
        20261130T031533Z-bbbb  2026-11-30 04:15:33  0:09.000  interrupted   0 B  display
        20261130T021533Z-aaaa  2026-11-30 03:15:33  0:10.000  finished      0 B  display  -23 LUFS, 25 % silent  First call  support vip

        """)
    #expect(
      result.errorText
        == "recorder: The session 20261130T031533Z-bbbb was interrupted; it is closed now, with all that was recorded.\n"
    )
    #expect(try rig.run(["list"]).errorText == "")
    #expect(try rig.run(["list", "--limit", "1", "--json"]).lines.count == 1)
    let tagged = try rig.run(["list", "--tag", "vip", "--json"]).lines
    #expect(tagged.count == 1)
    #expect(tagged[0].contains(#""sound":[{"loudness":-23.4,"name":"mix","peak":-3,"silentShare":0.25}]"#))
    #expect(try JSONSchema.problems("session", tagged) == [""])
    #expect(try rig.run(["list", "--limit", "0"]).status == 64)
  }

  @Test func showTellsAllThereIs() throws {
    try add("20261130T021533Z-aaaa", title: "Call", tags: ["a"], window: window("Invoice", "Writer"))
    #expect(try rig.run(["note", "last", "--at", "5", "ask again"]).status == 0)
    #expect(
      try rig.run(["show", "last"]).text == """
        Session:     20261130T021533Z-aaaa
        Title:       Call
        Tags:        a
        State:       finished (duration)
        Started:     2026-11-30 03:15:33
        Duration:    0:10.000
        Size:        0 B
        Source:      display at 641x479+0+0 on :1
        Host:        host
        Track 0:     h264, 641x479
        Written by:  recorder 0.1.0

        Windows, by the time they were active:
          0:08.000  from 0:02.200  Invoice (Writer)

        Moments:
          0:05.000  note  ask again

        """)
  }

  @Test func searchLeadsToTheMoment() throws {
    let id = try add("20261130T021533Z-aaaa", window: window("Invoice 4711", "Writer"))
    #expect(
      try rig.run(["search", "invoice", "47"]).text == """
        2026-11-30 03:15:35  window  Invoice 4711 (Writer)
            recorder replay \(id) --at 0:02.200

        """)
    #expect(
      try rig.run(["search", "invoice", "--since", "2026-11-30T02:15:36Z"]).errorText.contains("Nothing was found"))
    #expect(
      try rig.run(["search", "invoice", "--until", "2026-11-30T02:15:36Z", "--window", "writer"]).lines.count == 2)
    #expect(try rig.run(["search", "invoice", "--tag", "x"]).text == "")
    for text in ["multi-agent", "a'b", "\"", "-- -x", "NOT (", "*"] {
      let result = try rig.run(["search", "--", text])
      #expect(result.status == 0, "\(text): \(result.errorText)")
    }
  }

  @Test func tagsAndNotesAreWrittenToTheSessionAndFound() throws {
    let id = try add("20261130T021533Z-aaaa")
    #expect(try rig.run(["tag", "last", "alpha", "beta", "alpha"]).status == 0)
    #expect(try rig.run(["tag", "last", "--remove", "beta", "gamma"]).status == 0)
    #expect(try rig.run(["note", "2026", "--at", "03:15:36", "wrong total"]).status == 0)
    let annotations = try ArchiveReader(location).session(id).annotations()
    #expect(annotations.map(\.kind) == [.tag, .tag, .untag, .note])
    #expect(annotations.map(\.text) == ["alpha", "beta", "beta", "wrong total"])
    #expect(annotations.last?.time == Timestamp(nanoseconds: 3_000_000_000))
    #expect(try rig.run(["list", "--tag", "alpha", "--json"]).lines.count == 1)
    #expect(try rig.run(["list", "--tag", "beta", "--json"]).lines.count == 0)
    #expect(try rig.run(["search", "total"]).text.hasSuffix("recorder replay \(id) --at 0:03.000\n"))
  }

  @Test func deleteForgetsWhatItNames() throws {
    let ids = try ["20261130T021533Z-aaaa", "20261130T021533Z-bbbb", "20261130T021533Z-cccc"].map {
      try add($0, window: window("Secret \($0)"))
    }
    let result = try rig.run(["delete", "last", "last~1", "last"])
    #expect(result.status == 0)
    #expect(result.errorText == "recorder: Deleted \(ids[2]).\nrecorder: Deleted \(ids[1]).\n")
    #expect(try rig.run(["search", "secret"]).lines.count == 2)
    #expect(try rig.run(["list", "--json"]).lines.count == 1)
    // A name that means nothing keeps the others from being deleted.
    #expect(try rig.run(["delete", ids[0].description, "nothing"]).status == 66)
    #expect(try rig.run(["list", "--json"]).lines.count == 1)
  }

  @Test func aWrongLineIsOneSentence() throws {
    try add("20261130T021533Z-aaaa")
    try add("20261130T021533Z-bbbb")
    let lines: [([String], Int32, String)] = [
      (["show", "20261130"], 66, "More than one session begins with \"20261130\""),
      (["show", "last~7"], 66, "There is no session last~7"),
      (["tag", "nothing", "x"], 66, "There is no session \"nothing\""),
      (["note", "last", "--at", "11", "x"], 64, "--at: 0:11.000 is outside the session"),
      (["note", "last", " "], 64, "The note is empty."), (["tag", "last", ""], 64, "A tag is empty."),
      (["delete"], 64, ""), (["search", "x", "--since", "soon"], 64, "--since: \"soon\" is not a time."),
    ]
    for (words, status, sentence) in lines {
      let result = try rig.run(words)
      #expect(result.status == status && result.text == "", "\(words)")
      #expect(result.errorText.hasPrefix("recorder: \(sentence)"), "\(words): \(result.errorText)")
      #expect(result.errorText.split(separator: "\n").count == 1, "\(words): \(result.errorText)")
    }
    for words in [["list"], ["tag", "last", "x"], ["search", "x"]] {
      #expect(
        try rig.run(words, environment: ["RECORDER_ARCHIVE": nil, "HOME": nil, "XDG_DATA_HOME": nil]).status == 78)
    }
  }

  /// Case I14: two sessions an hour apart that both began at 02:30 on the clock on the wall.
  @Test func theRepeatedHourIsListedInItsOrder() throws {
    try add("20261025T003000Z-aaaa", utcOffset: 7200)
    try add("20261025T013000Z-aaaa", utcOffset: 3600)
    let rows = try rig.run(["list"]).lines.dropFirst().map { $0.split(separator: " ").prefix(3).joined(separator: " ") }
    #expect(
      rows == ["20261025T013000Z-aaaa 2026-10-25 02:30:00", "20261025T003000Z-aaaa 2026-10-25 02:30:00"])
  }

  /// Cases S04 and S06: what came from outside drives no terminal and survives in JSON.
  @Test func outsideTextIsShownAndNotObeyed() throws {
    let evil = "\u{1B}]0;x\u{7}\u{9B}31m\u{202E}abc\u{2066}\r\n\0\u{7F}$(touch X)`id`\"'"
    try add("20261130T021533Z-aaaa", title: evil, tags: [evil], window: window(evil, evil))
    #expect(try rig.run(["note", "last", evil.replacing("\0", with: "")]).status == 0)
    for words in [["list"], ["show", "last"], ["search", "abc"]] {
      let result = try rig.run(words)
      #expect(result.status == 0 && result.text.contains("abc"))
      let sent = result.text.unicodeScalars.filter { scalar in
        scalar != "\n" && scalar.properties.generalCategory == .control || [0x202E, 0x2066].contains(scalar.value)
      }
      #expect(sent.isEmpty, "\(words): \(sent)")
    }
    let line = try #require(try rig.run(["list", "--json"]).lines.first)
    #expect(line.utf8.allSatisfy { $0 >= 0x20 })
    let summary = try JSONDecoder().decode(SessionSummary.self, from: Data(line.utf8))
    #expect(summary.title == evil && summary.tags == [evil])
  }

  @Test func jsonIsWhatTheSchemasSay() throws {
    let id = try add("20261130T021533Z-aaaa", title: "t", tags: ["a"], window: window("Invoice", "W"))
    let damaged = try add("20261130T021533Z-bbbb", window: window("Other"))
    try add("20261130T021533Z-cccc", isKilled: true)
    try writeFile("\(rig.session(damaged))/manifest.json", "{".utf8)
    #expect(try rig.run(["note", id.description, "--at", "5", "invoice"]).status == 0)
    #expect(try rig.run(["tag", id.description, "b"]).status == 0)
    #expect(try rig.run(["tag", id.description, "--remove", "a"]).status == 0)
    let list = try rig.run(["list", "--json"]).lines
    #expect(list.count == 3)
    #expect(try JSONSchema.problems("session", list) == ["", "", ""])
    let hits = try rig.run(["search", "--json", "invoice"]).lines
    #expect(hits.count == 2)
    #expect(try JSONSchema.problems("hit", hits) == ["", ""])
    let reports = try [id, damaged].map {
      try rig.run(["show", "--json", $0.description]).text.replacing("\n", with: "")
    }
    #expect(try JSONSchema.problems("report", reports) == ["", ""])
    let folder = rig.session(id)
    func lines(_ name: String) throws -> [String] {
      String(decoding: try readFile("\(folder)/\(name)"), as: UTF8.self).split(separator: "\n").map(String.init)
    }
    let manifest = try lines("manifest.json").joined()
    #expect(
      try JSONSchema.problems("manifest", [manifest, manifest.replacing("\"h264\"", with: "5")]).map { $0 == "" } == [
        true, false,
      ])
    #expect(try Set(JSONSchema.problems("event", lines("events.ndjson"))) == [""])
    #expect(try JSONSchema.problems("annotation", lines("annotations.ndjson")) == ["", "", ""])
  }

  /// A rubbish or missing index gives the same answers as the one that was there.
  @Test func theIndexIsMadeAnewByItself() throws {
    let id = try add("20261130T021533Z-aaaa", title: "Call", window: window("Invoice"))
    try add("20261130T021533Z-bbbb", window: window("Invoice"))
    func answers() throws -> [String] {
      try [["list"], ["show", id.description], ["search", "invoice"], ["search", "call"]].map { try rig.run($0).text }
    }
    let before = try answers()
    try writeFile("\(rig.archive)/index.sqlite", (0..<9999).map { UInt8(truncatingIfNeeded: $0) })
    let result = try rig.run(["list"])
    #expect(result.text == before[0])
    #expect(result.errorText.hasPrefix("recorder: The index was damaged; it is made anew, and the old one kept as "))
    #expect(try answers() == before)
    #expect(try run(["sh", "-c", "rm \(rig.archive)/index.sqlite*"]).status == 0)
    #expect(try answers() == before)
    let rebuilt = try rig.run(["index", "rebuild"])
    #expect(rebuilt.status == 0 && rebuilt.errorText == "recorder: The index is made anew; it has 2 sessions.\n")
    #expect(try answers() == before)
  }

  /// Cases S01 and S02: nothing is ever open to others, not even for a moment.
  @Test(arguments: ["000", "002", "022", "077"]) func everyFileIsMadeForItsOwnerAlone(umask: String) throws {
    try add("20261130T021533Z-aaaa", title: "x", isKilled: true)
    let recorder = builtProgram("recorder")
    for words in ["list", "tag last a", "note last b", "search a", "index rebuild", "delete last"] {
      let trace = rig.folder.file("trace")
      let result = try run(
        [
          "sh", "-c",
          "umask \(umask); exec strace -f -qq -o \(trace) -e trace=open,openat,creat,mkdir,mkdirat,chmod,fchmod,fchmodat,link,linkat,symlink,symlinkat \(recorder) \(words)",
        ], environment: rig.environment)
      #expect(result.status == 0, "\(words): \(result.errorText)")
      let lines = String(decoding: try readFile(trace), as: UTF8.self).split(separator: "\n")
      for line in lines where line.contains("O_CREAT") || line.contains("mkdir") {
        let isPrivate = line.contains(line.contains("mkdir") ? ", 0700)" : ", 0600)")
        #expect(isPrivate && (line.contains("O_NOFOLLOW") || line.contains("mkdir")), "\(words): \(line)")
      }
      #expect(!lines.contains { $0.contains("chmod") || $0.contains("link(") || $0.contains("creat(") }, "\(words)")
    }
    let modes = try run(["find", rig.archive, "-printf", "%y%m\n"]).lines
    #expect(Set(modes) == ["d700", "f600"])
  }

  /// What `list`, `show` and `search` cost does not include the media libraries.
  @Test func noMediaLibraryIsLoaded() throws {
    try add("20261130T021533Z-aaaa")
    for words in [["list"], ["show", "last"], ["search", "x"]] {
      let trace = rig.folder.file("trace")
      let arguments = ["strace", "-f", "-qq", "-o", trace, "-e", "trace=execve,openat", builtProgram("recorder")]
      #expect(try run(arguments + words, environment: rig.environment).status == 0)
      let text = String(decoding: try readFile(trace), as: UTF8.self)
      #expect(text.contains("libsqlite3") && !text.contains("libav") && !text.contains("libxcb"))
      #expect(text.split(separator: "\n").count { $0.contains("execve(") } == 1)
    }
  }
}
