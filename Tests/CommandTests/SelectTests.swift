import Glibc
import SessionModel
import TestSupport
import Testing

/// `record --select`: what is recorded is picked on the screen with the mouse.
@Suite(.serialized) struct SelectTests {
  private static let hint = "Click on the window to record, or drag a region; Escape gives up."

  /// Starts to record what is picked, and waits until a click counts.
  private func begin(_ rig: RecorderRig) throws -> ChildProcess {
    let process = try ChildProcess(
      [builtProgram("recorder"), "record", "--select", "--duration", "200ms", "--lossless", "--no-cursor"],
      environment: rig.environment)
    try waitUntil("the hint; \(process.errorsSoFar)") { process.errorsSoFar.contains(Self.hint) }
    return process
  }

  private func rig() throws -> (RecorderRig, VirtualDisplay) {
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"))
    return (rig, try #require(rig.display))
  }

  private func mouse(_ display: VirtualDisplay, _ words: String) throws {
    try run(["xdotool"] + words.split(separator: " ").map(String.init), environment: display.environment)
  }

  private func session(_ rig: RecorderRig, _ process: ChildProcess) throws -> (Manifest, pixels: Set<[UInt8]>) {
    let result = try process.wait()
    #expect(result.ending == .exit(0), "\(result.errorText)")
    let id = try #require(SessionID(result.text.dropLast()))
    let manifest = try rig.manifest(id)
    let size = try #require(manifest.tracks.first?.size)
    let first = try #require(try MediaFile.pictures(rig.media(id), PixelRect(size)).first)
    return (manifest, Set(stride(from: 0, to: first.count, by: 4).map { Array(first[$0..<$0 + 3]) }))
  }

  @Test(arguments: [false, true]) func aClickTakesTheWindow(managed: Bool) throws {
    let (rig, display) = try rig()
    let manager = managed ? try WindowManager(on: display) : nil
    let below = try PatternClient(on: display, ["color", "--color", "c02030", "--geometry", "200x200+100+100"])
    let above = try PatternClient(on: display, ["color", "--color", "30c020", "--geometry", "90x80+150+150"])
    let process = try begin(rig)
    try mouse(display, "mousemove 200 200 click 1")
    let (manifest, pixels) = try session(rig, process)
    #expect(manifest.source.specification == .window(.id(above.window)))
    #expect(manifest.tracks.first?.size == PixelSize(width: 90, height: 80))
    #expect(pixels == [[0x20, 0xC0, 0x30]])
    withExtendedLifetime((manager, below)) {}
  }

  @Test func draggingTakesARegion() throws {
    let (rig, display) = try rig()
    let client = try PatternClient(on: display, ["color", "--color", "c02030"])
    let process = try begin(rig)
    // From the right bottom to the left top.
    try mouse(display, "mousemove 209 139 mousedown 1 mousemove 150 120 mousemove 100 50 mouseup 1")
    let (manifest, pixels) = try session(rig, process)
    #expect(manifest.source.specification == .region(PixelRect(x: 100, y: 50, width: 110, height: 90)))
    // Nothing of the frame around it is in the picture.
    #expect(pixels == [[0x30, 0x20, 0xC0]])
    withExtendedLifetime(client) {}
  }

  @Test func theRootIsTheWholeDisplay() throws {
    let (rig, display) = try rig()
    let process = try begin(rig)
    try mouse(display, "mousemove 20 20 click 1")
    #expect(try session(rig, process).0.source.specification == .display)
  }

  @Test(arguments: ["key Escape", "mousemove 30 30 mousedown 1 mousemove 90 90 key Escape", "click 3"])
  func givingUpRecordsNothing(words: String) throws {
    let (rig, display) = try rig()
    let client = try PatternClient(on: display, ["color", "--geometry", "100x100"])
    let process = try begin(rig)
    try mouse(display, words)
    let result = try process.wait()
    #expect(result.ending == .exit(130))
    #expect(result.text == "")
    #expect(result.errorText.contains("Nothing was picked, and nothing is recorded."))
    #expect(access(rig.archive + "/sessions", F_OK) != 0)
    // Pointer and keyboard are free again: the next one gets them.
    try mouse(display, "mouseup 1")
    let next = try begin(rig)
    try mouse(display, "mousemove 50 50 click 1")
    #expect(try session(rig, next).0.source.specification == .window(.id(client.window)))
  }

  @Test func aPointerThatIsHeldIsNamed() throws {
    let (rig, display) = try rig()
    let holder = try begin(rig)
    let result = try rig.run(["record", "--select"])
    #expect(result.status == 75)
    #expect(result.errorText.contains("Another program holds the pointer"))
    try mouse(display, "key Escape")
    #expect(try holder.wait().ending == .exit(130))
  }

  @Test(arguments: ["record", "start"]) func aSourceBesideItIsRefused(command: String) throws {
    let rig = try RecorderRig()
    let result = try rig.run([command, "display", "--select"])
    #expect(result.status == 64)
    #expect(result.errorText.contains("--select and a SOURCE exclude each other"))
    // The configuration's is for those that pick none.
    let configured = try rig.run([command, "--select"], environment: ["RECORDER_SOURCE": "display"])
    #expect(configured.status == 69 && configured.errorText.contains("DISPLAY is not set"), "\(configured.errorText)")
  }
}
