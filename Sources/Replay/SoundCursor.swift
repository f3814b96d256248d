import Archive
import Media
import Presentation
import SessionModel

/// Gives a session's sound as one unbroken stream of `AudioFormat.mix`, from any moment on: where the session has no
/// sound there is silence, and what cannot be decoded is silence too. One thread uses it, for one track.
struct SoundCursor: ~Copyable, SoundSource {
  /// One media file that is being decoded.
  private struct Open: ~Copyable {
    var file: SegmentFile
    var decoder: AudioDecoder
    /// nil when the file's sound has the format of the mix already.
    var resampler: Resampler?
    var stream: Int
  }

  private let timeline: Timeline
  /// The track's place among the sound tracks, from 0.
  private let track: Int
  private var index = 0
  private var open: Open?
  /// Frames to the session's end, and the next one to give, counted from its epoch.
  private let end: Int64
  private var position: Int64 = 0
  /// Frames of silence to give before `samples`.
  private var silence: Int64 = 0
  private var samples: [Float] = []
  /// What the decoder just gave, in the file's format.
  private var decoded: [Float] = []
  private var given = 0
  /// Whether the next block is placed by its time alone, as after a seek.
  private var isFirst = true

  /// Matroska's times are whole milliseconds: a block that is less than so many frames (5 ms) off follows the last one.
  private static let tolerance: Int64 = 240
  /// An AAC packet is decoded rightly after the one before it, and Opus after 80 ms (RFC 7845, 4.6): so much is decoded
  /// before the moment asked for, in ns, a packet of 20 ms more for the one that it falls into.
  private static let preroll: Int64 = 100_000_000

  /// Stands at the session's epoch.
  /// - Parameter track: the track's place among the sound tracks, from 0, which is the mix.
  init(_ timeline: Timeline, track: Int = 0) {
    (self.timeline, self.track) = (timeline, track)
    end = Self.frames(timeline.duration)
  }

  private static func frames(_ time: Timestamp) -> Int64 {
    // Split at whole seconds: the product of nanoseconds and the rate would pass 64 bits after two days.
    let rate = Int64(AudioFormat.mix.sampleRate)
    let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * rate + (rest * rate + 500_000_000) / 1_000_000_000
  }

  mutating func seek(to time: Timestamp) throws(RecorderError) {
    position = Self.frames(time)
    samples.removeAll(keepingCapacity: true)
    (given, silence, isFirst) = (0, 0, true)
    // What is decoded before the moment may be in the file before.
    index = timeline.segment(at: time + -Self.preroll)
    open = nil
    guard try openSegment(), let stream = open?.stream else { return }
    try open?.file.seek(to: time + -Self.preroll, stream: stream)
  }

  mutating func read(into output: UnsafeMutableBufferPointer<Float>) throws(RecorderError) -> Int {
    let channels = AudioFormat.mix.channels
    let wanted = Int(min(Int64(output.count / channels), max(0, end - position)))
    var done = 0
    while done < wanted {
      var count = 0
      if silence > 0 {
        count = Int(min(silence, Int64(wanted - done)))
        silence -= Int64(count)
        for index in done * channels..<(done + count) * channels { output[index] = 0 }
      } else if given < samples.count {
        count = min(wanted - done, (samples.count - given) / channels)
        for index in 0..<count * channels { output[done * channels + index] = samples[given + index] }
        given += count * channels
      } else if try !decodeNext() {
        silence = end - position
      }
      done += count
      position += Int64(count)
    }
    return done
  }

  /// Decodes one more packet.
  /// - Returns: false when there is none left.
  private mutating func decodeNext() throws(RecorderError) -> Bool {
    if open == nil, try !openSegment() { return false }
    guard var open = open.take() else { return false }
    decoded.removeAll(keepingCapacity: true)
    var (block, time) = (decoded, Timestamp?.none)
    let keep: (UnsafeBufferPointer<Float>, Timestamp) -> Void = { samples, start in
      time = time ?? start
      block.append(contentsOf: samples)
    }
    var isAtEnd = false
    do throws(RecorderError) {
      if let packet = try open.file.next(of: open.stream) {
        try open.decoder.decode(packet, emit: keep)
      } else if try !goOn(&open) {
        isAtEnd = true
        try open.decoder.finish(emit: keep)
      }
    } catch {
      // The next packet can be tried, unless the disk fails.
      guard error.code == .damagedData else { throw error }
    }
    decoded = block
    if let time {
      let delay = open.resampler?.delay ?? 0
      try convert(&open.resampler, channels: open.decoder.format.channels)
      place(Self.frames(time) - Int64(delay))
    }
    if isAtEnd { index += 1 } else { self.open = consume open }
    return true
  }

  /// Goes on in the next file with the decoder of the one that has ended, when it holds the same stream: an AAC packet is
  /// decoded rightly only after the one before it.
  /// - Returns: false when it does not.
  private mutating func goOn(_ open: inout Open) throws(RecorderError) -> Bool {
    guard index + 1 < timeline.manifest.segments.count else { return false }
    do throws(RecorderError) {
      let file = try SegmentFile(timeline, index + 1)
      guard let stream = file.audio, file.stream(stream).continues(as: open.file.stream(open.stream)) else {
        return false
      }
      open.file = file
      open.stream = stream
    } catch {
      // One that cannot be read is passed over as any other.
      guard error.code == .damagedData else { throw error }
      return false
    }
    index += 1
    return true
  }

  /// Turns `decoded`, of so many channels, into `samples` of the mix's format.
  private mutating func convert(_ resampler: inout Resampler?, channels: Int) throws(RecorderError) {
    given = 0
    guard resampler != nil else {
      swap(&samples, &decoded)
      return
    }
    var failure: RecorderError?
    let room = resampler?.outputCapacity(for: decoded.count / channels) ?? 0
    samples = [Float](
      unsafeUninitializedCapacity: room * AudioFormat.mix.channels
    ) { output, count in
      decoded.withUnsafeBufferPointer { input in
        do throws(RecorderError) {
          count = try (resampler?.convert(input, into: output) ?? 0) * AudioFormat.mix.channels
        } catch {
          failure = error
        }
      }
    }
    if let failure { throw failure }
  }

  /// Places the samples that were just decoded, the first of which is frame `first`, after what was given.
  private mutating func place(_ first: Int64) {
    let distance = first - position
    if !isFirst, abs(distance) <= Self.tolerance { return }
    if distance > 0 {
      silence = distance
    } else {
      given = Int(min(Int64(samples.count), -distance * Int64(AudioFormat.mix.channels)))
    }
    // When all of it lies before the moment that was sought, the next block is the first one.
    isFirst = isFirst && given == samples.count
  }

  /// Opens the file `index`, or the first one after it that has sound.
  /// - Returns: false when none has.
  private mutating func openSegment() throws(RecorderError) -> Bool {
    while index < timeline.manifest.segments.count {
      do throws(RecorderError) {
        let file = try SegmentFile(timeline, index)
        if file.sounds.indices.contains(track) {
          let stream = file.sounds[track]
          let decoder = try AudioDecoder(file.stream(stream))
          let resampler = decoder.format == .mix ? nil : try Resampler(from: decoder.format, to: .mix)
          open = Open(file: file, decoder: decoder, resampler: resampler, stream: stream)
          return true
        }
      } catch {
        guard error.code == .damagedData else { throw error }
      }
      index += 1
    }
    return false
  }
}
