import SessionModel
import TestSupport
import Testing

/// The built program, where it needs no archive and no display.
@Suite struct ProgramTests {
  private let recorder = builtProgram("recorder")

  @Test func helpAndVersionAreData() throws {
    let help = try run([recorder, "--help"])
    #expect(
      help.status == 0
        && help.lines.first == "Record the desktop with its sound, keep every session, and find the moment again.")
    #expect(help.errorText == "")
    #expect(try run([recorder, "--version"]).text == "recorder \(recorderVersion)\n")
  }

  @Test func aWrongLineIsOneSentenceOnStandardError() throws {
    let wrong = try run([recorder, "recrod"])
    #expect(wrong.status == 64 && wrong.text == "")
    #expect(wrong.errorText == "recorder: There is no command \"recrod\". Did you mean \"record\"?\n")
    let none = try run([recorder])
    #expect(none.status == 64 && none.text == "" && none.errorText.hasPrefix("Record the desktop"))
  }

  @Test func aReaderThatLeavesIsNoFailure() throws {
    // The reader has ended before the program writes.
    let result = try run(["bash", "-c", "exec 3> >(:); wait $!; \(recorder) record --help >&3; echo $?"])
    #expect(result.text == "0\n" && result.errorText == "")
  }

  @Test func aFullDiskIs() throws {
    let result = try run(["bash", "-c", "\(recorder) --help > /dev/full"])
    #expect(result.status == 74)
    #expect(result.errorText == "recorder: Standard output cannot be written: No space left on device.\n")
  }

  @Test func aMissingHalfOfTheProgramIsNamed() throws {
    let folder = try TemporaryFolder()
    try run(["cp", recorder, folder.file("recorder")])
    let result = try run([folder.file("recorder"), "record"])
    #expect(result.status == 69)
    #expect(result.errorText.hasPrefix("recorder: recorder-media cannot be started: No such file or directory."))
  }

  @Test(arguments: ["bin/recorder-media", "libexec/recorder/recorder-media"])
  func theOtherHalfIsFoundWhereItIsInstalled(place: String) throws {
    let folder = try TemporaryFolder()
    try run(["mkdir", "-p", folder.file("bin"), folder.file("libexec/recorder")])
    try run(["cp", recorder, folder.file("bin/recorder")])
    // A stand-in that shows its arguments, byte for byte.
    try run(["bash", "-c", "printf '#!/bin/sh\\nprintf \"%%s|\" \"$@\"\\n' > \(folder.file(place))"])
    try run(["chmod", "+x", folder.file(place)])
    let odd: [UInt8] = Array("-o".utf8) + [0x2F, 0x74, 0xFF, 0x0A, 0x20]
    let words = [folder.file("bin/recorder"), "frame", "last", "--at", "1"].map { Array($0.utf8) } + [odd]
    let result = try run([], rawArguments: words)
    #expect(result.status == 0 && result.errorText == "")
    #expect(result.output == Array("frame|last|--at|1|".utf8) + odd + Array("|".utf8))
  }

  /// The libraries that the dynamic linker loads for a command line, program handed over to included.
  private func libraries(_ words: [String]) throws -> String {
    let folder = try TemporaryFolder()
    try run(
      [recorder] + words,
      environment: [
        "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": folder.file("ld"), "RECORDER_ARCHIVE": folder.file("archive"),
      ])
    // One file a process id; an exec keeps the id and appends.
    return try run(["bash", "-c", "cat \(folder.file("ld")).*"]).text
  }

  @Test(arguments: [
    ["list"], ["show", "last"], ["search", "word"], ["tag", "last", "word"], ["index", "rebuild"], ["config", "list"],
  ])
  func whatNeedsNoMediaLoadsNoFFmpeg(words: [String]) throws {
    let loaded = try libraries(words)
    #expect(loaded.contains("libsqlite3") && !loaded.contains("libavformat") && !loaded.contains("libavcodec"))
    #expect(!loaded.contains("libpulse") && !loaded.contains("libxcb"))
  }

  @Test func theDesktopIsLookedAtWithoutFFmpegToo() throws {
    let loaded = try libraries(["sources", "--display", ":nowhere"])
    #expect(loaded.contains("libpulse") && !loaded.contains("libavformat"))
  }

  @Test func whatNeedsMediaDoes() throws {
    #expect(try libraries(["frame", "last", "--at", "1", "-o", "/nowhere/f.png"]).contains("libavformat"))
  }
}
