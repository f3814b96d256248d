#pragma once
#include <alsa/asoundlib.h>

/* ALSA's `_alloca` macros cannot be imported; the `_malloc` functions are used instead. */
