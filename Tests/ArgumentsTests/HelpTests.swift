import Arguments
import Testing

@Suite struct HelpTests {
  @Test func aCommandsHelp() {
    #expect(
      CommandDescription(SampleCopy.self, under: ["sample"]).help == """
        Copy a file.

        Usage: sample copy FILE [PLACES…] [OPTIONS]

        The first paragraph is long enough that it has to be broken into two lines of
        eighty columns.

        The second.

        Arguments:
          FILE     What is copied.
          PLACES…  Places.

        Options:
          -o, --output OUTPUT        Where to.
          --count COUNT              How often. (default: 3)
          --mode MODE                How. (one of fast, careful; default: fast)
          --word WORD                A word. (may be repeated)
          --near-by[=NEAR-BY]        A place.
          -q, --quiet                Say nothing.
          --lines, --no-lines        Draw lines.
          --tint TINT, --no-tint     A colour.
          --layer LAYER, --no-layer  A layer. (may be repeated)
          --at PLACE WORD, --no-at   When. (one of start, end; may be repeated)
          --loud, --no-loud          Be loud.
          -j                         JSON.
          --ratio RATIO              At least 0. (default: 0.5)
          -h, --help                 Show this help.

        Examples:
          sample copy a b  From a to b.

        """)
  }

  @Test func aProgramsHelpNamesWhatIsShown() {
    #expect(
      CommandDescription(SampleProgram.self).help == """
        Try every form.

        Usage: sample COMMAND

        Commands:
          copy   Copy a file.
          group  Hold one command.

        Options:
          -h, --help  Show this help.
          --version   Show the version.

        More about a command: sample COMMAND --help

        """)
  }

  @Test func requiredOptionsAreInTheUsage() {
    let member = CommandDescription(SampleMember.self, under: ["sample", "group"])
    #expect(member.usage == "sample group member WORDS… --name NAME [OPTIONS]")
  }
}
