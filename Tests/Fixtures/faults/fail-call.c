/* Fails the Nth call of one kind on what lies below a folder, or has it hang: LD_PRELOAD it into the program that is
   tested.

   FAIL_CALL   write, fsync, rename, exchange, open, mmap, truncate or unlink; "change" is all of these but mmap, as on a disk that can
               only be read any more, where opening for reading goes on
   FAIL_AT     which call, from 1
   FAIL_UNDER  the folder
   FAIL_ERRNO  the error's number
   FAIL_ONCE   set: that call alone; else that one and all after it
   FAIL_MARK   a file that is made when a call was failed
   FAIL_WHEN   a file: only calls after it was made count
   FAIL_ENDS   what the path of the file ends with; every path when it is not set
   FAIL_HOLD   a FIFO: the call waits until somebody opens it for writing, and is made then, as all after it are

   STATVFS     what the file system says of itself, whatever is asked: f_blocks,f_bavail,f_frsize,f_bsize
   STATFS_TYPE the number of its kind, whatever is asked */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

static atomic_int calls;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_under(const char *path) {
  const char *folder = getenv("FAIL_UNDER"), *end = getenv("FAIL_ENDS");
  size_t length = strlen(path), tail = end ? strlen(end) : 0;
  return folder && strncmp(path, folder, strlen(folder)) == 0 && (!end || (length >= tail && !strcmp(path + length - tail, end)));
}

static int leads_under(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_under(path);
}

static int at_under(int folder, const char *path) {
  return path[0] == '/' ? is_under(path) : folder != AT_FDCWD && leads_under(folder);
}

/* Whether this call, which is one of `kind` on the folder, is to fail. */
static int fails(const char *kind) {
  const char *wanted = getenv("FAIL_CALL"), *at = getenv("FAIL_AT"), *number = getenv("FAIL_ERRNO");
  const char *begin = getenv("FAIL_WHEN"), *hold = getenv("FAIL_HOLD");
  if (!wanted || !at || (!number && !hold)) return 0;
  if (strcmp(wanted, kind) != 0 && (strcmp(wanted, "change") != 0 || strcmp(kind, "mmap") == 0)) return 0;
  if (begin && access(begin, F_OK) != 0) return 0;
  int count = atomic_fetch_add(&calls, 1) + 1, first = atoi(at);
  if (count < first || (getenv("FAIL_ONCE") && count > first)) return 0;
  const char *mark = getenv("FAIL_MARK");
  if (mark) {
    int made = NEXT(open)(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (made >= 0) close(made);
  }
  if (hold) {
    static atomic_int goes_on;
    if (!goes_on) {
      int opened = NEXT(open)(hold, O_RDONLY | O_CLOEXEC);
      goes_on = 1;
      if (opened >= 0) close(opened);
    }
    return 0;
  }
  errno = atoi(number);
  return 1;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (leads_under(descriptor) && fails("write")) return -1;
  return NEXT(write)(descriptor, bytes, count);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (leads_under(descriptor) && fails("write")) return -1;
  return NEXT(pwrite)(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  if (leads_under(descriptor) && fails("write")) return -1;
  return NEXT(pwrite64)(descriptor, bytes, count, offset);
}

int fsync(int descriptor) {
  if (leads_under(descriptor) && fails("fsync")) return -1;
  return NEXT(fsync)(descriptor);
}

int fdatasync(int descriptor) {
  if (leads_under(descriptor) && fails("fsync")) return -1;
  return NEXT(fdatasync)(descriptor);
}

int renameat(int from, const char *old, int to, const char *new) {
  if (at_under(to, new) && fails("rename")) return -1;
  return NEXT(renameat)(from, old, to, new);
}

int renameat2(int from, const char *old, int to, const char *new, unsigned int flags) {
  if (at_under(to, new) && fails("exchange")) return -1;
  return NEXT(renameat2)(from, old, to, new, flags);
}

int unlinkat(int folder, const char *path, int flags) {
  if (at_under(folder, path) && fails("unlink")) return -1;
  return NEXT(unlinkat)(folder, path, flags);
}

int ftruncate(int descriptor, off_t length) {
  if (leads_under(descriptor) && fails("truncate")) return -1;
  return NEXT(ftruncate)(descriptor, length);
}

int ftruncate64(int descriptor, off64_t length) {
  if (leads_under(descriptor) && fails("truncate")) return -1;
  return NEXT(ftruncate64)(descriptor, length);
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  if (descriptor >= 0 && leads_under(descriptor) && fails("mmap")) return MAP_FAILED;
  return NEXT(mmap)(address, length, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off64_t offset) {
  if (descriptor >= 0 && leads_under(descriptor) && fails("mmap")) return MAP_FAILED;
  return NEXT(mmap64)(address, length, protection, flags, descriptor, offset);
}

static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

/* Whether the opening itself is to fail: of a disk that can only be read, it does for writing alone. */
static int fails_open(int flags) {
  const char *wanted = getenv("FAIL_CALL");
  if (wanted && strcmp(wanted, "change") == 0 && (flags & O_ACCMODE) == O_RDONLY) return 0;
  return fails("open");
}

static int say(struct statvfs *disk) {
  const char *text = getenv("STATVFS");
  unsigned long blocks, available, fragment, block;
  if (!text || sscanf(text, "%lu,%lu,%lu,%lu", &blocks, &available, &fragment, &block) != 4) return 0;
  memset(disk, 0, sizeof *disk);
  disk->f_blocks = blocks;
  disk->f_bavail = disk->f_bfree = available;
  disk->f_frsize = fragment;
  disk->f_bsize = block;
  return 1;
}

int fstatvfs(int descriptor, struct statvfs *disk) { return say(disk) ? 0 : NEXT(fstatvfs)(descriptor, disk); }
int fstatvfs64(int descriptor, struct statvfs64 *disk) {
  return say((struct statvfs *)disk) ? 0 : NEXT(fstatvfs64)(descriptor, disk);
}

int fstatfs(int descriptor, struct statfs *disk) {
  const char *kind = getenv("STATFS_TYPE");
  int result = NEXT(fstatfs)(descriptor, disk);
  if (kind) disk->f_type = strtol(kind, NULL, 0);
  return result;
}

int openat(int folder, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if (at_under(folder, path) && fails_open(flags)) return -1;
  return NEXT(openat)(folder, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if (is_under(path) && fails_open(flags)) return -1;
  return NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  if (is_under(path) && fails_open(flags)) return -1;
  return NEXT(open64)(path, flags, mode);
}
