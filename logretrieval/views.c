/* SPDX-License-Identifier: MIT */
/*
 * views.c - the events that records become: many of one block at once, their data where it was read; or one, copied.
 *
 * In a log four bytes that are no data are between each twelve that are.  They are closed up within
 * the window, which is this log's own copy of the file: the window then no longer holds what the
 * file does, and what lies before the cursor is read again when it is needed again.
 */
#include "logretrieval/log.h"

#include <errno.h>

_Static_assert(sizeof(pthread_t) == sizeof(uintptr_t), "a pthread_t is a number or a pointer");

/* ---- Times, without going through seconds for each event ---- */

/* Within bounds that no program leaves (the year 2106, segments of 73 years) a time is one sum. */
#define CREATED_MAX ((int64_t)1 << 32)
#define SEGMENT_MAX ((uint64_t)1 << 61)

/* Where bytes are saved, each time is asked for. */
static void set_line(struct pxt_log *log)
{
	const struct timespec *created = &log->header.created.realtime;
	const int64_t seconds = created->tv_sec; /* time_t may have 32 bits */
	struct pxt_log_timeline *line = &log->line;

	line->segment = log->segment;
	line->last = pxt_ticks_as_ns(&line->time);
	if (PXT_SMALL || seconds >= CREATED_MAX || line->last < 0 || line->last == INT64_MAX ||
	    !line->segment.ticks || line->segment.from_ns >= SEGMENT_MAX ||
	    line->segment.ns >= SEGMENT_MAX)
		return;
	line->span = line->segment.to - line->segment.from;
	line->base = pxt_ticks_as_ns(created) + (int64_t)line->segment.from_ns;
}

static PXT_NOINLINE int64_t ask(struct pxt_log *log, uint64_t ticks)
{
	struct timespec last = pxt_log_latest(log);
	struct timespec time;

	pxt_log_time(log, ticks, &time);
	/* Not earlier than any reported before it (TIM-06). */
	if (time.tv_sec > last.tv_sec ||
	    (time.tv_sec == last.tv_sec && time.tv_nsec > last.tv_nsec))
		last = time;
	log->line.time = last;
	log->line.span = 0;
	set_line(log);
	return log->line.last;
}

PXT_INLINE bool in_line(const struct pxt_log_timeline *line, uint64_t ticks)
{
	return PXT_LIKELY(ticks - line->segment.from < line->span);
}

/* Of a stamp in the line. */
PXT_INLINE int64_t later(const struct pxt_log_timeline *line, int64_t last, uint64_t ticks)
{
	const int64_t ns =
	    line->base + (int64_t)pxt_log_segment_ns(&line->segment, ticks - line->segment.from);

	return ns > last ? ns : last;
}

