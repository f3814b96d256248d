import Media
import SessionModel

/// What takes encoded packets.
protocol PacketTarget: ~Copyable {
  /// Writes `packet`, whose times are the file's. What goes wrong is told by `check`, since encoders hand over their
  /// packets where nothing can be thrown.
  /// - Parameter duration: how long it lasts, in ns, where that is not as the packet says: the last picture.
  mutating func write(_ packet: consuming Packet, stream: Int, lasting duration: Int64?)
  /// Throws what went wrong with a packet.
  func check() throws(RecorderError)
}

/// The file of an export: complete under its name, or not there.
struct ExportWriter: PacketTarget, ~Copyable {
  private var file: OutputFile
  private var container: ContainerWriter
  private var failure: RecorderError?

  /// Begins the file that will be `request.file`.
  /// - Parameters:
  ///   - streams: in the order by which packets name them.
  ///   - start: the session's time at the file's time 0.
  init(
    _ request: ExportRequest, of timeline: Timeline, streams: [StreamDescription], start: Timestamp
  ) throws(RecorderError) {
    var metadata = ["creation_time": timeline.manifest.clock.wallTime(of: start).description]
    metadata["title"] = timeline.title
    let file = try OutputFile(request.file, replaces: request.replaces)
    container = try ContainerWriter(
      format: request.format, fileDescriptor: file.makeDescriptor(), streams: streams, metadata: metadata)
    self.file = file
  }

  mutating func write(_ packet: consuming Packet, stream: Int, lasting duration: Int64? = nil) {
    guard failure == nil else { return }
    if let duration { packet.duration = duration }
    do throws(RecorderError) { try container.write(packet, stream: stream) } catch { failure = error }
  }

  func check() throws(RecorderError) {
    if let failure { throw failure }
  }

  /// Completes the file and gives it its name.
  mutating func finish() throws(RecorderError) {
    try check()
    _ = try container.finish()
    try file.place()
  }
}
