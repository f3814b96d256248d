import Archive
import Glibc
import Media
import Replay
import SessionModel
import TestSupport

/// One picture of a made session: one colour, its last pixel the inverse of it.
struct Shot {
  /// When it appears, in ms of the session.
  var milliseconds: Int64
  /// 0xRRGGBB.
  var colour: UInt32
  /// Whether decoding can begin here; the first one always.
  var isKeyframe = false

  /// Pictures every `step` ms from `start` on, the nth (from 0) of colour 0x010203 times n + 1, a keyframe every `keyframes`.
  static func series(_ count: Int, from start: Int64 = 0, every step: Int64 = 100, keyframes: Int = 5) -> [Shot] {
    (0..<count).map { index in
      Shot(
        milliseconds: start + Int64(index) * step, colour: 0x010203 * UInt32(index + 1),
        isKeyframe: index.isMultiple(of: keyframes))
    }
  }
}

extension Timestamp {
  /// Whole milliseconds.
  static func milliseconds(_ count: Int64) -> Timestamp { Timestamp(nanoseconds: count * 1_000_000) }
}

/// A session in an archive of its own, made of known pictures and a tone.
struct RecordedSession {
  /// The archive's folder, which lives as long as this.
  let folder: TemporaryFolder
  /// Its name.
  let id: SessionID
  /// The bytes of its picture packets, in their order.
  let packets: [[UInt8]]
  /// The wall clock at its epoch: 2026-11-30T02:15:33Z, seen an hour east of Greenwich.
  static let epoch = WallTime(rfc3339: "2026-11-30T02:15:33Z") ?? WallTime(nanoseconds: 0)

  /// What it is recorded with.
  struct Recipe {
    var size = PixelSize(width: 64, height: 48)
    /// The pictures of each media file.
    var files: [[Shot]]
    /// Where each media file begins, in ms of the session.
    var starts: [Int64] = [0]
    /// The size of each file's pictures, where it is another than `size`.
    var sizes: [PixelSize?] = []
    /// The session's length, in ms.
    var length: Int64
    /// Pixel-exact, as the tests compare colours.
    var isLossless = true
    /// When a 1 kHz tone at half of full scale begins in ms, silence before it; nil has no sound track.
    var tone: Int64?
    /// Tracks after the mix: each one's input and the frequency in Hz of its tone, as long and loud as the mix's.
    var stems: [(input: String, frequency: Float)] = []
    /// Killed: the manifest does not say how it ended, the `alive` events say how long it lived.
    var isInterrupted = false
    var title: String?
    /// What happened, in its order.
    var events: [Event] = []
    /// Ended as a recorder ends it, with a check and a chain.
    var isSealed = false
    var codec = AudioCodec.aac
  }

  /// Records `shots` in one file.
  init(_ shots: [Shot], length: Int64, change: (inout Recipe) -> Void = { _ in }) throws {
    var recipe = Recipe(files: [shots], length: length)
    change(&recipe)
    try self.init(recipe)
  }

  /// Records what `recipe` says.
  init(_ recipe: Recipe) throws {
    folder = try TemporaryFolder()
    var generator = SystemRandomNumberGenerator()
    id = SessionID(Self.epoch, using: &generator)
    var options = RecordingOptions()
    options.video.lossless = recipe.isLossless
    options.title = recipe.title
    options.audio.codec = recipe.codec
    var video = Manifest.Track(index: 0, kind: .video, codec: "h264")
    video.size = recipe.size
    let settings = VideoEncoderSettings(options.video, picture: recipe.size)
    video.encodedSize = settings.size
    var tracks = [video]
    if recipe.tone != nil {
      for inputs in [recipe.stems.map(\.input)] + recipe.stems.map({ [$0.input] }) {
        var track = Manifest.Track(index: tracks.count, kind: .audio, codec: recipe.codec.rawValue)
        (track.sampleRate, track.channels) = (AudioFormat.mix.sampleRate, AudioFormat.mix.channels)
        track.inputs = inputs.isEmpty ? nil : inputs
        tracks.append(track)
      }
    }
    var manifest = Manifest(
      id: id, generator: "test", clock: Manifest.Clock(utc: Self.epoch, monotonic: 0, utcOffset: 3600),
      host: Manifest.Host(name: "test", display: ":0"),
      source: Manifest.Source(specification: .display, rect: PixelRect(recipe.size)), options: options, tracks: tracks)
    let writer = try SessionWriter.create(in: ArchiveLocation(path: folder.path), id: id, manifest: manifest)
    var packets: [[UInt8]] = []
    for (index, shots) in recipe.files.enumerated() {
      let segment = try writer.createSegment(index + 1)
      let start = Timestamp.milliseconds(recipe.starts[index])
      let other = recipe.sizes.indices.contains(index) ? recipe.sizes[index] : nil
      let size = other ?? recipe.size
      manifest.segments.append(Manifest.Segment(file: segment.file, start: start, size: other))
      let end = index + 1 < recipe.files.count ? recipe.starts[index + 1] : recipe.length
      packets += try Self.write(
        shots, from: recipe.starts[index], to: end, settings: settings.sized(for: size), size: size, tone: recipe.tone,
        frequencies: [1000] + recipe.stems.map(\.frequency), codec: recipe.codec, descriptor: segment.fileDescriptor)
      if recipe.isSealed {
        manifest.segments[index].end = .milliseconds(end)
        manifest.segments[index].bytes = Int64(
          try readFile("\(ArchiveLocation(path: folder.path).folder(of: id))/\(segment.file)").count)
      }
    }
    for event in recipe.events { try writer.append(event) }
    if recipe.isInterrupted {
      try writer.append(Event(time: .milliseconds(recipe.length), kind: .alive))
    } else {
      manifest.state = .finished
      manifest.end = Manifest.End(reason: .stopped, time: .milliseconds(recipe.length))
    }
    if recipe.isSealed {
      let stop = Event(time: .milliseconds(recipe.length), kind: .stop, text: "stopped")
      if let error = writer.finish(manifest, stop).error { throw error }
    } else {
      try writer.replaceManifest(manifest)
    }
    writer.close()
    self.packets = packets
  }

