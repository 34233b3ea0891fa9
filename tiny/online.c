/* SPDX-License-Identifier: MIT */
/* online.c - On-Line Trace of the smallest Core. */
#include "base/attr.h"
#include "port/port.h"
#include "tiny/tiny.h"

#include <errno.h>

PXT_API int posix_trace_create(
    pid_t pid, const trace_attr_t *restrict attr, trace_id_t *restrict trid)
{
	return pxt_tiny_create(pid, attr, trid);
}

static void fill(struct posix_trace_event_info *event, const struct pxt_tiny_taken *taken, bool cut)
{
	struct timespec *time = &event->posix_timestamp;

	event->posix_event_id = pxt_info_id(taken->info);
	event->posix_pid = pxt_port_pid();
	event->posix_prog_address = (void *)(uintptr_t)taken->address;
	event->posix_thread_id = taken->thread;
	event->posix_truncation_status = cut                         ? POSIX_TRACE_TRUNCATED_READ
	                                 : pxt_info_cut(taken->info) ? POSIX_TRACE_TRUNCATED_RECORD
	                                                             : POSIX_TRACE_NOT_TRUNCATED;
	event->_pxt_cpu = CONFIG_PTRACE_RECORD_CPU ? 0 : -1;
	event->_pxt_flags = 0;
	event->_pxt_entry = 0;
	event->_pxt_ticks = taken->ticks;
	event->_pxt_lost_before = taken->lost_before;
	pxt_port_since(taken->ticks - pxt_tiny.anchor_ticks, time);
	time->tv_sec += pxt_tiny.anchor.tv_sec;
	time->tv_nsec += pxt_tiny.anchor.tv_nsec;
	if (time->tv_nsec >= 1000000000) {
		time->tv_nsec -= 1000000000;
		time->tv_sec++;
	}
}

/* NOLINTBEGIN(readability-non-const-parameter): the prototypes are the standard's */
PXT_API int posix_trace_trygetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable)
{
	struct pxt_tiny_taken taken;
	uint32_t bytes;

	if (pxt_arg_given(unavailable))
		*unavailable = 1;
	if (!pxt_tiny_is(trid) || pxt_tiny.at_shutdown || !pxt_arg_given(event) ||
	    !pxt_arg_given(data_len) || !pxt_arg_given(unavailable) ||
	    (num_bytes && !pxt_arg_given(data)))
		return EINVAL;
	if (!pxt_tiny_take(&taken, data, num_bytes))
		return 0;
	bytes = pxt_info_bytes(taken.info);
	fill(event, &taken, bytes > num_bytes);
	*data_len = bytes > num_bytes ? num_bytes : bytes;
	*unavailable = 0;
	return 0;
}

static bool reached(const struct timespec *until)
{
	struct pxt_clock_set now;

	pxt_port_clock_read(&now);
	return now.realtime.tv_sec > until->tv_sec ||
	       (now.realtime.tv_sec == until->tv_sec && now.realtime.tv_nsec >= until->tv_nsec);
}

/* Each look is whole: a stream that is shut down meanwhile is refused at the next one. */
PXT_API int posix_trace_timedgetnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable, const struct timespec *restrict abstime)
{
	for (;;) {
		int error = posix_trace_trygetnext_event(
		    trid, event, data, num_bytes, data_len, unavailable);

		if (error || !*unavailable)
			return error;
		if (!abstime || abstime->tv_nsec < 0 || abstime->tv_nsec >= 1000000000)
			return EINVAL;
		if (reached(abstime))
			return ETIMEDOUT;
		pxt_port_pause_ns(0);
	}
}

PXT_API int posix_trace_getnext_event(trace_id_t trid,
    struct posix_trace_event_info *restrict event, void *restrict data, size_t num_bytes,
    size_t *restrict data_len, int *restrict unavailable)
{
	for (;;) {
		int error = posix_trace_trygetnext_event(
		    trid, event, data, num_bytes, data_len, unavailable);

		if (error || !*unavailable)
			return error;
		pxt_port_pause_ns(0);
	}
}
/* NOLINTEND(readability-non-const-parameter) */
