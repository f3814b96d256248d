import Arguments
import Commands
import Glibc
import SessionModel
import Threading

// What `recorder` becomes for the commands that need FFmpeg. A recording lasts: it leaves the common threads alone.
let code = await withTaskExecutorPreference(QueueExecutor(label: "program")) {
  await CommandRunner.run(ArgumentText.commandLine) {
    throw RecorderError(.usage, "recorder-media does not run this command.", hint: "Call recorder.")
  }
}
exit(code)
