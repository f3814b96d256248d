import Archive
import FoundationEssentials
import Glibc
import Media
import Replay
import SessionModel
import TestSupport
import Testing

/// Case S10: a password that was recorded is taken out of the session, the index and the disk; the rest stays.
@Suite("recorder redact")
struct RedactTests {
  /// The words that nothing in the archive may hold afterwards; searching for the second finds nothing.
  static let secrets = ["hunter2-titel", "hunter2-text", "hunter2-marke", "hunter2-notiz", "hunter2-fenster"]

  static func recorder(_ arguments: [String], _ session: RecordedSession) throws -> ChildProcess.Result {
    try run([builtProgram("recorder")] + arguments, environment: ReplayRig.environment(session))
  }

  private static func window(_ title: String) -> WindowInfo { WindowInfo(id: 7, title: title) }

  /// What a session of three seconds says: secrets from 1.2 to 1.6 s, other words around them.
  static func events() -> [Event] {
    var events = [Event(time: .zero, kind: .start)]
    events += (1..<30).map { Event(time: .milliseconds($0 * 100), kind: .alive) }
    events += [
      Event(time: .milliseconds(1), kind: .focus, window: window("before")),
      Event(time: .milliseconds(1199), kind: .text, text: "line before"),
      Event(time: .milliseconds(1250), kind: .title, window: window(secrets[0])),
      Event(time: .milliseconds(1300), kind: .text, text: secrets[1]),
      Event(time: .milliseconds(1400), kind: .marker, text: secrets[2]),
      Event(time: .milliseconds(1500), kind: .opened, window: window(secrets[4])),
      Event(time: .milliseconds(1620), kind: .text, text: "line after"),
      Event(time: .milliseconds(2000), kind: .focus, window: window("after")),
    ]
    return events.sorted { $0.time < $1.time }
  }

  /// Three seconds: a picture each 100 ms, a keyframe each 500, a tone in the mix and another in a stem.
  static func session(_ change: (inout RecordedSession.Recipe) -> Void = { _ in }) throws -> RecordedSession {
    var recipe = RecordedSession.Recipe(
      files: [Shot.series(30)], length: 3000, tone: 0, stems: [("microphone", 440)], events: events(), isSealed: true)
    change(&recipe)
    return try RecordedSession(recipe)
  }

  /// What a media file of a session holds, times in ms of the file.
  struct Media {
    var pictures: [(time: Int64, bytes: [UInt8], isKeyframe: Bool)] = []
    /// The packets of each sound stream, and what they sound like: the left channel, from the file's time 0 on.
    var sound: [[(time: Int64, bytes: [UInt8])]] = []
    var samples: [[Float]] = []

    init(_ path: String) throws {
      var reader = try ContainerReader(fileDescriptor: open(path, O_RDONLY | O_CLOEXEC), isGapless: false)
      var decoders = try SoundDecoders(reader.streams)
      sound = Array(repeating: [], count: reader.streams.count - 1)
      while let packet = try reader.next() {
        let (time, bytes) = (packet.pts.nanoseconds / 1_000_000, packet.withBytes { Array($0) })
        if packet.stream == 0 {
          pictures.append((time, bytes, packet.isKeyframe))
        } else {
          sound[packet.stream - 1].append((time, bytes))
          try decoders.decode(packet)
        }
      }
      samples = decoders.samples
    }
  }

  /// Everything below the archive's folder, the names too.
  static func archiveHolds(_ text: String, _ session: RecordedSession) throws -> Bool {
    let found = try run(["grep", "-rlaF", text, session.folder.path])
    let named = try run(["find", session.folder.path, "-name", "*\(text)*"])
    return !found.lines.isEmpty || !named.lines.isEmpty
  }

