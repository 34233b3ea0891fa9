/* SPDX-License-Identifier: MIT */
/*
 * views.c - many events of one block at once, their data where it was read.
 *
 * In a log four bytes that are no data are between each twelve that are.  They are closed up within
 * the window, which is this log's own copy of the file: the window then no longer holds what the
 * file does, and what lies before the cursor is read again when it is needed again.
 */
#include "logretrieval/log.h"

#include "format/logfmt_fields.h"

#include <errno.h>

/* ---- Times, without going through seconds for each event ---- */

/*
 * The segment of the log's line of time that events are in, and the latest time reported.  Within
 * bounds that no program leaves (the year 2106, segments of 73 years) a time is one sum.
 */
struct line {
	uint64_t from; /* first tick of the segment, and ... */
	uint64_t span; /* ... how many ticks; 0: each time is asked for */
	int64_t base;  /* time of the first tick */
	int64_t last;
	bool in_bounds;
};

#define CREATED_MAX ((int64_t)1 << 32)
#define SEGMENT_MAX ((uint64_t)1 << 61)

/* Where bytes are saved, each time is asked for. */
static void look(const struct pxt_log *log, struct line *line)
{
	const struct pxt_log_segment *segment = &log->segment;
	const struct timespec *created = &log->header.created.realtime;
	int64_t seconds = created->tv_sec; /* time_t may have 32 bits */

	line->in_bounds = false;
	line->span = 0;
	if (PXT_SMALL)
		return;
	line->last = pxt_ticks_as_ns(&log->cursor.time);
	line->in_bounds = seconds < CREATED_MAX && line->last >= 0 && line->last != INT64_MAX &&
	                  segment->ticks != 0 && segment->from_ns < SEGMENT_MAX &&
	                  segment->ns < SEGMENT_MAX;
	line->from = segment->from;
	line->span = line->in_bounds ? segment->to - segment->from : 0;
	if (line->in_bounds)
		line->base = pxt_ticks_as_ns(created) + (int64_t)segment->from_ns;
}

/* What getnext is to know, too. */
static void write_back(struct pxt_log *log, const struct line *line)
{
	if (!line->in_bounds)
		return;
	log->cursor.time.tv_sec = pxt_ticks_seconds(line->last / PXT_NS_PER_S);
	log->cursor.time.tv_nsec = (long)(line->last % PXT_NS_PER_S);
}

static PXT_NOINLINE int64_t ask(struct pxt_log *log, struct line *line, uint64_t ticks)
{
	struct timespec time;

	write_back(log, line);
	pxt_log_report_time(log, ticks, &time);
	look(log, line);
	return pxt_ticks_as_ns(&time);
}

PXT_INLINE int64_t time_of(struct pxt_log *log, struct line *line, uint64_t ticks)
{
	int64_t ns;

	if (PXT_UNLIKELY(ticks - line->from >= line->span))
		return ask(log, line, ticks);
	ns = line->base + (int64_t)pxt_log_segment_ns(&log->segment, ticks - line->from);
	line->last = ns > line->last ? ns : line->last;
	return line->last;
}

/* ---- Events ---- */

/*
 * Puts @bytes payload bytes from payload byte @from on of the record at @at into one piece, where they
 * are; returns where it begins.  Bound: the slots of the record.
 */
PXT_INLINE const unsigned char *close_up(unsigned char *at, uint32_t from, uint32_t bytes)
{
	unsigned char *slot = at + (size_t)(1u + from / PXT_SLOT_PAYLOAD) * PXT_SLOT_BYTES;
	unsigned char *data = slot + 4 + from % PXT_SLOT_PAYLOAD;
	unsigned char *to = slot + PXT_SLOT_BYTES;
	const unsigned char *end = data + bytes;

	while (to < end) {
		unsigned char part[PXT_SLOT_PAYLOAD];

		slot += PXT_SLOT_BYTES;
		memcpy(part, slot + 4, sizeof(part));
		memcpy(to, part, sizeof(part));
		to += sizeof(part);
	}
	return data;
}

