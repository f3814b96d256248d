import Testing

@testable import Index

/// The number by which two lists of rows are compared.
@Suite struct RowDigestTests {
  private func digest(_ rows: [String]) throws -> Int64 {
    var digest: Int64?
    let list = rows.isEmpty ? "SELECT 1, 2 WHERE 0" : "VALUES " + rows.map { "(\($0))" }.joined(separator: ", ")
    try Database(path: nil).run("WITH list (a, b) AS (\(list)) SELECT rowDigest(a, b) FROM list") {
      digest = $0.integer(0)
    }
    return try #require(digest)
  }

  @Test func listsThatDifferHaveTwo() throws {
    let lists = [
      ["'report of planet', 1", "'kernel', 2"],
      ["'kernel', 2", "'report of planet', 1"],
      ["'report of planet', 1", "'kernel', 3"],
      ["'report of planet', 4294967297", "'kernel', 2"],
      ["'rfport of planet', 1", "'kernel', 2"],
      ["'report of planet', 1", "'kernem', 2"],
      ["'report of planet', 1", "'kernel' || char(0), 2"],
      ["'report of planetk', 1", "'ernel', 2"],
      ["'report of planet', 1", "'', 2"],
      ["'report of planet', 1", "NULL, 2"],
      ["'report of planet', 1", "'kernel', 2", "'kernel', 2"],
      ["'report of planet', 1"],
      [],
    ]
    // What is not there and what is empty is told apart by nobody.
    #expect(Set(try lists.map(digest)).count == lists.count - 1)
    for list in lists { #expect(try digest(list) == digest(list)) }
  }
}
