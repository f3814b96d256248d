/* An X client of many small windows whose properties are rubbish: `properties WINDOWS`. Each line of standard input, a seed,
   gives every window other ones; a line on standard output says that the server has them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xcb/xcb.h>

static uint64_t state;

/* SplitMix64 (Steele, Lea and Flood, 2014), so that a seed gives the same again. */
static uint64_t number(void) {
  state += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = state;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static const char *names[] = {"WM_NAME", "_NET_WM_NAME", "WM_CLASS", "_NET_WM_PID", "WM_TRANSIENT_FOR", "WM_CLIENT_MACHINE",
                              "WM_STATE", "_NET_WM_STATE", "_NET_WM_WINDOW_TYPE", "_NET_FRAME_EXTENTS"};
static const char *types[] = {"STRING", "UTF8_STRING", "COMPOUND_TEXT", "CARDINAL", "WINDOW", "ATOM", "WM_STATE"};
static const char *pieces[] = {"\xF0\x9F\x98\x80", "\xE2\x80\xAE", "\xC3", "\xED\xA0\x80", "\x1B]0;x\x07", "$(touch X)", "';--",
                               "\0", "concat:/etc/passwd", "\xFF\xFE", "../..", "title"};

enum { NAMES = sizeof names / sizeof *names, TYPES = sizeof types / sizeof *types, PIECES = sizeof pieces / sizeof *pieces };

/* Up to so many bytes: noise, or pieces that mean something to somebody. */
static uint32_t fill(unsigned char *bytes, uint32_t most) {
  uint32_t length = number() % (most + 1), place = 0;
  while (place < length) {
    if (number() % 2) {
      bytes[place++] = (unsigned char)number();
    } else {
      const char *piece = pieces[number() % PIECES];
      size_t count = strlen(piece) + (*piece == 0);
      for (size_t index = 0; index < count && place < length; index++) bytes[place++] = (unsigned char)piece[index];
    }
  }
  return length;
}

int main(int count, char **arguments) {
  xcb_connection_t *connection = xcb_connect(NULL, NULL);
  if (count < 2 || xcb_connection_has_error(connection)) return 1;
  xcb_screen_t *screen = xcb_setup_roots_iterator(xcb_get_setup(connection)).data;
  xcb_atom_t name_atoms[NAMES], type_atoms[TYPES];
  for (int index = 0; index < NAMES + TYPES; index++) {
    const char *name = index < NAMES ? names[index] : types[index - NAMES];
    xcb_intern_atom_reply_t *reply =
        xcb_intern_atom_reply(connection, xcb_intern_atom(connection, 0, strlen(name), name), NULL);
    if (!reply) return 1;
    *(index < NAMES ? &name_atoms[index] : &type_atoms[index - NAMES]) = reply->atom;
    free(reply);
  }
  int windows = atoi(arguments[1]);
  xcb_window_t *ids = calloc(windows, sizeof *ids);
  unsigned char *bytes = malloc(1 << 17);
  if (!ids || !bytes) return 1;
  for (int index = 0; index < windows; index++) {
    ids[index] = xcb_generate_id(connection);
    xcb_create_window(connection, XCB_COPY_FROM_PARENT, ids[index], screen->root, index % 300, index / 300, 1, 1, 0,
                      XCB_WINDOW_CLASS_INPUT_OUTPUT, XCB_COPY_FROM_PARENT, 0, NULL);
    xcb_map_window(connection, ids[index]);
  }
  char line[64];
  while (fgets(line, sizeof line, stdin)) {
    state = strtoull(line, NULL, 10);
    for (int index = 0; index < windows; index++) {
      for (int change = 0; change < 4; change++) {
        int name = change < 3 ? change : (int)(3 + number() % (NAMES - 3));
        if (number() % 8 == 0) {
          xcb_delete_property(connection, ids[index], name_atoms[name]);
          continue;
        }
        uint8_t format = number() % 4 ? 8 : number() % 2 ? 16 : 32;
        /* Now and then one that is larger than what is read of it. */
        uint32_t length = fill(bytes, number() % 200 ? 300 : 1 << 17);
        xcb_change_property(connection, XCB_PROP_MODE_REPLACE, ids[index], name_atoms[name],
                            type_atoms[number() % TYPES], format, length / (format / 8), bytes);
      }
    }
    free(xcb_get_input_focus_reply(connection, xcb_get_input_focus(connection), NULL));
    printf("%s", line);
    fflush(stdout);
  }
  return 0;
}
