import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Archive

@Suite struct SessionWriterTests {
  let archive: TestArchive
  let id: SessionID

  init() throws {
    archive = try TestArchive()
    id = try sessionID("20261130T021533Z-k3x9")
  }

  @Test func whatIsWrittenIsReadBack() throws {
    let writer = try archive.create(id)
    var window = WindowInfo(id: 7, title: "a \"quoted\"\ntitle \u{1F389} \0 \u{1B}[31m")
    window.titleBytes = "/+8="
    let events = [
      Event(time: .zero, kind: .start), Event(time: Timestamp(nanoseconds: 5), kind: .title, window: window),
      Event(time: Timestamp(nanoseconds: 6), kind: Event.Kind(rawValue: "from-the-future"), text: "x"),
    ]
    for event in events { try writer.append(event) }
    let note = Annotation(added: WallTime(nanoseconds: 9), kind: .note, text: "n\u{0}", time: .zero)
    try writer.annotate(note)
    let session = try archive.reader.session(id)
    #expect(try session.events() == events)
    #expect(try session.annotations() == [note])
    #expect(try session.manifest() == sampleManifest(id))
    var finished = sampleManifest(id)
    finished.state = .finished
    finished.end = Manifest.End(reason: .duration, time: Timestamp(nanoseconds: 7))
    try writer.replaceManifest(finished)
    #expect(try session.manifest() == finished)
    #expect(mode("\(sessionPath(archive.root, id))/manifest.json.new") == nil)
  }

  @Test func ofThoseOfOneSecondTheLastMadeIsTheLast() throws {
    let time = WallTime(nanoseconds: 1_796_004_933_000_000_000)
    var made: [SessionID] = []
    for _ in 0..<20 {
      let writer = try SessionWriter.create(in: ArchiveLocation(path: archive.root), at: time) { sampleManifest($0) }
      made.append(writer.id)
      #expect(try archive.reader.resolve("last") == writer.id)
      writer.close()
    }
    #expect(made == made.sorted() && Set(made).count == 20)
    #expect(try archive.reader.resolve("last~19") == made[0])
  }

  @Test func sessionIsLockedAndPendingUntilClosedAndSettled() throws {
    let writer = try archive.create(id)
    let reader = archive.reader
    #expect(try reader.session(id).isLive())
    #expect(try reader.pending() == [id])
    try reader.settle(id)
    #expect(try reader.pending() == [id])
    #expect(failure { () throws(RecorderError) in try reader.delete(id, as: .delete) }?.code == .busy)
    writer.close()
    writer.close()
    #expect(try !reader.session(id).isLive())
    try reader.settle(id)
    #expect(try reader.pending() == [id])
    _ = try reader.recover(id)
    try reader.settle(id)
    #expect(try reader.pending() == [])
    let late = failure { () throws(RecorderError) in try writer.append(Event(time: .zero, kind: .alive)) }
    #expect(late?.code == .brokenInvariant)
  }

  @Test func segmentsAreNewFilesOfTheSession() throws {
    let writer = try archive.create(id)
    let (descriptor, file) = try writer.createSegment(1)
    #expect(file == "media/000001.mkv")
    #expect(write(descriptor, "abc", 3) == 3)
    close(descriptor)
    for number in [1, 0, 1_000_000] {
      let error = failure { () throws(RecorderError) in try writer.createSegment(number).file }
      #expect(error?.code == .cannotCreate)
    }
    let session = try archive.reader.session(id)
    let opened = try session.openSegment(Manifest.Segment(file: file, start: .zero))
    defer { close(opened) }
    var bytes = [UInt8](repeating: 0, count: 4)
    #expect(read(opened, &bytes, 4) == 3)
    #expect(bytes == [97, 98, 99, 0])
    #expect(try session.mediaBytes() == 3)
  }

