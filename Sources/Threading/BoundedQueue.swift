import Glibc

/// A queue of at most `capacity` elements between threads: the one place where the data plane waits, and the one lock of
/// a hand-over. Elements may be noncopyable; storage is allocated once.
///
/// Safety (`@unchecked Sendable`): everything mutable is touched only between `pthread_mutex_lock` and `unlock`; the
/// mutex and the conditions live at a fixed address until `deinit`, which no thread can overlap. An element is either
/// `Sendable` or a noncopyable sole owner of what it points to: pushing it gives it away whole.
package final class BoundedQueue<Element: ~Copyable>: @unchecked Sendable {
  /// What a timed `pop` found.
  package enum Popped: ~Copyable {
    /// The next element.
    case element(Element)
    /// Nothing came until the deadline.
    case timedOut
    /// The queue was closed and is empty.
    case closed
  }

  /// Which element is taken next.
  package enum Order: Sendable {
    /// The one that waits longest: the order of what flows.
    case oldestFirst
    /// The one that was pushed last: what a pool gives out again is in the cache still, and what is never needed is never
    /// touched.
    case newestFirst
  }

  /// The most elements it holds.
  package let capacity: Int
  private let order: Order
  private let slots: UnsafeMutablePointer<Element>
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let notEmpty: UnsafeMutablePointer<pthread_cond_t>
  private let notFull: UnsafeMutablePointer<pthread_cond_t>
  private var head = 0
  private var filled = 0
  private var closed = false
  private var interrupted = false

  /// Makes an empty queue that holds at most `capacity` elements (at least 1).
  package init(capacity: Int, order: Order = .oldestFirst) {
    (self.capacity, self.order) = (max(1, capacity), order)
    slots = .allocate(capacity: self.capacity)
    mutex = .allocate(capacity: 1)
    notEmpty = .allocate(capacity: 1)
    notFull = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    // Deadlines are of CLOCK_MONOTONIC: the default would jump with the wall clock.
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(notEmpty, &attributes)
    pthread_cond_init(notFull, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    for index in 0..<filled { (slots + (head + index) % capacity).deinitialize(count: 1) }
    slots.deallocate()
    pthread_cond_destroy(notEmpty)
    pthread_cond_destroy(notFull)
    pthread_mutex_destroy(mutex)
    notEmpty.deallocate()
    notFull.deallocate()
    mutex.deallocate()
  }

  /// Elements waiting now.
  package var count: Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return filled
  }

  /// Appends `element`, waiting while the queue is full.
  /// - Returns: false when the queue was closed; the element is then dropped.
  package func push(_ element: consuming Element) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while filled == capacity && !closed { pthread_cond_wait(notFull, mutex) }
    if closed { return false }
    append(element)
    return true
  }

  /// Appends `element` if there is room, never waiting.
  /// - Returns: the element when the queue is full or closed, nil when it was taken.
  package func tryPush(_ element: consuming Element) -> Element? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    if closed || filled == capacity { return element }
    append(element)
    return nil
  }

  /// Takes the next element, waiting for one.
  /// - Returns: nil when the queue was closed and is empty.
  package func pop() -> Element? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while filled == 0 && !closed { pthread_cond_wait(notEmpty, mutex) }
    return filled == 0 ? nil : removeNext()
  }

  /// Takes the next element if there is one, never waiting.
  package func tryPop() -> Element? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return filled == 0 ? nil : removeNext()
  }

  /// Takes the next element, waiting for one until `deadline` (ns of `CLOCK_MONOTONIC`).
  package func pop(until deadline: Int64) -> Popped {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var time = timespec(nanoseconds: max(0, deadline))
    while filled == 0 && !closed && !interrupted {
      if pthread_cond_timedwait(notEmpty, mutex, &time) == ETIMEDOUT { break }
    }
    interrupted = false
    if filled > 0 { return .element(removeNext()) }
    return closed ? .closed : .timedOut
  }

  /// Has the timed `pop` that waits for an element, or the next one, return at once.
  package func interrupt() {
    pthread_mutex_lock(mutex)
    interrupted = true
    pthread_cond_broadcast(notEmpty)
    pthread_mutex_unlock(mutex)
  }

  /// Ends the queue: waiting pushes return false, pops drain what is there and then return nil.
  package func close() {
    pthread_mutex_lock(mutex)
    closed = true
    pthread_cond_broadcast(notEmpty)
    pthread_cond_broadcast(notFull)
    pthread_mutex_unlock(mutex)
  }

  private func append(_ element: consuming Element) {
    (slots + (head + filled) % capacity).initialize(to: element)
    filled += 1
    pthread_cond_signal(notEmpty)
  }

  private func removeNext() -> Element {
    filled -= 1
    pthread_cond_signal(notFull)
    if order == .newestFirst { return (slots + (head + filled) % capacity).move() }
    let element = (slots + head).move()
    head = (head + 1) % capacity
    return element
  }
}
