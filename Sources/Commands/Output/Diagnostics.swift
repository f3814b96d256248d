import Glibc
package import SessionModel

/// Messages to the person: standard error.
package enum Diagnostics {
  /// Says what went wrong: `recorder: SENTENCE HINT`.
  package static func report(_ error: RecorderError) { message(error.description) }

  /// Says `sentence`, with the program's name before it. Outside text in it has been made `printable`. A standard error
  /// that cannot be written is nobody's fault here, and nobody could be told.
  package static func message(_ sentence: String) { write("recorder: \(sentence)\n") }

  /// Says that the session `id`, whose recorder was killed, is closed now.
  package static func reportRecovered(_ id: SessionID) {
    message("The session \(id) was interrupted; it is closed now, with all that was recorded.")
  }

  /// Sends `text` as it is.
  package static func write(_ text: String) {
    var text = text
    _ = text.withUTF8 { buffer in writeAll(UnsafeRawBufferPointer(buffer), to: STDERR_FILENO) }
  }
}
