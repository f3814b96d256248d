import FoundationEssentials
package import SessionModel

/// What `chain.ndjson` of a session holds, each line held against the one before it.
package struct ChainRecord: Hashable, Sendable {
  /// The lines whose hashes are right, up to the first that is wrong.
  package var links: [ChainLink] = []
  /// The number of the first line that is wrong, from 1; nil when none is.
  package var fault: Int?
  /// The line that is wrong, when it can be read.
  package var faulty: ChainLink?
  /// The bytes up to the end of the last whole line.
  var wholeBytes: Int64 = 0
  /// The hash that the last line that can be read has; what the next line is made over.
  var lastHash: String

  /// The head of the chain: the hash of its last line; nil when there is none.
  package var head: String? { fault == nil ? links.last?.hash : nil }

  /// Reads the chain of the session `id`; an empty one when there is no file.
  init(id: SessionID, file: borrowing FileDescriptor?) throws(RecorderError) {
    lastHash = Chain.root(of: id)
    guard file != nil else { return }
    var (links, fault, faulty, last, number) = ([ChainLink](), Int?.none, ChainLink?.none, lastHash, 0)
    let decoder = JSONDecoder()
    wholeBytes = try Self.forEachLine(in: file) { line in
      number += 1
      let bytes = Array(line)
      let link = try? decoder.decode(ChainLink.self, from: line)
      if let link, link.isPlausible, Chain.hash(of: bytes, holding: link.hash, after: last) == link.hash {
        if fault == nil { links.append(link) }
        last = link.hash
      } else {
        if fault == nil { (fault, faulty) = (number, link?.isPlausible == true ? link : nil) }
        if let link, Digest.isDigest(link.hash) { last = link.hash }
      }
    }
    (self.links, self.fault, self.faulty, lastHash) = (links, fault, faulty, last)
  }

  private static func forEachLine(
    in file: borrowing FileDescriptor?, _ body: (Data) -> Void
  ) throws(RecorderError) -> Int64 {
    switch file {
    case .some(let file): try Line.forEach(in: file) { (line) throws(RecorderError) in body(line) }
    case nil: 0
    }
  }
}

extension SessionReader {
  /// The session's chain, as it is now.
  /// - Throws: `RecorderError` when the file cannot be read.
  package func chain() throws(RecorderError) -> ChainRecord {
    try ChainRecord(id: id, file: folder.file(ArchiveLocation.Name.chain))
  }
}