PXT_INLINE void fill(struct pxt_log *log, struct line *line, unsigned char *at, bool usual,
    const struct pxt_log_record *record, struct posix_trace_eventview_np *view)
{
	uint32_t from = usual ? 8u : log->header.ctx_bytes;
	uint32_t bytes = pxt_info_bytes(record->info);
	uint32_t cpu = pxt_info_cpu(record->info);
	struct pxt_log_context context;
	uintptr_t address;
	uintptr_t thread;

	if (usual && !pxt_info_extra(record->info))
		pxt_log_usual_context(log, at, record, &context);
	else
		pxt_log_get_context(log, at, record, &context);
	address = (uintptr_t)context.address;
	thread = (uintptr_t)context.thread;
	if (pxt_info_extra(record->info))
		from += PXT_THREAD_EXTRA_BYTES;
	view->posix_event_id_np = pxt_info_id(record->info);
	view->posix_bytes_np = bytes;
	view->posix_data_np = bytes ? close_up(at, from, bytes) : at;
	view->posix_ns_np = time_of(log, line, record->ticks);
	view->posix_ticks_np = record->ticks;
	memcpy(&view->posix_thread_id_np, &thread, sizeof(thread));
	memcpy(&view->posix_prog_address_np, &address, sizeof(address));
	view->posix_pid_np = context.pid;
	view->posix_cpu_np = (int16_t)(cpu == PXT_CPU_UNKNOWN ? -1 : (int)cpu);
	view->posix_cut_np = pxt_info_cut(record->info);
	view->posix_thread_exact_np = context.exact;
	view->posix_thread_entry_np = context.entry ? context.entry - 1 : UINT32_MAX;
	if (!usual && log->header.swapped)
		pxt_log_swap_data(log, pxt_info_id(record->info),
		    (unsigned char *)(uintptr_t)view->posix_data_np, bytes);
}

/* ---- What views of one origin have in common ---- */

#define KINDS 8u

/* An event of the usual kind: but for stamp, number and data, the next one of the same info and context is so. */
struct kind {
	uint64_t context; /* as in memory */
	uint64_t since;   /* from this stamp on its thread has the index */
	uint32_t info;    /* 0: none yet */
	uint32_t step;
	struct posix_trace_eventview_np view;
};

PXT_INLINE uint64_t context_at(const unsigned char *at)
{
	uint64_t context;

	memcpy(&context, at + PXT_SLOT_BYTES + 4, sizeof(context));
	return context;
}

PXT_INLINE struct kind *kind_of(struct kind *kinds, uint32_t info, uint64_t context)
{
	const uint32_t mixed = (info ^ (uint32_t)(context ^ context >> 32)) * 0x9e3779b1u;

	return &kinds[mixed >> 29];
}

/* @view is of the record at @at.  Not if its thread's index has been another one's since. */
static void note_kind(const struct pxt_log *log, struct kind *kinds, const unsigned char *at,
    const struct pxt_log_record *record, const struct posix_trace_eventview_np *view)
{
	const uint64_t context = context_at(at);
	const uint32_t index =
	    (uint32_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? context
	                                                         : __builtin_bswap64(context)) &
	    0xffffu;
	const uint32_t latest = log->by_index ? log->by_index[index] : 0;
	struct kind *kind = kind_of(kinds, record->info, context);

	if (pxt_info_extra(record->info) || latest != view->posix_thread_entry_np + 1u)
		return;
	*kind = (struct kind){ context, latest ? log->threads[latest - 1].thread.since : 0,
		record->info, record->slots * PXT_SLOT_BYTES, *view };
	kind->view.posix_lost_before_np = 0;
}

/*
 * Views of records at @at and behind it, up to the first one of no kind that is known, or whose time is not in
 * the segment.  They were checked when the block was loaded.  *bytes: of their slots.
 */
