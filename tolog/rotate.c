/* SPDX-License-Identifier: MIT */
/*
 * rotate.c - a log that goes from file to file: posix_trace_attr_setrotation_np().
 *
 *   concurrency: with the log's lock, without the mutex, but for the attributes.
 *
 * A new file is begun between two blocks, in this order: the new file is made; the oldest one is removed, which
 * may make the room that the next step needs; the present one gets its end; the new one gets its head.  What
 * fails up to there leaves the log where it was, and is tried again later: so where one file alone is kept, it is
 * removed at last.  Records that were taken out of the stream stay in `data` meanwhile: so a process that is killed
 * loses what it would lose without all this.
 */
#include "tolog/tolog.h"

#include "core/testpoints.h"

#define NAME_MOST  (sizeof(((trace_attr_t *)NULL)->_pxt_rotate_name) - 1u)
#define FILES_MOST 9999u
#define MODE       0666u
/* Names, head and trailer come after the last events of a file. */
#define END_BYTES  2048u
#define AGAIN_S    1u

/* Blocks that the present file has yet to begin with. */
enum owed {
	OWES_NOTHING,
	OWES_CLOCK,
	OWES_SET, /* and the clock after it, but in the first file */
};

struct pxt_tolog_file {
	uint32_t number;
	struct pxt_port_place place;
};

struct pxt_tolog_turns {
	uint64_t bytes;
	uint64_t age;   /* in ticks, as the next three */
	uint64_t hz;    /* a second */
	uint64_t begun; /* the present file */
	uint64_t later; /* nothing is tried before */
	bool asked;
	_Atomic bool turning;
	int error; /* of the last try; 0 since a new file was begun */
	enum owed owes;
	struct pxt_clock_set end;             /* of the file before */
	struct posix_trace_counts_np earlier; /* what earlier files counted */
	struct pxt_log_set set;
	uint32_t most; /* files that are kept; 0: all */
	uint32_t
	    room; /* for those that are known, oldest first from @first: one more than are kept */
	uint32_t kept;
	uint32_t first;
	char name[NAME_MOST + 1];
	struct pxt_tolog_file files[];
};

/* ---- Attributes ---- */

static bool is_name(const char *name)
{
	size_t bytes = name ? strlen(name) : 0;

	return bytes > 0 && bytes <= NAME_MOST && !memchr(name, '/', bytes);
}

PXT_API int posix_trace_attr_setrotation_np(
    trace_attr_t *attr, const struct posix_trace_rotation_np *rotation, size_t bytes)
{
	char name[NAME_MOST + 1] = "";

	if (pxt_attr_check(attr, attr) || (rotation && bytes < sizeof(*rotation)))
		return EINVAL;
	/* A program of a later release may ask for what this one has not. */
	for (size_t at = sizeof(*rotation); rotation && at < bytes; at++)
		if (((const unsigned char *)rotation)[at] != 0)
			return EINVAL;
	if (rotation &&
	    (!is_name(rotation->posix_name_np) || rotation->posix_files_np > FILES_MOST ||
	        rotation->posix_mode_np > 0777 ||
	        (rotation->posix_bytes_np &&
	            rotation->posix_bytes_np < POSIX_TRACE_ROTATION_MIN_NP)))
		return EINVAL;
	/* The text may be that of these attributes. */
	if (rotation)
		memcpy(name, rotation->posix_name_np, strlen(rotation->posix_name_np));
	memcpy(attr->_pxt_rotate_name, name, sizeof(name));
	if (!rotation)
		return 0;
	attr->_pxt_rotate_bytes = rotation->posix_bytes_np;
	attr->_pxt_rotate_seconds = rotation->posix_seconds_np;
	attr->_pxt_rotate_files = rotation->posix_files_np;
	attr->_pxt_rotate_mode = rotation->posix_mode_np;
	return 0;
}