PXT_INLINE int64_t time_of(struct pxt_log *log, uint64_t ticks)
{
	if (!in_line(&log->line, ticks))
		return ask(log, ticks);
	log->line.last = later(&log->line, log->line.last, ticks);
	return log->line.last;
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

PXT_INLINE void fill(struct pxt_log *log, unsigned char *at, bool usual,
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
	view->posix_ns_np = time_of(log, record->ticks);
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

PXT_INLINE uint64_t context_at(const unsigned char *at)
{
	uint64_t context;

	memcpy(&context, at + PXT_SLOT_BYTES + 4, sizeof(context));
	return context;
}

PXT_INLINE struct pxt_log_viewkind *kind_of(struct pxt_log *log, uint32_t info, uint64_t context)
{
	const uint32_t mixed = (info ^ (uint32_t)(context ^ context >> 32)) * 0x9e3779b1u;

	return &log->kinds[(mixed >> 27) % PXT_LOG_KINDS];
}

/* @view is of the record at @at.  Not if its thread's index has been another one's since. */
static void note_kind(struct pxt_log *log, const unsigned char *at,
    const struct pxt_log_record *record, const struct posix_trace_eventview_np *view)
{
	const uint64_t context = context_at(at);
	const uint32_t index =
	    (uint32_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? context
	                                                         : __builtin_bswap64(context)) &
	    0xffffu;
	const uint32_t latest = log->by_index ? log->by_index[index] : 0;
	struct pxt_log_viewkind *kind = kind_of(log, record->info, context);

	if (pxt_info_extra(record->info) || latest != view->posix_thread_entry_np + 1u)
		return;
	*kind =
	    (struct pxt_log_viewkind){ context, latest ? log->threads[latest - 1].thread.since : 0,
		    record->info, record->slots * PXT_SLOT_BYTES, kind, *view };
	log->kind->next = kind;
	log->kind = kind;
	kind->view.posix_lost_before_np = 0;
}

/* Where a row of records of known kinds goes on. */
struct row {
	unsigned char *at;
	uint32_t left;
	uint64_t number;
	int64_t last;
	const struct pxt_log_timeline *line;
	struct pxt_log_viewkind *kind; /* of the record before */
};

/* What is left of the block has room for a usual record, and no loss is to be told before it. */
PXT_INLINE bool begin_row(const struct pxt_log *log, struct row *row)
{
	const struct pxt_log_cursor *cursor = &log->cursor;

	*row = (struct row){ (unsigned char *)(uintptr_t)cursor->next, cursor->left, cursor->number,
		log->line.last, &log->line, log->kind };
	return log->usual && !cursor->pending;
}

PXT_INLINE void end_row(struct pxt_log *log, const struct row *row)
{
	log->cursor.next = row->at;
	log->cursor.left = row->left;
	log->cursor.number = row->number;
	log->line.last = row->last;
	log->kind = row->kind;
}

/*
 * The kind of the next record; NULL: none that is known, or its time is not in the line.  Most often it is the one
 * that came after this one before: then where the record ends need not wait for what it holds.
 */
PXT_INLINE struct pxt_log_viewkind *next_kind(
    struct pxt_log *log, const struct row *row, uint64_t *ticks)
{
	struct pxt_log_viewkind *kind = row->kind->next;
	uint64_t context;
	uint32_t info;

	if (row->left < 2u * PXT_SLOT_BYTES)
		return NULL;
	info = pxt_get32(row->at + 4, false);
	context = context_at(row->at);
	*ticks = (uint64_t)pxt_get32(row->at + 12, false) << 32 | pxt_get32(row->at + 8, false);
	if (kind->info != info || kind->context != context)
		kind = kind_of(log, info, context);
	return kind->info == info && kind->context == context && *ticks >= kind->since &&
	               kind->step <= row->left && in_line(row->line, *ticks)
	           ? kind
	           : NULL;
}

/* Passes the record there, which is of @kind; returns its data.  It was checked when the block was loaded. */
PXT_INLINE const unsigned char *pass_kind(
    struct row *row, struct pxt_log_viewkind *kind, uint64_t ticks)
{
	const uint32_t bytes = kind->view.posix_bytes_np;
	/* Behind the context, the slot that has it has room for so many. */
	const unsigned char *data = row->at + PXT_SLOT_BYTES + 4 + 8;

	if (bytes > PXT_SLOT_PAYLOAD - 8u)
		data = close_up(row->at, 8u, bytes);
	row->last = later(row->line, row->last, ticks);
	row->number++;
	row->at += kind->step;
	row->left -= kind->step;
	row->kind->next = kind;
	row->kind = kind;
	return data;
}

/* But for what each event has of its own. */
PXT_INLINE void copy_view(
    struct posix_trace_eventview_np *to, const struct posix_trace_eventview_np *from)
{
	const size_t who = offsetof(struct posix_trace_eventview_np, posix_thread_id_np);

	memcpy(to, from, offsetof(struct posix_trace_eventview_np, posix_data_np));
	memcpy(&to->posix_thread_id_np, &from->posix_thread_id_np, sizeof(*to) - who);
	to->posix_lost_before_np = 0;
}

PXT_INLINE size_t fill_kinds(
    struct pxt_log *log, struct posix_trace_eventview_np *views, size_t room)
{
	struct pxt_log_viewkind *kind;
	struct row row;
	uint64_t ticks;
	size_t n = 0;

	if (!begin_row(log, &row))
		return 0;
	/* Bound: the slots of a block. */
	while (n < room && (kind = next_kind(log, &row, &ticks)) != NULL) {
		struct posix_trace_eventview_np *view = &views[n++];

		copy_view(view, &kind->view);
		view->posix_number_np = row.number;
		view->posix_data_np = pass_kind(&row, kind, ticks);
		view->posix_ns_np = row.last;
		view->posix_ticks_np = ticks;
	}
	end_row(log, &row);
	return n;
}

/*
 * Views of what is left of the block the cursor is in.  @usual: as in the log.  EIO: damage, and nothing before it.
 */
PXT_INLINE int fill_from_block(struct pxt_log *log, bool usual,
    struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	bool swapped = !usual && log->header.swapped;
	uint32_t ctx_bytes = usual ? 8u : log->header.ctx_bytes;
	struct pxt_log_record record;
	bool whole = true;
	size_t n = usual ? fill_kinds(log, views, room) : 0;

	/* Bound: the slots of a block. */
	while (cursor->left && n < room) {
		unsigned char *at = (unsigned char *)(uintptr_t)cursor->next;

		whole = pxt_get_checked(at, cursor->left, swapped, ctx_bytes, &record);
		if (!whole)
			break;
		if (pxt_info_id(record.info) == PXT_LOG_ID_LOSS) {
			pxt_sum_add(&cursor->pending, record.ticks);
		} else {
			fill(log, at, usual, &record, &views[n]);
			views[n].posix_number_np = cursor->number++;
			views[n].posix_lost_before_np = cursor->pending;
			cursor->pending = 0;
			if (usual)
				note_kind(log, at, &record, &views[n]);
			n++;
		}
		cursor->next += (size_t)record.slots * PXT_SLOT_BYTES;
		cursor->left -= record.slots * PXT_SLOT_BYTES;
		if (usual)
			n += fill_kinds(log, &views[n], room - n);
	}
	pxt_log_view_spoilt(log, cursor->next);
	/* Damage after other events is found again by the next call, which says so. */
	if (!whole && !n)
		cursor->left = 0;
	*count = n;
	return whole || n ? 0 : EIO;
}

/*
 * Views of the next events of a block, at least one and at most @room: *count, which was 0.  ENODATA: the end of
 * the log; EIO; ENOMEM.
 */
static int take_views(
    struct pxt_log *log, struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	int error = 0;

	/* A block may hold nothing but losses. */
	while (!error && *count == 0) {
		error = log->cursor.left ? 0 : pxt_log_find_slot(log);
		if (!error && log->usual)
			error = fill_from_block(log, true, views, room, count);
		else if (!error)
			error = fill_from_block(log, false, views, room, count);
	}
	return error;
}

int pxt_log_views(void *object, struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	int error = take_views(object, views, room, count);

	return error == ENODATA ? 0 : error;
}

/* ---- One event ---- */

/* How many bytes of data the next event has.  Losses before it are added up on the way. */
static int look(struct pxt_log *log, uint32_t *bytes)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_record record;

	for (;;) {
		int error = cursor->left ? 0 : pxt_log_find_slot(log);

		if (error)
			return error;
		if (!pxt_get_checked(cursor->next, cursor->left, log->header.swapped,
		        log->header.ctx_bytes, &record)) {
			cursor->left = 0;
			return EIO;
		}
		*bytes = pxt_info_bytes(record.info);
		if (pxt_info_id(record.info) != PXT_LOG_ID_LOSS)
			return 0;
		cursor->next += PXT_SLOT_BYTES;
		cursor->left -= PXT_SLOT_BYTES;
		pxt_sum_add(&cursor->pending, record.ticks);
	}
}

/* A call of memcpy() costs more than the few bytes that most events have. */
PXT_INLINE void copy_data(unsigned char *to, const unsigned char *from, size_t bytes)
{
	uint32_t first;
	uint32_t last;

	if (PXT_LIKELY(bytes - sizeof(first) <= sizeof(last))) {
		memcpy(&first, from, sizeof(first));
		memcpy(&last, from + bytes - sizeof(last), sizeof(last));
		memcpy(to, &first, sizeof(first));
		memcpy(to + bytes - sizeof(last), &last, sizeof(last));
	} else if (bytes) {
		memcpy(to, from, bytes);
	}
}

/*
 * The next event, whose data is copied as far as there is room.  Of a known kind no view is made: what has just been
 * stored in parts would be waited for where it is loaded as a whole.
 */
static int take(struct pxt_log *log, const struct pxt_getnext *request)
{
	struct posix_trace_event_info *event = request->event;
	struct posix_trace_eventview_np other;
	const struct posix_trace_eventview_np *view = &other;
	struct pxt_log_viewkind *kind;
	struct row row;
	const void *data;
	uint64_t ticks;
	uint64_t number;
	size_t bytes;

	kind = begin_row(log, &row) ? next_kind(log, &row, &ticks) : NULL;
	if (kind) {
		view = &kind->view;
		number = row.number;
		data = pass_kind(&row, kind, ticks);
		end_row(log, &row);
		pxt_log_view_spoilt(log, row.at);
	} else {
		size_t count = 0;
		int error = take_views(log, &other, 1, &count);

		if (error)
			return error;
		number = other.posix_number_np;
		data = other.posix_data_np;
		ticks = other.posix_ticks_np;
	}
	bytes = view->posix_bytes_np;
	event->posix_event_id = view->posix_event_id_np;
	event->posix_pid = view->posix_pid_np;
	event->posix_prog_address = view->posix_prog_address_np;
	event->posix_thread_id = view->posix_thread_id_np;
	event->posix_timestamp = pxt_log_latest(log);
	event->posix_truncation_status =
	    view->posix_cut_np ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED;
	if (PXT_UNLIKELY(bytes > request->num_bytes)) {
		bytes = request->num_bytes;
		event->posix_truncation_status = POSIX_TRACE_TRUNCATED_READ;
	}
	event->_pxt_cpu = view->posix_cpu_np;
	event->_pxt_flags =
	    PXT_EVENT_NUMBERED | (view->posix_thread_exact_np ? PXT_EVENT_THREAD_EXACT : 0u);
	event->_pxt_entry = view->posix_thread_entry_np + 1u;
	event->_pxt_ticks = ticks;
	event->_pxt_lost_before = view->posix_lost_before_np;
	event->_pxt_number = number;
	copy_data(request->data, data, bytes);
	*request->data_len = bytes;
	*request->unavailable = 0;
	return 0;
}

int pxt_log_getnext(void *object, const struct pxt_getnext *request)
{
	struct pxt_log *log = object;
	int error;

	/* A log has nothing to wait for: the other two functions are not for it (DEC-16). */
	if (request->wait != PXT_WAIT_BLOCK)
		return EINVAL;
	error = pxt_log_enter(log, request->trid);
	if (error)
		return error;
	error = take(log, request);
	return pxt_log_leave(log, error == ENODATA ? 0 : error);
}

int pxt_log_getnext_whole(void *object, const struct pxt_getnext *request)
{
	struct pxt_log *log = object;
	uint32_t bytes;
	int error = look(log, &bytes);

	if (!error && bytes > request->num_bytes) {
		*request->data_len = bytes;
		*request->unavailable = 0;
		error = EMSGSIZE;
	} else if (!error) {
		error = take(log, request);
	}
	return error == ENODATA ? 0 : error;
}
