import Glibc

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.contains("--help") || arguments.isEmpty {
  print(PatternOptions.help)
  exit(0)
}
if arguments == ["layout"] {
  // For those who draw or read the counter in another language.
  print(#"{"cell":\#(PatternLayout.cell),"margin":\#(PatternLayout.margin),"bits":\#(PatternLayout.counterBits)}"#)
  exit(0)
}
guard let options = PatternOptions(arguments) else {
  Output.errors.write("test-pattern: these arguments are not understood; see test-pattern --help.")
  exit(64)
}
guard let output = options.log.map({ Output(path: $0) }) ?? .standard else {
  Output.errors.write("test-pattern: the log cannot be written: \(String(cString: strerror(errno))).")
  exit(74)
}
guard let window = PatternWindow(options) else {
  Output.errors.write("test-pattern: the X display cannot be opened.")
  exit(69)
}
var program = PatternProgram(options, window, output)
exit(program.run())
