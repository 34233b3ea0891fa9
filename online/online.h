/* SPDX-License-Identifier: MIT */
/* online.h - what the files of the On-Line unit share; what a reader gets of an event beside its data. */
#ifndef PXT_ONLINE_H
#define PXT_ONLINE_H

#include "core/read/consumer.h"

extern const struct pxt_ops pxt_online_ops;

int pxt_online_getnext(void *object, const struct pxt_getnext *request);
#if CONFIG_PTRACE_EXTENSIONS
int pxt_online_whole(void *object, const struct pxt_getnext *request);
int pxt_online_views(
    void *object, struct posix_trace_eventview_np *views, size_t room, size_t *count);
#define PXT_ONLINE_WHOLE pxt_online_whole
#define PXT_ONLINE_VIEWS pxt_online_views
#else
#define PXT_ONLINE_WHOLE NULL
#define PXT_ONLINE_VIEWS NULL
#endif

/*
 * What a reader gets of an event beside its data.
 *
 *   concurrency: as core/read/consumer.h.
 */

/* pthread_t may be a number or a pointer; the table keeps it as a number. */
union thread_value {
	uint64_t number;
	pthread_t thread;
};

PXT_INLINE void pxt_fill(struct pxt_stream *stream, const struct pxt_item *item,
    const struct pxt_origin *origin, const struct pxt_getnext *request)
{
	struct posix_trace_event_info *event = request->event;
	union thread_value thread = { .number = 0 };
	uint32_t bytes = pxt_info_bytes(item->info);
	uint32_t cpu = pxt_info_cpu(item->info);

	thread.number = origin->thread;
	event->posix_event_id = pxt_info_id(item->info);
	event->posix_pid = origin->pid;
	event->posix_prog_address = (void *)origin->address;
	event->posix_thread_id = thread.thread;
	pxt_ticks_near(&stream->ticks, &stream->second, item->ticks, &event->posix_timestamp);
	event->posix_truncation_status =
	    pxt_info_cut(item->info) ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	if (request->num_bytes < bytes) {
		event->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
		bytes = (uint32_t)request->num_bytes;
	}
	event->_pxt_cpu = cpu == PXT_CPU_UNKNOWN ? -1 : (int)cpu;
	event->_pxt_flags = origin->known ? PXT_EVENT_THREAD_EXACT : 0u;
	event->_pxt_entry = 0;
	event->_pxt_ticks = item->stamp;
	event->_pxt_lost_before = item->lost_before;
	*request->data_len = bytes;
	*request->unavailable = 0;
}

#endif