PXT_API int posix_trace_attr_getrotation_np(
    const trace_attr_t *attr, struct posix_trace_rotation_np *rotation, size_t bytes)
{
	struct posix_trace_rotation_np own = { 0 };
	int error = pxt_attr_check(attr, rotation);

	if (error)
		return error;
	if (pxt_tolog_rotates(attr)) {
		own.posix_name_np = attr->_pxt_rotate_name;
		own.posix_bytes_np = attr->_pxt_rotate_bytes;
		own.posix_seconds_np = attr->_pxt_rotate_seconds;
		own.posix_files_np = attr->_pxt_rotate_files;
		own.posix_mode_np = attr->_pxt_rotate_mode;
	}
	pxt_give(rotation, bytes, &own, sizeof(own));
	return 0;
}

/* ---- The beginning ---- */

bool pxt_tolog_rotates(const trace_attr_t *asked)
{
	return asked && asked->_pxt_rotate_name[0] != '\0';
}

int pxt_tolog_turns_check(const struct _pxt_attr *attr)
{
	return (attr->_pxt_log_policy && attr->_pxt_log_policy != POSIX_TRACE_APPEND) ||
	               attr->_pxt_flags & PXT_ATTR_FRAMES
	           ? EINVAL
	           : 0;
}

int pxt_tolog_turns_open(
    struct pxt_port_log *out, const trace_attr_t *asked, struct _pxt_attr *attr, int fd)
{
	attr->_pxt_log_policy = POSIX_TRACE_APPEND;
	if (asked->_pxt_rotate_files)
		attr->_pxt_flags |= PXT_ATTR_AGES;
	return pxt_port_log_first(out, fd, asked->_pxt_rotate_name,
	    asked->_pxt_rotate_mode ? asked->_pxt_rotate_mode : MODE);
}

void pxt_tolog_turns_abandon(struct pxt_port_log *out)
{
	(void)pxt_port_log_remove(out, out->folder.number, &out->place);
}

/* Where all files are kept, a clear has to find them. */
static uint32_t room_of(const trace_attr_t *asked)
{
	return (asked->_pxt_rotate_files ? asked->_pxt_rotate_files : FILES_MOST) + 1u;
}

size_t pxt_tolog_turns_bytes(const trace_attr_t *asked)
{
	return pxt_tolog_rotates(asked)
	           ? sizeof(struct pxt_tolog_turns) + room_of(asked) * sizeof(struct pxt_tolog_file)
	           : 0;
}

static void forget_oldest(struct pxt_tolog_turns *turns)
{
	turns->first = (turns->first + 1u) % turns->room;
	turns->kept--;
}

/* The present file is among those that are kept. */
static void keep(struct pxt_tolog *log)
{
	struct pxt_tolog_turns *turns = log->turns;

	if (turns->kept == turns->room)
		forget_oldest(turns);
	turns->files[(turns->first + turns->kept) % turns->room] =
	    (struct pxt_tolog_file){ log->out.folder.number, log->out.place };
	turns->kept++;
}

void pxt_tolog_turns_start(struct pxt_tolog *log, const trace_attr_t *asked, uint64_t hz)
{
	struct pxt_tolog_turns *turns = log->turns;

	if (!turns)
		return;
	memcpy(turns->name, asked->_pxt_rotate_name, sizeof(turns->name));
	log->out.folder.name = turns->name;
	turns->bytes = asked->_pxt_rotate_bytes;
	turns->hz = hz;
	turns->age = asked->_pxt_rotate_seconds * hz;
	turns->most = asked->_pxt_rotate_files;
	turns->room = room_of(asked);
	turns->begun = pxt_port_ticks();
	turns->owes = OWES_SET;
	log->header.number = 1;
	keep(log);
}

/* A file has room for some blocks at least: none would be as small as was asked otherwise. */
uint32_t pxt_tolog_turns_room(const struct pxt_tolog *log, uint32_t room)
{
	uint64_t part = log->turns ? log->turns->bytes / 4u : 0;

	return part && part < room ? (uint32_t)part & ~(PXT_SLOT_BYTES - 1u) : room;
}

/* ---- Whether it is time ---- */

