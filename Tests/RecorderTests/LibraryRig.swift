import Archive
import Control
import FoundationEssentials
import Glibc
import SessionModel
import TestSupport
import Testing

@testable import Recorder

/// A recorder as an embedding program has it, with an archive and a display of its own.
final class LibraryRig: Sendable {
  let folder: TemporaryFolder
  let display: VirtualDisplay
  let recorder: ScreenRecorder
  private let phases: Task<[CaptureState], Never>

  /// Makes a recorder; `change` has the last word about its options.
  init(
    _ screenShare: ScreenShareCaptureOptions = ScreenShareCaptureOptions(), size: String = "320x240",
    microphone: MicrophoneCaptureOptions? = nil, change: (inout RecorderOptions) throws -> Void = { _ in }
  ) throws {
    folder = try TemporaryFolder()
    display = try VirtualDisplay(size: size)
    var screenShare = screenShare
    screenShare.source = .display(display.name)
    var options = RecorderOptions(screenShare: screenShare, microphone: microphone)
    options.archive = folder.file("archive")
    options.environment = ["XDG_RUNTIME_DIR": folder.path]
    try change(&options)
    let recorder = try ScreenRecorder(options: options)
    self.recorder = recorder
    let states = recorder.states
    phases = Task {
      var seen: [CaptureState] = []
      for await state in states { seen.append(state) }
      return seen
    }
  }

  /// The archive.
  var archive: ArchiveReader { ArchiveReader(ArchiveLocation(path: folder.file("archive"))) }

  /// The sessions of the archive, the newest first.
  func sessions() throws -> [String] { Array(try archive.sessionIDs()).map(\.description) }

  func reader(_ session: CapturedSession?) throws -> SessionReader {
    let session = try #require(session)
    return try archive.session(try #require(SessionID(session.id)))
  }

  /// Closes the recorder.
  /// - Returns: each state that it had.
  func close() async -> [CaptureState] {
    await recorder.close()
    return await phases.value
  }

  /// Waits for the first state that `condition` holds for.
  func waitForState(_ condition: (CaptureState) -> Bool) async throws -> CaptureState {
    for await state in recorder.states where condition(state) { return state }
    throw TestFailure("the recorder was closed first")
  }
}

/// The first step between two states that the state machine of a recording does not have; after an end the next one
/// begins.
func illegalStep(_ states: [CaptureState]) -> String? {
  for (before, after) in zip(states, states.dropFirst()) where before.phase != after.phase {
    let from = before.isCapturing ? RecordingState(rawValue: before.phase.rawValue) ?? .idle : .idle
    let isLegal = RecordingTrigger.allCases.contains { trigger in
      [true, false].contains {
        RecordingStateMachine.next(from, trigger, isHeld: $0)?.rawValue == after.phase.rawValue
      }
    }
    if !isLegal { return "\(before.phase) to \(after.phase)" }
  }
  return nil
}
