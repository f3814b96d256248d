package import Arguments

extension ManualPage.Supplement {
  /// What the manual says beside the command table.
  package static var standard: ManualPage.Supplement {
    ManualPage.Supplement(
      date: "November 30, 2026",
      environment: [
        ("RECORDER_ARCHIVE", "The archive's folder; goes before the configuration and $XDG_DATA_HOME/recorder."),
        ("RECORDER_*", "The defaults of the options: recorder.conf(5) has the variable of each."),
        ("XDG_CONFIG_HOME", "Where the user's configuration is, in recorder/; ~/.config when it is not set."),
        ("XDG_CONFIG_DIRS", "Where the machine's configuration is, in recorder/; /etc/xdg when it is not set."),
        ("XDG_DATA_HOME", "Where programs keep data; ~/.local/share when it is not set."),
        ("XDG_RUNTIME_DIR", "Where control sockets are, in recorder/; run/ in the archive when it is not usable."),
        ("DISPLAY", "The X display to record and to replay on; record --display goes before it."),
        ("XAUTHORITY", "The file with the right to use the display; ~/.Xauthority when it is not set."),
        ("PULSE_SERVER", "The sound server, when it is not the one of the session."),
      ],
      files: [
        (
          "sessions/", "In the archive: one folder a session, by year, month and day; recorder-archive(5) describes it."
        ),
        ("index.sqlite", "In the archive: the search index, a cache that recorder index rebuild makes anew."),
      ],
      seeAlso: [("recorder-archive", 5), ("recorder.conf", 5)])
  }
}