/* A file has some events at least, so that the log goes on whatever its limits are. */
static bool due(const struct pxt_tolog *log)
{
	const struct pxt_tolog_turns *turns = log->turns;
	uint64_t now = pxt_port_ticks();

	if (turns->asked)
		return true;
	if (!log->sums.data_sequence || !log->data.count ||
	    (turns->later && (int64_t)(now - turns->later) < 0))
		return false;
	return (turns->age && now - turns->begun >= turns->age) ||
	       (turns->bytes && log->end + log->data.used + END_BYTES > turns->bytes);
}

/* ---- The end of a file ---- */

/* Records that this file has and the stream counts as retrieved; what it tells of losses. */
static void count(const struct pxt_stream *stream, const struct pxt_tolog *log,
    struct posix_trace_counts_np *counts)
{
	uint64_t retrieved = stream->block->retrieved - log->unwritten;

	memset(counts, 0, sizeof(*counts));
	counts->posix_retrieved_np = retrieved - log->turns->earlier.posix_retrieved_np;
	if (log->sums.lost > log->lost)
		counts->posix_lost_np = log->sums.lost - log->lost;
	counts->posix_written_np = counts->posix_retrieved_np + counts->posix_lost_np;
}

static void fill_trailer(
    const struct pxt_stream *stream, const struct pxt_tolog *log, struct pxt_log_trailer *trailer)
{
	struct posix_trace_status_info *status = &trailer->status;

	count(stream, log, &trailer->counts);
	pxt_tolog_tell_status(stream->block, trailer);
	status->posix_stream_full_status = POSIX_TRACE_NOT_FULL;
	status->posix_stream_flush_error = atomic_load_explicit(&log->error, memory_order_acquire);
	status->posix_log_overrun_status = log->lost ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
}

/* What it was without its trailer. */
struct present {
	struct pxt_log_stream sums;
	uint64_t end;
	uint64_t lost;
	uint64_t cleared_log;
};

/* What was put behind the last block does not count: the next one goes over it. */
static void take_back(struct pxt_tolog *log, const struct present *present)
{
	log->sums = present->sums;
	log->end = present->end;
	log->lost = present->lost;
	log->cleared_log = present->cleared_log;
	log->way.what = PXT_WAY_NOTHING;
	log->ended = false;
	pxt_tolog_new_meta(log);
	pxt_tolog_forget_told(log);
}

static int end_file(
    struct pxt_stream *stream, struct pxt_log_trailer *trailer, struct present *present)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	int error = pxt_tolog_tell(stream, PXT_WHEN_END);

	*present = (struct present){ log->sums, log->end, log->lost, log->cleared_log };
	fill_trailer(stream, log, trailer);
	if (!error)
		error = pxt_tolog_put_trailer(log, trailer);
	PXT_TESTPOINT(PXT_TP_LOG_TURN_ENDED);
	/* Also a trailer that was written and could not be cut off behind: the log does not end there. */
	if (error)
		take_back(log, present);
	return error;
}

/* ---- A new file ---- */

/* One that somebody has moved away, or put something else in place of, is theirs. */
static void remove_oldest(struct pxt_tolog *log)
{
	struct pxt_tolog_turns *turns = log->turns;
	const struct pxt_tolog_file *oldest = &turns->files[turns->first];
	int error;

	pxt_tolog_switch_output(log, PXT_OUTPUT_IDLE, PXT_OUTPUT_WRITING);
	error = pxt_port_log_remove(&log->out, oldest->number, &oldest->place);
	pxt_tolog_switch_output(log, PXT_OUTPUT_WRITING, PXT_OUTPUT_IDLE);
	if (error != ENOENT)
		pxt_tolog_note_error(log, error);
	forget_oldest(turns);
	PXT_TESTPOINT(PXT_TP_LOG_TURN_REMOVED);
}

static void go_on_in(
    struct pxt_tolog *log, const struct pxt_port_log *next, const struct pxt_log_trailer *trailer)
{
	struct pxt_tolog_turns *turns = log->turns;
	struct posix_trace_counts_np *earlier = &turns->earlier;

