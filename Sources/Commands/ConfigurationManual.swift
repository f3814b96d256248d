package import Arguments
import Configuration
import SessionModel

extension ManualPage {
  /// The page about configuration files, `recorder.conf(5)`: the rules in words, the keys from their table.
  package static var configuration: ManualPage {
    let date = Supplement.standard.date
    let rules = """
      .\\" Written by "recorder generate man"; change Sources/Commands/ConfigurationManual.swift or the command table.
      .Dd \(date)
      .Dt RECORDER.CONF 5
      .Os recorder \(recorderVersion)
      .Sh NAME
      .Nm recorder.conf
      .Nd what recorder does when no option says otherwise
      .Sh SYNOPSIS
      .Pa /etc/xdg/recorder/recorder.conf
      .br
      .Pa ~/.config/recorder/recorder.conf
      .Sh DESCRIPTION
      A setting gives an option of
      .Xr recorder 1
      its default.
      What an option is can be said in five layers, each of which goes before those above it in this list:
      .Bl -enum
      .It
      what is built in;
      .It
      .Pa recorder/recorder.conf
      in the folders of
      .Ev XDG_CONFIG_DIRS
      .Pq Pa /etc/xdg No when it is not set ,
      the first folder being the most important;
      .It
      .Pa recorder/recorder.conf
      in
      .Ev XDG_CONFIG_HOME
      .Pq Pa ~/.config No when it is not set ;
      .It
      the environment: each key has a variable, an empty one being as good as none;
      .It
      the command line.
      .El
      .Pp
      .Xr recorder-config-list 1
      shows what counts, and where it came from;
      .Xr recorder-config-set 1
      changes the user's file.
      .Pp
      It all is for the commands.
      A program that has the recorder built in records by its own options and reads none of this, so that what a person sets
      for their own recordings does not change what the program makes;
      .Ev RECORDER_ARCHIVE
      alone counts for both.
      .Pp
      A file is lines of UTF\\-8 with
      .Ar KEY No = Ar VALUE .
      The value is the rest of the line without the blanks around it, and is what one would write after the option:
      nothing in it is quoted or expanded.
      A line of at most \(ConfigurationText.longestLine) bytes that begins with
      .Li #
      or
      .Li \\&;
      is a comment, and a line
      .Li [SECTION]
      puts
      .Li SECTION.
      before the keys that follow it.
      .Bd -literal -offset indent
      # Smaller recordings, and never the passwords.
      exclude = class=KeePassXC
      exclude = title~=^Bank

      [video]
      fps = 15
      size = h1080

      [storage]
      budget = 50G
      keep = 90d
      .Ed
      .Pp
      A value of nothing takes back what the files of less weight say, and the built\\-in default counts again.
      A flag is
      .Li true
      or
      .Li false
      .Pq Li yes , no , on No and Li off No are understood too ;
      on a command line
      .Fl -no-
      before its name turns it off, and takes back an option that has no default.
      What may be set more than once adds up over the files, the environment (there one value a line) and the command
      line, where
      .Fl -no-exclude
      and its like take back all that came before.
      .Pp
      A key that does not exist and a value that the option would not take are named with file and line, and so is a
      variable that is a slip away from a key's.
      Until that is mended
      .Xr recorder-record 1 ,
      .Xr recorder-start 1
      and
      .Xr recorder-gc 1
      end with 78 and do nothing; every other command says what is wrong and goes on without it.
      .Sh KEYS
      .Bl -tag -width Ds

      """
    let keys = SettingKey.all.map { key in
      var text = ".It \(escaped(key.name)) = Ar \(key.valueName)\n\(escaped(key.abstract))\n"
      if let builtIn = key.builtIn { text += "Default: \(escaped(builtIn)).\n" }
      if key.isRepeating { text += "May be set more than once.\n" }
      if let option = key.option { text += "Option: \(escaped(option)).\n" }
      return text + "Variable:\n.Ev \(key.variable) .\n"
    }.joined()
    return ManualPage(
      fileName: "recorder.conf.5",
      text: rules + keys + """
        .El
        .Sh SEE ALSO
        .Xr recorder 1 ,
        .Xr recorder-config-check 1 ,
        .Xr recorder-config-list 1 ,
        .Xr recorder-config-set 1

        """)
  }
}
