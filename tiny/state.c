/* SPDX-License-Identifier: MIT */
/* state.c - what a stream answers: attributes, status, event types; see tiny.h. */
#include "base/attr.h"
#include "core/process/names.h"
#include "format/mul64.h"
#include "port/port.h"
#include "tiny/tiny.h"

void pxt_tiny_get_attr(struct _pxt_attr *attr)
{
	struct pxt_clock_rate rate;
	uint64_t period; /* ns, rounded up */

	pxt_port_clock_start(&rate);
	period = 999999999u + rate.hz;
	(void)pxt_divide_wide(0, &period, rate.hz);
	pxt_attr_defaults(attr);
	attr->_pxt_flags = pxt_tiny.flags;
	memcpy(attr->_pxt_name, pxt_tiny.name, sizeof(attr->_pxt_name));
	attr->_pxt_stream_policy = POSIX_TRACE_LOOP;
	attr->_pxt_stream_size = (uint64_t)(pxt_tiny.mask + 1u) * PXT_SLOT_BYTES;
	attr->_pxt_max_data = pxt_tiny.max_data;
	attr->_pxt_lanes = 1;
	attr->_pxt_create_sec = pxt_tiny.anchor.tv_sec;
	attr->_pxt_create_nsec = (int32_t)pxt_tiny.anchor.tv_nsec;
	attr->_pxt_clockres_sec = rate.hz == 1u;
	attr->_pxt_clockres_nsec = rate.hz == 1u ? 0 : (int32_t)period;
}

PXT_API int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	if (!pxt_tiny_is(trid) || !pxt_arg_given(attr))
		return EINVAL;
	memset(attr, 0, sizeof(*attr));
	pxt_tiny_get_attr(&attr->_pxt_kept);
	return 0;
}

PXT_API int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
	uint32_t largest = pxt_slots_for(pxt_tiny.max_data);

	if (!pxt_tiny_is(trid) || !pxt_arg_given(statusinfo))
		return EINVAL;
	*statusinfo = (struct posix_trace_status_info){
		.posix_stream_status =
		    pxt_tiny.running ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED,
		/* Full: the largest event would overwrite. */
		.posix_stream_full_status =
		    pxt_tiny.head - pxt_tiny.tail + largest > pxt_tiny.mask + 1u
		        ? POSIX_TRACE_FULL
		        : POSIX_TRACE_NOT_FULL,
		.posix_stream_overrun_status =
		    (uint32_t)pxt_tiny_lost() != pxt_tiny.counts.lost_told ? POSIX_TRACE_OVERRUN
		                                                           : POSIX_TRACE_NO_OVERRUN,
		.posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING,
		.posix_log_overrun_status = POSIX_TRACE_NO_OVERRUN,
		.posix_log_full_status = POSIX_TRACE_NOT_FULL,
	};
	pxt_tiny.counts.lost_told = (uint32_t)pxt_tiny_lost();
	return 0;
}

PXT_API int posix_trace_getcounts_np(
    trace_id_t trid, struct posix_trace_counts_np *counts, size_t bytes)
{
	struct posix_trace_counts_np own = { .posix_stable_np = 1 };
	uint64_t gone;

	if (!pxt_tiny_is(trid) || !pxt_arg_given(counts))
		return EINVAL;
	/* What is counted last is read first (pxt_tiny_lost()). */
	own.posix_cleared_np = pxt_count_read(&pxt_tiny.counts.cleared);
	own.posix_retrieved_np = pxt_count_read(&pxt_tiny.counts.retrieved);
	gone = pxt_count_read(&pxt_tiny.counts.gone);
	own.posix_lost_np = gone - own.posix_retrieved_np - own.posix_cleared_np;
	own.posix_held_np = pxt_tiny_held((uint32_t)gone);
	own.posix_written_np =
	    own.posix_lost_np + own.posix_cleared_np + own.posix_held_np + own.posix_retrieved_np;
	pxt_give(counts, bytes, &own, sizeof(own));
	return 0;
}

PXT_API int posix_trace_getclock_np(
    trace_id_t trid, struct posix_trace_clock_np *clock, size_t bytes)
{
	struct posix_trace_clock_np own;
	struct pxt_clock_rate rate;

	if (!pxt_tiny_is(trid) || !pxt_arg_given(clock))
		return EINVAL;
	pxt_port_clock_start(&rate);
	own = (struct posix_trace_clock_np){ .posix_source_np = rate.source,
		.posix_error_ppm_np = rate.error_ppm,
		.posix_hz_np = rate.hz,
		.posix_anchor_ticks_np = pxt_tiny.anchor_ticks,
		.posix_anchor_np = pxt_tiny.anchor };
	pxt_give(clock, bytes, &own, sizeof(own));
	return 0;
}

/* ---- Event types ---- */

PXT_API int posix_trace_eventid_equal(
    trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2)
{
	(void)trid;
	return event1 == event2;
}

PXT_API int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name)
{
	const char *name = pxt_names_of(event);

	if (!pxt_tiny_is(trid) || !name || !pxt_arg_given(event_name))
		return EINVAL;
	do
		*event_name++ = *name;
	while (*name++ != '\0');
	return 0;
}
PXT_PLAIN_NAME(posix_trace_eventid_get_name, _PXT_NAMES_NAME);

PXT_API int posix_trace_eventid_getformat_np(
    trace_id_t trid, trace_event_id_t event_id, char *format, size_t room)
{
	const char *text = pxt_names_format(event_id);

	if (!pxt_tiny_is(trid) || !text || !pxt_arg_given(format))
		return EINVAL;
	do {
		if (room-- == 0)
			return ERANGE;
		*format++ = *text;
	} while (*text++ != '\0');
	return 0;
}

PXT_API int posix_trace_eventtypelist_getnext_id(
    trace_id_t trid, trace_event_id_t *restrict event, int *restrict unavailable)
{
	trace_event_id_t next = PXT_TINY_FIRST + pxt_tiny.counts.type_at;

	if (!pxt_tiny_is(trid) || !pxt_arg_given(event) || !pxt_arg_given(unavailable))
		return EINVAL;
	while (next < PXT_ID_UNNAMED && (!pxt_names_of(next) || !pxt_names_tells(next)))
		next++;
	*unavailable = !pxt_names_of(next);
	if (*unavailable)
		return 0;
	*event = next;
	pxt_tiny.counts.type_at = next + 1u - PXT_TINY_FIRST;
	return 0;
}

PXT_API int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	if (!pxt_tiny_is(trid))
		return EINVAL;
	pxt_tiny.counts.type_at = 0;
	return 0;
}

/* Records carry no thread, so there is no table to enter it into. */
PXT_API int posix_trace_thread_register_np(void)
{
	return 0;
}
