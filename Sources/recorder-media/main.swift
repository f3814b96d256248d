import Arguments
import Commands
import Glibc
import SessionModel

// What `recorder` becomes for the commands that need FFmpeg.
let code = await CommandRunner.run(ArgumentText.commandLine) {
  throw RecorderError(.usage, "recorder-media does not run this command.", hint: "Call recorder.")
}
exit(code)
