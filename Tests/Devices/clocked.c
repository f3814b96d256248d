/* An ALSA capture device in user space with a clock of its own, for tests: pcm "clocked:PPM,FOLDER,RATE,CHANNELS,BITS", 0
 * being one channel or two, and floats. It beeps for 50 ms at each even second of CLOCK_MONOTONIC, in channel N at N kHz. Files in FOLDER
 * are its faults: while `stall` exists it delivers nothing and says nothing, while `vanish` exists it is gone, `xrun`
 * makes it overrun once, and `deaf` makes it overrun once and, started again, deliver nothing until it is opened anew.
 * It notes in FOLDER/heard from when ("begin", in seconds of CLOCK_MONOTONIC) until when ("end") it gave what it heard. */
#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <math.h>
#include <sys/timerfd.h>
#include <unistd.h>

typedef struct {
  snd_pcm_ioplug_t io;
  double rate;           /* frames a second by CLOCK_MONOTONIC */
  double start, stalled; /* seconds; when frame 0 was heard, when the stall began or 0 */
  long long taken;       /* frames that were read */
  long bits;             /* of a sample: 16 or 32, or 0 for a float */
  int begun, deaf;       /* whether "begin" was noted last; whether it overran to become deaf, and is so */
  char folder[512];
} device;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int has(device *self, const char *fault, int take) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", self->folder, fault);
  return take ? unlink(path) == 0 : access(path, F_OK) == 0;
}

static void note(device *self, int begins, double time) {
  char path[600];
  if (self->begun == begins) return;
  self->begun = begins;
  snprintf(path, sizeof path, "%s/heard", self->folder);
  FILE *file = fopen(path, "a");
  if (!file) return;
  fprintf(file, "%s %.6f\n", begins ? "begin" : "end", time);
  fclose(file);
}

static double given(device *self) { return self->start + (double)self->taken / self->rate; }

static int begin(snd_pcm_ioplug_t *io) {
  device *self = io->private_data;
  const struct itimerspec every = {{0, 5000000}, {0, 5000000}};
  if (self->deaf == 1) self->deaf = 2;
  self->start = now();
  /* Started while it stalls it delivers nothing at all, however much later it is asked. */
  self->stalled = has(self, "stall", 0) ? self->start : 0;
  self->taken = 0;
  return timerfd_settime(io->poll_fd, 0, &every, NULL);
}

static int end(snd_pcm_ioplug_t *io) { (void)io; return 0; }

static int prepare(snd_pcm_ioplug_t *io) { return has(io->private_data, "vanish", 0) ? -ENODEV : 0; }

static snd_pcm_sframes_t fault(device *self, int error) {
  note(self, 0, given(self));
  return error;
}

static snd_pcm_sframes_t place(snd_pcm_ioplug_t *io) {
  device *self = io->private_data;
  double time = now();
  if (has(self, "vanish", 0)) return fault(self, -ENODEV);
  if (self->deaf == 0 && has(self, "deaf", 1)) {
    self->deaf = 1;
    return fault(self, -EPIPE);
  }
  if (has(self, "xrun", 1)) return fault(self, -EPIPE);
  if (self->deaf == 2) return 0;
  if (has(self, "stall", 0)) {
    if (self->stalled == 0) self->stalled = time;
    time = self->stalled;
  } else if (self->stalled != 0) { /* what was not heard meanwhile is lost */
    note(self, 0, self->stalled);
    self->start += time - self->stalled;
    self->stalled = 0;
  }
  long long frames = (long long)((time - self->start) * self->rate);
  if (frames - self->taken > (long long)io->buffer_size) return -EPIPE;
  return (snd_pcm_sframes_t)(frames % (long long)io->buffer_size);
}

static snd_pcm_sframes_t give(
    snd_pcm_ioplug_t *io, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset, snd_pcm_uframes_t size) {
  device *self = io->private_data;
  char *target = (char *)areas->addr + (areas->first + areas->step * offset) / 8;
  if (size > 0) note(self, 1, given(self));
  for (snd_pcm_uframes_t frame = 0; frame < size; frame++, self->taken++) {
    double phase = fmod(self->start + (double)self->taken / self->rate, 2);
    for (unsigned channel = 0; channel < io->channels; channel++) {
      /* One channel or two are alike. */
      double pitch = io->channels > 2 ? 1000.0 * (channel + 1) : 1000;
      double sample = phase < 0.05 ? 0.5 * cos(2 * M_PI * pitch * phase) : 0.0001;
      switch (self->bits) {
        case 16: *(short *)target = (short)lrint(sample * 32768), target += 2; break;
        case 32: *(int *)target = (int)lrint(sample * 2147483648.0), target += 4; break;
        default: *(float *)target = (float)sample, target += 4;
      }
    }
  }
  return (snd_pcm_sframes_t)size;
}

