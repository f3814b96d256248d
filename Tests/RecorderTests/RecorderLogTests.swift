import Archive
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

@testable import Recorder

/// What is noticed reaches the session and whoever else listens, in its order.
@Suite struct RecorderLogTests {
  private func manifest(_ id: SessionID) -> Manifest {
    Manifest(
      id: id, generator: "test", clock: Manifest.Clock(utc: .now(), monotonic: 0, utcOffset: 0),
      host: Manifest.Host(name: "test", display: ":0"),
      source: Manifest.Source(specification: .display, rect: PixelRect(x: 0, y: 0, width: 1, height: 1)),
      options: RecordingOptions(), tracks: [])
  }

  @Test func whatWasNoticedBeforeTheSessionBeganIsInIt() throws {
    let folder = try TemporaryFolder()
    let location = ArchiveLocation(path: folder.file("archive"))
    let heard = Mutex<[(message: String, session: SessionID?)]>([])
    let log = try RecorderLog { entry, session in heard.withLock { $0.append((entry.message, session)) } }
    log.note(.info, .control, "prepared", ["a": "b"])
    try waitUntil("the line") { heard.withLock { $0.count } == 1 }
    let epoch = MonotonicClock.now()
    let writer = try SessionWriter.create(in: location, at: .now()) { manifest($0) }
    log.begin(try writer.makeLog(), epoch: epoch)
    log.note(.warning, .audio, "lost")
    log.note(.warning, .audio, "lost")
    log.finish()
    // Later ones are lost, and nobody waits for them.
    log.note(.info, .audio, "late")
    writer.close()
    var entries: [LogEntry] = []
    _ = try ArchiveReader(location).session(writer.id).forEachLogEntry { (entry) throws(RecorderError) in
      entries.append(entry)
    }
    #expect(entries.map(\.message) == ["prepared", "lost", "lost"])
    #expect(entries.map(\.fields) == [["a": "b"], nil, nil])
    #expect(entries.map { $0.time < .zero } == [true, false, false])
    #expect(entries.map(\.time) == entries.map(\.time).sorted())
    heard.withLock { heard in
      #expect(heard.map(\.message) == ["prepared", "lost", "lost"])
      #expect(heard.map(\.session) == [nil, writer.id, writer.id])
    }
    // A session that begins later is given the lines of its span.
    let second = entries[1].time.nanoseconds + epoch
    let span = log.entries(from: second, to: second, epoch: second - 7)
    #expect(span.map(\.message) == ["lost"])
    #expect(span.first?.time == Timestamp(nanoseconds: 7))
  }

  @Test func aListenerThatHangsHoldsNobody() throws {
    let gate = BoundedQueue<Bool>(capacity: 1)
    let log = try RecorderLog { _, _ in _ = gate.pop() }
    // More than wait at most: none of these calls waits.
    for index in 0..<1000 { log.note(.info, .control, "line \(index)") }
    log.finish()
    gate.close()
  }
}
