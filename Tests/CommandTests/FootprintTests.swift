import Glibc
import SessionModel
import TestSupport
import Testing

/// Where a recording leaves what it makes, and what it takes with it.
@Suite struct FootprintTests {
  /// The limiter's library brings 30 others, which are half of what the loader has to do.
  @Test(arguments: [false, true]) func whatOnlySoundNeedsIsLoadedForSoundAlone(hasSound: Bool) throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "160x120"), environment: server.environment)
    let recording = try rig.record(hasSound ? ["--app-audio"] : [])
    let maps = String(decoding: try readFile("/proc/\(recording.process.pid)/maps"), as: UTF8.self)
    recording.process.signal(SIGINT)
    #expect(try recording.process.wait().status == 0)
    let files = maps.split(separator: "\n").compactMap { $0.split(separator: "/").last }
    let libraries = Set(files.filter { $0.contains(".so.") })
    #expect(libraries.contains { $0.hasPrefix("libavcodec.so.") })
    #expect(libraries.contains { $0.hasPrefix("libavfilter.so.") } == hasSound, "\(libraries.count)")
  }

  /// Case S03: all is made in the archive and in the folder of the control sockets, for its owner alone, and through no link;
  /// nothing lies where another user could have put something before.
  @Test func nothingIsMadeOutsideItsFolders() throws {
    let server = try SoundServer()
    let rig = try RecorderRig(display: VirtualDisplay(size: "160x120"), environment: server.environment)
    let trace = rig.folder.file("trace")
    let calls = "open,openat,creat,mkdir,mkdirat,link,linkat,symlink,symlinkat,mknod,mknodat,rename,renameat,renameat2"
    let result = try run(
      [
        "strace", "-f", "-y", "-qq", "-o", trace, "-e", "trace=\(calls)", builtProgram("recorder"), "record",
        "--app-audio", "--duration", "500ms",
      ], environment: rig.environment)
    #expect(result.status == 0, "\(result.errorText)")
    var made = 0
    for line in String(decoding: try readFile(trace), as: UTF8.self).split(separator: "\n") {
      let isFolder = line.contains("mkdir")
      let isMade = isFolder || line.contains("O_CREAT") || line.contains("link") || line.contains("mknod")
      guard isMade || line.contains("rename"), !line.contains(" = -1 "), !line.contains("readlink") else { continue }
      // libpulse keeps its cookie where the user's own configuration is, and makes that folder.
      if line.contains("\(rig.folder.path)/config") { continue }
      made += 1
      // openat(3</folder>, "name", …: the folder counts unless the name is a whole path.
      let name = line.split(separator: "\"").dropFirst().first ?? ""
      let folder = line.split(separator: "<").dropFirst().first?.prefix { $0 != ">" } ?? ""
      let path = name.hasPrefix("/") ? String(name) : "\(folder)/\(name)"
      #expect(
        path.hasPrefix("\(rig.archive)/") || path.hasPrefix("\(rig.folder.path)/recorder") || path == rig.archive,
        "\(line)")
      if line.contains("rename") { continue }
      #expect(line.contains(isFolder ? ", 0700)" : ", 0600)"), "\(line)")
      #expect(isFolder || line.contains("O_NOFOLLOW"), "\(line)")
    }
    #expect(made > 20)
  }
}
