import SessionModel
import Testing

@testable import Recorder

/// What is said again and again is counted, and nothing that was counted is lost.
@Suite struct LogFilterTests {
  private static let second: Int64 = 1_000_000_000

  private func line(
    _ seconds: Double, _ message: String = "gone", level: LogEntry.Level = .warning, _ fields: [String: String] = [:]
  ) -> LogLine {
    LogLine(
      monotonic: Int64(seconds * 1e9), utc: WallTime(nanoseconds: 0), level, .capture, message, fields)
  }

  /// Case X24.
  @Test func aStateThatComesAndGoesMakesALineAMinute() {
    var filter = LogFilter()
    var written: [(seconds: Int64, message: String, repeats: Int?)] = []
    // Every tenth of a second for two and a half minutes.
    for step in 0..<1500 {
      for message in ["gone", "back"] {
        if let line = filter.take(line(Double(step) / 10, message)) {
          written.append((line.monotonic / Self.second, line.message, line.repeats))
        }
      }
    }
    #expect(written.map(\.seconds) == [0, 0, 60, 60, 120, 120])
    #expect(written.map(\.repeats) == [nil, nil, 599, 599, 599, 599])
    let rest = filter.rest()
    #expect(rest.map(\.message).sorted() == ["back", "gone"])
    // The last of them and those before it.
    #expect(rest.map(\.repeats) == [298, 298])
    #expect(filter.rest().isEmpty)
  }

  @Test func whatWasCountedIsToldWhenItsMinuteIsOver() {
    var filter = LogFilter()
    #expect(filter.nextDue == .max)
    #expect(filter.take(line(1)) != nil)
    #expect(filter.nextDue == .max)
    #expect(filter.take(line(2)) == nil)
    #expect(filter.nextDue == 61 * Self.second)
    #expect(filter.due(at: 60 * Self.second).isEmpty)
    let due = filter.due(at: 61 * Self.second)
    #expect(due == [line(2)])
    #expect(filter.nextDue == .max)
  }

  @Test func differentThingsOfOneKindAreWrittenUpToTen() {
    var filter = LogFilter()
    let written = (0..<30).compactMap { filter.take(line(1, "split", ["number": "\($0)"])) }
    #expect(written.map { $0.fields["number"] } == (0..<10).map { "\($0)" })
    // One of them again is one of them.
    #expect(filter.take(line(60, "split", ["number": "3"])) == nil)
    let rest = filter.rest()
    #expect(rest.map { $0.fields["number"] } == ["3"])
    #expect(rest.map(\.repeats) == [20])
    // Another level or message is another thing.
    #expect(filter.take(line(2, "split", level: .info)) != nil)
    #expect(filter.take(line(2, "gap")) != nil)
  }

  @Test func aFloodOfEverythingIsBounded() {
    var filter = LogFilter()
    let written = (0..<100_000).compactMap { filter.take(line(Double($0) / 10_000, "message \($0)")) }
    #expect(written.count == LogFilter.mostAMinute + 1)
    #expect(written.last?.message == "More was noticed than is written down.")
    #expect(filter.rest().last?.repeats == 100_000 - LogFilter.mostAMinute - 2)
    #expect(filter.take(line(70)) != nil)
  }
}
