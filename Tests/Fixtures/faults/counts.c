/* Counts what a program does, while it does it: LD_PRELOAD it. The file that COUNTS_FILE names is made to hold `struct
   counts`, which whoever measures reads at any time. Allocations are counted by the thread that makes them and by who asks
   for them: the library or program that the call to malloc and its kin comes from. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <xcb/shm.h>
#include <xcb/xfixes.h>

/* The order of both is that of CountedWork in the tests. */
static const char *const threads[] = {"grab", "encode", "mux"};
enum { THREADS = 4 }; /* and all others */
static const char *const callers[] = {"libxcb", "libav,libswscale,libswresample", "libx264", "libc.,ld-"};
enum { CALLERS = 5 }; /* and all others: the program and the Swift runtime that allocates for it */

struct counts {
  _Atomic int64_t allocations[THREADS][CALLERS];
  /* Bytes asked of the X server, and bytes that it said were damaged, four a pixel. */
  _Atomic int64_t grabbed, damaged;
  /* Pictures that were given to the encoder. */
  _Atomic int64_t frames;
};
static struct counts *counts;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("COUNTS_FILE");
  int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (file < 0) return;
  if (ftruncate(file, sizeof *counts) == 0) {
    void *found = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) counts = found;
  }
  close(file);
}

static int number_of_thread(void) {
  static __thread int number = -1;
  if (number >= 0) return number;
  char name[17] = "";
  prctl(PR_GET_NAME, name, 0, 0, 0);
  for (int i = 0; i < THREADS - 1; i++)
    if (strcmp(name, threads[i]) == 0) return number = i;
  /* A thread is named after it has begun: the next call asks again. */
  return THREADS - 1;
}

static int is_one_of(const char *name, const char *list) {
  while (*list) {
    size_t length = strcspn(list, ",");
    if (strncmp(name, list, length) == 0) return 1;
    list += length + (list[length] == ',');
  }
  return 0;
}

static int number_of_caller(const void *address) {
  /* What was found out is kept: an address and its caller's number in one word, so that no reader sees half of it. */
  enum { SLOTS = 4096 };
  static _Atomic uintptr_t known[SLOTS];
  uintptr_t key = (uintptr_t)address, slot = (key >> 2) * 2654435761u % SLOTS;
  uintptr_t found = atomic_load_explicit(&known[slot], memory_order_relaxed);
  if (found >> 4 == (key & (UINTPTR_MAX >> 4))) return found & 15;
  Dl_info info;
  int number = CALLERS - 1;
  if (dladdr(address, &info) && info.dli_fname) {
    const char *name = strrchr(info.dli_fname, '/');
    name = name ? name + 1 : info.dli_fname;
    for (int i = 0; i < CALLERS - 1; i++)
      if (is_one_of(name, callers[i])) number = i;
  }
  atomic_store_explicit(&known[slot], (key & (UINTPTR_MAX >> 4)) << 4 | (uintptr_t)number, memory_order_relaxed);
  return number;
}

static void count(const void *address) {
  if (!counts) return;
  int error = errno;
  atomic_fetch_add_explicit(
    &counts->allocations[number_of_thread()][number_of_caller(address)], 1, memory_order_relaxed);
  errno = error;
}

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
  count(__builtin_return_address(0));
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count(__builtin_return_address(0));
  return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
  count(__builtin_return_address(0));
  return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  count(__builtin_return_address(0));
  void *found = __libc_memalign(alignment, size);
  if (!found) return ENOMEM;
  *memory = found;
  return 0;
}

xcb_shm_get_image_cookie_t xcb_shm_get_image(
  xcb_connection_t *connection, xcb_drawable_t drawable, int16_t x, int16_t y, uint16_t width, uint16_t height,
  uint32_t planes, uint8_t format, xcb_shm_seg_t segment, uint32_t offset) {
  static __typeof__(xcb_shm_get_image) *next;
  if (!next) next = dlsym(RTLD_NEXT, "xcb_shm_get_image");
  if (counts) atomic_fetch_add_explicit(&counts->grabbed, (int64_t)width * height * 4, memory_order_relaxed);
  return next(connection, drawable, x, y, width, height, planes, format, segment, offset);
}

xcb_xfixes_fetch_region_reply_t *xcb_xfixes_fetch_region_reply(
  xcb_connection_t *connection, xcb_xfixes_fetch_region_cookie_t cookie, xcb_generic_error_t **error) {
  static __typeof__(xcb_xfixes_fetch_region_reply) *next;
  if (!next) next = dlsym(RTLD_NEXT, "xcb_xfixes_fetch_region_reply");
  xcb_xfixes_fetch_region_reply_t *reply = next(connection, cookie, error);
  if (!reply || !counts) return reply;
  const xcb_rectangle_t *rects = xcb_xfixes_fetch_region_rectangles(reply);
  int64_t area = 0;
  for (int i = xcb_xfixes_fetch_region_rectangles_length(reply); i-- > 0;)
    area += (int64_t)rects[i].width * rects[i].height;
  atomic_fetch_add_explicit(&counts->damaged, area * 4, memory_order_relaxed);
  return reply;
}

/* libavcodec's, whose header the compiler of the tests does not need. */
int avcodec_send_frame(void *encoder, const void *frame) {
  static int (*next)(void *, const void *);
  if (!next) next = (int (*)(void *, const void *))dlsym(RTLD_NEXT, "avcodec_send_frame");
  if (counts && frame) atomic_fetch_add_explicit(&counts->frames, 1, memory_order_relaxed);
  return next(encoder, frame);
}