	earlier->posix_written_np += trailer->counts.posix_written_np;
	earlier->posix_retrieved_np += trailer->counts.posix_retrieved_np;
	earlier->posix_lost_np += trailer->counts.posix_lost_np;
	turns->set.records += log->sums.records;
	turns->set.lost += trailer->counts.posix_lost_np + trailer->log_lost;
	turns->end = trailer->end;
	turns->begun = pxt_port_ticks();
	turns->owes = OWES_SET;
	log->out.fd = next->fd;
	log->out.place = next->place;
	log->out.size = 0;
	log->out.reached = 0;
	log->out.folder.number = next->folder.number;
	/* The file's sums, and what it has of names. */
	log->header.number++;
	pxt_tolog_begin_sums(log);
	log->ended = false;
	log->end = PXT_LOG_HEADER_BYTES;
	pxt_tolog_forget_told(log);
	keep(log);
}

/* Both have the folder: @old, which is closed, leaves it to the other. */
static void leave(struct pxt_tolog *log, struct pxt_port_log *old)
{
	pxt_port_log_no_folder(old);
	pxt_tolog_switch_output(log, PXT_OUTPUT_IDLE, PXT_OUTPUT_WRITING);
	pxt_port_log_close(old);
	PXT_TESTPOINT(PXT_TP_LOG_TURN_LEFT);
	pxt_tolog_switch_output(log, PXT_OUTPUT_WRITING, PXT_OUTPUT_IDLE);
}

static void give_up_next(struct pxt_tolog *log, struct pxt_port_log *next)
{
	(void)pxt_port_log_remove(&log->out, next->folder.number, &next->place);
	pxt_port_log_no_folder(next);
	pxt_port_log_close(next);
}

/* The new file has no head: the log goes on in the one before, without its end. */
static void go_back(struct pxt_tolog *log, const struct pxt_port_log *old,
    const struct pxt_tolog_turns *turns, const struct present *present)
{
	struct pxt_port_log next = log->out;

	log->out = *old;
	*log->turns = *turns;
	log->header.number--;
	take_back(log, present);
	give_up_next(log, &next);
	/* A shorter block than the trailer would leave some of it. */
	(void)pxt_port_log_truncate(&log->out, log->end);
}

static int begin_next(struct pxt_tolog *log, const struct pxt_port_log *next,
    const struct pxt_log_trailer *trailer, const struct present *present)
{
	const struct pxt_tolog_turns turns = *log->turns;
	const struct pxt_port_log old = log->out;
	int error;

	go_on_in(log, next, trailer);
	error = pxt_tolog_put_head(log);
	/* Of a log that is over or was sealed, what comes next says so. */
	if (!error || log->over || pxt_tolog_output(log) == PXT_OUTPUT_SEALED)
		return 0;
	go_back(log, &old, &turns, present);
	return error;
}

static int try_next(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	const struct pxt_tolog_turns *turns = log->turns;
	struct pxt_log_trailer trailer = { .crash = { 0 } };
	struct present present;
	struct pxt_port_log next;
	uint32_t number = log->out.folder.number;
	int error;

	pxt_tolog_switch_output(log, PXT_OUTPUT_IDLE, PXT_OUTPUT_WRITING);
	error = pxt_port_log_next(&next, &log->out);
	PXT_TESTPOINT(PXT_TP_LOG_TURN_MADE);
	pxt_tolog_switch_output(log, PXT_OUTPUT_WRITING, PXT_OUTPUT_IDLE);
	if (!error) {
		/* A log that was sealed meanwhile does not go on, and end_file() says so. */
		if (turns->most > 1 && turns->kept == turns->most &&
		    pxt_tolog_output(log) != PXT_OUTPUT_SEALED)
			remove_oldest(log);
		error = end_file(stream, &trailer, &present);
		if (error)
			give_up_next(log, &next);
		else
			error = begin_next(log, &next, &trailer, &present);
	}
	if (error)
		log->out.folder.number = number;
	else if (turns->most && turns->kept > turns->most && !log->over &&
	         pxt_tolog_output(log) != PXT_OUTPUT_SEALED)
		remove_oldest(log);
	return error;
}

