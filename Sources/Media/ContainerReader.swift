internal import CFFmpeg
import Glibc
package import SessionModel

/// Reads packets from a media file through an open descriptor: Matroska or MPEG-4, also one that ends in the middle.
/// Nothing that the file says is trusted, and no file that it names is opened.
package struct ContainerReader: ~Copyable {
  /// The file's streams, by the numbers that packets name.
  package let streams: [StreamDescription]
  private let context: UnsafeMutablePointer<AVFormatContext>
  private let input: UnsafeMutablePointer<AVIOContext>
  private let file: FileBytes
  /// For each AAC stream.
  private var gapless: [Int: GaplessTimes]

  /// Opens a file and reads its header.
  /// - Parameters:
  ///   - fileDescriptor: open for reading and seekable; owned from now on, also when this throws.
  ///   - isGapless: whether the times of AAC are made exact to the sample; else they are the container's ticks, so that a
  ///     copy has the same.
  /// - Throws: `RecorderError` (damagedData) when it is no media file or its header is cut.
  package init(fileDescriptor: Int32, isGapless: Bool = true) throws(RecorderError) {
    _ = ffmpegIsSilent
    let file = FileBytes(descriptor: fileDescriptor, reading: true)
    let input = try file.makeContext(writing: false)
    var opened = avformat_alloc_context()
    guard let allocated = opened else {
      FileBytes.free(input)
      throw outOfMemory("a media file's reader")
    }
    allocated.pointee.pb = input
    // What the container says, nothing guessed: FFmpeg's parser takes every intra picture for a keyframe.
    allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN
    allocated.pointee.io_open = refuseToOpen
    var options: OpaquePointer?
    av_dict_set(&options, "format_whitelist", "matroska,webm,mov,mp4", 0)
    // Frees the context when it fails.
    let status = avformat_open_input(&opened, nil, nil, &options)
    av_dict_free(&options)
    guard status >= 0, let context = opened else {
      FileBytes.free(input)
      if file.failure != 0 { throw Self.unreadable(file.failure) }
      throw RecorderError(.damagedData, "The media file has no header that can be read: \(words(forStatus: status)).")
    }
    do throws(RecorderError) {
      streams = try Self.describe(context)
    } catch {
      avformat_close_input(&opened)
      FileBytes.free(input)
      throw error
    }
    gapless = [:]
    for (index, stream) in streams.enumerated() where isGapless && stream.parameters.pointee.codec_id == AV_CODEC_ID_AAC
    {
      gapless[index] = GaplessTimes(sampleRate: stream.sampleRate)
    }
    (self.context, self.input, self.file) = (context, input, file)
  }

  deinit {
    var context: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&context)
    FileBytes.free(input)
  }

  private static func describe(
    _ context: UnsafeMutablePointer<AVFormatContext>
  ) throws(RecorderError) -> [StreamDescription] {
    var streams: [StreamDescription] = []
    for index in 0..<Int(context.pointee.nb_streams) {
      guard let stream = context.pointee.streams[index] else { continue }
      let description = try StreamDescription(stream: stream)
      if description.kind == .other { stream.pointee.discard = AVDISCARD_ALL }
      streams.append(description)
    }
    return streams
  }

  /// The file's length in nanoseconds, as it says; nil when it was never finished.
  package var duration: Int64? {
    context.pointee.duration > 0
      ? rescale(context.pointee.duration, from: AVRational(num: 1, den: AV_TIME_BASE), to: nanosecondTicks) : nil
  }

  /// The next packet of a picture or sound, in the file's order. Its times are the file's, those of AAC to the sample;
  /// nil at the end, also where a torn file stops making sense.
  /// - Throws: `RecorderError` (systemCall) when the disk fails.
  package mutating func next() throws(RecorderError) -> Packet? {
    let packet = try Packet()
    while true {
      let status = av_read_frame(context, packet.pointer)
      if file.failure != 0 { throw Self.unreadable(file.failure) }
      guard status >= 0 else { return nil }
      if accept(packet.pointer) { return packet }
      av_packet_unref(packet.pointer)
    }
  }

  /// Turns the packet's times into nanoseconds; false for one that belongs nowhere or has no time.
  private mutating func accept(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool {
    let index = Int(packet.pointee.stream_index)
    guard streams.indices.contains(index), streams[index].kind != .other,
      let stream = context.pointee.streams[index]
    else { return false }
    if packet.pointee.pts == recorder_no_pts { packet.pointee.pts = packet.pointee.dts }
    if packet.pointee.dts == recorder_no_pts { packet.pointee.dts = packet.pointee.pts }
    guard packet.pointee.pts != recorder_no_pts else { return false }
    av_packet_rescale_ts(packet, stream.pointee.time_base, nanosecondTicks)
    packet.pointee.time_base = nanosecondTicks
    if let exact = gapless[index]?.time(of: packet.pointee.pts) {
      (packet.pointee.pts, packet.pointee.dts) = (exact, exact)
      packet.pointee.duration = gapless[index]?.duration ?? 0
    }
    return true
  }

  /// Goes to the last keyframe of `stream` at or before `time`, or to the first one when there is none.
  /// - Throws: `RecorderError`: damagedData when the file has none.
  package mutating func seek(to time: Timestamp, stream: Int) throws(RecorderError) {
    guard streams.indices.contains(stream), let target = context.pointee.streams[stream] else {
      throw RecorderError(.brokenInvariant, "A seek names a stream that is not there.")
    }
    // Down, not to the nearest: a keyframe half a tick later is not before the time.
    let ticks = av_rescale_q_rnd(time.nanoseconds, nanosecondTicks, target.pointee.time_base, AV_ROUND_DOWN)
    var status = av_seek_frame(context, Int32(stream), ticks, AVSEEK_FLAG_BACKWARD)
    if status < 0 { status = av_seek_frame(context, Int32(stream), ticks, 0) }
    for index in gapless.keys { gapless[index]?.reset() }
    if file.failure != 0 { throw Self.unreadable(file.failure) }
    guard status >= 0 else {
      throw RecorderError(.damagedData, "The media file has no keyframe at \(time).")
    }
  }

  private static func unreadable(_ error: Int32) -> RecorderError {
    RecorderError(.systemCall, "The media file could not be read: \(String(cString: strerror(error))).")
  }
}

/// Refuses the files that a media file names.
private func refuseToOpen(
  _ context: UnsafeMutablePointer<AVFormatContext>?, _ io: UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?,
  _ url: UnsafePointer<CChar>?, _ flags: Int32, _ options: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 { recorder_averror(EACCES) }
