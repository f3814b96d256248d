import FoundationEssentials
import Glibc
import SessionModel
import Synchronization
import TestSupport
import Testing
import Threading

/// Excluded windows that open, move, draw, open menus and close at random moments and places, over a ground that changes all
/// the time: no frame has a pixel of theirs, and no file of the archive a letter of their titles. Some of them here, 200 under
/// `make torture`.
@Suite(.serialized) struct ExcludedWindowTests {
  private static let windows = Int(ProcessInfo.processInfo.environment["RECORDER_TORTURE_WINDOWS"] ?? "") ?? 20
  /// Frames to be recorded at least meanwhile: a busy machine has few while so many windows come and go.
  private static let frames = 30
  private static let size = PixelSize(width: 400, height: 300)
  /// A word of each title; it is in no window that may be recorded, nor in what the recorder is told.
  private static let word = "Kontonummer"

  /// Windows of a colour without green, some excluded by their title and some by their class.
  private struct Secrets {
    let display: VirtualDisplay
    var generator = Fuzzing.Generator(seed: Fuzzing.seed)
    private var open: [PatternClient] = []
    private var count = 0

    init(on display: VirtualDisplay) { self.display = display }

    private mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func geometry(_ largest: Int) -> String {
      "\(number(10...largest))x\(number(10...largest))+\(number(0...380))+\(number(0...280))"
    }

    /// Opens one, has some of them do something, and closes one.
    mutating func step() throws {
      count += 1
      let names =
        count % 2 == 0
        ? ["--title", "Privat \(ExcludedWindowTests.word) \(count)"]
        : ["--title", "\(ExcludedWindowTests.word) \(count)", "--class", "Tresor"]
      open.append(
        try PatternClient(on: display, ["color", "--color", "FF00FF", "--geometry", geometry(150)] + names))
      for _ in 0..<number(1...4) {
        let client = open[number(0...open.count - 1)]
        let commands = [
          "move \(number(-60...380)) \(number(-60...280))", "resize \(number(10...150)) \(number(10...150))",
          "popup FF00FF \(geometry(80))", "color FF00FF", "raise", "unmap", "map",
        ]
        try client.tell(commands[number(0...commands.count - 1)])
        usleep(UInt32(number(0...15_000)))
      }
      if open.count > 3 || number(0...1) == 0 { try close() }
    }

    private mutating func close() throws { try open.remove(at: number(0...open.count - 1)).tell("quit") }

    mutating func closeAll() throws { while !open.isEmpty { try close() } }
  }

  /// A ground in shades of green, one after the other, until it is told to stop.
  private final class Ground: Sendable {
    private let state = Mutex<(isOver: Bool, failure: (any Error)?)>((false, nil))
    private let worker = Mutex<WorkerThread?>(nil)

    init(_ client: PatternClient) throws {
      let thread = try WorkerThread(name: "ground") { [self] in
        var shade = 64
        while !state.withLock({ $0.isOver }) {
          shade = shade == 255 ? 64 : shade + 1
          do { try client.tell("color 00\(String(shade, radix: 16))00") } catch {
            state.withLock { $0 = (true, error) }
          }
        }
      }
      worker.withLock { $0 = thread }
    }

    func stop() throws {
      state.withLock { $0.isOver = true }
      worker.withLock { $0 }?.join()
      if let error = state.withLock({ $0.failure }) { throw error }
    }
  }

  /// A hash of each picture of `input` (ffmpeg's words for it), of some of its channels alone.
  private func hashes(_ input: [String], without channels: String) throws -> [String] {
    let result = try run(
      ["ffmpeg", "-v", "error"] + input + [
        "-vf", "format=gbrp,lutrgb=\(channels)", "-fps_mode", "passthrough", "-enc_time_base", "1:1000", "-f",
        "framemd5", "-",
      ], seconds: 300)
    guard result.status == 0 else { throw TestFailure("ffmpeg: \(result.errorText)") }
    return result.lines.filter { !$0.hasPrefix("#") }.compactMap { line in
      line.split(separator: ",").last.map { $0.filter { $0 != " " } }
    }
  }

