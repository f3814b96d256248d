import Archive
import Arguments
import Commands
import Index
import SessionModel

/// What `show --json` prints.
struct SessionReport: Encodable {
  /// The session as lists show it.
  let session: SessionSummary
  /// The manifest; nil when it is damaged.
  let manifest: Manifest?
  /// Notes, markers, warnings, gaps and devices.
  let moments: [SearchHit]
  /// The windows that were active longest.
  let windows: [WindowUse]
  /// Why no clean-up may delete it; nil when one may.
  let protection: String?
  /// How the command ended that it was recorded for, as a shell says it; nil when there was none or it is not known.
  let commandStatus: Int32?
}

extension ShowCommand: Command {
  func run() async throws {
    let archive = try await OpenArchive()
    let id = try archive.reader.resolve(session.name.text)
    let detail = try await archive.index.session(id)
    let manifest = Self.manifest(of: id, in: archive, detail.summary)
    let labels = SessionLabels(manifest: manifest, annotations: try archive.reader.session(id).annotations())
    if output.json {
      return try StandardOutput.json(
        SessionReport(
          session: detail.summary, manifest: manifest, moments: detail.moments, windows: detail.windows,
          protection: labels.protection, commandStatus: labels.commandStatus))
    }
    var lines = Self.facts(detail.summary, manifest, labels)
    if !detail.windows.isEmpty {
      lines += ["", "Windows, by the time they were active:"]
      lines += detail.windows.map { use in
        "  \(Timestamp(nanoseconds: use.total))  from \(use.first)  \(use.words.printable(atMost: 100))"
      }
    }
    if !detail.moments.isEmpty {
      lines += ["", "Moments:"]
      lines += detail.moments.map { "  \($0.timestamp)  \($0.kind)  \($0.snippet.printable)" }
    }
    try StandardOutput.line(lines.joined(separator: "\n"))
  }

  /// The manifest; nil when it cannot be read, which is told where the index does not say so.
  private static func manifest(of id: SessionID, in archive: OpenArchive, _ summary: SessionSummary) -> Manifest? {
    do throws(RecorderError) { return try archive.reader.session(id).manifest() } catch {
      if summary.message?.contains(error.message) != true { Diagnostics.report(error) }
      return nil
    }
  }

  private static func facts(_ session: SessionSummary, _ manifest: Manifest?, _ labels: SessionLabels) -> [String] {
    var facts: [(String, String)] = [("Session", session.id.description)]
    if let title = session.title { facts.append(("Title", title.printable)) }
    if !session.tags.isEmpty { facts.append(("Tags", session.tags.map(\.printable).joined(separator: ", "))) }
    if let protection = labels.protection {
      facts.append(("Protected", protection.isEmpty ? "yes" : protection.printable))
    }
    facts.append(("State", session.state.rawValue + (session.reason.map { " (\($0))" } ?? "")))
    if let message = session.message { facts.append(("", message.printable)) }
    facts.append(("Started", session.began.text(utcOffset: session.utcOffset)))
    facts.append(("Duration", "\(session.duration)"))
    facts.append(("Size", ByteCount.text(session.bytes)))
    if let manifest {
      let rect = manifest.source.rect
      facts.append(("Source", "\(session.source.printable) at \(rect) on \(manifest.host.display.printable)"))
      facts.append(("Host", manifest.host.name.printable))
      if let command = manifest.command {
        let words = command.arguments.joined(separator: " ").printable(atMost: 200)
        facts.append(("Command", words + (labels.commandStatus.map { " (ended with \($0))" } ?? "")))
      }
      if let window = manifest.source.window { facts.append(("Window", window.title.printable(atMost: 200))) }
      for track in manifest.tracks { facts.append(("Track \(track.index)", describe(track))) }
      if let statistics = manifest.statistics {
        facts.append(("Frames", "\(statistics.frames), and \(statistics.droppedFrames) left to the next"))
      }
      for sound in manifest.statistics?.sound ?? [] {
        facts.append(("Sound, \(sound.name.printable)", sound.description))
      }
      if let check = manifest.check, !check.isComplete {
        facts += check.findings.enumerated().map { ($0 == 0 ? "Incomplete" : "", $1.printable) }
      }
      if let chain = manifest.chain {
        facts.append(
          ("Seal", "\(chain.head.printable)\(chain.sealedBy == "recorder" ? "" : " (by \(chain.sealedBy.printable))")"))
      }
      facts.append(("Written by", manifest.generator.printable))
    }
    return facts.map { name, value in
      (name.isEmpty ? "" : "\(name):") + String(repeating: " ", count: max(1, 12 - name.utf8.count)) + value
    }
  }

  private static func describe(_ track: Manifest.Track) -> String {
    let inputs = track.inputs?.map(\.printable).joined(separator: " and ")
    let parts: [String?] = [
      track.codec.printable, track.size?.description, track.sampleRate.map { "\($0) Hz" },
      track.channels.map { "\($0) channels" }, inputs,
    ]
    return parts.compactMap(\.self).joined(separator: ", ")
  }
}