  @Test("Picture, sound and words of the stretch are gone; what is around it is there, packet for packet")
  func redacted() throws {
    let session = try Self.session()
    let before = try Media("\(session.path)/media/000001.mkv")
    let head = try #require(session.timeline().manifest.chain?.head)
    #expect(try Self.recorder(["note", "last", "--at", "1.45", Self.secrets[3]], session).status == 0)
    #expect(try Self.recorder(["note", "last", "--at", "0.5", "a note that stays"], session).status == 0)
    #expect(try Self.recorder(["tag", "last", "kept"], session).status == 0)
    try writeFile(
      "\(session.path)/log.ndjson",
      [300, 1300].map {
        #"{"category":"capture","fields":{"window":"\#($0 == 300 ? "early" : Self.secrets[0])"},"level":"info","message":"a","time":\#($0)000000,"utc":"2026-11-30T02:15:33.123456789Z"}"#
          + "\n"
      }.joined().utf8)
    for secret in Self.secrets {
      #expect(try Self.archiveHolds(secret, session), "\(secret)")
      #expect(try Self.recorder(["search", "--json", secret], session).lines.count == 1, "\(secret)")
    }
    let result = try Self.recorder(
      ["redact", "last", "--from", "1.25", "--to", "1.62", "--reason", "a password"], session)
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.text == "")
    #expect(
      result.errorText.hasPrefix("recorder: Took 0:01.250 to 0:01.620 out of \(session.id).\nrecorder: Sealed with "))

    // The words.
    for secret in Self.secrets {
      #expect(try !Self.archiveHolds(secret, session), "\(secret)")
      #expect(try Self.recorder(["search", "--json", secret], session).lines == [], "\(secret)")
    }
    for kept in ["line before", "line after", "before", "after", "a note that stays", "kept", "a password"] {
      #expect(try !Self.recorder(["search", "--json", kept], session).lines.isEmpty, "\(kept)")
    }
    let reader = try ArchiveReader(session.location).session(session.id)
    let events = try reader.events()
    #expect(events.count { $0.kind == .alive } == 29)
    let told = try #require(events.first { $0.kind == .redacted })
    #expect(told.time == .milliseconds(1250))
    #expect(told.gap == Gap(track: "all", start: .milliseconds(1250), end: .milliseconds(1620), reason: "redacted"))
    #expect(try reader.annotations().map(\.text) == ["a note that stays", "kept"])
    let log = String(decoding: try readFile("\(session.path)/log.ndjson"), as: UTF8.self)
    #expect(log.contains("early") && log.split(separator: "\n").count == 1)

    // The picture: that of 1.2 s, which was on the screen at 1.25 s, up to that of 1.7 s.
    let timeline = try session.timeline()
    var finder = FrameFinder(timeline)
    for number in 0..<30 {
      let colour = try finder.picture(at: .milliseconds(Int64(number) * 100 + 10)).colours
      let expected: UInt32? = (12..<17).contains(number) ? nil : 0x010203 * UInt32(number + 1)
      let wanted = expected.map { RecordedSession.pixels($0, PixelSize(width: 64, height: 48)) }
      #expect((colour == wanted ?? Array(repeating: 0, count: 64 * 48)) as Bool, "picture \(number)")
    }
    let after = try Media("\(session.path)/media/000001.mkv")
    #expect(
      after.pictures.map { $0.time } == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 17, 18, 19].map { $0 * 100 }
        + (20..<30).map { $0 * 100 })
    #expect(after.pictures.filter { $0.isKeyframe }.map { $0.time } == [0, 500, 1000, 1200, 1700, 2000, 2500])
    for number in Array(0..<12) + Array(20..<30) {
      let (old, new) = (before.pictures[number], after.pictures.first { $0.time == Int64(number) * 100 })
      #expect((old.bytes == new?.bytes) as Bool, "packet \(number)")
    }

    // The sound of both tracks.
    for track in 0..<2 {
      #expect(after.sound[track].map { $0.time } == before.sound[track].map { $0.time })
      for (old, new) in zip(before.sound[track], after.sound[track]) where old.time < 1200 || old.time >= 1620 {
        #expect((old.bytes == new.bytes) as Bool, "track \(track) at \(old.time)")
      }
      #expect(before.samples[track][60_000..<77_760].contains { abs($0) > 0.4 })
      #expect(after.samples[track][60_000..<77_760].allSatisfy { abs($0) < 1e-4 }, "track \(track)")
      // What the decoder makes up for noise differs.
      for range in [0..<57_000, 82_000..<140_000] {
        let pairs = zip(after.samples[track][range], before.samples[track][range])
        #expect(pairs.allSatisfy { abs($0 - $1) < 0.01 }, "track \(track), \(range)")
      }
    }

    // The certificate, the manifest and what is written down.
    let verified = try Self.recorder(["verify", "last", "--deep", "--json"], session)
    #expect(verified.ending == .exit(0), "\(verified.errorText)")
    #expect(try JSONSchema.problems("certificate", verified.lines) == [""])
    let kept = try Self.recorder(["verify", "last", "--head", head], session)
    #expect(kept.status == 65 && kept.errorText.contains("before 0:01.250 to 0:01.620 of it was taken out"))
    let redaction = try #require(timeline.manifest.redactions?.first)
    #expect(redaction.head == head && redaction.reason == "a password" && redaction.altered == nil)
    #expect(redaction.from == .milliseconds(1250) && redaction.to == .milliseconds(1620))
    let manifest = String(decoding: try readFile("\(session.path)/manifest.json"), as: UTF8.self)
    let problems = try JSONSchema.problems("manifest", [manifest.replacing("\n", with: " ")])
    #expect(problems == [""], "\(problems)")
    func lines(_ path: String) throws -> [String] {
      String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
    }
    #expect(try Set(JSONSchema.problems("chain", lines("\(session.path)/chain.ndjson"))) == [""])
    #expect(try Set(JSONSchema.problems("event", lines("\(session.path)/events.ndjson"))) == [""])
    let audit = try lines(session.folder.file("audit.ndjson"))
    #expect(try JSONSchema.problems("audit", audit) == [""])
    let entry = try #require(ArchiveReader(session.location).audit().entries.first)
    #expect(entry.action == .redact && entry.session == session.id && entry.head == head)
    #expect(entry.from == redaction.from && entry.to == redaction.to && entry.by == redaction.by)
    try Self.expectNothingLeft(session)
    #expect(try Set(run(["find", session.folder.path, "-printf", "%y%m\n"]).lines) == ["d700", "f600"])
  }

  /// Nothing of a second session is left beside the first.
  static func expectNothingLeft(_ session: RecordedSession) throws {
    #expect(try run(["find", session.folder.path, "-name", ".new-*", "-o", "-name", "*.redacted"]).lines == [])
    #expect(try run(["find", session.folder.file("trash"), "-mindepth", "1"]).lines == [])
  }

  @Test(
    "A stretch over files begins and ends in each as it must; files that it does not touch stay as they are",
    arguments: [false, true])
  func files(_ areResized: Bool) throws {
    let session = try Self.session {
      let other = areResized ? PixelSize(width: 35, height: 71) : nil
      $0.sizes = [nil, nil, other, other]
      $0.files = (0..<4).map { file in Shot.series(7, from: Int64(file) * 700) }
      $0.starts = [0, 700, 1400, 2100]
      $0.isLossless = false
    }
    let untouched = try readFile("\(session.path)/media/000001.mkv")
    let before = try (1...4).map { try Media("\(session.path)/media/00000\($0).mkv") }
    #expect(try Self.recorder(["redact", "last", "--from", "1.0", "--to", "2.35"], session).status == 0)
    #expect(try readFile("\(session.path)/media/000001.mkv") == untouched)
    let after = try (1...4).map { try Media("\(session.path)/media/00000\($0).mkv") }
    // The second from its fourth picture on, the third whole, the fourth to before its fourth: black, once more at an end.
    #expect(after[1].pictures.map { $0.time } == [0, 100, 200, 300, 600])
    #expect(after[2].pictures.map { $0.time } == [0, 600])
    #expect(after[3].pictures.map { $0.time } == [0, 300, 400, 500, 600])
    #expect(after[3].pictures.map { $0.isKeyframe } == [true, true, false, true, false])
    #expect((after[3].pictures.suffix(2).map { $0.bytes } == before[3].pictures.suffix(2).map { $0.bytes }) as Bool)
    #expect((after[1].pictures.prefix(3).map { $0.bytes } == before[1].pictures.prefix(3).map { $0.bytes }) as Bool)
    var finder = try FrameFinder(session.timeline())
    var shown: [Int64] = []
    for time in stride(from: Int64(1000), to: 2400, by: 50) {
      let colours = try finder.picture(at: .milliseconds(time)).colours
      if colours.contains(where: { $0 != 0 }) { shown.append(time) }
    }
    #expect(shown == [])
    #expect(try finder.picture(at: .milliseconds(2410)).colours[0] != 0)
    #expect(after[2].samples.allSatisfy { $0.allSatisfy { abs($0) < 1e-4 } })
    #expect(try Self.recorder(["verify", "last", "--deep"], session).ending == .exit(0))
  }

  @Test("All of it, its beginning and its end can be taken out, one after the other", arguments: AudioCodec.allCases)
  func ends(_ codec: AudioCodec) throws {
    let session = try Self.session { $0.codec = codec }
    // All codecs have the same pictures.
    let stretches = codec == .aac ? [("0", "0.2"), ("2.7", "3"), ("0", "3")] : [("0", "3")]
    for (from, to) in stretches {
      let result = try Self.recorder(["redact", "last", "--from", from, "--to", to], session)
      #expect(result.status == 0, "\(result.errorText)")
      #expect(try Self.recorder(["verify", "last", "--deep"], session).ending == .exit(0), "\(from) to \(to)")
    }
    let media = try Media("\(session.path)/media/000001.mkv")
    #expect(media.samples.allSatisfy { $0.allSatisfy { abs($0) < 1e-3 } && $0.count > 130_000 })
    #expect(media.pictures.map { $0.time } == [0, 2900])
    var finder = try FrameFinder(session.timeline())
    #expect(try finder.picture(at: .milliseconds(1500)).colours.allSatisfy { $0 == 0 })
    #expect(try session.timeline().manifest.redactions?.count == stretches.count)
    let links = try ArchiveReader(session.location).session(session.id).chain().links.map(\.kind)
    #expect(links.prefix(stretches.count + 1) == stretches.map { _ in .redaction } + [.segment])
    #expect(try Self.recorder(["search", "--json", "line"], session).lines == [])
    #expect(try !Self.archiveHolds("line before", session))
  }

  @Test("A header that this encoder does not make has all pictures of the file encoded again")
  func otherHeader() throws {
    // As if another version of the encoder had made it: it is told to keep every pixel, and the manifest does not say so.
    let session = try Self.session()
    let path = "\(session.path)/manifest.json"
    let text = String(decoding: try readFile(path), as: UTF8.self)
    try writeFile(path, text.replacing(#""lossless" : true"#, with: #""lossless" : false"#).utf8)
    #expect(try session.timeline().manifest.options.video.lossless == false)
    let result = try Self.recorder(["redact", "last", "--from", "1.25", "--to", "1.62"], session)
    #expect(result.status == 0, "\(result.errorText)")
    let media = try Media("\(session.path)/media/000001.mkv")
    #expect(media.pictures.count == 26)
    #expect(media.pictures.filter { $0.isKeyframe }.map { $0.time } == [0, 500, 1000, 1200, 1700, 2000, 2500])
    var finder = try FrameFinder(session.timeline())
    for number in [0, 11, 17, 29] {
      let colour = try finder.picture(at: .milliseconds(Int64(number) * 100 + 10)).colours[0]
      for shift in [16, 8, 0] as [UInt32] {
        let expected = Int((0x010203 * UInt32(number + 1)) >> shift & 0xFF)
        #expect(
          abs(Int(colour >> shift & 0xFF) - expected) <= 4, "picture \(number): \(String(colour, radix: 16))")
      }
    }
    #expect(try finder.picture(at: .milliseconds(1300)).colours.allSatisfy { $0 == 0 })
    // The manifest had been altered, and the new seal does not hide it.
    let verified = try Self.recorder(["verify", "last"], session)
    #expect(verified.status == 65 && verified.errorText.contains("had been altered before a part of it was taken out"))
  }

  @Test("What cannot be taken out is refused in a sentence, and nothing is changed")
  func refusals() throws {
    let session = try Self.session()
    let chain = try readFile("\(session.path)/chain.ndjson")
    func expect(_ arguments: [String], _ status: Int32, _ sentence: String) throws {
      let result = try Self.recorder(["redact"] + arguments, session)
      #expect(result.status == status && result.text == "", "\(arguments): \(result.ending)")
      #expect(result.errorText.hasPrefix("recorder: \(sentence)"), "\(arguments): \(result.errorText)")
      #expect(result.errorText.split(separator: "\n").count == 1)
      #expect(try readFile("\(session.path)/chain.ndjson") == chain)
      try Self.expectNothingLeft(session)
    }
    try expect(["last", "--from", "2", "--to", "1"], 64, "There is nothing from 0:02.000 to 0:01.000")
    try expect(["last", "--from", "1", "--to", "1"], 64, "There is nothing from 0:01.000 to 0:01.000")
    try expect(["last", "--from", "1", "--to", "4"], 64, "The session \(session.id) has nothing at 0:04.000")
    try expect(["nothing", "--from", "1", "--to", "2"], 66, "There is no session \"nothing\"")
    #expect(try Self.recorder(["redact", "last", "--from", "1"], session).status == 64)
    #expect(try Self.recorder(["protect", "last", "--reason", "case 4711"], session).status == 0)
    try expect(["last", "--from", "1", "--to", "2"], 77, "The session \(session.id) is protected (case 4711).")
    #expect(try Self.recorder(["unprotect", "last"], session).status == 0)
    // One that is recorded, or worked on, holds its lock.
    let lock = try ChildProcess(
      ["flock", "-F", "\(session.path)/lock", "sh", "-c", "echo; exec sleep 60"], environment: [:])
    try waitUntil("the lock") { lock.outputSoFar == "\n" }
    try expect(["last", "--from", "1", "--to", "2"], 75, "The session \(session.id) is being recorded or worked on.")
    try lock.stop()
    // Times are those of every command.
    #expect(
      try Self.recorder(["redact", "last", "--from", "03:15:34", "--to", "2026-11-30T02:15:35Z"], session).status == 0)
    #expect(try session.timeline().manifest.redactions?.first?.from == .milliseconds(1000))
    #expect(try session.timeline().manifest.redactions?.first?.to == .milliseconds(2000))
  }
}

/// Decodes the sound streams of a file.
private struct SoundDecoders: ~Copyable {
  private(set) var samples: [[Float]] = []
  private let decoders: [Box]

  private final class Box {
    var decoder: AudioDecoder
    init(_ stream: StreamDescription) throws { decoder = try AudioDecoder(stream) }
  }

  init(_ streams: [StreamDescription]) throws {
    decoders = try streams.dropFirst().map { try Box($0) }
    samples = Array(repeating: [], count: decoders.count)
  }

  mutating func decode(_ packet: borrowing Packet) throws {
    let index = packet.stream - 1
    var left: [Float] = []
    try decoders[index].decoder.decode(packet) { block, _ in
      left += stride(from: 0, to: block.count, by: 2).map { block[$0] }
    }
    samples[index] += left
  }
}
