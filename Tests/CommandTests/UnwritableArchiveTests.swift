import Glibc
import SessionModel
import TestSupport
import Testing

/// Archives on a full disk and on one that may only be read, in a mount namespace of the test's own.
@Suite struct UnwritableArchiveTests {
  let rig: RecorderRig
  let archive: ArchiveCommandTests

  init() throws {
    rig = try RecorderRig()
    archive = try ArchiveCommandTests(rig: rig)
  }

  /// Runs `script` where `$A` is the archive and `$R` the program, and mounting is allowed.
  func inOwnNamespace(_ script: String) throws -> ChildProcess.Result {
    try run(
      ["unshare", "-rm", "sh", "-c", script],
      environment: rig.environment.merging(["A": rig.archive, "R": builtProgram("recorder")]) { _, new in new })
  }

  @Test(arguments: [true, false]) func whatMayOnlyBeReadIsListedAndSearched(hasIndex: Bool) throws {
    let id = try archive.add("20261130T021533Z-aaaa", title: "Call", window: archive.window("Invoice"))
    let killed = try archive.add("20261130T031533Z-bbbb", isKilled: true)
    let before = try readFile("\(rig.session(killed))/manifest.json")
    if hasIndex { #expect(try rig.run(["list"]).status == 0) }
    let after = try readFile("\(rig.session(killed))/manifest.json")
    #expect((before == after) == !hasIndex)
    let result = try inOwnNamespace(
      "mount --bind $A $A && mount -o remount,ro,bind $A && $R list --json && $R search invoice && $R show last && $R list"
    )
    #expect(result.status == 0, "\(result.errorText)")
    #expect(result.text.contains("recorder replay \(id) --at 0:02.200"))
    #expect(result.text.contains("20261130T031533Z-bbbb  2026-11-30 04:15:33  0:09.000  interrupted"))
    #expect(try readFile("\(rig.session(killed))/manifest.json") == after)
    let tag = try inOwnNamespace("mount --bind $A $A && mount -o remount,ro,bind $A && $R tag last x")
    #expect(tag.status == ExitCode.cannotCreate.rawValue)
    #expect(tag.errorText.contains("Read-only file system"))
  }

  @Test func aFullDiskKeepsNothingFromBeingFound() throws {
    let killed = try archive.add("20261130T031533Z-bbbb", window: archive.window("Invoice"), isKilled: true)
    let result = try inOwnNamespace(
      """
      rm $A/sessions/*/*/*/*/reserve && mkdir $A/../full && mount -t tmpfs -o size=96k tmpfs $A/../full && cp -a $A/. $A/../full || exit 9
      export RECORDER_ARCHIVE=$A/../full
      head -c 200000 /dev/zero > $RECORDER_ARCHIVE/filler 2>/dev/null
      $R list && $R search invoice && echo full: && $R tag last x; echo $?; $R index rebuild; echo $?
      rm $RECORDER_ARCHIVE/filler; mount -o remount,size=9m $RECORDER_ARCHIVE
      $R list && $R search invoice && $R tag last x; echo $?
      """)
    #expect(result.status == 0, "\(result.errorText)")
    let parts = result.text.split(separator: "full:\n").map(String.init)
    #expect(parts.count == 2)
    #expect(parts[0].contains("0:09.000  interrupted") && parts[0].contains("replay \(killed) --at 0:02.200"))
    #expect(parts[1].hasPrefix("74\n74\n"), "\(parts[1])")
    #expect(parts[1].contains("0:09.000  interrupted") && parts[1].contains("replay \(killed) --at 0:02.200"))
    #expect(parts[1].hasSuffix("\n0\n"))
    #expect(result.errorText.contains("cannot be written: "))
    #expect(result.errorText.contains("was interrupted; it is closed now"))
  }

  /// What the disk takes of a line before it is full is taken back: the next line stands alone.
  @Test func halfALineIsTakenBack() throws {
    let id = try archive.add("20261130T031533Z-bbbb")
    #expect(try rig.run(["note", "last", "first"]).status == 0)
    let result = try inOwnNamespace(
      """
      rm $A/sessions/*/*/*/*/reserve && mkdir $A/../full && mount -t tmpfs -o size=160k tmpfs $A/../full && cp -a $A/. $A/../full || exit 9
      export RECORDER_ARCHIVE=$A/../full
      : > $RECORDER_ARCHIVE/pending/\(id)
      head -c 200000 /dev/zero > $RECORDER_ARCHIVE/filler 2>/dev/null
      long=$(head -c 20000 /dev/zero | tr '\\0' x)
      strace -f -qq -o $A/../trace -e trace=write,ftruncate $R note last $long; echo $?
      cat $RECORDER_ARCHIVE/sessions/*/*/*/*/annotations.ndjson
      """)
    let trace = String(decoding: try readFile(rig.folder.file("trace")), as: UTF8.self)
    #expect(
      trace.split(separator: "\n").contains { $0.contains("write(") && $0.contains("added") && !$0.contains("ENOSPC") })
    let lines = result.lines
    #expect(lines.count == 2 && lines[0] == "74" && lines[1].contains("\"first\""), "\(result.text.prefix(300))")
  }

  @Test func whatIsAnothersIsRefused() throws {
    try archive.add("20261130T021533Z-aaaa")
    try #require(chmod(rig.folder.path, 0o755) == 0)
    // A user with no name, as far as the archive is concerned.
    let result = try run(
      ["setpriv", "--reuid=65534", "--clear-groups", builtProgram("recorder"), "list"], environment: rig.environment)
    // Only root can become another.
    if geteuid() == 0 {
      #expect(result.status == ExitCode.permission.rawValue, "\(result.errorText)")
      #expect(result.errorText.hasPrefix("recorder: \(rig.archive) cannot be read: Permission denied."))
    }
  }
}
