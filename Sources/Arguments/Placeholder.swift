// Arguments: to be written.
