import Capture
import Glibc
import SessionModel
import TestSupport
import Testing

/// Memory that is not shared is noticed, whatever the server says of it; the picture is the same.
@Suite struct SharedMemoryTests {
  private func check(_ display: VirtualDisplay, through name: String? = nil, isShared: Bool = false) throws {
    let client = try PatternClient(on: display, ["bars"])
    var grabber = try Grabber(.display, on: display, through: name)
    #expect(grabber.source.usesSharedMemory == isShared)
    let picture = try grabber.next("the bars") { _ in true }
    let bars = (0..<320 * 200).map { PatternLayout.bars[$0 % 320 / 40] }
    #expect(picture.pixels == bars)
    try client.tell("rect 123456 3x3+7+9")
    #expect(try grabber.next("the change") { $0[7, 9] == 0x123456 }.pixels.count { $0 == 0x123456 } == 9)
  }

  @Test func itIsUsedWhereItWorks() throws { try check(VirtualDisplay(size: "320x200"), isShared: true) }

  /// Case X20.
  @Test func aServerWithoutItSendsPictures() throws {
    try check(VirtualDisplay(size: "320x200", arguments: ["-extension", "MIT-SHM"]))
  }

  /// Case X20: as in a container of its own.
  @Test func aServerInAnotherNamespaceSendsPictures() throws {
    let display = try VirtualDisplay(size: "320x200", through: ["unshare", "-i"])
    try check(display)
    let finding = try #require(DisplayCheckup.findings(display: display.name).first { $0.subject == "MIT-SHM" })
    #expect(finding.state == .note && finding.text.contains("another IPC namespace"))
    #expect(finding.remedy?.contains("--ipc=host") == true)
  }

  /// Case X19: as over `ssh -X`: it is advertised, the attach succeeds, and the segment is one of another machine.
  @Test func aServerThatAttachesAnotherSegmentSendsPictures() throws {
    let number = shmget(IPC_PRIVATE, 1, IPC_CREAT | 0o600)
    shmctl(number, IPC_RMID, nil)
    // Numbers are given in turn: those after this one are made there, too.
    let script = """
      import ctypes, os, sys
      libc, number = ctypes.CDLL(None), -1
      while number < \(number):
          number = libc.shmget(0, 4096, 0o1600)
          libc.shmctl(number, 0, None)
      for _ in range(400): libc.shmget(0, 1 << 20, 0o1666)
      os.execvp(sys.argv[1], sys.argv[1:])
      """
    let display = try VirtualDisplay(
      size: "320x200", through: ["unshare", "-i", "/usr/bin/python3", "-c", script])
    let finding = try #require(DisplayCheckup.findings(display: display.name).first { $0.subject == "MIT-SHM" })
    #expect(finding.state == .note && finding.text.contains("its own machine"), "\(finding)")
    try check(display)
  }

  @Test func aDisplayOverTheNetworkSendsPictures() throws {
    let display = try VirtualDisplay(size: "320x200", arguments: ["-listen", "tcp"])
    try check(display, through: "127.0.0.1\(display.name)")
  }
}
