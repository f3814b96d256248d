package import SessionModel

/// One line from a client: what a recorder is told or asked. schemas/control.schema.json describes both directions.
package struct ControlRequest: Codable, Hashable, Sendable {
  /// The protocol's version that this program speaks.
  package static let version = 1

  /// What is to be done.
  package enum Command: String, Codable, Sendable, CaseIterable {
    /// Answers with the status.
    case status
    /// Answers with the status now and at each change, until the client goes.
    case watch
    /// Has an embedded recorder that records nothing begin to; answered when it has begun.
    case start
    /// Goes on in time without recording anything.
    case pause
    /// Records again.
    case resume
    /// Leaves `input` silent.
    case mute
    /// Records `input` again, or all inputs when none is named.
    case unmute
    /// Makes inputs louder or softer in the mix, as `gains` says.
    case gain
    /// Marks this moment with `text`.
    case mark
    /// Begins a new media file.
    case split
    /// Makes a session of the `last` nanoseconds that are held, or of all; answered when it is complete.
    case save
    /// Makes a recording of a held capture, which begins `last` nanoseconds ago; answered when all of that is in it.
    case publish
    /// Ends the recording; answered when all its files are finished. What is held is given up unless `keeps`.
    case stop
  }

  /// A sound input.
  package enum Input: String, Codable, Sendable, CaseIterable {
    /// What the person says.
    case microphone
    /// What the applications play.
    case application
  }

  /// The protocol's version.
  package var version: Int
  /// What is to be done.
  package var command: Command
  /// The words of a mark.
  package var text: String?
  /// The input that is to be silent or heard.
  package var input: Input?
  /// The gains that are to change.
  package var gains: GainChange?
  /// Nanoseconds before now, of a save or a publication.
  package var last: Int64?
  /// The title and the tags of the session that is made.
  package var title: String?
  package var tags: [String]?
  /// Whether a stop saves what is held.
  package var keeps: Bool?

  /// Makes a request; set what its command has.
  package init(_ command: Command, text: String? = nil, input: Input? = nil, gains: GainChange? = nil) {
    version = Self.version
    (self.command, self.text, self.input, self.gains) = (command, text, input, gains)
  }
}

/// One line from a recorder: the answer to a request, or, to a watcher, the status as it is now.
package struct ControlResponse: Codable, Hashable, Sendable {
  /// Why a request was not carried out.
  package struct Failure: Codable, Hashable, Sendable {
    /// The exit code that a command ends with for it.
    package var code: Int32
    /// One sentence.
    package var message: String
    /// What to do about it.
    package var hint: String?
  }

  /// The protocol's version.
  package var version: Int
  /// The recording as it is after the request.
  package var status: RecorderStatus?
  /// The point of the session's time line at which the request took effect; of a held capture's own.
  package var time: Timestamp?
  /// The session that it has made.
  package var session: SessionID?
  /// Why it was not carried out; nil when it was.
  package var error: Failure?

  /// Makes the answer to a request that was carried out.
  package init(_ status: RecorderStatus, time: Timestamp? = nil, session: SessionID? = nil) {
    version = ControlRequest.version
    (self.status, self.time, self.session) = (status, time, session)
  }

  /// Makes the answer to a request that was not.
  package init(_ error: RecorderError, status: RecorderStatus? = nil) {
    version = ControlRequest.version
    self.status = status
    self.error = Failure(code: error.code.rawValue, message: error.message, hint: error.hint)
  }

  /// The error that it tells of; nil when all went well.
  package var failure: RecorderError? {
    error.map { RecorderError(ExitCode(rawValue: $0.code) ?? .brokenInvariant, $0.message, hint: $0.hint) }
  }
}
