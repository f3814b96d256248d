// Replay: to be written.
