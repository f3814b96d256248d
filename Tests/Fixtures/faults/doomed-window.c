/* Has a window go just when the thread that tells of windows asks for its class: LD_PRELOAD it. The file that DOOMED_FILE names
   holds the window's id, in hexadecimal, and goes with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <xcb/xcb.h>

static int is_doomed(xcb_window_t window) {
  char name[17] = "";
  prctl(PR_GET_NAME, name, 0, 0, 0);
  const char *path = getenv("DOOMED_FILE");
  FILE *file = path && strcmp(name, "window-events") == 0 ? fopen(path, "r") : NULL;
  if (!file) return 0;
  unsigned id = 0;
  int found = fscanf(file, "%x", &id) == 1 && id == window;
  fclose(file);
  return found && unlink(path) == 0;
}

xcb_get_property_cookie_t xcb_get_property(xcb_connection_t *connection, uint8_t delete, xcb_window_t window,
                                           xcb_atom_t property, xcb_atom_t type, uint32_t offset, uint32_t length) {
  static xcb_get_property_cookie_t (*ask)(xcb_connection_t *, uint8_t, xcb_window_t, xcb_atom_t, xcb_atom_t, uint32_t,
                                          uint32_t);
  if (!ask) *(void **)&ask = dlsym(RTLD_NEXT, "xcb_get_property");
  if (property == XCB_ATOM_WM_CLASS && is_doomed(window)) xcb_destroy_window(connection, window);
  return ask(connection, delete, window, property, type, offset, length);
}
