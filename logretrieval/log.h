/* SPDX-License-Identifier: MIT */
/*
 * log.h - an opened log.
 *
 * Everything is done under the log's lock, but for what lock.c does with objects that are not in use.
 * The file may be hostile, and may change while it is read: whatever comes from it is checked
 * where it is used, and memory follows the bounds below, never the file's own numbers.
 *
 * Which file does what: DESIGN.md, 1.3.
 */
#ifndef PXT_LOGRETRIEVAL_LOG_H
#define PXT_LOGRETRIEVAL_LOG_H

#include "base/handle.h"
#include "format/compress.h"
#include "format/logfmt_fields.h"
#include "format/ticks.h"
#include "port/port_file.h"

#include <stdatomic.h>

#define PXT_LOG_WINDOW_BYTES 262144u /* or one block, whichever is more */
#define PXT_LOG_BRIEF_BYTES  512u    /* where heads alone are wanted, and ... */
#define PXT_LOG_SKIP_BYTES   4096u   /* ... blocks have at least so many; of shorter ones ... */
#define PXT_LOG_SHORT_BLOCKS 8u      /* ... so many at once */
#define PXT_LOG_THREADS_MAX  65536u
#define PXT_LOG_MODULES_MAX  4096u
#define PXT_LOG_NOTES_MAX    1024u
#define PXT_LOG_READINGS_MAX 65536u
/* As many as are kept where all are not, and some: each takes a descriptor. */
#define PXT_LOG_FILES_MAX    10000u

struct pxt_log_name {
	char name[TRACE_EVENT_NAME_MAX + 1];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
};

/* A thread, and the one that had its index before (place in the table + 1; 0: none). */
struct pxt_log_threadcell {
	struct pxt_log_thread thread;
	uint32_t older;
};

/* A reading of the clocks: CLOCK_MONOTONIC since creation, in nanoseconds. */
struct pxt_log_reading {
	uint64_t ticks;
	uint64_t ns;
};

/* From one reading to the next: @ns nanoseconds in @ticks ticks. */
struct pxt_log_segment {
	uint64_t from;    /* first tick and ... */
	uint64_t to;      /* ... the one after the last */
	uint64_t from_ns; /* since creation */
	uint64_t ns;
	uint64_t ticks;    /* 0: the nominal rate */
	uint64_t whole;    /* ns / ticks, and ... */
	uint64_t rest;     /* ... ns % ticks, ... */
	uint64_t fraction; /* ... and floor(rest * 2^64 / ticks) */
};

/* A piece of the log that could not be read and was passed over: skipdamage.c. */
struct pxt_log_gap {
	uint64_t from;
	uint64_t to;
	uint64_t missing; /* records in it, and losses that it told */
	uint64_t blocks;  /* of a complete log */
};

/* A DATA block, and what the heads of all before it say. */
struct pxt_log_mark {
	uint64_t at;
	uint64_t entered; /* the one before it */
	uint64_t blocks;  /* of all types */
	uint64_t records_total;
	uint64_t lost_total;
	uint64_t missing; /* in gaps that are passed */
	uint32_t gaps;
	struct posix_trace_logpassed_np passed;
	uint64_t newest; /* the largest stamp; 0: they have no records */
};

/* Some of the DATA blocks of a complete sequential log, as opening met them: seek.c. */
#define PXT_LOG_MARKS 512u

struct pxt_log_index {
	bool off;        /* a head makes no sense: its stamps need not grow with time */
	uint32_t stride; /* of so many blocks one is marked */
	uint32_t turn;
	uint32_t count;
	struct pxt_log_mark next; /* for the next block */
	struct pxt_log_mark marks[PXT_LOG_MARKS];
};

