// Index: to be written.
