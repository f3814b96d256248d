import Control
import Glibc
import SessionModel
import TestSupport
import Testing

/// Where control sockets are, and what is refused there (case S08).
@Suite struct RuntimeFolderTests {
  private func open(
    _ runtime: String?, _ folder: TemporaryFolder, creating: Bool = true
  ) throws(RecorderError) -> RuntimeFolder? {
    let environment = runtime.map { ["XDG_RUNTIME_DIR": $0] } ?? [:]
    return try RuntimeFolder.open(environment, archive: folder.file("a/b"), creating: creating)
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  @Test func itIsMadeForItsOwnerAlone() throws {
    let folder = try TemporaryFolder()
    #expect(try open(folder.path, folder, creating: false) == nil)
    #expect(try open(folder.path, folder)?.path == folder.file("recorder"))
    #expect(mode(folder.file("recorder")) == 0o700)
    #expect(try open(folder.path, folder, creating: false) != nil)
  }

  @Test func withoutARuntimeFolderItIsInTheArchive() throws {
    let folder = try TemporaryFolder()
    for runtime in [nil, "", "relative", folder.file("missing")] {
      #expect(try open(runtime, folder)?.path == folder.file("a/b/run"))
    }
    #expect(mode(folder.file("a/b/run")) == 0o700)
  }

  @Test func aRuntimeFolderThatOthersCanWriteIsNotUsed() throws {
    let folder = try TemporaryFolder()
    let shared = folder.file("shared")
    #expect(mkdir(shared, 0o700) == 0 && chmod(shared, 0o777) == 0)
    #expect(try open(shared, folder)?.path == folder.file("a/b/run"))
    #expect(mode("\(shared)/recorder") == 0)
  }

  @Test func aFolderOpenToOthersIsRefused() throws {
    let folder = try TemporaryFolder()
    #expect(mkdir(folder.file("recorder"), 0o700) == 0 && chmod(folder.file("recorder"), 0o750) == 0)
    let error = #expect(throws: RecorderError.self) { try open(folder.path, folder) }
    #expect(error?.code == .permission)
    #expect(error?.message.contains("open to others") == true)
  }

  @Test func aLinkInItsPlaceIsRefused() throws {
    let folder = try TemporaryFolder()
    #expect(mkdir(folder.file("elsewhere"), 0o700) == 0)
    #expect(symlink(folder.file("elsewhere"), folder.file("recorder")) == 0)
    let error = #expect(throws: RecorderError.self) { try open(folder.path, folder) }
    #expect(error?.code == .permission)
    #expect(error?.message.contains("symbolic link") == true)
  }

  @Test func anothersFolderIsRefused() throws {
    let folder = try TemporaryFolder()
    try #require(geteuid() == 0, "the tests run as root, who can give folders away")
    #expect(mkdir(folder.file("recorder"), 0o700) == 0 && chown(folder.file("recorder"), 65534, 65534) == 0)
    let error = #expect(throws: RecorderError.self) { try open(folder.path, folder) }
    #expect(error?.code == .permission)
    #expect(error?.message.contains("another user") == true)
  }

  @Test(arguments: ["", ".", "..", "a/b", "1a", "a b", "é", "a\u{0}", String(repeating: "a", count: 65), "-a"])
  func namesThatCannotBe(name: String) {
    let error = #expect(throws: RecorderError.self) { try InstanceName(parsing: name) }
    #expect(error?.code == .usage)
  }

  private static func isFree(_ name: InstanceName, _ folder: RuntimeFolder) throws -> Bool {
    switch try InstanceClaim.claim(name, in: folder) {
    case .some: true
    case nil: false
    }
  }

  @Test func aNameIsClaimedOnce() throws {
    let folder = try TemporaryFolder()
    let runtime = try #require(try open(folder.path, folder))
    let name = try InstanceName(parsing: "demo")
    do {
      let claim = try InstanceClaim.claim(name, in: runtime)
      #expect(try Self.isFree(name, runtime) == false)
      withExtendedLifetime(claim) {}
    }
    #expect(try Self.isFree(name, runtime))
    #expect(try run(["ls", "-A", runtime.path]).text == "")
  }
}
