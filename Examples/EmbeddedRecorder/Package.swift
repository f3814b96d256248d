// swift-tools-version: 6.2
import PackageDescription

// A program of its own that has the recorder built in: `swift run --package-path Examples/EmbeddedRecorder`.
let package = Package(
  name: "EmbeddedRecorder",
  dependencies: [.package(name: "recorder", path: "../..")],
  targets: [
    .executableTarget(
      name: "EmbeddedRecorder", dependencies: [.product(name: "Recorder", package: "recorder")],
      swiftSettings: [.swiftLanguageMode(.v6)])
  ]
)
