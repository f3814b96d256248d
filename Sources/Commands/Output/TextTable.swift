import SessionModel

/// Rows of text in aligned columns, for people to read. Every cell is made printable.
package struct TextTable: Sendable {
  /// One column.
  package struct Column: Sendable {
    /// What stands above it.
    package var title: String
    /// Whether its cells end at the same column, as numbers do.
    package var isRightAligned: Bool
    /// Makes a column.
    package init(_ title: String, rightAligned: Bool = false) { (self.title, isRightAligned) = (title, rightAligned) }
  }

  private let columns: [Column]
  private var rows: [[String]] = []

  /// Makes an empty table.
  package init(_ columns: [Column]) { self.columns = columns }

  /// Adds a row: one cell a column; a missing one is empty.
  package mutating func append(_ cells: [String]) {
    rows.append(columns.indices.map { index in index < cells.count ? cells[index].printable : "" })
  }

  /// The lines, titles first; each at most `width` columns wide when there is a `width`, the cut marked by an ellipsis.
  package func text(width: Int?) -> String {
    let all = [columns.map { column in column.title }] + rows
    let widths = columns.indices.map { index in all.map { row in columnCount(row[index]) }.max() ?? 0 }
    return all.map { row in
      var line = ""
      for (index, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[index] - columnCount(cell))
        line += (index == 0 ? "" : "  ") + (columns[index].isRightAligned ? padding + cell : cell + padding)
      }
      while line.last == " " { line.removeLast() }
      return width.map { width in cut(line, to: width) } ?? line
    }.joined(separator: "\n") + "\n"
  }

  private func cut(_ line: String, to width: Int) -> String {
    guard columnCount(line) > width else { return line }
    var (result, used) = ("", 0)
    for character in line {
      let columns = Terminal.columns(character)
      if used + columns > width - 1 { break }
      result.append(character)
      used += columns
    }
    return result + "…"
  }

  private func columnCount(_ text: String) -> Int {
    text.reduce(0) { sum, character in sum + Terminal.columns(character) }
  }
}