  private func plain(_ color: String, without channels: String) throws -> String? {
    try hashes(
      ["-f", "lavfi", "-i", "color=\(color):size=\(Self.size),format=gbrp", "-frames:v", "1"], without: channels
    ).first
  }

  /// The files below `folder` in which the word is.
  private func findings(_ folder: String) throws -> String { try run(["grep", "-rlai", Self.word, folder]).text }

  /// It has told its title, and goes before it is asked for its class.
  @Test func aWindowThatGoesWhileItIsLookedAtIsNotTold() throws {
    let folder = try TemporaryFolder()
    let doomed = folder.file("doomed")
    let rig = try RecorderRig(
      display: VirtualDisplay(size: "\(Self.size)"),
      environment: ["LD_PRELOAD": try InjectedFaults.library("doomed-window"), "DOOMED_FILE": doomed])
    let display = try #require(rig.display)
    let client = try PatternClient(
      on: display, ["color", "--geometry", "50x50", "--class", "Tresor", "--title", Self.word, "--unmapped"])
    let watch = try WatchedRecording(rig, ["--exclude", "class=tresor"])
    try writeFile(doomed, String(client.window, radix: 16).utf8)
    try client.tell("map")
    try waitUntil("its end") { access(doomed, F_OK) != 0 }
    let open = try PatternClient(on: display, ["color", "--geometry", "50x50", "--title", "Open"])
    try watch.event("the next window") { $0.kind == .opened && $0.window?.id == open.window }
    #expect(try watch.stop().ending == .exit(0))
    #expect(try findings(rig.folder.path) == "")
  }

  @Test(arguments: [false, true]) func nothingOfThemIsKept(isDesktop: Bool) throws {
    let rig = try RecorderRig(display: VirtualDisplay(size: "\(Self.size)"))
    let display = try #require(rig.display)
    let manager = isDesktop ? try WindowManager(on: display) : nil
    let compositor = isDesktop ? try Compositor(on: display) : nil
    let client = try PatternClient(on: display, ["color", "--color", "004000", "--geometry", "600x500"])
    // The window manager's frame around it is past the screen's edges.
    try client.tell("move -40 -60")
    let watch = try WatchedRecording(
      rig, ["--exclude", "title~=^Privat", "--exclude", "class=tresor", "--fps", "60"])
    try watch.show(0x004000, in: client)
    let ground = try Ground(client)
    var secrets = Secrets(on: display)
    var count = 0
    while try count < Self.windows || watch.frames() < Self.frames {
      try secrets.step()
      count += 1
    }
    #expect(try findings(rig.archive) == "")
    try secrets.closeAll()
    try ground.stop()
    // The places that they have left are shown again: under a compositor a second after something was drawn there. What was
    // drawn last is in a file of its own, which is closed.
    func files() throws -> [String] {
      try rig.manifest(watch.recording.id).segments.map { "\(rig.session(watch.recording.id))/\($0.file)" }
    }
    func split() throws { #expect(try rig.run(["split"]).ending == .exit(0)) }
    let shade = try plain("0x00C800", without: "r=0:b=0")
    try waitUntil("the places to be shown") {
      try split()
      try watch.show(0x00C800, in: client)
      try split()
      guard let file = try files().dropLast().last else { return false }
      return try hashes(["-i", file], without: "r=0:b=0").last == shade
    }
    #expect(try watch.stop().ending == .exit(0))

    let black = try plain("black", without: "g=0")
    for file in try files() {
      let shown = try hashes(["-i", file], without: "g=0")
      let leaks = shown.indices.filter { shown[$0] != black }
      let copy = leaks.isEmpty ? "" : try rig.keep(watch.recording.id)
      #expect(!shown.isEmpty && leaks.isEmpty, "pictures \(leaks) of \(file) in \(copy)")
    }
    let grounds = try hashes(["-i", watch.media], without: "r=0:b=0")
    #expect(Set(grounds).count > 5)
    // What made the index, and what asks it, learn nothing either.
    let found = try rig.run(["search", Self.word])
    #expect(found.text == "")
    #expect(try rig.run(["list", "--json"]).lines.count == 1)
    // The sockets' folder and the configuration's are beside the archive.
    #expect(try findings(rig.folder.path) == "")
    withExtendedLifetime((manager, compositor)) {}
  }
}