struct pxt_log_cursor {
	uint64_t at;      /* sequential: offset of the next block */
	uint64_t entered; /* sequential: offset of the block that was entered, and ... */
	uint32_t body; /* ... its bytes, which are not loaded yet; 0: they are (frames: complete) */
	uint64_t blocks;   /* sequential: those before @at */
	uint64_t sequence; /* frames: of the block being read */
	uint32_t done;     /* frames: bytes of that block, as slots, that were read; 0: not begun */
	/* Sums of the blocks before the one that was entered, to see what is missing, ... */
	uint64_t records;
	uint64_t lost;
	uint64_t entered_records; /* ... and with it */
	uint64_t entered_lost;
	uint32_t gap;                         /* sequential: the next one that lies ahead */
	uint64_t pending;                     /* records lost before the next one */
	uint64_t number;                      /* of the next record in the log's life */
	struct posix_trace_logblock_np block; /* what was entered last */
	const unsigned char *next;            /* in the window: slots not read yet, ... */
	uint32_t left;                        /* ... and their bytes */
};

/*
 * The segment of the log's line of time that events are in, and the latest time reported: as far as @span reaches a
 * time is one sum, and @last is it in nanoseconds; where it is 0, each time is asked for, and @time is it.
 */
struct pxt_log_timeline {
	struct pxt_log_segment segment;
	uint64_t span; /* ticks */
	int64_t base;  /* time of the segment's first tick */
	int64_t last;
	struct timespec time;
};

/* An event of the usual kind: but for stamp, number and data, the next one of the same info and context is so. */
struct pxt_log_viewkind {
	uint64_t context; /* as in memory */
	uint64_t since;   /* from this stamp on its thread has the index */
	uint32_t info;    /* 0: none yet */
	uint32_t step;
	struct pxt_log_viewkind *next; /* which came after it */
	struct posix_trace_eventview_np view;
};

#define PXT_LOG_KINDS (PXT_SMALL ? 1u : 32u)

/* How far a log was scanned, and what was found; it begins anew where scanning does (pxt_log_begin()). */
struct pxt_log_scan {
	uint64_t at;          /* everything before this offset was checked */
	uint32_t taken;       /* entries of the block there that were taken when memory ran out */
	uint32_t gap_count;   /* of struct pxt_log's gaps */
	uint64_t blocks;      /* before this offset, in all files */
	uint64_t data_blocks; /* checked; sequential: also the next one's number */
	uint64_t meta_blocks;
	uint64_t records_total;
	uint64_t lost_total;
	bool any_frame;
	bool broken;      /* growing: a block contradicts those before it, as @damage says */
	bool unsure_data; /* after a gap: the next block's number may be higher than it was due */
	bool unsure_meta;
	uint64_t first;       /* sequential: where reporting begins (after a CLEAR) */
	uint64_t first_block; /* blocks before there, and the sums of these */
	uint64_t first_records;
	uint64_t first_lost;
	uint64_t missing;      /* records in all gaps */
	uint64_t data_records; /* the sums at the end of the last DATA block or gap */
	uint64_t data_lost;
};

/* In front is what most functions touch: a short address reaches no further than 127 bytes. */
struct pxt_log {
	_Atomic uint32_t lock;
	bool held_for_fork; /* lock.c */
	struct pxt_log *next_of_all;
	trace_id_t trid;           /* 0: it has none, or not yet */
	struct pxt_log *next_free; /* from here on all is cleared with the end of a log */
	bool open;
	bool growing;  /* may lack its end */
	bool brief;    /* scanning passes over the records */
	bool complete; /* the trailer was found */
	bool
	    usual; /* records have this machine's order of bytes, a thread, and an address of 48 bits */
	bool unreadable; /* reading has failed since a thread has reset this */
	struct pxt_log_scan scan;
	uint64_t oldest; /* frames: sequence numbers of the blocks in them, ... */
	uint64_t newest; /* ... if any_frame */

	struct pxt_log_header header;
	struct pxt_log_cursor cursor;
	struct pxt_port_file file;

	unsigned char *window;
	uint32_t window_bytes;
	/* Bytes that are read at once, if more are not needed; 0: as many as it holds. */
	uint32_t ahead;
	uint32_t window_filled;
	uint64_t window_at;
	uint64_t window_from; /* before that the window is not what the file holds: views.c */
	/* A block whose records were coded, as a block of slots; and what it told. */
	unsigned char *decoded;
	struct pxt_compress_told *told;

	struct pxt_log_gap *gaps; /* in the order of the file */
	uint32_t gap_room;

