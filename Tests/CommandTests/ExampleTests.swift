import Glibc
import SessionModel
import TestSupport
import Testing

/// The program of `Examples/`, a package of its own that has the library built in and knows nothing of this one.
@Suite(.serialized) struct ExampleTests {
  @Test func aPackageOfItsOwnRecordsWithTheLibraryAlone() throws {
    let scratch = "\(JSONSchema.repository)/.build/examples"
    let package = "\(JSONSchema.repository)/Examples/EmbeddedRecorder"
    // The plan of a build before does not hear of files that this package has got or lost since.
    unlink("\(scratch)/debug.yaml")
    // Half a minute on two idle cores, the first time.
    let build = try run(["swift", "build", "--package-path", package, "--scratch-path", scratch], seconds: 1200)
    try #require(build.status == 0, "\(build.text) \(build.errorText)")
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "640x480"), environment: server.environment)
    let client = try PatternClient(
      on: try #require(rig.display), ["color", "--color", "20c040", "--geometry", "320x200+50+60"])
    let result = try run(["\(scratch)/debug/EmbeddedRecorder"], environment: rig.environment)
    #expect(result.ending == .exit(0), "\(result.errorText)")
    try client.process.stop()

    // What it says is what it made.
    let words = try rig.run(["list", "--json"]).text.split(separator: "\"")
    let session = try #require(words.compactMap { SessionID($0) }.first)
    let manifest = try rig.manifest(session)
    #expect(result.lines.first == "The display has 640x480 pixels and 1 windows.")
    let duration = Duration.nanoseconds(manifest.duration.nanoseconds)
    #expect(result.lines.contains("Recorded \(session), \(duration), stopped."))
    let states = result.lines.filter { $0.hasPrefix("State: ") }.map { $0.dropFirst(7) }
    #expect(states == ["idle", "recording", "stopping", "finished"])
    #expect(manifest.source.window?.id == client.window)
    #expect(manifest.options.video.framesPerSecond == 15)
    #expect(manifest.source.rect.size == PixelSize(width: 320, height: 200))
    #expect(manifest.duration >= Timestamp(seconds: 1))
    #expect(try rig.events(session).filter { $0.kind == .marker }.map(\.text) == ["It has begun"])
    #expect(try rig.run(["verify", session.description]).status == 0)
    let file = rig.folder.file("frame.png")
    #expect(try rig.run(["frame", "last", "--at", "0.5", "-o", file]).status == 0)
    // The window is in the middle of the 1920x1080 that were asked for, as large as it is.
    let picture = try MediaFile.pictures(file, PixelRect(x: 960 - 140, y: 540 - 80, width: 1, height: 1))[0]
    for (channel, value) in [0x40, 0xC0, 0x20].enumerated() { #expect(abs(Int(picture[channel]) - value) <= 4) }
  }
}
