#pragma once
#include <alsa/asoundlib.h>

/* ALSA's `_alloca` macros cannot be imported; the `_malloc` functions are used instead. */

/* alsa-lib writes each failure to standard error unless it is given a handler, which is variadic. Every failure is
   also returned, and told from there. */
static inline void recorder_alsa_say_nothing(const char *file, int line, const char *function, int error,
                                             const char *format, ...) {}
static inline void recorder_alsa_silence(void) { snd_lib_error_set_handler(recorder_alsa_say_nothing); }
