/// What is recorded after the window that is recorded now.
enum Succession {
  /// Nothing: the recording ends with it.
  case none
  /// Once it is closed, the next one that matches.
  case afterClose(WindowSuccessor)
  /// Whichever is active.
  case focus(FocusFollower)
}
