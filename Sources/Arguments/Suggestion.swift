/// The question "Did you mean …?" about the word among `candidates` that is nearest to `argument`; nil when none is near.
package func suggestion(for argument: ArgumentText, among candidates: [String]) -> String? {
  nearest(to: argument, among: candidates).map { "Did you mean \"\($0)\"?" }
}

/// The word among `candidates` that is nearest to `argument`; nil when none is near: more than a third of its letters, or
/// more than three, are different.
package func nearest(to argument: ArgumentText, among candidates: [String]) -> String? {
  // Longer ones are no slips of the hand, and the distance takes time in proportion to the product of the lengths.
  guard let word = argument.string, word.utf8.count <= 40 else { return nil }
  let scored = candidates.map { candidate in (candidate, editDistance(Array(word.utf8), Array(candidate.utf8))) }
  guard let (best, distance) = scored.min(by: { left, right in left.1 < right.1 }),
    distance <= min(3, best.utf8.count / 3)
  else { return nil }
  return best
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour to make one word of the other
/// (the optimal string alignment distance).
func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var rows = [[Int]](repeating: [Int](repeating: 0, count: right.count + 1), count: left.count + 1)
  for index in 0...left.count { rows[index][0] = index }
  for index in 0...right.count { rows[0][index] = index }
  for i in left.indices {
    for j in right.indices {
      let replaced = rows[i][j] + (left[i] == right[j] ? 0 : 1)
      rows[i + 1][j + 1] = min(rows[i][j + 1] + 1, rows[i + 1][j] + 1, replaced)
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        rows[i + 1][j + 1] = min(rows[i + 1][j + 1], rows[i - 1][j - 1] + 1)
      }
    }
  }
  return rows[left.count][right.count]
}
