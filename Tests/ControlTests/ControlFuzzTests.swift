import Control
import FoundationEssentials
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// Whatever is said to a recorder, it answers each line by one line, does nothing that was not asked for, and goes on.
@Suite(.serialized) struct ControlFuzzTests {
  static let seeds = [
    #"{"version":1,"command":"status"}"#, #"{"version":1,"command":"mark","text":"é"}"#,
    #"{"version":1,"command":"gain","gains":{"microphone":-3.5}}"#,
    #"{"version":1,"command":"mute","input":"microphone"}"#,
    #"{"version":1,"command":"save","last":5000000000,"title":"t","tags":["a"]}"#,
  ].map { Array($0.utf8) }

  /// Requests that a changed letter may make of another are those that say what they want all the same.
  private static let harmless: Set<ControlRequest.Command> = [.mark, .gain, .mute, .unmute, .save]

  @Test func eachLineIsAnsweredByOne() throws {
    let rig = try Rig()
    let descriptor = try rig.raw()
    defer { close(descriptor) }
    let decoder = JSONDecoder()
    var (number, refused) = (0, 0)
    try Fuzzing.forEachInput("control", Self.seeds) { input in
      say(input.map { $0 == 10 ? 32 : $0 } + [10], to: descriptor)
      let answer = try decoder.decode(ControlResponse.self, from: Data(line(descriptor).utf8))
      if answer.error != nil { refused += 1 }
      number += 1
      // What was done is not kept: it would count as the server's memory.
      guard number.isMultiple(of: 1000) else { return }
      let done = rig.performedLock.withLock { performed in
        defer { performed = [] }
        return performed
      }
      #expect(done.allSatisfy { Self.harmless.contains($0.command) })
    }
    #expect(refused > Fuzzing.inputs / 4 && refused < Fuzzing.inputs)
    #expect(try rig.isHealthy())
  }

  /// Half of those who say it never read an answer, and all of them leave in the middle.
  @Test func whoLeavesInTheMiddleHarmsNobody() throws {
    let rig = try Rig()
    var generator = Fuzzing.Generator(seed: Fuzzing.seed)
    for round in 0..<20 {
      let descriptor = try rig.raw()
      var talk: [UInt8] = []
      for number in 0..<500 {
        talk += Fuzzing.mutated(Self.seeds[number % Self.seeds.count], &generator) + [10]
      }
      talk += Array(#"{"version":1"#.utf8)
      let words = talk
      if round % 2 == 0 {
        let writer = try WorkerThread(name: "writer") {
          say(words, to: descriptor); shutdown(descriptor, Int32(SHUT_WR))
        }
        _ = hear(descriptor)
        writer.join()
      } else {
        var none = timeval(tv_sec: 0, tv_usec: 200_000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &none, socklen_t(MemoryLayout<timeval>.size))
        say(words, to: descriptor)
      }
      close(descriptor)
    }
    #expect(try rig.isHealthy())
    #expect(rig.performed.allSatisfy { Self.harmless.contains($0.command) })
  }
}
