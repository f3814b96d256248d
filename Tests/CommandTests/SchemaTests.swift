import TestSupport
import Testing

/// Each schema takes what the program writes and refuses what it never would.
@Suite struct SchemaTests {
  static let right = [
    (
      "event",
      [
        #"{"kind":"alive","time":0}"#,
        #"{"kind":"title","time":5,"window":{"id":7,"title":"a","titleBytes":"/w==","className":"C","pid":3}}"#,
        #"{"gap":{"end":2,"reason":"r","start":1,"track":"t"},"kind":"gap","time":5}"#,
        #"{"kind":"focus","time":5}"#, #"{"kind":"marker","time":5}"#,
      ]
    ),
    (
      "annotation",
      [
        #"{"added":"2026-11-30T02:15:33.123456789Z","kind":"note","text":"a","time":5}"#,
        #"{"added":"2026-11-30T02:15:33.123456789Z","kind":"title","text":""}"#,
      ]
    ),
    (
      "log",
      [
        #"{"category":"capture","level":"info","message":"a","time":-5,"utc":"2026-11-30T02:15:33.123456789Z"}"#,
        #"{"category":"audio","fields":{"a":"b"},"level":"error","message":"a","repeats":1,"time":5,"utc":"2026-11-30T02:15:33.123456789Z"}"#,
      ]
    ),
    (
      "hit",
      [
        #"{"command":"recorder replay 20261130T021533Z-k3x9 --at 0:01.200","kind":"window","session":"20261130T021533Z-k3x9","snippet":"a","timestamp":5,"utcOffset":3600,"wallTime":"2026-11-30T02:15:33.123456789Z"}"#
      ]
    ),
  ]

  static let wrong = [
    (
      "event",
      [
        #"{"kind":"alive"}"#, #"{"kind":"alive","time":-1}"#, #"{"kind":"alive","time":1.5}"#,
        #"{"kind":"unheard","time":1}"#, #"{"kind":"title","time":1}"#, #"{"kind":"gap","time":1}"#,
        #"{"kind":"alive","time":1,"more":2}"#, #"{"kind":"focus","time":1,"window":{"id":-1,"title":""}}"#, "[]",
      ]
    ),
    (
      "annotation",
      [
        #"{"added":"2026-11-30 02:15:33","kind":"note","text":"a"}"#,
        #"{"added":"2026-11-30T02:15:33.123456789Z","kind":"tag","text":""}"#,
        #"{"added":"2026-11-30T02:15:33.123456789Z","kind":"tag","text":"a","time":1}"#,
        #"{"added":"2026-11-30T02:15:33.123456789Z","kind":"like","text":"a"}"#,
      ]
    ),
    (
      "log",
      [
        #"{"category":"window","level":"info","message":"a","time":5,"utc":"2026-11-30T02:15:33.123456789Z"}"#,
        #"{"category":"audio","level":"loud","message":"a","time":5,"utc":"2026-11-30T02:15:33.123456789Z"}"#,
        #"{"category":"audio","level":"info","message":"","time":5,"utc":"2026-11-30T02:15:33.123456789Z"}"#,
        #"{"category":"audio","fields":{"a":1},"level":"info","message":"a","time":5,"utc":"2026-11-30T02:15:33.123456789Z"}"#,
        #"{"category":"audio","level":"info","message":"a","repeats":0,"time":5,"utc":"2026-11-30T02:15:33.123456789Z"}"#,
      ]
    ),
    (
      "hit",
      [
        #"{"command":"rm -rf /","kind":"window","session":"20261130T021533Z-k3x9","snippet":"a","timestamp":5,"utcOffset":3600,"wallTime":"2026-11-30T02:15:33.123456789Z"}"#
      ]
    ),
    ("manifest", [#"{"format":1}"#, #"{"format":2}"#]), ("session", [#"{"id":"../x"}"#, "{}"]), ("report", ["{}"]),
  ]

  @Test(arguments: right) func rightDocumentsAreTaken(schema: String, lines: [String]) throws {
    #expect(try JSONSchema.problems(schema, lines) == lines.map { _ in "" })
  }

  @Test(arguments: wrong) func wrongDocumentsAreRefused(schema: String, lines: [String]) throws {
    let problems = try JSONSchema.problems(schema, lines)
    #expect(problems.count == lines.count)
    for (line, problem) in zip(lines, problems) { #expect(problem != "", "\(line)") }
  }
}
