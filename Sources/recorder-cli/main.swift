import Arguments
import Commands
import Glibc

// What a person starts: it runs what needs no media library and hands the rest over.
let code = await CommandRunner.run(ArgumentText.commandLine) { try HandOver.exec("recorder-media") }
exit(code)
