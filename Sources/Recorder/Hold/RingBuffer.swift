/// A queue of one thread at a time that grows as it must and then allocates no more: elements are added at its end, taken
/// from its beginning, and looked at anywhere.
struct RingBuffer<Element: ~Copyable>: ~Copyable {
  private var slots: UnsafeMutablePointer<Element>
  private var capacity: Int
  private var head = 0
  /// The elements in it.
  private(set) var count = 0

  /// Makes an empty one with room for `capacity` elements (at least 1) to begin with.
  init(capacity: Int = 16) {
    self.capacity = max(1, capacity)
    slots = .allocate(capacity: self.capacity)
  }

  deinit {
    for index in 0..<count { slot(index).deinitialize(count: 1) }
    slots.deallocate()
  }

  private func slot(_ index: Int) -> UnsafeMutablePointer<Element> {
    slots + (head + index < capacity ? head + index : head + index - capacity)
  }

  /// The element `index` places from the beginning, which must be there.
  subscript(index: Int) -> Element {
    _read {
      precondition(index >= 0 && index < count)
      yield slot(index).pointee
    }
    _modify {
      precondition(index >= 0 && index < count)
      yield &slot(index).pointee
    }
  }

  /// Adds `element` at the end.
  mutating func append(_ element: consuming Element) {
    if count == capacity { grow() }
    slot(count).initialize(to: element)
    count += 1
  }

  /// Takes the first element; nil when there is none.
  mutating func removeFirst() -> Element? {
    if count == 0 { return nil }
    let element = slots.advanced(by: head).move()
    head = head + 1 == capacity ? 0 : head + 1
    count -= 1
    return element
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    let end = min(count, capacity - head)
    larger.moveInitialize(from: slots + head, count: end)
    (larger + end).moveInitialize(from: slots, count: count - end)
    slots.deallocate()
    (slots, capacity, head) = (larger, capacity * 2, 0)
  }
}
