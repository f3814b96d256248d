package import SessionModel

/// All that `recorder status` tells of one recording: schemas/status.schema.json.
package struct RecorderStatus: Codable, Hashable, Sendable {
  /// One stage of the pipeline and whether it works.
  package struct Stage: Codable, Hashable, Sendable {
    /// Whether a stage does its work; a still screen or a silent room is no reason not to.
    package enum State: String, Codable, Sendable {
      /// It works, or waits for work.
      case ok
      /// It hangs.
      case stalled
      /// Its device is gone; it is tried again.
      case lost
    }
    /// `grab`, `encode`, `mux`, `application` or `microphone`.
    package var name: String
    /// Whether it works.
    package var state: State
    /// Nanoseconds since it last gave a sign of life.
    package var age: Int64
    /// The time of the last frame that went through it, or of the last sound that came, on the session's time line; nil
    /// while there was none.
    package var last: Timestamp?
    /// `grab`: frames that were due but left to the next one because the encoder was busy.
    package var dropped: Int?
    /// `mux`: bytes of all media files.
    package var bytes: Int64?
    /// Sound: the loudest sample of the last moment, 0 to 1.
    package var level: Float?
    /// Sound: whether it is muted.
    package var isMuted: Bool?
    /// Sound: by how many dB it is louder in the mix than the device delivers it.
    package var gain: Double?

    /// Makes a stage; set what its kind has.
    package init(name: String, state: State, age: Int64) { (self.name, self.state, self.age) = (name, state, age) }
  }

  /// What a capture holds of which nothing is kept.
  package struct Hold: Codable, Hashable, Sendable {
    /// Nanoseconds that it was asked to hold.
    package var wanted: Int64
    /// Nanoseconds that it holds.
    package var span: Int64
    /// Bytes that it holds.
    package var bytes: Int64
    /// Bytes that it may hold.
    package var memory: Int64
    /// Whether those are too few for the nanoseconds.
    package var isShort: Bool

    /// Makes a description of a ring.
    package init(wanted: Int64, span: Int64, bytes: Int64, memory: Int64, isShort: Bool) {
      (self.wanted, self.span, self.bytes, self.memory, self.isShort) = (wanted, span, bytes, memory, isShort)
    }
  }

  /// The name by which the recording is controlled.
  package var name: String
  /// What it is doing.
  package var state: RecordingState
  /// The recorder's process; nil when there is none any more.
  package var process: Int32?
  /// The session; nil while it has not begun, and while a capture is held.
  package var session: SessionID?
  /// What is held; nil when all is kept.
  package var hold: Hold?
  /// What is recorded.
  package var source: String?
  /// Nanoseconds since the session or the holding began, or its length.
  package var elapsed: Int64?
  /// Why it is degraded or stalled, or how it failed: one sentence.
  package var message: String?
  /// Its stages, from the source on.
  package var stages: [Stage] = []
  /// Frames recorded.
  package var frames: Int?
  /// Frames that were due but left to the next one because the encoder was busy.
  package var droppedFrames: Int?
  /// The time of the last frame on the session's time line; a still screen has none for long.
  package var lastFrame: Timestamp?
  /// Bytes of all media files.
  package var bytes: Int64?
  /// Media files, the one being written included.
  package var segments: Int?
  /// Bytes left on the archive's disk.
  package var diskFree: Int64?
  /// Whether that is less than the mark at which the person is warned.
  package var isDiskLow: Bool?
  /// Nanoseconds until it ends for want of room when the recording goes on as it did so far; nil when nothing was written yet.
  package var timeLeft: Int64?

  /// Makes the status of a recording of which nothing more is known.
  package init(name: String, state: RecordingState) { (self.name, self.state) = (name, state) }
}
