import Control
import SessionModel
import TestSupport
import Testing

extension RecorderRig {
  /// A client of its one recording's control socket.
  func connect() throws -> ControlClient {
    let runtime = try #require(
      try RuntimeFolder.open(["XDG_RUNTIME_DIR": folder.path], archive: archive, creating: false))
    return try RunningRecordings(runtime).connect(nil)
  }
}

extension ControlClient {
  /// Has `command` carried out.
  /// - Returns: when it took effect.
  mutating func tell(_ command: ControlRequest.Command) throws -> Timestamp {
    let response = try ask(ControlRequest(command))
    #expect(response.error == nil)
    return response.time ?? .zero
  }

  /// Waits until the recording has gone on to `time`.
  mutating func wait(until time: Timestamp) throws {
    try waitUntil("\(time)") { try ask(ControlRequest(.status)).status?.elapsed ?? 0 >= time.nanoseconds }
  }

  /// Waits until the recording has a frame of `time` or later.
  mutating func wait(forFrameAt time: Timestamp) throws {
    try waitUntil("a frame at \(time)") { try ask(ControlRequest(.status)).status?.lastFrame ?? .zero >= time }
  }
}

extension MediaFile {
  /// A packet of the picture, its time in ms of the file.
  struct PicturePacket: Equatable {
    let time: Int
    let isKeyframe: Bool
  }

  /// The packets of the picture, in order.
  static func packets(_ path: String) throws -> [PicturePacket] {
    let lines = try probe(path, ["-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0"])
    return lines.compactMap { line in
      let parts = line.split(separator: ",")
      guard parts.count >= 2, let time = Double(parts[0]) else { return nil }
      return PicturePacket(time: Int((time * 1000).rounded()), isKeyframe: parts[1].hasPrefix("K"))
    }
  }
}
