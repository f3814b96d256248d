import Glibc
import TestSupport
import Testing

@testable import Capture

/// The memory of blocks, of which a recording makes hundreds before it needs any.
@Suite(.serialized) struct AudioBlockTests {
  /// Bytes of this process that are in memory.
  private func resident() throws -> Int {
    let fields = String(decoding: try readFile("/proc/self/statm"), as: UTF8.self).split(separator: " ")
    return try #require(Int(fields[1])) * sysconf(Int32(_SC_PAGESIZE))
  }

  @Test func aBlockThatHeldNoSoundTakesNoMemoryForIt() throws {
    let (count, before) = (4000, try resident())
    let blocks = UnsafeMutablePointer<AudioBlock>.allocate(capacity: count)
    for index in 0..<count { (blocks + index).initialize(to: AudioBlock()) }
    let taken = try resident() - before
    blocks.deinitialize(count: count)
    blocks.deallocate()
    // All that they have room for is 65 MB; a page each is what the allocator's own note takes.
    #expect(taken < count * AudioBlock.capacity * MemoryLayout<Float>.size / 2, "\(taken) bytes")
  }
}
