import Glibc

/// An ALSA capture device in user space with a clock of its own (`Tests/Devices/clocked.c`), which beeps at 1 kHz for
/// 50 ms at each even second of `CLOCK_MONOTONIC` and has the faults that a test wishes for.
package final class ClockedDevice: Sendable {
  /// A fault that lasts as long as a test wants it to.
  package enum Fault: String, Sendable {
    /// It delivers nothing, and reports no error.
    case stall
    /// It is gone.
    case vanish
  }

  /// ALSA's name for it.
  package let pcm: String
  /// The configuration that knows it: $ALSA_CONFIG_PATH of who is to use it.
  package let configuration: String
  private let folder: TemporaryFolder

  /// A fault that comes once.
  package enum Mishap: String, Sendable {
    /// It overruns.
    case overrun = "xrun"
    /// It overruns, and started again delivers nothing until it is opened anew.
    case deaf
  }

  /// Compiles the device and, for this process, tells ALSA of it.
  /// - Parameters:
  ///   - partsPerMillion: how much faster its clock goes than `CLOCK_MONOTONIC`.
  ///   - rate: the one rate that it has, in Hz.
  ///   - channels: how many channels it has, the Nth beeping at N kHz; nil is one or two that are alike.
  ///   - bits: those of a sample, 16 or 32; nil is a float.
  package init(partsPerMillion: Int = 0, rate: Int = 48_000, channels: Int? = nil, bits: Int? = nil) throws {
    folder = try TemporaryFolder()
    configuration = try Self.installed.get().file("asound.conf")
    pcm = "clocked:\(partsPerMillion),\(folder.path),\(rate),\(channels ?? 0),\(bits ?? 0)"
  }

  /// One for all tests of a process, since ALSA reads its configuration by a variable of the process.
  private static let installed = Result { () throws -> TemporaryFolder in
    let folder = try TemporaryFolder()
    let source = "\(#filePath)".split(separator: "/").dropLast(2).map { "/\($0)" }.joined() + "/Devices/clocked.c"
    let library = folder.file("libasound_module_pcm_clocked.so")
    let result = try run(
      [
        "gcc", "-shared", "-fPIC", "-DPIC", "-O1", "-Wall", "-Wextra", "-Werror", source, "-o", library, "-lasound",
        "-lm",
      ])
    guard result.status == 0 else { throw TestFailure("gcc: \(result.errorText)") }
    let text = """
      </usr/share/alsa/alsa.conf>
      pcm_type.clocked { lib "\(library)" }
      pcm.clocked {
        @args [ PPM FOLDER RATE CHANNELS BITS ]
        @args.PPM { type integer default 0 }
        @args.FOLDER { type string default "." }
        @args.RATE { type integer default 48000 }
        @args.CHANNELS { type integer default 0 }
        @args.BITS { type integer default 0 }
        type clocked
        ppm $PPM
        folder $FOLDER
        rate $RATE
        channels $CHANNELS
        bits $BITS
      }

      """
    try writeFile(folder.file("asound.conf"), text.utf8)
    setenv("ALSA_CONFIG_PATH", folder.file("asound.conf"), 1)
    return folder
  }

  /// Begins a fault.
  package func begin(_ fault: Fault) throws { try writeFile(folder.file(fault.rawValue), []) }
  /// Ends it.
  package func end(_ fault: Fault) { unlink(folder.file(fault.rawValue)) }
  /// Has it fail once.
  package func suffer(_ mishap: Mishap) throws { try writeFile(folder.file(mishap.rawValue), []) }

  /// The stretches, in seconds of `CLOCK_MONOTONIC`, of which it gave what it heard, by its own word; the last one has
  /// no end while it goes on.
  package func heard() throws -> [(start: Double, end: Double?)] {
    var stretches: [(start: Double, end: Double?)] = []
    for line in String(decoding: try readFile(folder.file("heard")), as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count == 2, let time = Double(words[1]) else { throw TestFailure("\(line)") }
      if words[0] == "begin" { stretches.append((time, nil)) } else { stretches[stretches.count - 1].end = time }
    }
    return stretches
  }

  /// What a program needs in its environment to find it.
  package var environment: [String: String?] { ["ALSA_CONFIG_PATH": configuration] }
}
