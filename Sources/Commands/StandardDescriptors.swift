import Glibc

/// The three descriptors that every program expects to be open.
enum StandardDescriptors {
  /// Opens those that the caller closed (`recorder list >&-`), so that no file of the archive gets their numbers and
  /// is written to as if it were standard output or standard error. They are opened the wrong way round: reading
  /// standard input and writing the others fail with EBADF, as they would if they had stayed closed.
  static func complete() {
    let wanted = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    for (descriptor, access) in wanted where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is this one: those below it are open by now.
      _ = open("/dev/null", access)
    }
  }
}