static int events(snd_pcm_ioplug_t *io, struct pollfd *polled, unsigned count, unsigned short *result) {
  unsigned long long ticks;
  (void)count;
  if (read(polled->fd, &ticks, sizeof ticks) < 0 && errno != EAGAIN) return -errno;
  *result = snd_pcm_avail_update(io->pcm) != 0 ? POLLIN : 0;
  return 0;
}

static int finish(snd_pcm_ioplug_t *io) {
  device *self = io->private_data;
  note(self, 0, self->stalled != 0 ? self->stalled : given(self));
  close(io->poll_fd);
  free(io->private_data);
  return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
  .start = begin, .stop = end, .pointer = place, .transfer = give, .prepare = prepare, .poll_revents = events,
  .close = finish};

static int limit(snd_pcm_ioplug_t *io, unsigned rate, unsigned channels, long bits) {
  const unsigned access[] = {SND_PCM_ACCESS_RW_INTERLEAVED};
  const unsigned format[] = {
    bits == 16 ? SND_PCM_FORMAT_S16_LE : bits == 32 ? SND_PCM_FORMAT_S32_LE : SND_PCM_FORMAT_FLOAT_LE};
  int status = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_ACCESS, 1, access);
  if (status >= 0) status = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_FORMAT, 1, format);
  if (status >= 0) status = snd_pcm_ioplug_set_param_list(io, SND_PCM_IOPLUG_HW_RATE, 1, &rate);
  if (status >= 0)
    status = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_CHANNELS, channels ? channels : 1, channels ? channels : 2);
  if (status >= 0) status = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 256, 1 << 20);
  if (status >= 0) status = snd_pcm_ioplug_set_param_minmax(io, SND_PCM_IOPLUG_HW_BUFFER_BYTES, 1024, 1 << 22);
  return status;
}

SND_PCM_PLUGIN_DEFINE_FUNC(clocked) {
  snd_config_iterator_t each, next;
  long ppm = 0, rate = 48000, channels = 0, bits = 0;
  const char *folder = ".";
  (void)root;
  snd_config_for_each(each, next, conf) {
    snd_config_t *entry = snd_config_iterator_entry(each);
    const char *id;
    if (snd_config_get_id(entry, &id) < 0) continue;
    if (strcmp(id, "ppm") == 0) snd_config_get_integer(entry, &ppm);
    if (strcmp(id, "rate") == 0) snd_config_get_integer(entry, &rate);
    if (strcmp(id, "channels") == 0) snd_config_get_integer(entry, &channels);
    if (strcmp(id, "bits") == 0) snd_config_get_integer(entry, &bits);
    if (strcmp(id, "folder") == 0) snd_config_get_string(entry, &folder);
  }
  device *self = calloc(1, sizeof *self);
  if (!self) return -ENOMEM;
  snprintf(self->folder, sizeof self->folder, "%s", folder);
  if (has(self, "vanish", 0)) { free(self); return -ENODEV; }
  self->rate = (double)rate * (1 + (double)ppm / 1e6);
  self->bits = bits;
  self->io.version = SND_PCM_IOPLUG_VERSION;
  self->io.name = "A capture device with a clock of its own";
  self->io.callback = &callbacks;
  self->io.private_data = self;
  self->io.poll_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  self->io.poll_events = POLLIN;
  int status = snd_pcm_ioplug_create(&self->io, name, stream, mode);
  if (status < 0) { close(self->io.poll_fd); free(self); return status; }
  status = limit(&self->io, (unsigned)rate, (unsigned)channels, bits);
  if (status < 0) { snd_pcm_ioplug_delete(&self->io); return status; }
  *pcmp = self->io.pcm;
  return 0;
}
SND_PCM_PLUGIN_SYMBOL(clocked);
