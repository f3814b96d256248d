/* Makes x264 slow, whatever the machine does: LD_PRELOAD it. The file that SLOW_FILE names holds a 64-bit number, looked at
   anew for each picture: nanoseconds that its encoding takes longer. The thread sleeps for them, so that nothing else is
   held up. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *delay;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("SLOW_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *found = mmap(NULL, sizeof *delay, PROT_READ, MAP_SHARED, file, 0);
  if (found != MAP_FAILED) delay = found;
  close(file);
}

int x264_encoder_encode(void *encoder, void *units, int *count, void *picture, void *encoded) {
  static int (*next)(void *, void *, int *, void *, void *);
  if (!next) next = (int (*)(void *, void *, int *, void *, void *))dlsym(RTLD_NEXT, "x264_encoder_encode");
  if (delay && *delay > 0) {
    struct timespec time = {*delay / 1000000000, *delay % 1000000000};
    nanosleep(&time, NULL);
  }
  return next(encoder, units, count, picture, encoded);
}
