/* SPDX-License-Identifier: MIT */
/* online.h - what the files of the On-Line unit share. */
#ifndef PXT_ONLINE_H
#define PXT_ONLINE_H

#include "core/read/merge.h"
#include "core/stream/stream.h"

#include <trace_np.h>

extern const struct pxt_ops pxt_online_ops;

int pxt_online_getnext(void *object, const struct pxt_getnext *request);
#if CONFIG_PTRACE_EXTENSIONS
int pxt_online_whole(void *object, const struct pxt_getnext *request);
int pxt_online_views(void *object, trace_id_t trid, struct posix_trace_eventview_np *views,
    size_t room, size_t *count);
#define PXT_ONLINE_WHOLE pxt_online_whole
#define PXT_ONLINE_VIEWS pxt_online_views
#else
#define PXT_ONLINE_WHOLE NULL
#define PXT_ONLINE_VIEWS NULL
#endif

#endif
