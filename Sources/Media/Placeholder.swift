// Media: to be written.
