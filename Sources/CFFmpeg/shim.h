#pragma once
#include <dlfcn.h>
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mathematics.h>
#include <libavutil/opt.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

/* Macros that Swift does not import. */
static const int64_t recorder_no_pts = AV_NOPTS_VALUE;
static const int recorder_averror_eof = AVERROR_EOF;
static const int recorder_averror_again = AVERROR(EAGAIN);
static const int recorder_averror_invalid_data = AVERROR_INVALIDDATA;
static inline int recorder_averror(int posix_error) { return AVERROR(posix_error); }

/* What is used of libavfilter, looked up when it is needed: it brings 30 libraries, a speech synthesiser's voices among them,
   which are half of what the loader has to relocate for a recording that may have no sound. */
struct recorder_filters {
  __typeof__(avfilter_graph_alloc) *graph_alloc;
  __typeof__(avfilter_graph_free) *graph_free;
  __typeof__(avfilter_graph_create_filter) *graph_create_filter;
  __typeof__(avfilter_graph_config) *graph_config;
  __typeof__(avfilter_get_by_name) *get_by_name;
  __typeof__(avfilter_link) *link;
  __typeof__(av_buffersrc_add_frame_flags) *add_frame;
  __typeof__(av_buffersink_get_frame) *get_frame;
};
/* The library of the headers' version. Returns 0, or -1 with dlerror() saying why. */
static inline int recorder_load_filters(struct recorder_filters *filters) {
  void *library = dlopen("libavfilter.so." AV_STRINGIFY(LIBAVFILTER_VERSION_MAJOR), RTLD_LAZY);
  if (!library) return -1;
  filters->graph_alloc = (__typeof__(filters->graph_alloc))dlsym(library, "avfilter_graph_alloc");
  filters->graph_free = (__typeof__(filters->graph_free))dlsym(library, "avfilter_graph_free");
  filters->graph_create_filter =
      (__typeof__(filters->graph_create_filter))dlsym(library, "avfilter_graph_create_filter");
  filters->graph_config = (__typeof__(filters->graph_config))dlsym(library, "avfilter_graph_config");
  filters->get_by_name = (__typeof__(filters->get_by_name))dlsym(library, "avfilter_get_by_name");
  filters->link = (__typeof__(filters->link))dlsym(library, "avfilter_link");
  filters->add_frame = (__typeof__(filters->add_frame))dlsym(library, "av_buffersrc_add_frame_flags");
  filters->get_frame = (__typeof__(filters->get_frame))dlsym(library, "av_buffersink_get_frame");
  return filters->graph_alloc && filters->graph_free && filters->graph_create_filter && filters->graph_config &&
                 filters->get_by_name && filters->link && filters->add_frame && filters->get_frame
             ? 0
             : -1;
}

static inline void recorder_silence_ffmpeg(void) { av_log_set_level(AV_LOG_QUIET); }