	/* Clock */
	struct pxt_ticks nominal;
	struct pxt_log_reading *readings;
	uint32_t reading_count;
	uint32_t reading_room;
	uint32_t reading_skip; /* of so many readings one is kept */
	uint32_t reading_turn;
	uint64_t readings_backward; /* left out, for they are before an earlier one */
	struct pxt_log_segment segment;

	/* Tables */
	uint32_t type_position;
	uint32_t thread_count;
	uint32_t thread_room;
	struct pxt_log_threadcell *threads;
	uint32_t *by_index; /* 65,536 places + 1 into threads; NULL without threads */
	uint32_t *by_tid;   /* the same of threads that records alone tell of, by their tid */
	struct pxt_log_module *modules;
	uint32_t module_count;
	uint32_t module_room;
	struct pxt_log_note *notes;
	uint32_t note_count;
	uint32_t note_room;
	struct pxt_log_name *names[PXT_LOG_IDS];

	struct pxt_log_process process;
	struct pxt_log_set set;
	struct pxt_log_files *files; /* NULL: the log is one file (files.c) */
	struct pxt_log_index *index; /* NULL: there is none */
	struct pxt_log_trailer trailer;
	struct posix_trace_logerror_np error;
	struct posix_trace_logerror_np damage;
	struct pxt_log_timeline line;  /* views.c */
	struct pxt_log_viewkind *kind; /* of the latest event */
	struct pxt_log_viewkind kinds[PXT_LOG_KINDS];
};

/* ---- The lock (lock.c) ---- */

void pxt_log_lock(struct pxt_log *log);
/* Locks a log that was found by @trid; EINVAL where it is closed, or another identifier's by now. */
int pxt_log_enter(void *object, trace_id_t trid);
void pxt_log_unlock(struct pxt_log *log);
/* The same; returns @error. */
int pxt_log_leave(void *object, int error);
/* One that is not in use; all zero but for its lock and its place.  NULL: no memory. */
struct pxt_log *pxt_log_take_object(void);
void pxt_log_give_object(struct pxt_log *log);

/* ---- Bytes of the file (files.c) ---- */

/* Notes offset and reason; returns EINVAL. */
int pxt_log_fail(struct pxt_log *log, uint64_t offset, const char *reason);

/* Memory for blocks, before the head has said how long they are; and back.  False: there is none. */
bool pxt_log_take_window(struct pxt_log *log);
void pxt_log_give_window(struct pxt_log *log);
/*
 * @bytes bytes at @offset: *at, good until the next call, or NULL where the file ends before.
 * Returns 0 or the error of reading.  @bytes is at most the window's size.
 */
int pxt_log_view(struct pxt_log *log, uint64_t offset, uint32_t bytes, const unsigned char **at);
/* The same, or NULL where they cannot be had, for whatever reason. */
const unsigned char *pxt_log_see(struct pxt_log *log, uint64_t offset, uint32_t bytes);
/* The same, where nothing but a fault can be the reason that they are not there: @missing says which. */
int pxt_log_need(struct pxt_log *log, uint64_t offset, uint32_t bytes, const char *missing,
    const unsigned char **at);
/* The file may have changed: what is in the window is forgotten. */
void pxt_log_view_again(struct pxt_log *log);
/*
 * Past a block of @length bytes that is not read: where blocks are short, reading some of them at once costs less than
 * each head.  0: it was read, and the next one will be.
 */
PXT_INLINE void pxt_log_look_ahead(struct pxt_log *log, uint32_t length)
{
	log->ahead =
	    length < PXT_LOG_SKIP_BYTES ? length * PXT_LOG_SHORT_BLOCKS : PXT_LOG_BRIEF_BYTES;
}
/* The caller has changed what is in the window before @end; what was decoded is no piece of the file. */
PXT_INLINE void pxt_log_view_spoilt(struct pxt_log *log, const unsigned char *end)
{
	if ((uintptr_t)end - (uintptr_t)log->window <= log->window_filled)
		log->window_from = log->window_at + (uint64_t)(end - log->window);
}

/* ---- load.c ---- */

/* Reads the file's head. */
int pxt_log_read_header(struct pxt_log *log);
/* Goes to where blocks begin, forgetting those of an earlier generation. */
void pxt_log_begin(struct pxt_log *log);
/*
 * Goes through the whole file and takes in its tables.  Of a complete log the records are not read: each
 * block is checked when it is entered.
 */
