import SessionModel
import Testing

@testable import Recorder

/// The ring of a held capture: what it gives up, where it can be cut, and what it counts.
@Suite struct CaptureRingTests {
  /// From 32 KiB on a packet has pages of its own.
  @Test(arguments: [(0, 512), (32_000, 32_512), (32_624, 32_768 + 512), (32_625, 36_864 + 512)])
  func aLargePacketCountsForWholePages(bytes: Int, cost: Int) { #expect(HoldRing.cost(ofPacket: bytes) == cost) }

  /// A packet by its stream, time in ms, size, and whether it is a keyframe.
  private struct Item: Hashable {
    let stream: Int
    let time: Int
    let bytes: Int
    let isKeyframe: Bool
  }

  private static func time(_ milliseconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// A ring, looked at by values that can be copied.
  private final class Rig {
    private var ring: CaptureRing<Item>
    var start: Timestamp? { ring.start }
    var bytes: Int { ring.bytes }
    var isShort: Bool { ring.isShort }
    func wishesKeyframe() -> Bool { ring.wishesKeyframe() }
    func cut(_ milliseconds: Int) -> Timestamp? { ring.cut(at: CaptureRingTests.time(milliseconds)) }
    func pin(_ milliseconds: Int) -> CaptureRing<Item>.Pin? { ring.pin(at: CaptureRingTests.time(milliseconds)) }
    func unpin(_ pin: CaptureRing<Item>.Pin) { ring.unpin(pin) }
    func hasSound(_ milliseconds: Int) -> Bool { ring.hasSound(to: CaptureRingTests.time(milliseconds)) }
    func takeAll() -> [Item] {
      var taken: [Item] = []
      while let item = ring.removeFirst() { taken.append(item.take()) }
      return taken
    }

    init(streams: Int = 2, span: Int, limit: Int) {
      ring = CaptureRing(streams: streams, span: Int64(span) * 1_000_000, limit: limit)
    }

    func add(_ item: Item) {
      let time = CaptureRingTests.time(item.time)
      ring.append(
        item, stream: item.stream, time: time, end: time + (item.stream == 0 ? 0 : 20_000_000),
        isKeyframe: item.isKeyframe, bytes: item.bytes)
    }

    /// A second of two streams: a keyframe, four pictures, five blocks of sound, which come 100 ms later.
    func addSecond(_ second: Int, keyframe: Int = 100, other: Int = 10, sound: Int = 4) {
      for part in 0..<5 {
        let time = second * 1000 + part * 200
        add(Item(stream: 0, time: time, bytes: part == 0 ? keyframe : other, isKeyframe: part == 0))
        if time >= 100 { add(Item(stream: 1, time: time - 100, bytes: sound, isKeyframe: true)) }
      }
    }

    /// All that is held between two times in ms, in its order.
    func held(from start: Int = 0, to end: Int = .max / 2_000_000) -> [Item] {
      var found: [Item] = []
      ring.forEach(from: CaptureRingTests.time(start), to: CaptureRingTests.time(end)) { stream, item in
        #expect(stream == item.stream)
        found.append(item)
      }
      return found
    }
  }

  @Test func wholeGroupsAreGivenUpWhenTheSpanIsHeldWithoutThem() {
    let rig = Rig(span: 3000, limit: 1_000_000)
    for second in 0..<4 { rig.addSecond(second) }
    #expect(rig.start == Self.time(0))
    // At 4.0 the second group alone reaches three seconds back.
    rig.add(Item(stream: 0, time: 3999, bytes: 10, isKeyframe: false))
    #expect(rig.start == Self.time(0))
    rig.addSecond(4)
    #expect(rig.start == Self.time(1000))
    let held = rig.held()
    #expect(held.allSatisfy { $0.time >= 1000 })
    #expect(held.first == Item(stream: 0, time: 1000, bytes: 100, isKeyframe: true))
    // 4 groups of pictures and one that has just been told, and the sound from 1.0 on.
    #expect(held.filter { $0.stream == 0 }.map(\.time) == [Int](stride(from: 1000, to: 5000, by: 200)).inserting(3999))
    #expect(held.filter { $0.stream == 1 }.map(\.time) == [Int](stride(from: 1100, to: 4800, by: 200)))
    #expect(held.map(\.time) == held.map(\.time).sorted())
    #expect(!rig.isShort)
    #expect(rig.bytes == held.reduce(0) { $0 + $1.bytes })
  }

  @Test func theBytesAreABoundAndShortenTheSpan() {
    let rig = Rig(span: 60_000, limit: 500)
    for second in 0..<20 {
      rig.addSecond(second)
      #expect(rig.bytes <= 500)
    }
    #expect(rig.isShort)
    #expect(rig.held().first?.isKeyframe == true)
    // A group counts 160 bytes: three of them fit.
    #expect(rig.start == Self.time(17_000))
  }

  @Test func aGroupLargerThanTheBoundIsNotKeptInPart() {
    let rig = Rig(span: 60_000, limit: 500)
    rig.addSecond(0, keyframe: 450, other: 60)
    #expect(rig.start == nil)
    // What cannot be decoded is left out, until a keyframe comes.
    rig.add(Item(stream: 0, time: 1100, bytes: 10, isKeyframe: false))
    #expect(!rig.held().contains { $0.stream == 0 })
    rig.addSecond(2)
    #expect(rig.held(from: 2000).first == Item(stream: 0, time: 2000, bytes: 100, isKeyframe: true))
    // Sound of before is given up with it; what came late may begin a little earlier.
    #expect(rig.held().allSatisfy { $0.time >= 1900 })
    #expect(rig.bytes == rig.held().reduce(0) { $0 + $1.bytes })
    #expect(rig.isShort)
  }

  @Test func aKeyframeIsWishedForOnceWhenTheGroupGrowsLarge() {
    let rig = Rig(span: 60_000, limit: 800)
    rig.add(Item(stream: 0, time: 0, bytes: 300, isKeyframe: true))
    #expect(!rig.wishesKeyframe())
    rig.add(Item(stream: 0, time: 100, bytes: 101, isKeyframe: false))
    #expect(rig.wishesKeyframe())
    rig.add(Item(stream: 0, time: 200, bytes: 101, isKeyframe: false))
    #expect(!rig.wishesKeyframe())
    rig.add(Item(stream: 0, time: 300, bytes: 250, isKeyframe: true))
    #expect(!rig.wishesKeyframe())
  }

  @Test(arguments: [(0, 0), (999, 0), (1000, 1000), (1001, 1000), (2999, 2000), (99_000, 2000)])
  func aCutIsTheKeyframeAtOrBeforeATime(time: Int, cut: Int) {
    let rig = Rig(span: 60_000, limit: 1_000_000)
    #expect(rig.cut(time) == nil)
    for second in 0..<3 { rig.addSecond(second) }
    #expect(rig.cut(time) == Self.time(cut))
  }

  @Test func aSpanHasAllStreamsInOrderUpToItsEnd() {
    let rig = Rig(streams: 3, span: 60_000, limit: 1_000_000)
    for second in 0..<3 { rig.addSecond(second) }
    rig.add(Item(stream: 2, time: 1500, bytes: 1, isKeyframe: true))
    #expect(rig.held(from: 1000, to: 1600).map(\.time) == [1000, 1100, 1200, 1300, 1400, 1500, 1500, 1600])
    #expect(rig.hasSound(1520))
    #expect(!rig.hasSound(1521))
  }

  @Test func whatIsPinnedStaysAndIsTakenOutInOrder() throws {
    let rig = Rig(span: 3000, limit: 500)
    for second in 0..<2 { rig.addSecond(second) }
    let pin = try #require(rig.pin(1200))
    #expect(pin.start == Self.time(1000))
    for second in 2..<4 { rig.addSecond(second) }
    let second = try #require(rig.pin(3000))
    for second in 4..<10 { rig.addSecond(second) }
    #expect(rig.start == Self.time(1000))
    rig.unpin(pin)
    #expect(rig.start == second.start && second.start == Self.time(3000))
    let held = rig.held()
    #expect(rig.takeAll() == held)
    // Nothing is left that could be cut.
    #expect(rig.start == nil && rig.cut(5000) == nil)
    #expect(rig.bytes == 0)
  }

  @Test func randomPacketsAreHeldAsByTheRule() {
    var generator = SystemRandomNumberGenerator()
    for round in 0..<60 {
      let (span, limit) = (Int.random(in: 100...5000), Int.random(in: 300...5000))
      let rig = Rig(streams: 3, span: span, limit: limit)
      // The rule as a list: while there are two groups, the first goes when the span is held without it or the bytes
      // are too many; one alone that is too large goes whole.
      var (list, clocks, newest) = ([Item](), [0, 0, 0], 0)
      for _ in 0..<400 {
        let stream = Int.random(in: 0..<3, using: &generator)
        clocks[stream] += Int.random(in: 1...60, using: &generator)
        let item = Item(
          stream: stream, time: clocks[stream], bytes: Int.random(in: 1...120, using: &generator),
          isKeyframe: stream > 0 || Int.random(in: 0..<6, using: &generator) == 0)
        rig.add(item)
        newest = max(newest, item.time)
        if stream == 0, item.isKeyframe, !list.contains(where: { $0.stream == 0 }) {
          list.removeAll { $0.time < item.time }
        }
        let isDecodable = stream > 0 || item.isKeyframe || list.contains { $0.stream == 0 }
        if isDecodable { list.append(item) }
        func keyframes() -> [Int] { list.filter { $0.stream == 0 && $0.isKeyframe }.map(\.time) }
        func bytes() -> Int { list.reduce(0) { $0 + $1.bytes } }
        while keyframes().count > 1, newest - keyframes()[1] >= span || bytes() > limit {
          let next = keyframes()[1]
          list.removeAll { $0.time < next }
        }
        if isDecodable, bytes() > limit { list = [] }
        #expect(rig.bytes == bytes(), "round \(round)")
        #expect(rig.start == keyframes().first.map(Self.time))
      }
      let order = list.sorted { ($0.time, $0.stream) < ($1.time, $1.stream) }
      #expect(Set(rig.held()) == Set(order))
      #expect(rig.held().map(\.time) == order.map(\.time))
      for _ in 0..<10 {
        let time = Int.random(in: 0...newest, using: &generator)
        let keyframes = list.filter { $0.stream == 0 && $0.isKeyframe }.map(\.time)
        let expected = keyframes.last { $0 <= time } ?? keyframes.first
        #expect(rig.cut(time) == expected.map(Self.time))
      }
    }
  }
}

extension [Int] {
  fileprivate func inserting(_ value: Int) -> [Int] { (self + [value]).sorted() }
}
