// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

func library(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name, dependencies: ["TestSupport", "SessionModel"] + dependencies, swiftSettings: strict)
}

let package = Package(
  name: "recorder",
  products: [
    .library(name: "Recorder", targets: ["Recorder"]),
    .executable(name: "recorder", targets: ["recorder-cli"]),
    .executable(name: "recorder-media", targets: ["recorder-media"]),
    .executable(name: "recorder-desktop", targets: ["recorder-desktop"]),
  ],
  targets: [
    // C libraries, each a module map and a shim; one importer a direction (see ARCHITECTURE.md).
    .systemLibrary(
      name: "CXCB",
      pkgConfig:
        "xcb xcb-shm xcb-damage xcb-xfixes xcb-randr xcb-composite xcb-xinput xcb-keysyms"),
    .systemLibrary(name: "CALSA", pkgConfig: "alsa"),
    // libpulse.pc carries flags that the package manager refuses with a warning: the module map links it.
    .systemLibrary(name: "CPulse"),
    .systemLibrary(
      name: "CFFmpeg", pkgConfig: "libavformat libavcodec libswresample libswscale libavutil"),
    .systemLibrary(name: "CYUV"),
    .systemLibrary(name: "CEBUR128", pkgConfig: "libebur128"),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3"),
    .systemLibrary(name: "CNettle", pkgConfig: "nettle"),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd"),
    .systemLibrary(name: "CINI", pkgConfig: "inih"),

    // Pure values, then the layers over them.
    library("SessionModel", []),
    library("Threading", ["SessionModel", "CLinux"]),
    library("Capture", ["SessionModel", "Threading", "CXCB", "CALSA", "CPulse", "CYUV", "CLinux"]),
    library("Media", ["SessionModel", "CFFmpeg", "CYUV", "CEBUR128"]),
    library("Archive", ["SessionModel", "CNettle", "CLinux"]),
    library("Control", ["SessionModel", "Threading", "CLinux"]),
    library("Recorder", ["SessionModel", "Threading", "Capture", "Media", "Archive", "Control", "CLinux"]),
    library("Presentation", ["SessionModel", "Threading", "CXCB", "CALSA", "CPulse"]),
    library("Replay", ["SessionModel", "Threading", "Media", "Archive", "Presentation"]),
    library("Index", ["SessionModel", "Threading", "Archive", "CSQLite"]),
    library("Arguments", ["SessionModel"]),
    // What files and environment set the options to.
    library("Configuration", ["SessionModel", "Arguments", "CINI"]),
    // The command table: every command's words and options, and how a command line is run and its output written.
    library("Commands", ["SessionModel", "Threading", "Arguments", "Configuration", "Control", "CLinux"]),
    // Three programs, since loading FFmpeg takes longer than most commands: `recorder` runs what needs no media library
    // and becomes `recorder-media` for the rest.
    .executableTarget(
      name: "recorder-cli",
      dependencies: [
        "SessionModel", "Threading", "Arguments", "Configuration", "Commands", "Archive", "Index", "Control", "CLinux",
      ],
      swiftSettings: strict),
    // What `recorder` becomes to look at the desktop: libpulse alone takes longer to load than `list` does.
    .executableTarget(
      name: "recorder-desktop",
      dependencies: ["SessionModel", "Arguments", "Commands", "Capture"],
      swiftSettings: strict),
    .executableTarget(
      name: "recorder-media",
      dependencies: [
        "SessionModel", "Threading", "Arguments", "Commands", "Archive", "Index", "Media", "Recorder", "Replay",
        "Control", "CLinux", "CSystemd",
      ],
      swiftSettings: strict),

    // A client that draws a known picture: a binary-coded frame counter, colour bars, named windows.
    .executableTarget(
      name: "test-pattern", dependencies: ["SessionModel", "Threading", "CXCB"],
      swiftSettings: strict),

    .target(
      name: "TestSupport", dependencies: ["SessionModel", "Threading", "CPulse", "CLinux"], path: "Tests/TestSupport",
      swiftSettings: strict),
    tests("SessionModelTests", []),
    tests("ThreadingTests", ["Threading"]),
    tests("CaptureTests", ["Capture", "Threading"]),
    tests("MediaTests", ["Media"]),
    tests("ArchiveTests", ["Archive"]),
    tests("RecorderTests", ["Recorder", "Capture", "Media", "Archive", "Threading", "Control"]),
    tests("ReplayTests", ["Replay", "Presentation", "Media", "Archive", "Threading"]),
    tests("IndexTests", ["Index", "Archive"]),
    tests("ArgumentsTests", ["Arguments", "Commands", "Control"]),
    tests("ConfigurationTests", ["Configuration", "Arguments", "Commands"]),
    tests("ControlTests", ["Control", "Threading"]),
    tests("CommandTests", ["Archive", "Media", "Replay", "Index", "Control", "Threading"]),
  ]
)