int pxt_log_scan(struct pxt_log *log);
/* The same, with all checks: what is wrong, first of all, with a log that pxt_log_scan() refused. */
void pxt_log_scan_again(struct pxt_log *log);
/* Growing: looks for what came since.  0: there is something new; ENODATA, ENOMEM (nothing yet). */
int pxt_log_scan_more(struct pxt_log *log);
/*
 * Behind a block that was read, with that call's @error: it may be one of a log that was begun anew since, whose
 * blocks lie where the old ones did.  Then that log is read, from its beginning.  Returns @error, or that of this.
 */
int pxt_log_follow_clear(struct pxt_log *log, int error);
/* The head of the block at @offset, as far as it can be checked alone: *block as below. */
int pxt_log_load_head(struct pxt_log *log, uint64_t offset, struct pxt_log_blockhead *head,
    const unsigned char **block);
/*
 * The block at @offset, checked but for its sequence number: *block is good until the next view, and of
 * a DATA block has its records as slots.  Returns 0 or EINVAL.
 */
int pxt_log_load(struct pxt_log *log, uint64_t offset, struct pxt_log_blockhead *head,
    const unsigned char **block);

/* Takes in a block that is not DATA.  0, EINVAL or ENOMEM. */
int pxt_log_take(struct pxt_log *log, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head);

/* ---- loop.c ---- */

/* 96 zeros, or no bytes at all: nothing was ever written there. */
bool pxt_log_unwritten(struct pxt_log *log, uint64_t offset);
/* The block in frame number @frame; it must be one that belongs there. */
int pxt_log_load_frame(struct pxt_log *log, uint64_t frame, struct pxt_log_blockhead *head,
    const unsigned char **block);
int pxt_log_scan_frames(struct pxt_log *log);
bool pxt_log_more_frames(struct pxt_log *log);
/* Moves the cursor to a block with records left.  ENODATA at the end, EIO. */
int pxt_log_next_frame(struct pxt_log *log);
uint64_t pxt_log_behind_frames(const struct pxt_log *log);

/* ---- skipdamage.c ---- */

#define PXT_LOG_SEEN_BYTES 44u /* of a block's head tell one of this stream */
#define PXT_LOG_GAPS_MAX   4096u

/* Whether a block of this stream seems to begin at @at. */
bool pxt_log_begins_here(const struct pxt_log *log, const unsigned char *at);
/* The next place from @offset on where one seems to begin; @size, the file's, if there is none. */
uint64_t pxt_log_find_block(struct pxt_log *log, uint64_t offset, uint64_t size);
int pxt_log_skip_damage(struct pxt_log *log, struct posix_trace_logfinding_np *finding);

/* ---- tables.c ---- */

/* One entry, which is at @offset.  0, EINVAL or ENOMEM. */
int pxt_log_take_type(struct pxt_log *log, uint64_t offset, const unsigned char *entry);
int pxt_log_take_thread(struct pxt_log *log, uint64_t offset, const unsigned char *entry);
int pxt_log_take_module(struct pxt_log *log, uint64_t offset, const unsigned char *entry);
int pxt_log_take_note(struct pxt_log *log, uint64_t offset, const unsigned char *entry);
/*
 * Makes room for one more than the @count elements of @table; the new room doubles up to @most.  Returns where
 * the table is from now on; NULL: no memory, or full, and it is where it was.
 */
void *pxt_log_grow(void *table, uint32_t count, uint32_t *room, uint32_t most, size_t element);
/* The same of the gaps, one of which is between two files.  False: no memory, or full. */
bool pxt_log_room_for_gap(struct pxt_log *log);
/* What @index meant at @ticks: the place in the table + 1, or 0. */
uint32_t pxt_log_find_thread(const struct pxt_log *log, uint32_t index, uint64_t ticks);
/*
 * The same for a thread that had no place, whose record tells its numbers: it gets an entry in the
 * table.  0: the table is full, or there is no memory.
 */
