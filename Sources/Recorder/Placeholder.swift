// Recorder: to be written.
