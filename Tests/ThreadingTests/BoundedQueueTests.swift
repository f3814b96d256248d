import Synchronization
import TestSupport
import Testing
import Threading

struct BoundedQueueTests {
  @Test func keepsOrderAndRefusesBeyondCapacity() {
    let queue = BoundedQueue<Int>(capacity: 3)
    #expect(queue.tryPush(1) == nil)
    #expect(queue.tryPush(2) == nil)
    #expect(queue.tryPush(3) == nil)
    #expect(queue.tryPush(4) == 4)
    #expect(queue.pop() == 1)
    #expect(queue.tryPush(5) == nil)
    #expect([queue.tryPop(), queue.tryPop(), queue.tryPop(), queue.tryPop()] == [2, 3, 5, nil])
  }

  @Test func aPoolGivesOutWhatCameBackLast() {
    let pool = BoundedQueue<Int>(capacity: 3, order: .newestFirst)
    for number in 1...3 { #expect(pool.tryPush(number) == nil) }
    #expect([pool.tryPop(), pool.tryPop()] == [3, 2])
    #expect(pool.tryPush(2) == nil)
    #expect(pool.tryPush(4) == nil)
    #expect(pool.tryPush(5) == 5)
    #expect([pool.tryPop(), pool.tryPop(), pool.tryPop(), pool.tryPop()] == [4, 2, 1, nil])
  }

  @Test func closingDrainsThenEnds() {
    let queue = BoundedQueue<Int>(capacity: 2)
    #expect(queue.push(1))
    queue.close()
    #expect(!queue.push(2))
    #expect(queue.tryPush(3) == 3)
    #expect(queue.pop() == 1)
    #expect(queue.pop() == nil)
    if case .closed = queue.pop(until: .max) {} else { Issue.record("a closed queue was not reported") }
  }

  @Test func deadlineInThePastTimesOut() {
    let queue = BoundedQueue<Int>(capacity: 1)
    if case .timedOut = queue.pop(until: 0) {} else { Issue.record("no time-out") }
  }

  @Test func handsEverythingBetweenThreads() throws {
    let queue = BoundedQueue<Int>(capacity: 4)
    let sum = Atomic<Int>(0)
    let consumer = try WorkerThread(name: "consumer") {
      while let value = queue.pop() { sum.add(value, ordering: .relaxed) }
    }
    let producers = try (0..<3).map { _ in
      try WorkerThread(name: "producer") { for value in 1...1000 { _ = queue.push(value) } }
    }
    producers.forEach { $0.join() }
    queue.close()
    consumer.join()
    #expect(sum.load(ordering: .relaxed) == 3 * 500_500)
  }

  /// A noncopyable element that counts how often it was destroyed.
  struct Owned: ~Copyable {
    let counter: Counter
    deinit { counter.value.add(1, ordering: .relaxed) }
  }
  final class Counter: Sendable { let value = Atomic<Int>(0) }

  @Test func destroysWhatIsLeftExactlyOnce() {
    let counter = Counter()
    do {
      let queue = BoundedQueue<Owned>(capacity: 4)
      for _ in 0..<4 {
        let pushed = queue.push(Owned(counter: counter))
        #expect(pushed)
      }
      _ = queue.pop()
      #expect(counter.value.load(ordering: .relaxed) == 1)
    }
    #expect(counter.value.load(ordering: .relaxed) == 4)
  }
}
