internal import CFFmpeg
import Glibc
package import SessionModel

/// Keeps interleaved stereo sound at 48 kHz below a ceiling without clipping it: libavfilter's look-ahead limiter. What
/// is below the ceiling comes out as it went in.
package struct Limiter: ~Copyable {
  private let graph: UnsafeMutablePointer<AVFilterGraph>
  private let source: UnsafeMutablePointer<AVFilterContext>
  private let sink: UnsafeMutablePointer<AVFilterContext>
  private let input: Picture
  private let output: Picture
  private let filters: recorder_filters
  private var position: Int64 = 0

  // -1 dBFS: the true peak that EBU R 128 permits, which leaves a lossy codec room for its overshoot.
  private static let ceiling = 0.891_251

  /// Makes a limiter.
  /// - Throws: `RecorderError` (unavailable) when FFmpeg has none.
  package init() throws(RecorderError) {
    _ = ffmpegIsSilent
    let input = try Picture(empty: ())
    let output = try Picture(empty: ())
    let filters = try Self.library.get()
    guard let graph = filters.graph_alloc() else { throw outOfMemory("a limiter") }
    do throws(RecorderError) {
      (source, sink) = try Self.build(graph, filters)
    } catch {
      var graph: UnsafeMutablePointer<AVFilterGraph>? = graph
      filters.graph_free(&graph)
      throw error
    }
    self.filters = filters
    self.graph = graph
    self.input = input
    self.output = output
  }

  deinit {
    var graph: UnsafeMutablePointer<AVFilterGraph>? = graph
    filters.graph_free(&graph)
  }

  /// libavfilter, loaded by the first limiter and kept.
  private static let library = Result { () throws(RecorderError) in
    var filters = recorder_filters()
    guard recorder_load_filters(&filters) == 0 else {
      let reason = dlerror().map { String(cString: $0) } ?? "it lacks a function"
      throw RecorderError(
        .unavailable, "The limiter of loud sound cannot be loaded: \(reason).",
        hint: "Install FFmpeg's libavfilter in the version of its other libraries.")
    }
    return filters
  }

  private static func build(
    _ graph: UnsafeMutablePointer<AVFilterGraph>, _ filters: recorder_filters
  ) throws(RecorderError) -> (
    source: UnsafeMutablePointer<AVFilterContext>, sink: UnsafeMutablePointer<AVFilterContext>
  ) {
    let rate = AudioFormat.mix.sampleRate
    // Filter, its name in the graph, its options. `latency` takes the look-ahead off again; `level` would make all louder.
    let chain = [
      ("abuffer", "in", "sample_rate=\(rate):sample_fmt=flt:channel_layout=stereo:time_base=1/\(rate)"),
      ("alimiter", "limiter", "limit=\(ceiling):level=0:latency=1"),
      ("aformat", "format", "sample_fmts=flt:sample_rates=\(rate):channel_layouts=stereo"),
      ("abuffersink", "out", ""),
    ]
    var contexts: [UnsafeMutablePointer<AVFilterContext>] = []
    for (filter, name, options) in chain {
      var context: UnsafeMutablePointer<AVFilterContext>?
      guard let kind = filters.get_by_name(filter),
        filters.graph_create_filter(&context, kind, name, options, nil, graph) >= 0, let context
      else { throw RecorderError(.unavailable, "FFmpeg has no sound filter \"\(filter)\" of the needed kind here.") }
      if let last = contexts.last, filters.link(last, 0, context, 0) < 0 { throw failed(0) }
      contexts.append(context)
    }
    let status = filters.graph_config(graph, nil)
    guard status >= 0, let source = contexts.first, let sink = contexts.last else { throw failed(status) }
    return (source, sink)
  }

  private static func failed(_ status: Int32) -> RecorderError {
    RecorderError(.systemCall, "The limiter failed: \(words(forStatus: status)).")
  }

  /// Limits `samples`, whole frames.
  /// - Parameter emit: takes what is ready, which is a few milliseconds behind.
  /// - Throws: `RecorderError` (systemCall), or what `emit` throws.
  package mutating func process(
    _ samples: UnsafeBufferPointer<Float>, emit: (UnsafeBufferPointer<Float>) throws(RecorderError) -> Void
  ) throws(RecorderError) {
    let channels = AudioFormat.mix.channels
    let frame = input.frame
    frame.pointee.format = AV_SAMPLE_FMT_FLT.rawValue
    frame.pointee.sample_rate = Int32(clamping: AudioFormat.mix.sampleRate)
    av_channel_layout_default(&frame.pointee.ch_layout, Int32(clamping: channels))
    frame.pointee.nb_samples = Int32(clamping: samples.count / channels)
    frame.pointee.pts = position
    position += Int64(samples.count / channels)
    guard let base = samples.baseAddress, !samples.isEmpty else { return }
    guard av_frame_get_buffer(frame, 0) >= 0, let target = frame.pointee.data.0 else { throw outOfMemory("sound") }
    UnsafeMutableRawPointer(target).copyMemory(from: base, byteCount: samples.count * MemoryLayout<Float>.stride)
    // The filter takes the buffer over and leaves an empty frame.
    let status = filters.add_frame(source, frame, 0)
    guard status >= 0 else { throw Self.failed(status) }
    try drain(emit)
  }

  /// Hands on what is still inside; nothing can be limited afterwards.
  /// - Throws: `RecorderError` (systemCall), or what `emit` throws.
  package mutating func finish(
    emit: (UnsafeBufferPointer<Float>) throws(RecorderError) -> Void
  ) throws(RecorderError) {
    let status = filters.add_frame(source, nil, 0)
    guard status >= 0 else { throw Self.failed(status) }
    try drain(emit)
  }

  private func drain(_ emit: (UnsafeBufferPointer<Float>) throws(RecorderError) -> Void) throws(RecorderError) {
    while true {
      let status = filters.get_frame(sink, output.frame)
      if status == recorder_averror_again || status == recorder_averror_eof { return }
      guard status >= 0 else { throw Self.failed(status) }
      defer { av_frame_unref(output.frame) }
      guard let data = output.frame.pointee.data.0 else { continue }
      let count = Int(output.frame.pointee.nb_samples) * AudioFormat.mix.channels
      try emit(UnsafeBufferPointer(start: UnsafeRawPointer(data).assumingMemoryBound(to: Float.self), count: count))
    }
  }
}
