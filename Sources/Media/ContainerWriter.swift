internal import CFFmpeg
import Glibc
package import SessionModel

/// Writes packets to a media file through an open descriptor; no file name ever reaches FFmpeg.
///
/// The caller orders the packets of all streams by time; nothing is held back to interleave them.
package struct ContainerWriter: ~Copyable {
  /// The kinds of file that are written.
  package enum Format: String, Sendable, CaseIterable {
    /// Matroska: readable up to the last flush while it is written.
    case matroska
    /// MPEG-4, its index before its data, as browsers like it; readable only when finished.
    case mp4
  }

  private let context: UnsafeMutablePointer<AVFormatContext>
  private let output: UnsafeMutablePointer<AVIOContext>
  private let file: FileBytes
  private var lastTicks: [Int64]
  /// By stream: nanoseconds by which the container's times are later than what they say, which players take off again.
  /// Matroska has Opus so (RFC 7845's pre-skip as CodecDelay), and FFmpeg 5.1 writes that into the header alone.
  private let delays: [Int64]
  private let isMatroska: Bool
  private var finished = false
  /// The file's size when its last cluster was ended: up to there it is whole.
  private var flushed: Int64

  /// Begins a file: its header is in the kernel's hands when this returns.
  /// - Parameters:
  ///   - fileDescriptor: an empty file open for reading and writing; owned from now on, also when this throws.
  ///   - streams: in the order by which packets name them.
  ///   - metadata: FFmpeg's keys (`title`, `creation_time`) and their texts.
  /// - Throws: `RecorderError`: writeFailed, or usage when the format does not take a stream.
  package init(
    format: Format, fileDescriptor: Int32, streams: [StreamDescription], metadata: [String: String]
  ) throws(RecorderError) {
    _ = ffmpegIsSilent
    let file = FileBytes(descriptor: fileDescriptor, reading: false)
    let output = try file.makeContext(writing: true)
    var allocated: UnsafeMutablePointer<AVFormatContext>?
    guard avformat_alloc_output_context2(&allocated, nil, format.rawValue, nil) >= 0, let context = allocated else {
      FileBytes.free(output)
      throw outOfMemory("a media file's writer")
    }
    context.pointee.pb = output
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    // Times are the session's and stay that: 0 here is AVFMT_AVOID_NEG_TS_DISABLED.
    context.pointee.avoid_negative_ts = 0
    do throws(RecorderError) {
      for stream in streams { try Self.add(stream, to: context) }
      for (key, text) in metadata { av_dict_set(&context.pointee.metadata, key, text, 0) }
      var options: OpaquePointer?
      if format == .mp4 { Self.putIndexFirst(context, file, &options) }
      let status = avformat_write_header(context, &options)
      av_dict_free(&options)
      avio_flush(output)
      // When every write went well it is the streams that it does not take.
      if status < 0, file.failure == 0 { throw Self.refused(streams, by: format, status) }
      try Self.check(status, file, output)
    } catch {
      avformat_free_context(context)
      FileBytes.free(output)
      throw error
    }
    isMatroska = format == .matroska
    lastTicks = Array(repeating: .min, count: streams.count)
    delays = streams.map { stream in
      guard format == .matroska, stream.parameters.pointee.codec_id == AV_CODEC_ID_OPUS else { return 0 }
      return Int64(stream.initialPadding) * 1_000_000_000 / Int64(max(1, stream.sampleRate))
    }
    flushed = file.size
    bytesTaken = file.size
    (self.context, self.output, self.file) = (context, output, file)
  }

  /// Tries whether a file of `format` takes `stream`, so that it is known before there is a file.
  /// - Throws: `RecorderError` (usage) when it does not.
  package static func check(_ format: Format, takes stream: StreamDescription) throws(RecorderError) {
    let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
    _ = try ContainerWriter(format: format, fileDescriptor: nowhere, streams: [stream], metadata: [:])
  }

  deinit {
    avformat_free_context(context)
    FileBytes.free(output)
  }

  private static func add(
    _ stream: StreamDescription, to context: UnsafeMutablePointer<AVFormatContext>
  ) throws(RecorderError) {
    guard let made = avformat_new_stream(context, nil), let parameters = made.pointee.codecpar,
      avcodec_parameters_copy(parameters, stream.parameters) >= 0
    else { throw outOfMemory("a stream of the media file") }
    // Another container's mark for the codec; the muxer finds its own.
    parameters.pointee.codec_tag = 0
    made.pointee.time_base = stream.timeBase
  }

  /// Makes the MPEG-4 muxer move the index to the front at the end, for which it reads the file that it has written.
  private static func putIndexFirst(
    _ context: UnsafeMutablePointer<AVFormatContext>, _ file: FileBytes, _ options: inout OpaquePointer?
  ) {
    av_dict_set(&options, "movflags", "+faststart", 0)
    context.pointee.opaque = Unmanaged.passUnretained(file).toOpaque()
    context.pointee.io_open = openAgain
    context.pointee.io_close2 = closeAgain
  }

  /// Bytes in the file so far; what waits for the next flush is not counted.
  package var bytesWritten: Int64 { file.size }
  /// Bytes that were given to it: those of the file at the last flush, and of the packets since.
  package private(set) var bytesTaken: Int64

  /// Adds `packet` to `stream`. Its times are the file's; in Matroska, sound before 0 is left out and pictures are moved
  /// there. A time that is not after the last one's, in the file's ticks, becomes the next tick.
  /// - Throws: `RecorderError` (writeFailed) with the system's words; what was written before stays playable.
  package mutating func write(_ packet: consuming Packet, stream: Int) throws(RecorderError) {
    guard lastTicks.indices.contains(stream), !finished, let target = context.pointee.streams[stream] else {
      throw RecorderError(.brokenInvariant, "A packet was written to a stream that is not open.")
    }
    let pointer = packet.pointer
    pointer.pointee.stream_index = Int32(stream)
    pointer.pointee.pts += delays[stream]
    if pointer.pointee.dts != recorder_no_pts { pointer.pointee.dts += delays[stream] }
    av_packet_rescale_ts(pointer, nanosecondTicks, target.pointee.time_base)
    if pointer.pointee.dts == recorder_no_pts { pointer.pointee.dts = pointer.pointee.pts }
    let last = lastTicks[stream]
    if isMatroska, pointer.pointee.pts < 0 {
      // Matroska has no times before 0. Sound from there is the encoder's delay; a picture may be what all others need.
      if target.pointee.codecpar.pointee.codec_type == AVMEDIA_TYPE_AUDIO { return }
      (pointer.pointee.pts, pointer.pointee.dts) = (0, 0)
    }
    if last != .min, pointer.pointee.dts <= last { pointer.pointee.dts = last + 1 }
    pointer.pointee.pts = max(pointer.pointee.pts, pointer.pointee.dts)
    lastTicks[stream] = pointer.pointee.dts
    // MPEG-4 players leave out a last picture that lasts for no time.
    pointer.pointee.duration = max(1, pointer.pointee.duration)
    bytesTaken += Int64(pointer.pointee.size)
    try check(av_write_frame(context, pointer))
  }

  /// Ends the open cluster and hands everything to the kernel: a kill after this loses nothing before it.
  /// - Throws: `RecorderError` (writeFailed).
  package mutating func flush() throws(RecorderError) {
    guard !finished else { return }
    let status = av_write_frame(context, nil)
    avio_flush(output)
    try check(status)
    flushed = file.size
    bytesTaken = file.size
  }

  /// Writes index and length; later calls do nothing.
  /// - Parameter isKept: whether to wait until the disk has the file.
  /// - Returns: the file's size in bytes.
  /// - Throws: `RecorderError` (writeFailed).
  package mutating func finish(isKept: Bool = true) throws(RecorderError) -> Int64 {
    guard !finished else { return file.size }
    try flush()
    finished = true
    let status = av_write_trailer(context)
    avio_flush(output)
    try check(status)
    // EINVAL: no regular file, nothing to wait for.
    if isKept, fsync(file.descriptor) != 0, errno != EINVAL { throw Self.failed(errno) }
    return file.size
  }

  /// Ends a Matroska file at its last whole cluster when a write has failed, so that it is played to its end.
  private mutating func check(_ status: Int32) throws(RecorderError) {
    do throws(RecorderError) {
      try Self.check(status, file, output)
    } catch {
      if isMatroska { file.truncate(to: flushed) }
      throw error
    }
  }

  private static func check(
    _ status: Int32, _ file: FileBytes, _ output: UnsafeMutablePointer<AVIOContext>
  ) throws(RecorderError) {
    if file.failure != 0 { throw failed(file.failure) }
    let status = status < 0 ? status : output.pointee.error
    if status < 0 {
      throw RecorderError(.writeFailed, "The media file could not be written: \(words(forStatus: status)).")
    }
  }

  private static func refused(_ streams: [StreamDescription], by format: Format, _ status: Int32) -> RecorderError {
    let codecs = streams.map(\.codecName).joined(separator: " and ")
    return RecorderError(
      .usage, "A \(format.rawValue) file does not take \(codecs): \(words(forStatus: status)).",
      hint: "Take another codec, as libx264, the default.")
  }

  private static func failed(_ error: Int32) -> RecorderError {
    RecorderError(
      .writeFailed, "The media file could not be written: \(String(cString: strerror(error))).",
      hint: error == ENOSPC || error == EDQUOT ? "Make room on the disk." : nil)
  }
}

/// Opens the file that is being written once more, for reading, whatever its name.
private func openAgain(
  _ context: UnsafeMutablePointer<AVFormatContext>?, _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
  _ url: UnsafePointer<CChar>?, _ flags: Int32, _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
  guard let opaque = context?.pointee.opaque, let io, flags & AVIO_FLAG_WRITE == 0 else {
    return recorder_averror(EACCES)
  }
  let again = FileBytes(sharing: Unmanaged<FileBytes>.fromOpaque(opaque).takeUnretainedValue())
  guard let made = try? again.makeContext(writing: false) else { return recorder_averror(ENOMEM) }
  // Released by `closeAgain`.
  _ = Unmanaged.passRetained(again)
  io.pointee = made
  return 0
}

/// Ends what `openAgain` began.
private func closeAgain(
  _ context: UnsafeMutablePointer<AVFormatContext>?, _ io: UnsafeMutablePointer<AVIOContext>?
) -> Int32 {
  guard let io else { return 0 }
  let opaque = io.pointee.opaque
  FileBytes.free(io)
  if let opaque { Unmanaged<FileBytes>.fromOpaque(opaque).release() }
  return 0
}
