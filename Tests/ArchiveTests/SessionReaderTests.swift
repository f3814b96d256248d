import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

@Suite struct SessionReaderTests {
  let archive: TestArchive
  let id: SessionID
  let path: String

  init() throws {
    archive = try TestArchive()
    id = try sessionID("20261130T021533Z-k3x9")
    path = sessionPath(archive.root, id)
    try archive.create(id).close()
  }

  @Test func newerFormatIsRefusedAndLeftAlone() throws {
    let text = "{\"format\":2,\"id\":{\"of\":\"another shape\"}}"
    try writeFile("\(path)/manifest.json", text.utf8)
    let error = failure { () throws(RecorderError) in try archive.reader.session(id).manifest() }
    #expect(error?.code == .damagedData)
    #expect(
      error?.message == "The session \(id) was written by a newer recorder (format 2); this one reads format 1.")
    #expect(try readFile("\(path)/manifest.json") == Array(text.utf8))
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{\"format\":1}", "{\"format\":\"1\"}", "\0\0\0\0", "{\"format\":1e400}",
    String(repeating: "[", count: 200_000), String(repeating: "{\"a\":", count: 100_000),
  ])
  func rubbishIsADamagedManifest(text: String) throws {
    try writeFile("\(path)/manifest.json", text.utf8)
    let error = failure { () throws(RecorderError) in try archive.reader.session(id).manifest() }
    #expect(error == RecorderError(.damagedData, "The manifest of session \(id) is damaged."))
  }

  /// Each number of a manifest in turn as no recorder writes it: refused, or one that harms nobody.
  @Test(arguments: [Int64.max, .min, -1, 0, 1 << 40])
  func numbersThatCannotBeAreDamage(number: Int64) throws {
    var manifest = sampleManifest(id)
    manifest.state = .finished
    manifest.segments[0].end = Timestamp(nanoseconds: 55)
    manifest.segments[0].bytes = 66
    manifest.end = Manifest.End(reason: .duration, time: Timestamp(nanoseconds: 77))
    manifest.statistics = Manifest.Statistics(frames: 88, droppedFrames: 99, bytes: 111)
    let text = String(decoding: try encode(manifest), as: UTF8.self)
    var refused = 0
    for match in text.matches(of: try Regex(":(-?[0-9]+)[,}]")) {
      guard let range = match.output[1].range else { continue }
      try writeFile(
        "\(path)/manifest.json",
        text.replacing(text[range], with: "\(number)", subrange: range.lowerBound..<range.upperBound).utf8)
      do {
        let read = try archive.reader.session(id).manifest()
        _ = read.clock.wallTime(of: read.duration).text(utcOffset: read.clock.utcOffset)
        for size in read.tracks.compactMap(\.encodedSize) { _ = size.paddedToEven.area * 4 }
        _ = read.segments.map { ($0.end ?? $0.start) - $0.start }
      } catch {
        refused += 1
      }
    }
    #expect(refused >= 3)
  }

  @Test func eventsOutsideAnySessionArePassedOver() throws {
    let times = ["-1", "\(Int64.max)", "\(Int64.min)", "99999999999999999999", "5"]
    let lines = times.map { "{\"kind\":\"alive\",\"time\":\($0)}\n" }
    try writeFile("\(path)/events.ndjson", lines.joined().utf8)
    #expect(try archive.reader.session(id).events().map(\.time.nanoseconds) == [5])
    #expect(try archive.reader.session(id).lastEventTime().nanoseconds == 5)
  }

  @Test func whatIsNoFileOrAnothersManifestIsDamaged() throws {
    let file = "\(path)/manifest.json"
    let other = try sessionID("20261130T021533Z-aaaa")
    try archive.create(other).close()
    try writeFile(file, readFile("\(sessionPath(archive.root, other))/manifest.json"))
    #expect(failure { () throws(RecorderError) in try archive.reader.session(id).manifest() }?.code == .damagedData)
    #expect(unlink(file) == 0)
    #expect(
      failure { () throws(RecorderError) in try archive.reader.session(id).manifest() }?.message
        == "The session \(id) has no manifest.")
    #expect(mkfifo(file, 0o600) == 0)
    #expect(failure { () throws(RecorderError) in try archive.reader.session(id).manifest() }?.code == .damagedData)
    #expect(unlink(file) == 0)
    #expect(truncate(path + "/events.ndjson", 0) == 0)
    let descriptor = open(file, O_CREAT | O_WRONLY, 0o600)
    #expect(ftruncate(descriptor, 1 << 40) == 0)
    close(descriptor)
    #expect(failure { () throws(RecorderError) in try archive.reader.session(id).manifest() }?.code == .damagedData)
  }

  @Test func linesThatAreNoEventsArePassedOver() throws {
    let lines = [
      "{\"kind\":\"start\",\"time\":0}", "rubbish", "", "\0\0\0", "{\"kind\":\"later\",\"new\":[1],\"time\":5}",
      "{\"time\":6}", String(repeating: "x", count: 5 << 20), "{\"kind\":\"alive\",\"time\":7}",
      "{\"kind\":\"alive\",\"ti",
    ]
    try writeFile("\(path)/events.ndjson", lines.joined(separator: "\n").utf8)
    let events = try archive.reader.session(id).events()
    #expect(events.map(\.kind.rawValue) == ["start", "later", "alive"])
    #expect(events.map(\.time.nanoseconds) == [0, 5, 7])
  }

  @Test func linesAreFoundWhereverTheReadsEnd() throws {
    // 65,536 bytes are read at a time: lines of a length that divides it and lines of one that does not.
    for length in [64, 97, 65_535, 65_536, 65_537] {
      let filler = String(repeating: "a", count: length - 38)
      let line = "{\"kind\":\"marker\",\"text\":\"\(filler)\",\"time\":1}\n"
      try writeFile("\(path)/events.ndjson", String(repeating: line, count: 200_000 / length + 3).utf8)
      let events = try archive.reader.session(id).events()
      #expect(events.count == 200_000 / length + 3)
      #expect(events.allSatisfy { $0.text == filler })
    }
  }

  @Test func anAnnotationAfterATornLineStandsAlone() throws {
    try writeFile("\(path)/annotations.ndjson", "{\"added\":\"20".utf8)
    let tag = Annotation(added: WallTime(nanoseconds: 5), kind: .tag, text: "a")
    try archive.reader.annotate(id, tag)
    #expect(try archive.reader.session(id).annotations() == [tag])
    #expect(try archive.reader.pending() == [id])
  }

  @Test func labelsFollowTheAnnotationsInTheirOrder() throws {
    var manifest = sampleManifest(id)
    manifest.options.title = "first"
    manifest.options.tags = ["a", "b", "a"]
    func annotation(_ kind: Annotation.Kind, _ text: String) -> Annotation {
      Annotation(added: WallTime(nanoseconds: 0), kind: kind, text: text)
    }
    #expect(SessionLabels(manifest: manifest, annotations: []).title == "first")
    #expect(SessionLabels(manifest: manifest, annotations: []).tags == ["a", "b"])
    let labels = SessionLabels(
      manifest: manifest,
      annotations: [
        annotation(.title, "second"), annotation(.untag, "a"), annotation(.tag, "c"), annotation(.tag, "c"),
        annotation(.note, "n"),
      ])
    #expect(labels.title == "second")
    #expect(labels.tags == ["b", "c"])
    #expect(labels.notes.map(\.text) == ["n"])
    #expect(SessionLabels(manifest: manifest, annotations: [annotation(.title, "")]).title == nil)
  }

  /// Case C05: a title of 64 KiB whose bytes are no UTF-8 survives with its bytes.
  @Test func longAndInvalidTitlesAreKept() throws {
    try archive.reader.delete(id, as: .delete)
    let writer = try archive.create(id)
    var window = WindowInfo(id: 1, title: String(repeating: "\u{FFFD}\0", count: 32_768))
    window.titleBytes = String(repeating: "/wD/", count: 21_846)
    try writer.append(Event(time: .zero, kind: .title, window: window))
    #expect(try archive.reader.session(id).events().first?.window == window)
  }
}
