// Capture: to be written.
