internal import Media
import SessionModel
import Synchronization

/// What was heard of the mix or of one input: all of it, and of a held capture each tenth of a second that is held, so that
/// a stretch can be measured when it is kept.
final class HeardSound: Sendable {
  private struct Content: ~Copyable {
    var all = SoundMeasure()
    var held = RingBuffer<SoundBlock>()
    /// The place of the first block that is held: the blocks before it, from the capture's epoch on.
    var first: Int64 = 0
    var isKept = false
  }

  /// `mix`, or the input's.
  let name: String
  private let content = Mutex(Content())

  init(_ name: String) { self.name = name }

  /// Adds the next block.
  /// - Parameter start: since when a held capture is held; nil when all is kept.
  func add(_ block: SoundBlock, heldSince start: Timestamp?) {
    content.withLock { content in
      guard let start, !content.isKept else { return content.all.add(block) }
      content.held.append(block)
      while content.first < start.nanoseconds / SoundBlock.length, content.held.removeFirst() != nil {
        content.first += 1
      }
    }
  }

  /// What was heard in what is held from `start` to `end`, to a tenth of a second.
  func measure(from start: Timestamp, to end: Timestamp) -> Manifest.Sound {
    content.withLock { content in
      var measure = SoundMeasure()
      Self.forEach(&content, from: start) { time, block in if time < end { measure.add(block) } }
      return measure.sound(name)
    }
  }

  /// Sums up all from `start` on, which is kept from now on.
  func keep(from start: Timestamp) {
    content.withLock { content in
      var measure = SoundMeasure()
      Self.forEach(&content, from: start) { _, block in measure.add(block) }
      content.all = measure
      content.held = RingBuffer()
      content.isKept = true
    }
  }

  /// What was heard of all that is kept.
  var all: Manifest.Sound { content.withLock { $0.all.sound(name) } }

  private static func forEach(
    _ content: inout Content, from start: Timestamp, _ body: (Timestamp, SoundBlock) -> Void
  ) {
    for index in 0..<content.held.count {
      let time = Timestamp(nanoseconds: (content.first + Int64(index)) * SoundBlock.length)
      if time >= start { body(time, content.held[index]) }
    }
  }
}
