import Arguments
import Commands
import Replay
import SessionModel

extension FrameCommand: Command {
  package mutating func run() async throws {
    guard output.fileExtension == "png" else {
      throw RecorderError(.usage, "\(output) names no format that is written.", hint: "Let the name end in .png.")
    }
    let timeline = try session.timeline()
    let time = try timeline.timestamp(of: at)
    var file = try OutputFile(output, replaces: force)
    var finder = FrameFinder(timeline)
    try file.write(finder.picture(at: time).png())
    try file.place()
  }
}
