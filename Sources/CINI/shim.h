#pragma once
#include <ini.h>

/* Debian's inih takes its build options from variables, which Swift may not touch: every setting is one line of at most
   `longest` - 3 bytes, and a semicolon in a value is part of it. Whoever calls first sets them, and all set the same. */
static inline int recorder_ini_parse(ini_reader reader, void *stream, ini_handler handler, void *user, int longest) {
  ini_allow_multiline = false;
  ini_allow_inline_comments = false;
  ini_stop_on_first_error = false;
  ini_max_line = longest;
  return ini_parse_stream(reader, stream, handler, user);
}
