#pragma once
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <xcb/composite.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xcb_keysyms.h>
#include <xcb/xfixes.h>
#include <xcb/xinput.h>

/* The extension records are `extern xcb_extension_t`, which Swift 6 sees as shared mutable state; these return their
   addresses. */
static inline xcb_extension_t *recorder_xcb_shm_id(void) { return &xcb_shm_id; }
static inline xcb_extension_t *recorder_xcb_damage_id(void) { return &xcb_damage_id; }
static inline xcb_extension_t *recorder_xcb_xfixes_id(void) { return &xcb_xfixes_id; }
static inline xcb_extension_t *recorder_xcb_randr_id(void) { return &xcb_randr_id; }
static inline xcb_extension_t *recorder_xcb_composite_id(void) { return &xcb_composite_id; }
static inline xcb_extension_t *recorder_xcb_input_id(void) { return &xcb_input_id; }
