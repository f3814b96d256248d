#pragma once
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <wchar.h>
#include <time.h>

/* Linux calls outside the Glibc module: a variadic one, flags that are an enum in the headers, and what the headers
   declare only under _GNU_SOURCE. */
static inline void recorder_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int recorder_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
int ppoll(struct pollfd *entries, unsigned long count, const struct timespec *timeout, const sigset_t *mask);

/* wcwidth(3) is declared only under _XOPEN_SOURCE. */
int wcwidth(wchar_t character);
static inline int recorder_columns(unsigned int character) { return wcwidth((wchar_t)character); }
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *deadline);
