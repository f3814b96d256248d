#pragma once
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
static inline void recorder_silence_ffmpeg(void) { av_log_set_level(AV_LOG_QUIET); }
