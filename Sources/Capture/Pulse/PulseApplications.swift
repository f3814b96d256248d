internal import CPulse
import Glibc

/// The streams that an application plays on a sound server.
struct PulseApplications {
  private let application: AudioApplication
  /// The server's numbers of them.
  private(set) var streams: [UInt32] = []
  /// The names of the others that play; outside text.
  private(set) var others: [String] = []

  /// Asks the server of `connection` what `application` plays.
  /// - Returns: nil when it had not answered by `deadline` (ns of `CLOCK_MONOTONIC`).
  static func ask(
    _ application: AudioApplication, _ connection: borrowing PulseConnection, until deadline: Int64
  ) -> PulseApplications? {
    var list = PulseApplications(application: application)
    let hasAnswered = withUnsafeMutablePointer(to: &list) { list in
      let question = pa_context_get_sink_input_info_list(
        connection.context,
        { _, answer, _, list in
          guard let answer = answer?.pointee, let list = list?.assumingMemoryBound(to: PulseApplications.self),
            let properties = answer.proplist
          else { return }
          if list.pointee.isMeant(properties) {
            list.pointee.streams.append(answer.index)
          } else if let name = pa_proplist_gets(properties, PA_PROP_APPLICATION_NAME) {
            list.pointee.others.append(String(cString: name))
          }
        }, list)
      return connection.wait(for: question, until: deadline)
    }
    return hasAnswered ? list : nil
  }

  private init(application: AudioApplication) { self.application = application }

  private func isMeant(_ properties: OpaquePointer) -> Bool {
    func property(_ name: String) -> String? {
      pa_proplist_gets(properties, name).map { String(cString: $0) }
    }
    switch application {
    case .name(let name):
      let name = name.lowercased()
      return [PA_PROP_APPLICATION_NAME, PA_PROP_APPLICATION_PROCESS_BINARY, PA_PROP_APPLICATION_ID].contains {
        property($0)?.lowercased() == name
      }
    case .process(let id):
      return property(PA_PROP_APPLICATION_PROCESS_ID).flatMap { Int($0) }.map { Self.isProcess($0, within: id) }
        ?? false
    }
  }

  // Deeper trees of processes than a shell in a terminal in a session do not come about; a loop must not be endless.
  private static let deepestTree = 64

  /// Whether the process `id` is `ancestor` or descends from it.
  static func isProcess(_ id: Int, within ancestor: Int) -> Bool {
    var id = id
    for _ in 0..<deepestTree {
      if id == ancestor { return true }
      guard id > 1, let parent = parent(of: id) else { return false }
      id = parent
    }
    return false
  }

  /// The parent of the process `id`, from its line in /proc; nil when there is none.
  private static func parent(of id: Int) -> Int? {
    let descriptor = open("/proc/\(id)/stat", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Longer than any such line: 52 numbers and a name of 16 bytes.
    var bytes = [UInt8](repeating: 0, count: 2048)
    let count = read(descriptor, &bytes, bytes.count)
    // "ID (NAME) STATE PARENT …"; the name may hold anything, so its end is the last bracket.
    guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
    let words = bytes[(end + 1)..<count].split(separator: UInt8(ascii: " "))
    return words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) : nil
  }
}
