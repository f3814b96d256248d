import Glibc
import SessionModel
import TestSupport
import Testing

/// Case C07: best effort records on and says what is missing; `--strict` does not begin, or ends, with a code of its own.
@Suite(.serialized) struct StrictTests {
  @Test func withoutSoundItIsRefusedOrRecordedWithoutAWordLost() throws {
    let nowhere = try TemporaryFolder()
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "320x240"), environment: ["PULSE_SERVER": "unix:\(nowhere.file("none"))"])
    for arguments in [["record"], ["start"], ["start", "--hold", "5m"]] {
      let refused = try rig.run(arguments + ["--strict", "--app-audio", "--duration", "1"])
      #expect(refused.ending == .exit(69), "\(arguments): \(refused.errorText)")
      #expect(refused.text == "" && refused.errorText.contains("Without --strict"), "\(refused.errorText)")
    }
    #expect(try run(["find", rig.archive, "-name", "manifest.json"]).text == "")

    let kept = try rig.run(["record", "--app-audio", "--duration", "1"])
    #expect(kept.ending == .exit(0), "\(kept.errorText)")
    #expect(kept.errorText.contains("is silent until it is there."))
    #expect(try rig.run(["list", "--json"]).lines.count == 1)
  }

  @Test(arguments: [true, false]) func aSoundServerThatIsKilledEndsAStrictRecordingAlone(isStrict: Bool) throws {
    let sound = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "320x240"), environment: sound.environment)
    let recording = try rig.record(["--app-audio", "--duration", "6"] + (isStrict ? ["--strict"] : []))
    try waitUntil("the sound") { try rig.events(recording.id).contains { $0.kind == .device } }
    try sound.kill()
    let result = try recording.process.wait()
    #expect(result.ending == .exit(isStrict ? 76 : 0), "\(result.errorText)")
    let manifest = try rig.manifest(recording.id)
    #expect(manifest.end?.reason == (isStrict ? .failed : .duration))
    #expect(manifest.options.strict == isStrict)
    #expect(try rig.events(recording.id).contains { $0.kind == .warning })
    // Either says of itself what is missing, and neither counts as altered.
    let verified = try rig.run(["verify", "last"])
    #expect(verified.ending == .exit(isStrict ? 76 : 0), "\(verified.text)")
    #expect(try !rig.events(recording.id).filter { $0.kind == .gap }.isEmpty || isStrict)
  }
}
