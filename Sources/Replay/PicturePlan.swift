import Media
import SessionModel

/// Which of a file's picture packets go, and what that means for the others; each by its number in the file, from 0.
struct PicturePlan {
  /// Those that go.
  let taken: Range<Int>
  /// Those after them that cannot be decoded without them: up to the next keyframe.
  let encoded: Range<Int>
  /// What is to be decoded to have the pictures of those.
  let decoded: Range<Int>
  /// Whether none comes after those that go.
  let isAtEnd: Bool
  /// The times of all keyframes.
  let keyframes: Set<Timestamp>
  /// The times of what goes.
  private let stretch: Range<Timestamp>

  /// Reads the packets of the first stream of a file.
  /// - Parameters:
  ///   - fileDescriptor: open for reading and seekable; owned from now on, also when this throws.
  ///   - stretch: the file's times of the pictures that go.
  /// - Throws: `RecorderError` (damagedData) when the file cannot be read.
  init(_ fileDescriptor: Int32, taking stretch: Range<Timestamp>) throws(RecorderError) {
    var reader = try ContainerReader(fileDescriptor: fileDescriptor, isGapless: false)
    guard reader.streams.first?.kind == .video else {
      throw RecorderError(.damagedData, "The first stream of a media file is no picture.")
    }
    var (times, keys) = ([Timestamp](), [Int]())
    while let packet = try reader.next() {
      guard packet.stream == 0 else { continue }
      if packet.isKeyframe { keys.append(times.count) }
      times.append(packet.pts)
    }
    let first = times.firstIndex { $0 >= stretch.lowerBound } ?? times.count
    let next = times[first...].firstIndex { $0 >= stretch.upperBound } ?? times.count
    let nextKey = first < next ? keys.first { $0 >= next } ?? times.count : next
    taken = first..<next
    encoded = next..<nextKey
    decoded = encoded.isEmpty ? encoded : (keys.last { $0 <= next } ?? 0)..<nextKey
    isAtEnd = next == times.count
    keyframes = Set(keys.map { times[$0] })
    self.stretch = stretch
  }

  /// Whether the picture of `time`, decoded, is encoded again.
  /// - Parameter isWhole: whether all that stay are; else those that came before what goes are copied.
  func keeps(_ time: Timestamp, isWhole: Bool) -> Bool {
    time >= stretch.upperBound || (isWhole && time < stretch.lowerBound)
  }
}
