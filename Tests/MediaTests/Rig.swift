import Glibc
import Media
import SessionModel
import TestSupport
import Testing

/// Opens or makes the file that a writer or reader takes over.
func openFile(_ path: String, _ flags: Int32) throws -> Int32 {
  let descriptor = open(path, flags | O_CLOEXEC, 0o600)
  try #require(descriptor >= 0, "\(path): \(String(cString: strerror(errno)))")
  return descriptor
}

/// One picture of a recording.
struct Shot {
  var screen: Screen
  var milliseconds: Int64
  var keyframe = false
  var time: Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }
}

/// A recording of `count` pictures of 64x48 pixels at 10 a second, a keyframe every 20.
func noisyShots(_ count: Int) -> [Shot] {
  var shots: [Shot] = []
  for index in 0..<count {
    let screen = Screen.noise(PixelSize(width: 64, height: 48), seed: UInt32(index / 5 + 1))
    shots.append(Shot(screen: screen, milliseconds: Int64(index) * 100, keyframe: index % 20 == 0))
  }
  return shots
}

/// What one packet of a file said.
struct PacketFacts: Hashable {
  /// What the container must keep; the bytes it frames anew.
  struct Label: Hashable {
    var stream: Int
    var time: Timestamp
    var keyframe: Bool
  }

  var label: Label
  var bytes: [UInt8]
  var time: Timestamp { label.time }
  var keyframe: Bool { label.keyframe }
}

/// Encodes `shots` as a recording does and writes them to `path`, the first one a keyframe.
/// - Returns: the labels of the packets, as the encoder gave them.
@discardableResult
func record(
  _ shots: [Shot], options: VideoOptions = VideoOptions(), picture: PixelSize? = nil,
  format: ContainerWriter.Format = .matroska, to path: String, finish: Bool = true
) throws -> [PacketFacts.Label] {
  let source = try #require(shots.first).screen.size
  let settings = VideoEncoderSettings(options, picture: picture ?? source)
  var encoder = try VideoEncoder(settings)
  var canvas = try FrameCanvas(source: source, settings: settings, picture: picture ?? source)
  let target = try encoder.makePicture()
  var writer = try ContainerWriter(
    format: format, fileDescriptor: openFile(path, O_RDWR | O_CREAT | O_TRUNC), streams: [encoder.stream], metadata: [:]
  )
  var labels: [PacketFacts.Label] = []
  for (index, shot) in shots.enumerated() {
    canvas.render(shot.screen, into: target)
    var failure: RecorderError?
    try encoder.encode(target, at: shot.time, keyframe: shot.keyframe || index == 0) { packet in
      labels.append(PacketFacts(packet).label)
      do throws(RecorderError) { try writer.write(packet, stream: 0) } catch { failure = error }
    }
    if let failure { throw failure }
  }
  try encoder.finish { packet in labels.append(PacketFacts(packet).label) }
  if finish { _ = try writer.finish() } else { try writer.flush() }
  return labels
}

/// Every picture of the first video stream of `path`, as BGRX of `size` pixels.
func decode(_ path: String, size: PixelSize, output: PixelSize? = nil) throws -> [Shot] {
  var reader = try ContainerReader(fileDescriptor: openFile(path, O_RDONLY))
  guard let stream = reader.streams.firstIndex(where: { $0.kind == .video }) else { throw TestFailure("no picture") }
  var decoder = try VideoDecoder(reader.streams[stream])
  var converter = try PictureConverter(crop: size, output: output ?? size)
  var shots: [Shot] = []
  var failure: RecorderError?
  func take(_ picture: borrowing Picture) {
    var screen = Screen(output ?? size) { _, _ in 0 }
    do throws(RecorderError) {
      try converter.convert(picture, into: &screen)
      shots.append(Shot(screen: screen, milliseconds: picture.time.nanoseconds / 1_000_000))
    } catch { failure = error }
  }
  while let packet = try reader.next() {
    if packet.stream == stream { try decoder.decode(packet) { take($0) } }
  }
  try decoder.finish { take($0) }
  if let failure { throw failure }
  return shots
}

/// Every packet of `path`.
func packets(_ path: String) throws -> [PacketFacts] {
  var reader = try ContainerReader(fileDescriptor: openFile(path, O_RDONLY))
  var facts: [PacketFacts] = []
  while let packet = try reader.next() { facts.append(PacketFacts(packet)) }
  return facts
}

extension PacketFacts {
  init(_ packet: borrowing Packet) {
    self.init(
      label: Label(stream: packet.stream, time: packet.pts, keyframe: packet.isKeyframe),
      bytes: packet.withBytes { Array($0) })
  }
}

extension FrameCanvas {
  /// Renders `screen`, of which `parts` (nil: all) changed.
  mutating func render(
    _ screen: Screen, parts: [PixelRect]? = nil, pointer: PointerOverlay? = nil, into target: borrowing Picture
  ) {
    screen.bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      (parts ?? [PixelRect(screen.size)]).withUnsafeBufferPointer { parts in
        render(SourcePixels(start, bytesPerRow: screen.bytesPerRow), changed: parts, pointer: pointer, into: target)
      }
    }
  }
}

extension PictureConverter {
  /// Converts `picture` into `screen`, which has the output's size.
  mutating func convert(_ picture: borrowing Picture, into screen: inout Screen) throws(RecorderError) {
    let bytesPerRow = screen.bytesPerRow
    var failure: RecorderError?
    screen.bytes.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      do throws(RecorderError) { try convert(picture, into: start, bytesPerRow: bytesPerRow) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
