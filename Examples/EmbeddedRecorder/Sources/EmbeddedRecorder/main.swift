import Recorder

// What it does unless a call says otherwise.
let defaults = RecorderOptions(
  screenShare: ScreenShareCaptureOptions(dimensions: .h1080_169, fps: 15, showCursor: true, appAudio: false))
let recorder = try ScreenRecorder(options: defaults) { notice in print("Notice: \(notice)") }

// What there is to record.
let sources = try await CaptureSources.find()
print("The display has \(sources.dimensions) pixels and \(sources.windows.count) windows.")

// Each state is told, beginning with the one that there is now.
let watch = Task {
  for await state in recorder.states { print("State: \(state.phase)") }
}

// One call starts. This recording is of the topmost window, when there is one.
var options = defaults.screenShare
options.source = sources.windows.first?.source ?? .mainDisplay
let session = try await recorder.setScreenShare(enabled: true, options: options)
try await recorder.setMicrophone(enabled: true)
try await recorder.mark("It has begun")
try await Task.sleep(for: .seconds(1))
try await recorder.setMicrophone(enabled: false)

// One call stops, and returns when all files are finished.
if let ended = try await recorder.setScreenShare(enabled: false), ended.id == session?.id, let end = ended.end {
  print("Recorded \(ended.id), \(end.duration), \(end.reason).")
}
await recorder.close()
await watch.value
