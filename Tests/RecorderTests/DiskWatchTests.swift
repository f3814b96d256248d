import SessionModel
import Testing

@testable import Recorder

@Suite struct DiskWatchTests {
  private static let gigabyte: Int64 = 1_000_000_000

  /// With the marks at 1 GB and 50 MB.
  @Test func aDiskIsLookedAtTheSoonerTheLessRoomItHas() {
    let watch = DiskWatch(StorageOptions())
    #expect(watch.patience(with: 21 * Self.gigabyte) == 20_000_000_000)
    #expect(watch.patience(with: 2 * Self.gigabyte) == 1_000_000_000)
    #expect(watch.patience(with: Self.gigabyte + 1) == 1)
    // Past the first mark the second counts.
    #expect(watch.patience(with: Self.gigabyte) == 950_000_000)
    #expect(watch.patience(with: 0) < 0)
  }

  @Test func littleRoomIsToldOnceAndTooLittleIsAnError() throws {
    var watch = DiskWatch(StorageOptions())
    #expect(try watch.look(at: 2 * Self.gigabyte) == nil)
    #expect(try watch.look(at: 900_000_000) == "The disk has 900 MB left; the recording ends at 50 MB.")
    #expect(try watch.look(at: 800_000_000) == nil)
    // A tenth more than the mark is room again.
    #expect(try watch.look(at: 1_100_000_000) == nil)
    #expect(try watch.look(at: 999_000_000) != nil)
    #expect(throws: RecorderError.self) { try watch.look(at: 49_000_000) }
  }
}
