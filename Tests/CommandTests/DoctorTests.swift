import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

/// `recorder doctor` names what is missing and the remedy, and recordings are made without it.
@Suite(.serialized) struct DoctorTests {
  private struct Diagnosis: Decodable {
    var isAble: Bool
    var findings: [Finding]

    func finding(_ subject: String) throws -> Finding { try #require(findings.first { $0.subject == subject }) }
  }

  private func examine(
    _ rig: RecorderRig, status: Int32 = 0, environment: [String: String?] = [:], _ arguments: [String] = []
  ) throws -> Diagnosis {
    let result = try rig.run(["doctor", "--json"] + arguments, environment: environment)
    #expect(result.status == status, "\(result.errorText)")
    let line = result.text.split(separator: "\n").joined(separator: " ")
    #expect(try JSONSchema.problems("doctor", [line]) == [""])
    return try JSONDecoder().decode(Diagnosis.self, from: Data(result.output))
  }

  @Test func aWholeDesktopIsFine() throws {
    let sound = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: sound.environment)
    let manager = try WindowManager(on: try #require(rig.display))
    let found = try examine(rig)
    #expect(found.isAble)
    for subject in [
      "X display", "pixels", "MIT-SHM", "DAMAGE", "XFIXES", "Composite", "RANDR", "XInputExtension", "window manager",
      "compositor", "sound server", "output", "microphone", "libx264", "libx264rgb", "aac", "folder", "space",
      "disk speed", "monotonic clock", "wall clock", "open files", "memory", "runtime folder",
    ] {
      let finding = try found.finding(subject)
      #expect(finding.state == .fine || ["wall clock", "disk speed"].contains(subject), "\(finding)")
      #expect((finding.state == .fine) == (finding.remedy == nil), "\(finding)")
    }
    #expect(try found.finding("window manager").text.hasPrefix("Openbox runs"))
    #expect(try found.finding("output").text.contains("desktop.monitor"))
    #expect(try found.finding("microphone").text.contains("microphone"))
    #expect(try found.finding("folder").text == "It will be made as \(rig.archive).")
    // It leaves nothing where the archive will be.
    #expect(access(rig.archive, F_OK) != 0)
    let text = try rig.run(["doctor"])
    #expect(text.status == 0)
    #expect(text.lines.contains { $0.hasPrefix("fine") && $0.contains("MIT-SHM") })
    withExtendedLifetime(manager) {}
  }

  private static let extensions = ["MIT-SHM", "DAMAGE", "XFIXES", "Composite", "RANDR"]

  /// Each extension that the server was started without is named with its remedy.
  @Test(arguments: extensions) func aMissingExtensionIsNamed(name: String) throws {
    let found = try examine(RecorderRig(display: VirtualDisplay(arguments: ["-extension", name])))
    #expect(found.isAble)
    // DAMAGE cannot be used without XFIXES.
    let missing = name == "XFIXES" ? ["DAMAGE", "XFIXES"] : [name]
    for name in missing {
      let finding = try found.finding(name)
      #expect(finding.state == .note)
      #expect(finding.remedy?.contains("\"-extension \(missing.last ?? "")\"") == true)
    }
    let others = found.findings.filter { $0.area == .display && !missing.contains($0.subject) }
    #expect(others.allSatisfy { $0.state == .fine }, "\(others)")
  }

  /// What is recorded without an extension has every pixel of what was shown, at the time when it was shown. An
  /// xorg-server 21.1 without XFIXES aborts when a client leaves, so the recorder does not before it is done.
  @Test(arguments: extensions) func whatIsRecordedWithoutAnExtensionIsWhole(name: String) throws {
    let display = try VirtualDisplay(size: "640x480", arguments: ["-extension", name])
    let rig = try RecorderRig(display: display)
    let client = try PatternClient(on: display, ["color", "--color", "102030"])
    let recording = try rig.record(["--lossless", "--no-cursor", "--fps", "60"])
    var shown: [(color: UInt32, time: Int64)] = []
    let epoch = try rig.manifest(recording.id).clock.monotonic
    for color in [0xC02030, 0x30C020, 0x2030C0] as [UInt32] {
      shown.append((color, try client.tell("color \(String(color, radix: 16))")))
      try waitUntil("the next second") {
        try rig.events(recording.id).contains {
          $0.kind == .alive && $0.time.nanoseconds + epoch > (shown.last?.time ?? 0) + 200_000_000
        }
      }
    }
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().ending == .exit(0))
    let media = rig.media(recording.id)
    let pictures = try MediaFile.pictures(media, PixelRect(x: 0, y: 0, width: 640, height: 480))
    let times = try MediaFile.times(media)
    #expect(pictures.count == times.count)
    for (color, time) in shown {
      let bytes = [UInt8(color & 0xFF), UInt8(color >> 8 & 0xFF), UInt8(color >> 16)]
      let first = try #require(pictures.firstIndex { Array($0[..<3]) == bytes })
      #expect(stride(from: 0, to: 640 * 480 * 4, by: 4).allSatisfy { Array(pictures[first][$0..<$0 + 3]) == bytes })
      // Never before it was drawn; a busy machine may be late, by less than the second until the next one.
      let delay = times[first] - Int((time - epoch) / 1_000_000)
      #expect((-1..<1000).contains(delay), "\(delay) ms")
    }
  }

  @Test func whatMakesRecordingImpossibleIsAProblem() throws {
    let rig = try RecorderRig()
    let none = try examine(rig, status: 69)
    #expect(!none.isAble)
    let finding = try none.finding("X display")
    #expect(finding.state == .problem)
    #expect(finding.text.contains("DISPLAY is not set"))
    #expect(finding.remedy?.contains("XAUTHORITY") == true)
    let wayland = try examine(rig, status: 69, environment: ["WAYLAND_DISPLAY": "wayland-0"])
    #expect(try wayland.finding("X display").text.contains("Wayland"))
    let unreachable = try rig.run(["doctor", "--display", ":59999"])
    #expect(unreachable.status == 69)
    #expect(unreachable.errorText.contains("Nothing can be recorded here: The X display \":59999\" cannot be opened"))
    #expect(unreachable.lines.contains { $0.hasPrefix("problem") })
  }

  @Test func anArchiveThatCannotBeMadeIsAProblem() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "64x64"))
    let found = try examine(rig, status: 69, environment: ["RECORDER_ARCHIVE": "/dev/null/archive"])
    #expect(try found.finding("folder").state == .problem)
  }

  /// Case E13: FAT, by its number (MSDOS_SUPER_MAGIC), and another.
  @Test(arguments: [("0x4d44", true), ("0xef53", false)]) func aFileSystemOfSmallFilesIsNoted(kind: String, isFAT: Bool)
    throws
  {
    let rig = try RecorderRig(display: VirtualDisplay(size: "64x64"))
    let found = try examine(
      rig, environment: ["LD_PRELOAD": try InjectedFaults.library("fail-call"), "STATFS_TYPE": kind])
    let finding = found.findings.first { $0.subject == "file system" }
    #expect((finding?.text.hasPrefix("It is FAT: a file has at most 4 GB") ?? false) == isFAT)
  }

  @Test func limitsAreNoted() throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "64x64"))
    let command = "ulimit -f 1000; exec \"$0\" doctor --json"
    let result = try run(["bash", "-c", command, builtProgram("recorder")], environment: rig.environment)
    let found = try JSONDecoder().decode(Diagnosis.self, from: Data(result.output))
    #expect(try found.finding("file size").state == .note)
    #expect(try found.finding("file size").text.contains("1024000 bytes"))
    #expect(try found.finding("disk speed").state != .fine)
  }
}
