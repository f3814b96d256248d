internal import CFFmpeg
internal import SessionModel

/// FFmpeg's log, switched off once: what goes wrong is thrown, and stderr belongs to the person.
let ffmpegIsSilent: Void = recorder_silence_ffmpeg()

/// Ticks of one nanosecond: the time base of every `Packet` and `Picture` outside a codec or container.
let nanosecondTicks = AVRational(num: 1, den: 1_000_000_000)

/// The words for a negative status of FFmpeg: errno's, or FFmpeg's own.
func words(forStatus status: Int32) -> String {
  // 64 bytes is AV_ERROR_MAX_STRING_SIZE, what av_strerror's texts fit in.
  withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
    guard let start = buffer.baseAddress else { return "error \(status)" }
    buffer.initialize(repeating: 0)
    av_strerror(status, start, buffer.count)
    return String(cString: start).printable
  }
}

/// The error for an allocation that failed.
func outOfMemory(_ what: String) -> RecorderError { RecorderError(.systemCall, "No memory is left for \(what).") }

/// `time` of ticks `from` in ticks `to`, to the nearest; "no time" stays that.
func rescale(_ time: Int64, from: AVRational, to: AVRational) -> Int64 {
  time == recorder_no_pts ? time : av_rescale_q(time, from, to)
}
