#pragma once
#include <sys/eventfd.h>
#include <sys/prctl.h>

/* Linux calls outside the Glibc module: a variadic one, and flags that are an enum in the headers. */
static inline void recorder_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int recorder_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