uint32_t pxt_log_find_placeless(struct pxt_log *log, uint64_t thread, int32_t pid, int32_t tid);
/* What events were like, and when, holds no longer: the log has told more of threads or clocks, or begins anew. */
void pxt_log_forget_views(struct pxt_log *log);
/* The log is about to be forgotten: its pointers to them stay. */
void pxt_log_free_tables(const struct pxt_log *log);

/* ---- clock.c ---- */

void pxt_log_clock_begin(struct pxt_log *log);
/* 0 or ENOMEM; a reading that contradicts earlier ones is left out. */
int pxt_log_add_reading(struct pxt_log *log, const struct pxt_clock_set *set);
void pxt_log_time(struct pxt_log *log, uint64_t ticks, struct timespec *time);
/* Source, rate and anchor of the log's clock. */
void pxt_log_get_ticks(const struct pxt_log *log, struct posix_trace_clock_np *clock);
/* floor(count * ns / ticks) of a segment that has an end, for @count below its ticks. */
PXT_INLINE uint64_t pxt_log_segment_ns(const struct pxt_log_segment *segment, uint64_t count)
{
	uint64_t ns = pxt_mul_high(count, segment->fraction);

	/* Known modulo 2^64 only, but below 2 * ticks. */
	if (count * segment->rest - ns * segment->ticks >= segment->ticks)
		ns++;
	return ns + count * segment->whole;
}

/* ---- next.c ---- */

void pxt_log_rewind(struct pxt_log *log);
/* Moves the cursor to a slot.  ENODATA: the end of the log, for now or for good; EIO, ENOMEM. */
int pxt_log_find_slot(struct pxt_log *log);

/* Passes over the rest of the present block, and enters the next one; errors as above. */
int pxt_log_enter_next(struct pxt_log *log);

/* The context and the extra bytes of a record. */
struct pxt_log_context {
	uint64_t thread;
	uint64_t address;
	int32_t pid;
	bool exact;
	uint32_t entry; /* place in the table of threads + 1; 0: none */
};
/* @at: the record's begin slot. */
void pxt_log_get_context(struct pxt_log *log, const unsigned char *at,
    const struct pxt_log_record *record, struct pxt_log_context *context);
