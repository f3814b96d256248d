package import SessionModel

/// What a stream of a media file holds, found by reading its packets without decoding them.
package struct StreamExtent: Hashable, Sendable {
  /// The first packet's time.
  package var first: Timestamp
  /// The last packet's time.
  package var last: Timestamp
  /// Where the last packet ends; `last` when its duration is not known.
  package var end: Timestamp
  /// Packets in all.
  package var packets: Int

  /// Makes an extent.
  package init(first: Timestamp, last: Timestamp, end: Timestamp, packets: Int) {
    (self.first, self.last, self.end, self.packets) = (first, last, end, packets)
  }
}

extension ContainerReader {
  /// Reads the rest of the file: what each stream holds; nil for one that has no packet.
  /// - Throws: `RecorderError` (systemCall) when the disk fails.
  package mutating func extents() throws(RecorderError) -> [StreamExtent?] {
    var extents: [StreamExtent?] = Array(repeating: nil, count: streams.count)
    while let packet = try next() {
      let end = packet.pts + max(0, packet.duration)
      if let known = extents[packet.stream] {
        extents[packet.stream] = StreamExtent(
          first: min(known.first, packet.pts), last: max(known.last, packet.pts), end: max(known.end, end),
          packets: known.packets + 1)
      } else {
        extents[packet.stream] = StreamExtent(first: packet.pts, last: packet.pts, end: end, packets: 1)
      }
    }
    return extents
  }
}