  @Test(arguments: [
    "../manifest.json", "media/../manifest.json", "/etc/passwd", "media/1.mkv", "media/000001.mkv/",
    "media/000001.mkv\0x", "media//000001.mkv", "media/000000.mkv", "media/-00001.mkv", "media/+00001.mkv",
    "media/000001.MKV", "", "media/link.mkv", "media/000002.mkv", "media/000003.mkv",
  ])
  func pathsLeadNowhereElse(file: String) throws {
    let writer = try archive.create(id)
    close(try writer.createSegment(1).fileDescriptor)
    let media = "\(sessionPath(archive.root, id))/media"
    #expect(symlink("/etc/passwd", "\(media)/000002.mkv") == 0)
    #expect(mkfifo("\(media)/000003.mkv", 0o600) == 0)
    let error = failure { () throws(RecorderError) in
      try archive.reader.session(id).openSegment(Manifest.Segment(file: file, start: .zero))
    }
    #expect(error != nil)
  }

  @Test func aTakenNameIsRefusedAndAnotherIsDrawn() throws {
    let writer = try archive.create(id)
    let error = failure { () throws(RecorderError) in _ = try archive.create(id) }
    #expect(error?.code == .cannotCreate)
    #expect(try archive.reader.session(id).isLive())
    #expect(try archive.reader.pending() == [id])
    let time = sampleManifest(id).clock.utc
    let other = try SessionWriter.create(in: archive.reader.location, at: time, manifest: sampleManifest)
    #expect(other.id != id)
    #expect(other.id.description.hasPrefix("20261130T021533Z-"))
    #expect(try archive.reader.session(other.id).manifest().id == other.id)
    writer.close()
  }

  @Test func everyThreadsLinesAreWhole() async throws {
    let writer = try archive.create(id)
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<8 {
        group.addTask {
          for index in 0..<100 {
            let text = String(repeating: "\(thread)", count: 300)
            try? writer.append(Event(time: Timestamp(nanoseconds: Int64(index)), kind: .marker, text: text))
          }
        }
      }
    }
    let events = try archive.reader.session(id).events()
    #expect(events.count == 800)
    for thread in 0..<8 {
      let own = events.filter { $0.text?.hasPrefix("\(thread)") == true }
      #expect(own.map(\.time.nanoseconds) == Array(0..<100))
    }
  }

  @Test func archiveThatCannotBeIsOneClearError() throws {
    let file = archive.folder.file("file")
    try writeFile(file, [1])
    let places = [(file, file), ("\(file)/below", file), ("/proc/archive", "/proc"), ("/dev/null/x", "/dev/null")]
    for (path, named) in places {
      let error = failure { () throws(RecorderError) in
        try SessionWriter.create(in: ArchiveLocation(path: path), id: id, manifest: sampleManifest(id))
      }
      #expect(error?.code == .cannotCreate, "\(path)")
      #expect(error?.message.contains(named) == true, "\(path)")
    }
  }

  @Test func plantedLinksAreNotFollowed() throws {
    let elsewhere = archive.folder.file("elsewhere")
    #expect(mkdir(elsewhere, 0o700) == 0)
    try archive.create(sessionID("20261129T021533Z-k3x9")).close()
    for name in ["pending", "sessions"] {
      #expect(rename("\(archive.root)/\(name)", "\(archive.root)/\(name).kept") == 0)
      #expect(symlink(elsewhere, "\(archive.root)/\(name)") == 0)
      #expect(failure { () throws(RecorderError) in _ = try archive.create(id) } != nil)
      #expect(unlink("\(archive.root)/\(name)") == 0)
      #expect(rename("\(archive.root)/\(name).kept", "\(archive.root)/\(name)") == 0)
    }
    #expect(rmdir(elsewhere) == 0)
    let writer = try archive.create(id)
    let target = archive.folder.file("target")
    try writeFile(target, [1, 2, 3])
    #expect(symlink(target, "\(sessionPath(archive.root, id))/annotations.ndjson") == 0)
    let note = Annotation(added: WallTime(nanoseconds: 0), kind: .note, text: "x")
    #expect(failure { () throws(RecorderError) in try writer.annotate(note) }?.code == .damagedData)
    // A link in the place of the temporary manifest is taken away, not written through.
    #expect(symlink(target, "\(sessionPath(archive.root, id))/manifest.json.new") == 0)
    try writer.replaceManifest(sampleManifest(id))
    #expect(try readFile(target) == [1, 2, 3])
  }
}