/* The same of a record without extra bytes, in a log of the usual kind. */
PXT_INLINE void pxt_log_usual_context(const struct pxt_log *log, const unsigned char *at,
    const struct pxt_log_record *record, struct pxt_log_context *context)
{
	const uint64_t number =
	    pxt_get64(at + PXT_SLOT_BYTES + 4, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
	const struct pxt_log_thread *thread = NULL;
	uint32_t place = log->by_index ? log->by_index[number & 0xffff] : 0;

	if (place)
		thread = &log->threads[place - 1].thread;
	/* The latest one that had this index; earlier ones are looked for. */
	if (thread && thread->since > record->ticks) {
		place = pxt_log_find_thread(log, (uint32_t)(number & 0xffff), record->ticks);
		thread = place ? &log->threads[place - 1].thread : NULL;
	}
	context->address = number >> 16 | (number >> 63 ? UINT64_C(0xffff) << 48 : 0);
	context->thread = thread ? thread->thread : 0;
	context->pid = thread && thread->pid ? thread->pid : log->process.pid;
	context->exact = thread != NULL;
	context->entry = place;
}
int pxt_log_nextblock(struct pxt_log *log, struct posix_trace_logblock_np *block, int *unavailable);
/* Brings the numbers in an event's data, recorded in the other byte order, into this one. */
void pxt_log_swap_data(const struct pxt_log *log, uint32_t id, unsigned char *data, uint32_t bytes);

/* ---- views.c ---- */

/* The latest time that was reported. */
PXT_INLINE struct timespec pxt_log_latest(const struct pxt_log *log)
{
	const struct pxt_log_timeline *line = &log->line;

	if (!line->span)
		return line->time;
	return (struct timespec){ .tv_sec = pxt_ticks_seconds(
		                      (int64_t)((uint64_t)line->last / PXT_NS_PER_S)),
		.tv_nsec = (long)((uint64_t)line->last % PXT_NS_PER_S) };
}
int pxt_log_getnext(void *object, const struct pxt_getnext *request);
int pxt_log_getnext_whole(void *object, const struct pxt_getnext *request);
int pxt_log_views(void *object, struct posix_trace_eventview_np *views, size_t room, size_t *count);

/* ---- seek.c ---- */

/* Of a head: stamps from before creation may be of a counter that wrapped since; their times need not grow. */
PXT_INLINE bool pxt_log_is_sensible(
    const struct pxt_log *log, uint64_t records, uint64_t begin, uint64_t end)
{
	return records == 0 || (begin >= log->header.created.ticks && begin <= end);
}
int pxt_log_seek(struct pxt_log *log, int64_t ns, struct posix_trace_logpassed_np *passed);

/* ---- open.c, info.c ---- */

/* With the log's lock. */
struct pxt_log_getters {
	int (*info)(const struct pxt_log *log, struct posix_trace_loginfo_np *info);
	int (*thread)(
	    const struct pxt_log *log, uint32_t index, struct posix_trace_logthread_np *thread);
	int (*module)(
	    const struct pxt_log *log, uint32_t index, struct posix_trace_logmodule_np *module);
	int (*block)(struct pxt_log *log, struct posix_trace_logblock_np *block, int *unavailable);
	int (*time)(struct pxt_log *log, uint64_t ticks, struct timespec *time);
	int (*note)(const struct pxt_log *log, uint32_t index, struct posix_trace_lognote_np *note);
	int (*damage)(struct pxt_log *log, struct posix_trace_logfinding_np *finding);
	int (*seek)(struct pxt_log *log, int64_t ns, struct posix_trace_logpassed_np *passed);
};
/*
 * What a log answers, asked by its own library's functions: @answer calls one of PXT_LOG_GETTERS with
 * `object`.  EINVAL: not a log, or there is no place for the answer, @to.
 */
#define PXT_LOG_GETTERS ((const struct pxt_log_getters *)ops->log)
#define PXT_LOG_ASK(trid, to, answer)                                                              \
	PXT_HANDLE_ASK(trid, ops->log &&pxt_arg_given(to), PXT_LOG_GETTERS->answer)
extern const struct pxt_ops pxt_log_ops;
extern const struct pxt_log_getters pxt_log_getters;
int pxt_log_close(void *object, trace_id_t trid);

/*
 * Several files of a set as one log (files.c).
 *
 *   concurrency: with the log's lock.
 *
 * Offsets go on from one file to the next, for the port reads several files as one (port_file.h).  Scanning goes from
 * the end of one to the blocks of the next, and keeps a gap between them, which reading passes over: so nothing
 * else knows that there are several files.
 */

/* What the trailers of all files but the last one count. */
struct pxt_log_former {
	uint64_t written;
	uint64_t retrieved;
	uint64_t lost;
	uint64_t cleared;
	uint64_t log_lost;
};

/* Takes the files, of which @log has the first one; their heads say in which order they are. */
int pxt_log_open_files(struct pxt_log *log, const int *fds, size_t count);
void pxt_log_close_files(struct pxt_log *log);
/* Scanning begins again. */
void pxt_log_first_file(struct pxt_log *log);
/*
 * Before a block is read at log->scan.at: goes to the next file where this one ends.  @cut: a growing log's
 * file has no more blocks; then 0 says that there is a next one, else ENODATA.
 */
int pxt_log_enter_file(struct pxt_log *log, bool cut);
/* Of a file that has its trailer: whether there is another one. */
bool pxt_log_more_files(struct pxt_log *log);
/* What the file says about those before it: what is missing between them was lost. */
int pxt_log_take_set(struct pxt_log *log, uint64_t offset, const unsigned char *entry);
/* Offset of the end of the file that @offset is in. */
int pxt_log_end_of_file(const struct pxt_log *log, uint64_t offset, uint64_t *end);
/* Offset of the file that @offset is in; blocks' sums count from there on. */
uint64_t pxt_log_begin_of_file(const struct pxt_log *log, uint64_t offset);
const struct pxt_log_former *pxt_log_former(const struct pxt_log *log);
/* Records in the files before the one that @offset is in. */
uint64_t pxt_log_records_before(const struct pxt_log *log, uint64_t offset);

#endif
