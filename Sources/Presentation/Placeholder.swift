// Presentation: to be written.
