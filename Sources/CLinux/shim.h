#pragma once
#include <iconv.h>
#include <linux/magic.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/timex.h>
#include <wchar.h>
#include <time.h>

/* Linux calls outside the Glibc module: a variadic one, flags that are an enum in the headers, and what the headers
   declare only under _GNU_SOURCE. */
static inline void recorder_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
static inline int recorder_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
int ppoll(struct pollfd *entries, unsigned long count, const struct timespec *timeout, const sigset_t *mask);

/* Two names of a folder change places in one step. RENAME_EXCHANGE is 2 in linux/fs.h, and hidden with the function. */
int renameat2(int from, const char *name, int to, const char *other, unsigned int flags);
static inline int recorder_exchange(int folder, const char *name, const char *other) {
  return renameat2(folder, name, folder, other, 2);
}

/* wcwidth(3) is declared only under _XOPEN_SOURCE. */
int wcwidth(wchar_t character);
static inline int recorder_columns(unsigned int character) { return wcwidth((wchar_t)character); }
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *deadline);

/* The next client of a listening socket, which no child inherits and which never waits. */
int accept4(int listener, struct sockaddr *address, socklen_t *length, int flags);
static inline int recorder_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }
/* The user who made the other end of a local socket, or -1. The structure is struct ucred, which _GNU_SOURCE hides. */
static inline long long recorder_peer_uid(int descriptor) {
  struct { int process; unsigned int user; unsigned int group; } peer;
  socklen_t length = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? (long long)peer.user : -1;
}
int pipe2(int ends[2], int flags);
/* The process that made the other end of a local socket; 0 when it is not known. */
static inline int recorder_peer_pid(int descriptor) {
  struct { int process; unsigned int user; unsigned int group; } peer;
  socklen_t length = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.process : 0;
}
/* A new session for a spawned process; declared only under _GNU_SOURCE. */
static const int recorder_spawn_setsid = 0x80;
/* Whether the kernel's clock is kept by NTP; `struct timex` is a union of anonymous fields in Swift's eyes. */
static inline int recorder_clock_is_synchronized(void) {
  struct timex clock = {0};
  return adjtimex(&clock) != TIME_ERROR;
}

/* A file that is in memory alone and that no child inherits by itself, or -1. */
int memfd_create(const char *name, unsigned int flags);
static inline int recorder_memory_file(void) { return memfd_create("recorder", 1 /* MFD_CLOEXEC */); }

/* Whether the file system of an open file is FAT; the Glibc module has no statfs. */
static inline int recorder_is_fat(int descriptor) {
  struct statfs disk;
  return fstatfs(descriptor, &disk) == 0 && disk.f_type == MSDOS_SUPER_MAGIC;
}
