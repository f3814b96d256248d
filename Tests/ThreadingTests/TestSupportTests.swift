import Glibc
import TestSupport
import Testing

struct TestSupportTests {
  @Test func childHasDefaultSignalsAndReportsItsEnding() throws {
    let result = try run(["sh", "-c", "cat; echo err >&2; exit 7"], input: "hello")
    #expect(result.ending == .exit(7))
    #expect(result.text == "hello")
    #expect(result.errorText == "err\n")
    let sleeper = try ChildProcess(["sleep", "100"])
    #expect(sleeper.isRunning)
    #expect(try sleeper.stop().ending == .signal(SIGTERM))
  }

  @Test func virtualDisplayAnswers() throws {
    let display = try VirtualDisplay(size: "320x200")
    let result = try run(["xdpyinfo"], environment: display.environment)
    #expect(result.status == 0)
    #expect(result.text.contains("320x200 pixels"))
  }
}
