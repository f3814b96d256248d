/// A wrapped command ended, and this program ends with its status.
package struct CommandEnded: Error {
  /// The exit status: the command's own, or 128 and the number of the signal that ended it.
  package let status: Int32
  /// Makes the end with `status`.
  package init(status: Int32) { self.status = status }
}
