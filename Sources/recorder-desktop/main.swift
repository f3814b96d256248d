import Arguments
import Commands
import Glibc
import SessionModel

// What `recorder` becomes for the commands that look at the desktop and need no FFmpeg.
let code = await CommandRunner.run(ArgumentText.commandLine) {
  throw RecorderError(.usage, "recorder-desktop does not run this command.", hint: "Call recorder.")
}
exit(code)