/* The log itself goes on where it was. */
static int put_off(struct pxt_tolog *log, int error)
{
	log->turns->error = error;
	log->turns->later = pxt_port_ticks() + AGAIN_S * log->turns->hz;
	pxt_tolog_note_error(log, error);
	return log->over;
}

static int put_beginning(struct pxt_tolog *log)
{
	struct pxt_tolog_turns *turns = log->turns;
	const struct pxt_log_clock end = { PXT_LOG_AT_FLUSH, turns->end };
	int error = 0;

	/* What a write leaves over is on its way, and goes out before anything else. */
	while (!error && turns->owes != OWES_NOTHING) {
		bool set = turns->owes == OWES_SET;

		if (set)
			(void)pxt_logfmt_put_set(&log->meta, &turns->set);
		else
			(void)pxt_logfmt_put_clock(&log->meta, &end);
		turns->owes = set && log->header.number > 1 ? OWES_CLOCK : OWES_NOTHING;
		error = pxt_tolog_put_meta(log, set ? PXT_LOG_SET : PXT_LOG_CLOCKS);
	}
	return error;
}

int pxt_tolog_turn(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);
	struct pxt_tolog_turns *turns = log->turns;
	struct pxt_port_log old;
	int error;

	if (!turns)
		return 0;
	error = pxt_tolog_resume(log);
	if (!error)
		error = put_beginning(log);
	/* The file is to get what is written, not what it was. */
	pxt_tolog_code(log);
	if (error || pxt_tolog_output(log) == PXT_OUTPUT_SEALING || !due(log))
		return error;
	old = log->out;
	atomic_store_explicit(&turns->turning, true, memory_order_relaxed);
	error = try_next(stream);
	if (error) {
		error = put_off(log, error);
		old.fd = -1;
	} else {
		turns->error = 0;
		turns->later = 0;
	}
	atomic_store_explicit(&turns->turning, false, memory_order_relaxed);
	PXT_TESTPOINT(PXT_TP_LOG_TURNED);
	/* Behind the new file's head: so a handler that interrupts this ends the log there. */
	if (old.fd >= 0)
		leave(log, &old);
	return error ? error : put_beginning(log);
}

bool pxt_tolog_turn_back(struct pxt_tolog *log)
{
	if (!log->turns || !atomic_load_explicit(&log->turns->turning, memory_order_relaxed))
		return false;
	log->way.what = PXT_WAY_NOTHING;
	pxt_tolog_new_meta(log);
	return true;
}

int pxt_tolog_turn_error(const struct pxt_tolog *log)
{
	return log->turns ? log->turns->error : 0;
}

void pxt_tolog_turns_rest(const struct pxt_tolog *log, struct posix_trace_counts_np *counts)
{
	if (!log->turns)
		return;
	counts->posix_written_np -= log->turns->earlier.posix_written_np;
	counts->posix_retrieved_np -= log->turns->earlier.posix_retrieved_np;
	counts->posix_lost_np -= log->turns->earlier.posix_lost_np;
}

void pxt_tolog_turns_clear(struct pxt_tolog *log)
{
	struct pxt_tolog_turns *turns = log->turns;

	if (!turns)
		return;
	/* Bound: the files that are kept; the present one is the last. */
	while (turns->kept > 1)
		remove_oldest(log);
	memset(&turns->earlier, 0, sizeof(turns->earlier));
	memset(&turns->set, 0, sizeof(turns->set));
	pxt_port_clock_read(&turns->end);
	turns->begun = pxt_port_ticks();
	turns->owes = OWES_SET;
}

int pxt_tolog_turn_now(struct pxt_stream *stream)
{
	struct pxt_tolog_turns *turns = pxt_tolog_of(stream)->turns;
	int error;

	turns->asked = true;
	error = pxt_tolog_turn(stream);
	turns->asked = false;
	return error ? error : turns->error;
}