  /// The session's folder.
  var path: String { location.folder(of: id) }

  /// Where the archive is.
  var location: ArchiveLocation { ArchiveLocation(path: folder.path) }

  /// The session as replay sees it.
  func timeline() throws -> Timeline { try Timeline(ArchiveReader(location).session(id)) }

  /// The pixels of a picture of one colour.
  static func pixels(_ colour: UInt32, _ size: PixelSize) -> [UInt32] {
    var pixels = [UInt32](repeating: colour, count: size.area)
    pixels[size.area - 1] = ~colour & 0xFFFFFF
    return pixels
  }

  private static func write(
    _ shots: [Shot], from start: Int64, to end: Int64, settings: VideoEncoderSettings, size: PixelSize, tone: Int64?,
    frequencies: [Float], codec: AudioCodec, descriptor: Int32
  ) throws -> [[UInt8]] {
    var encoder = try VideoEncoder(settings)
    var canvas = try FrameCanvas(source: size, settings: settings, picture: size)
    let target = try encoder.makePicture()
    var sounds: [Tone] = []
    if let tone {
      sounds = try frequencies.enumerated().map {
        try Tone(onset: (tone - start) * 48, frequency: $0.element, stream: $0.offset + 1, codec: codec)
      }
    }
    var file = try ContainerWriter(
      format: .matroska, fileDescriptor: descriptor, streams: [encoder.stream] + sounds.map(\.stream), metadata: [:])
    var packets: [[UInt8]] = []
    for (index, shot) in shots.enumerated() {
      let time = shot.milliseconds - start
      for sound in sounds { try sound.write(until: time * 48, to: &file) }
      pixels(shot.colour, size).withUnsafeBytes { bytes in
        guard let pixels = bytes.baseAddress else { return }
        [PixelRect(size)].withUnsafeBufferPointer { all in
          canvas.render(SourcePixels(pixels, bytesPerRow: size.width * 4), changed: all, pointer: nil, into: target)
        }
      }
      try encoder.encode(target, at: .milliseconds(time), keyframe: shot.isKeyframe || index == 0) { packet in
        packets.append(packet.withBytes { Array($0) })
        try? file.write(packet, stream: 0)
      }
    }
    for sound in sounds {
      try sound.write(until: (end - start) * 48, to: &file)
      try sound.finish(to: &file)
    }
    _ = try file.finish()
    return packets
  }
}

/// Silence and then a tone at half of full scale, encoded as it is asked for.
private final class Tone {
  let stream: StreamDescription
  private var encoder: AudioEncoder
  private let onset: Int64
  private let frequency: Float
  private let number: Int
  private var written: Int64 = 0

  /// The tone of `frequency` Hz begins at frame `onset`; it is stream `number` of the file.
  init(onset: Int64, frequency: Float, stream number: Int, codec: AudioCodec) throws {
    let encoder = try AudioEncoder(.mix, bitRate: 160_000, codec: codec.encoder)
    stream = encoder.stream
    self.encoder = encoder
    (self.onset, self.frequency, self.number) = (onset, frequency, number)
  }

  func write(until end: Int64, to file: inout ContainerWriter) throws {
    guard written < end else { return }
    let samples = (written..<end).flatMap { index -> [Float] in
      let value = index < onset ? 0 : 0.5 * sinf(2 * .pi * frequency * Float((index - onset) % 48_000) / 48_000)
      return [value, value]
    }
    try samples.withUnsafeBufferPointer { samples in
      try encoder.encode(samples, at: written) { packet in try? file.write(packet, stream: number) }
    }
    written = end
  }

  func finish(to file: inout ContainerWriter) throws {
    try encoder.finish { packet in try? file.write(packet, stream: number) }
  }
}

extension StillPicture {
  /// Its pixels as 0xRRGGBB.
  var colours: [UInt32] {
    stride(from: 0, to: pixels.count, by: 4).map { at in
      UInt32(pixels[at + 2]) << 16 | UInt32(pixels[at + 1]) << 8 | UInt32(pixels[at])
    }
  }
}
