import FoundationEssentials
import SessionModel

/// A line of a file that is only ever appended to, by any process: it names the hash of the line before it, so that one
/// that is changed, or taken away before another, is seen.
protocol ChainedLine: Codable {
  /// The SHA-256 of the line before it, of nothing for the first; nil in files of before there was one.
  var previous: String? { get set }
}

extension Annotation: ChainedLine {}

extension Folder {
  /// Appends `line` to the file `name` in this folder, so that it survives a power cut.
  /// - Parameter isRight: asked when the file is locked and nobody else writes to it: whether it is still the one.
  /// - Returns: false, and nothing is appended, when it is not.
  @discardableResult
  func append(
    _ line: some ChainedLine, to name: String, when isRight: () throws(RecorderError) -> Bool = { true }
  ) throws(RecorderError) -> Bool {
    let file = try openOrCreateFile(name, appending: true)
    _ = try file.lock(waiting: true)
    guard try isRight() else { return false }
    var line = line
    line.previous = try file.lastLineDigest()
    var bytes = try encode(line) + [Line.end]
    if try !file.endsWithWholeLine() { bytes.insert(Line.end, at: 0) }
    try file.append(line: bytes)
    try file.synchronize()
    return true
  }
}

extension FileDescriptor {
  /// Holds each line against the one before it.
  /// - Parameter body: takes each line that can be read.
  /// - Returns: the number of the first that is not as it was added, or follows one that is not, from 1; nil when all are.
  func firstFault<Entry: ChainedLine>(of type: Entry.Type, _ body: (Entry) -> Void = { _ in }) throws(RecorderError)
    -> Int?
  {
    let decoder = JSONDecoder()
    var (number, before, isChained) = (0, Digest.of([]), false)
    var torn: Int?, wrong: Int?
    _ = try Line.forEach(in: self) { (line) throws(RecorderError) in
      number += 1
      if let entry = try? decoder.decode(type, from: line) {
        if entry.previous != nil || isChained, entry.previous != before { wrong = wrong ?? number }
        isChained = isChained || entry.previous != nil
        torn = nil
        body(entry)
      } else {
        // Half a line that a killed program left is part of what the next one is held against.
        torn = torn ?? number
      }
      before = Digest.of(Array(line))
    }
    return wrong ?? torn
  }

  /// The hash of the last line, half a line included; of nothing when there is none.
  fileprivate func lastLineDigest() throws(RecorderError) -> String {
    var last: [UInt8] = []
    let whole = try Line.forEach(in: self) { (line) throws(RecorderError) in last = Array(line) }
    let rest = try size() - whole
    if rest > 0 {
      last = [UInt8](repeating: 0, count: Int(min(rest, Int64(Line.longest))))
      _ = try read(into: &last, at: whole)
    }
    return Digest.of(last)
  }

  /// Whether the file is empty or its last byte ends a line: a writer that was killed may have left half a line.
  fileprivate func endsWithWholeLine() throws(RecorderError) -> Bool {
    let size = try size()
    guard size > 0 else { return true }
    var last: [UInt8] = [0]
    _ = try read(into: &last, at: size - 1)
    return last == [Line.end]
  }
}