PXT_INLINE size_t fill_kinds(const struct pxt_log *log, struct line *line, struct kind *kinds,
    unsigned char *at, uint32_t *bytes, struct posix_trace_eventview_np *views, size_t room)
{
	const struct pxt_log_segment segment = log->segment;
	const uint64_t number = log->cursor.number;
	uint32_t left = *bytes;
	size_t n = 0;

	/* Bound: the slots of a block. */
	while (left >= 2u * PXT_SLOT_BYTES && n < room) {
		const uint32_t info = pxt_get32(at + 4, false);
		const uint64_t context = context_at(at);
		const uint64_t ticks =
		    (uint64_t)pxt_get32(at + 12, false) << 32 | pxt_get32(at + 8, false);
		const struct kind *kind = kind_of(kinds, info, context);
		struct posix_trace_eventview_np *view = &views[n];
		int64_t ns;

		if (kind->info != info || kind->context != context || ticks < kind->since ||
		    kind->step > left || ticks - line->from >= line->span)
			break;
		ns = line->base + (int64_t)pxt_log_segment_ns(&segment, ticks - line->from);
		line->last = ns > line->last ? ns : line->last;
		*view = kind->view;
		if (view->posix_bytes_np)
			view->posix_data_np = close_up(at, 8u, view->posix_bytes_np);
		else
			view->posix_data_np = at;
		view->posix_ns_np = line->last;
		view->posix_ticks_np = ticks;
		view->posix_number_np = number + n++;
		at += kind->step;
		left -= kind->step;
	}
	*bytes -= left;
	return n;
}

/*
 * Views of what is left of the block the cursor is in.  @usual: as in the log.  EIO: damage, and nothing before it.
 */
PXT_INLINE int fill_from_block(struct pxt_log *log, bool usual,
    struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	unsigned char *at = (unsigned char *)(uintptr_t)cursor->next;
	bool swapped = !usual && log->header.swapped;
	uint32_t ctx_bytes = usual ? 8u : log->header.ctx_bytes;
	uint64_t pending = cursor->pending;
	uint32_t left = cursor->left;
	struct pxt_log_record record;
	bool whole = true;
	struct line line;
	struct kind kinds[KINDS];
	size_t n = 0;

	look(log, &line);
	for (uint32_t i = 0; usual && i < KINDS; i++)
		kinds[i].info = 0;
	/* Bound: the slots of a block. */
	while (left != 0 && n < room) {
		uint32_t done;

		whole = pxt_get_checked(at, left, swapped, ctx_bytes, &record);
		if (!whole)
			break;
		done = record.slots * PXT_SLOT_BYTES;
		if (pxt_info_id(record.info) == PXT_LOG_ID_LOSS) {
			pxt_sum_add(&pending, record.ticks);
		} else {
			fill(log, &line, at, usual, &record, &views[n]);
			views[n].posix_number_np = cursor->number++;
			views[n].posix_lost_before_np = pending;
			pending = 0;
			if (usual)
				note_kind(log, kinds, at, &record, &views[n]);
			n++;
		}
		at += done;
		left -= done;
		if (usual && !pending) {
			uint32_t bytes = left;
			size_t more =
			    fill_kinds(log, &line, kinds, at, &bytes, &views[n], room - n);

			cursor->number += more;
			n += more;
			at += bytes;
			left -= bytes;
		}
	}
	write_back(log, &line);
	/* Damage after other events is found again by the next call, which says so. */
	cursor->left = whole || n ? left : 0;
	cursor->next = at;
	cursor->pending = pending;
	pxt_log_view_spoilt(log, at);
	*count = n;
	return whole || n ? 0 : EIO;
}

int pxt_log_views(void *object, trace_id_t trid, struct posix_trace_eventview_np *views,
    size_t room, size_t *count)
{
	struct pxt_log *log = object;
	int error = 0;

	if (pxt_log_enter(log, trid))
		return EINVAL;
	/* A block may hold nothing but losses. */
	while (!error && *count == 0) {
		error = pxt_log_find_slot(log);
		if (!error && log->usual)
			error = fill_from_block(log, true, views, room, count);
		else if (!error)
			error = fill_from_block(log, false, views, room, count);
	}
	return pxt_log_leave(log, error == ENODATA ? 0 : error);
}
