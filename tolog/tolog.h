/* SPDX-License-Identifier: MIT */
/*
 * tolog.h - what the files of the unit Trace To Log share: a stream's log, and who may touch it.
 *
 *   concurrency   flush, clear, end   get_status   writers
 *   flush, clear, end        T                -            -
 *   get_status               -                -            -
 *
 * T: one at a time.  The log's lock is a flag under the stream's mutex; who holds it takes records out
 * of the stream (with the mutex, up to a block at a time) and writes (without the mutex), so that
 * nobody waits for a device but those who want something written themselves.
 *
 * Which file does what: DESIGN.md, 1.3.
 *
 * A record goes: stream -> `data`, a block in memory of the stream -> one write.  A block whose
 * write fails stays where it is ("on its way"), and nothing else is taken or written before the
 * rest of it has gone out: the log never holds a part of a record, nor one twice.
 */
#ifndef PXT_TOLOG_H
#define PXT_TOLOG_H

#include "base/attr.h"
#include "core/read/consumer.h"
#include "format/compress.h"
#include "port/port_log.h"

#include <errno.h>

/* Blocks other than DATA are made here: room for one entry of any kind. */
#define PXT_TOLOG_META_BYTES 1024u

struct pxt_tolog;

/* A log-full policy. */
struct pxt_tolog_policy {
	int policy;
	/* EINVAL: not on such a file, or the size of the log is too small (DEC-07, DEC-21). */
	int (*check)(const struct pxt_port_log *out, const struct _pxt_attr *attr);
	/* Layout of the file: fills header and `log`.  @counts: frames' record counts, or NULL. */
	void (*lay_out)(struct pxt_tolog *log, const struct _pxt_attr *attr);
	/* Further memory that the policy needs. */
	size_t (*memory)(const struct _pxt_attr *attr);
	/* Bytes that records may still take in the log, its STOP included; NULL: any number. */
	uint64_t (*left)(const struct pxt_tolog *log);
	/* Where `data` is to be written, and that it was; @full: no more records into this block. */
	uint64_t (*place)(struct pxt_tolog *log);
	void (*placed)(struct pxt_tolog *log, bool full);
};

enum pxt_tolog_what {
	PXT_WAY_NOTHING,
	PXT_WAY_HEAD,
	PXT_WAY_DATA,
	PXT_WAY_META,
};

/* When the head of a block goes out: with the rest, or once more when all the rest is in the log. */
enum pxt_tolog_head {
	PXT_HEAD_FIRST,
	PXT_HEAD_TO_COME,
	PXT_HEAD_UNDER_WAY,
};

/* What is being written. */
struct pxt_tolog_way {
	enum pxt_tolog_what what;
	enum pxt_log_type type; /* of a META block */
	const unsigned char *bytes;
	uint64_t offset; /* in files that are written by position */
	uint32_t length;
	uint32_t sent;
	bool full; /* DATA: no more records will be put into this block */
	enum pxt_tolog_head head;
};

struct pxt_tolog_flusher;
struct pxt_tolog_line;
struct pxt_tolog_notes;
struct pxt_tolog_turns;

/* In front is what most functions touch: a short address reaches no further than 127 bytes. */
struct pxt_tolog {
	const struct pxt_tolog_policy *policy;
	struct pxt_tolog_describe *describe;
	struct pxt_tolog_notes *notes;
	struct pxt_tolog_line *line;   /* NULL: the log goes out as it is */
	struct pxt_tolog_turns *turns; /* NULL: the log is one file */

	/* Under the stream's mutex. */
	_Atomic uint32_t busy; /* the log's lock; waited for as a futex */
	uint32_t users;        /* those who have it or wait for it */
	bool flushing;
	/* A thread that holds the log's lock begins the log anew before it does anything else. */
	bool clear_due;

	/* Who holds the log's lock. */
	bool dirty;          /* `data` holds something that was not written yet */
	bool owes_stop;      /* UNTIL_FULL: the log is full, its STOP is not in `data` yet */
	bool stop_mark;      /* FLUSH_STOP of the last flush is due ... */
	bool ended;          /* the trailer is out */
	uint32_t fresh;      /* records in `data` that were not written yet */
	uint32_t unwritten;  /* those of them that the stream counts as retrieved */
	int over;            /* not 0: no log goes on after this error (output.c) */
	uint64_t end;        /* where the next block after all others goes */
	uint64_t unreported; /* records lost by the unit since the last loss slot */
	uint64_t last_ticks; /* the latest of all records in the log */
	uint32_t last_id;    /* and its type */
	struct pxt_tolog_way way;
	struct pxt_log_block meta;
	struct pxt_log_block data;
	struct pxt_log_stream sums;

	/* The lock itself. */
	uint64_t holder; /* the thread that holds the log's lock; means nothing without it */
	_Atomic uint32_t pieces;  /* writes that ended: somebody who waits sees that it goes on */
	_Atomic uint32_t output;  /* seal.c: what is going on with the file */
	_Atomic uint32_t unlocks; /* how often it was given back */

	/* Status; get_status() takes and resets it without the log's lock. */
	_Atomic int error; /* the first one */
	int error_told;    /* the last flush's, recorded as an event */
	_Atomic uint32_t overrun;
	_Atomic uint32_t full;

	/* Who holds the log's lock: what is used less. */
	unsigned char *data_bytes;
	struct pxt_compress_told *told; /* of the block that is coded */
	unsigned char *meta_bytes;
	uint16_t *frame_records;     /* LOOP: in each frame */
	uint32_t data_room;          /* of a DATA block */
	uint32_t burst;              /* bytes since the last pause */
	uint64_t stop_ticks;         /* the stamp of stop_mark */
	uint64_t size;               /* UNTIL_FULL: bytes for records */
	uint64_t taken;              /* UNTIL_FULL: of them used, by blocks that are in the log */
	uint32_t open;               /* and by the slots of records in `data` */
	uint64_t begun;              /* LOOP: DATA blocks that have a frame */
	uint64_t lost;               /* records that the log was given and does not hold */
	uint64_t cleared_log;        /* sums.records at the last clear */
	uint64_t cleared_stream;     /* the stream's `cleared` then */
	uint64_t looked_ticks;       /* of the last look at what changes slowly (clocks, names) */
	struct pxt_log_block placed; /* LOOP: `data` as it is in its frame */
	/*
	 * Or NULL.  0: the log has its end, with all that there was.  EBADF: the program has closed it; EPIPE: nobody
	 * reads it; else why its end could not be written.  Async-signal-safe.
	 */
	void (*completed)(int error);
	size_t bytes; /* of this memory, everything included */
	struct pxt_tolog_flusher *flusher;
	struct pxt_port_log out;
	struct pxt_log_header header;
	bool told_head;                   /* the file's head is in the log once more */
	uint32_t looked_types;            /* up to it none but this one tells threads' names ... */
	uint32_t rename_type;             /* ... (0: none at all): fill.c */
	uint32_t told_notes;              /* bytes of those that are in the log, or on their way */
	uint8_t told_types[PXT_ID_COUNT]; /* 1: the name is in the log, 2: the description too */
};

extern const struct pxt_ops pxt_tolog_ops;

/*
 * Makes @stream's log and begins it on @out, which stays the caller's if that fails: ENOMEM, or what
 * the port's truncate and write say.  @asked: what create was given, or NULL.  (The flusher is not started,
 * and the stream does not know yet whom to call at clear and shutdown.)
 */
int pxt_tolog_begin(struct pxt_stream *stream, const struct pxt_tolog_policy *policy,
    const struct pxt_port_log *out, const trace_attr_t *asked);
/*
 * The same of a stream's copy (core/copy/copy.h), whose log takes everything: frames were asked of the stream's
 * own log alone.  @plain: no record is coded, whatever the stream's log is.  (snapshot.c)
 */
int pxt_tolog_begin_copy(struct pxt_stream *copy, const struct pxt_port_log *out, bool plain);
/* Gives its memory back. */
void pxt_tolog_drop(struct pxt_stream *stream);

/* ---- Policies (policies.h) ---- */

/* What block after block needs; UNTIL_FULL and APPEND. */
void pxt_tolog_sequential(struct pxt_tolog *log, const struct _pxt_attr *attr);
uint64_t pxt_tolog_sequential_place(struct pxt_tolog *log);
void pxt_tolog_sequential_placed(struct pxt_tolog *log, bool full);
size_t pxt_tolog_no_memory(const struct _pxt_attr *attr);

/* Bytes that STOP takes at most. */
#define PXT_TOLOG_STOP_BYTES                                                                       \
	(PXT_SLOT_BYTES * (2u + (PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES) / PXT_SLOT_PAYLOAD))

/* ---- Output (output.c); with the log's lock, without the mutex ---- */

/* Writes what is left of what is on its way.  0: all of it is written. */
int pxt_tolog_resume(struct pxt_tolog *log);
/* What the header of a log of @block says (create.c). */
void pxt_tolog_fill_header(struct pxt_tolog *log, const struct pxt_block *block);
/* Begins the file: its head. */
int pxt_tolog_put_head(struct pxt_tolog *log);
/* Writes `data` as far as it was not; @full: the next record goes into a new block. */
int pxt_tolog_put_data(struct pxt_tolog *log, bool full);
int pxt_tolog_put_meta(struct pxt_tolog *log, enum pxt_log_type type);
/* Puts an entry into `meta`, by @put; a block that is full, of @type, is written before.  0, or its error. */
#define PXT_TOLOG_ENTRY(log, type, put)                                                            \
	__extension__({                                                                            \
		int pxt_error = (put) ? 0 : pxt_tolog_put_meta(log, type);                         \
                                                                                                   \
		if (!pxt_error && !(log)->meta.count)                                              \
			(void)(put);                                                               \
		pxt_error;                                                                         \
	})
/*
 * Gives up what is on its way, and what `data` holds beside it.  False: a part of it is out for
 * good, and the log cannot go on after that.
 */
bool pxt_tolog_give_up(struct pxt_tolog *log);
/*
 * With the mutex: the log is over, and what was taken for it and did not get there is lost, not
 * retrieved.
 */
void pxt_tolog_lose_rest(struct pxt_stream *stream);
/* An empty `data`, and an empty `meta`. */
void pxt_tolog_new_data(struct pxt_tolog *log);
void pxt_tolog_new_meta(struct pxt_tolog *log);

/* ---- Frames on a line (line.c); with the log's lock, without the mutex ---- */

#if CONFIG_PTRACE_LOG_LINE
/* Frames cannot be written where a file is expected. */
bool pxt_tolog_line_possible(const struct pxt_port_log *out, const struct _pxt_attr *attr);
/* Memory that frames on @out need; 0: there are to be none. */
size_t pxt_tolog_line_bytes(const struct pxt_port_log *out, const struct _pxt_attr *attr);
void pxt_tolog_line_start(struct pxt_tolog *log);
/* What is on its way now goes as frames: the first one, and the next one while there is one. */
void pxt_tolog_line_pack(struct pxt_tolog *log);
bool pxt_tolog_line_more(struct pxt_tolog *log);
/* The device lost what it was given, as lines do. */
bool pxt_tolog_line_is_lossy(const struct pxt_tolog *log, int error);
/* What is on its way is given up; returns the records in frames that were made of it. */
uint32_t pxt_tolog_line_given_up(struct pxt_tolog *log);
/*
 * Whether the head is to be told again, and the names: about every second, and at the end (@last).
 * *describe: what changes slowly, too.
 */
bool pxt_tolog_line_due(struct pxt_tolog *log, uint64_t hz, bool last, bool *describe);
#else
PXT_OFF_RETURNS(true, bool, pxt_tolog_line_possible, const struct pxt_port_log *out,
    const struct _pxt_attr *attr);
PXT_OFF_RETURNS(
    0, size_t, pxt_tolog_line_bytes, const struct pxt_port_log *out, const struct _pxt_attr *attr);
PXT_OFF(pxt_tolog_line_start, struct pxt_tolog *log);
PXT_OFF(pxt_tolog_line_pack, struct pxt_tolog *log);
PXT_OFF_RETURNS(false, bool, pxt_tolog_line_more, struct pxt_tolog *log);
PXT_OFF_RETURNS(false, bool, pxt_tolog_line_is_lossy, const struct pxt_tolog *log, int error);
PXT_OFF_RETURNS(0, uint32_t, pxt_tolog_line_given_up, struct pxt_tolog *log);
PXT_OFF_RETURNS(
    false, bool, pxt_tolog_line_due, struct pxt_tolog *log, uint64_t hz, bool last, bool *describe);
#endif

/* ---- From file to file (rotate.c); with the log's lock, without the mutex ---- */

#if CONFIG_PTRACE_LOG_ROTATE
/* @asked: what create was given, NULL: nothing.  Whether it asks for it.  EINVAL: not of such a log. */
bool pxt_tolog_rotates(const trace_attr_t *asked);
int pxt_tolog_turns_check(const struct _pxt_attr *attr);
/* The first file, in the folder at @fd; and it is gone again. */
int pxt_tolog_turns_open(
    struct pxt_port_log *out, const trace_attr_t *asked, struct _pxt_attr *attr, int fd);
void pxt_tolog_turns_abandon(struct pxt_port_log *out);
size_t pxt_tolog_turns_bytes(const trace_attr_t *asked);
/* Before the head is written. */
void pxt_tolog_turns_start(struct pxt_tolog *log, const trace_attr_t *asked, uint64_t hz);
/* Bytes of a DATA block, of at most @room. */
uint32_t pxt_tolog_turns_room(const struct pxt_tolog *log, uint32_t room);
/* A new file, if it is time for one, before what `data` holds goes out; and what each begins with. */
int pxt_tolog_turn(struct pxt_stream *stream);
/* A new file in any case; why there is none. */
int pxt_tolog_turn_now(struct pxt_stream *stream);
/*
 * A handler of the same thread finds the trailer of a file on its way.  True: the log was to go on in the next
 * file, and goes on in this one, over that trailer.
 */
bool pxt_tolog_turn_back(struct pxt_tolog *log);
/* A clear: what is in earlier files does not count any more. */
void pxt_tolog_turns_clear(struct pxt_tolog *log);
/* Why there is no new file although it is time for one; 0: there is. */
int pxt_tolog_turn_error(const struct pxt_tolog *log);
/* What earlier files have counted is taken out of @counts. */
void pxt_tolog_turns_rest(const struct pxt_tolog *log, struct posix_trace_counts_np *counts);
#else
PXT_OFF_RETURNS(false, bool, pxt_tolog_rotates, const trace_attr_t *asked);
PXT_OFF_RETURNS(0, int, pxt_tolog_turns_check, const struct _pxt_attr *attr);
PXT_OFF_RETURNS(EINVAL, int, pxt_tolog_turns_open, struct pxt_port_log *out,
    const trace_attr_t *asked, struct _pxt_attr *attr, int fd);
PXT_OFF(pxt_tolog_turns_abandon, struct pxt_port_log *out);
PXT_OFF_RETURNS(0, size_t, pxt_tolog_turns_bytes, const trace_attr_t *asked);
PXT_OFF(pxt_tolog_turns_start, struct pxt_tolog *log, const trace_attr_t *asked, uint64_t hz);
PXT_OFF_RETURNS(room, uint32_t, pxt_tolog_turns_room, const struct pxt_tolog *log, uint32_t room);
PXT_OFF_RETURNS(0, int, pxt_tolog_turn, struct pxt_stream *stream);
PXT_OFF_RETURNS(false, bool, pxt_tolog_turn_back, struct pxt_tolog *log);
PXT_OFF(pxt_tolog_turns_clear, struct pxt_tolog *log);
PXT_OFF_RETURNS(0, int, pxt_tolog_turn_error, const struct pxt_tolog *log);
PXT_OFF(pxt_tolog_turns_rest, const struct pxt_tolog *log, struct posix_trace_counts_np *counts);
#endif

#if CONFIG_PTRACE_LOG_CODED
/* Whether the records of @log are coded, or are to be; and what its memory needs for it. */
PXT_INLINE bool pxt_tolog_may_code(const struct pxt_tolog *log, const struct _pxt_attr *attr)
{
	return !(CONFIG_PTRACE_LOG_LINE && log->line) && !(attr->_pxt_flags & PXT_ATTR_PLAIN);
}

PXT_INLINE bool pxt_tolog_codes(const struct pxt_tolog *log)
{
	return log->header.coded;
}

PXT_INLINE size_t pxt_tolog_told_bytes(void)
{
	return sizeof(struct pxt_compress_told);
}

/* Codes `data`, if that was not done yet: nothing is put into it from then on, unless it grows. */
PXT_INLINE void pxt_tolog_code(struct pxt_tolog *log)
{
	if (log->header.coded && log->dirty && (log->data.grows || !log->data.coded))
		pxt_compress_put(log->told, &log->data);
}

/*
 * LOOP: whether a frame of slots may still come to those that `data` holds in coded form: then all of them
 * are no longer than the largest block.
 */
PXT_INLINE bool pxt_tolog_takes_slots(const struct pxt_tolog *log)
{
	return !log->data.grows || log->data.slots + log->data.room <= log->header.largest_block;
}

/* LOOP: whether what was coded has also left enough room in its frame. */
PXT_INLINE bool pxt_tolog_goes_on(const struct pxt_tolog *log)
{
	const struct pxt_log_block *data = &log->data;

	return data->grows && data->room - data->used >= data->room / 16u &&
	       pxt_tolog_takes_slots(log);
}
#else
PXT_OFF_RETURNS(
    false, bool, pxt_tolog_may_code, const struct pxt_tolog *log, const struct _pxt_attr *attr);
PXT_OFF_RETURNS(false, bool, pxt_tolog_codes, const struct pxt_tolog *log);
PXT_OFF_RETURNS(0, size_t, pxt_tolog_told_bytes, void);
PXT_OFF(pxt_tolog_code, struct pxt_tolog *log);
PXT_OFF_RETURNS(true, bool, pxt_tolog_takes_slots, const struct pxt_tolog *log);
PXT_OFF_RETURNS(false, bool, pxt_tolog_goes_on, const struct pxt_tolog *log);
#endif

/* The sums of a file that begins. */
PXT_INLINE void pxt_tolog_begin_sums(struct pxt_tolog *log)
{
	log->sums.data_sequence = 0;
	log->sums.meta_sequence = 0;
	log->sums.records = 0;
	log->sums.lost = 0;
	log->lost = 0;
	log->cleared_log = 0;
}

/*
 * Bytes of a DATA block: a small stream has no use for a large one, and each snapshot of it makes one.  Who follows
 * a plain log while it grows, or takes it up to a size, gets it in pieces of the least size.
 */
#define PXT_TOLOG_BLOCK_LEAST 65536u

PXT_INLINE uint32_t pxt_tolog_block_bytes(const struct _pxt_attr *attr)
{
	const uint64_t held = attr->_pxt_flags & PXT_ATTR_PLAIN
	                          ? 0
	                          : (uint64_t)attr->_pxt_stream_size * attr->_pxt_lanes;

	if (held >= CONFIG_PTRACE_LOG_BLOCK_SIZE ||
	    CONFIG_PTRACE_LOG_BLOCK_SIZE <= PXT_TOLOG_BLOCK_LEAST)
		return CONFIG_PTRACE_LOG_BLOCK_SIZE;
	return held > PXT_TOLOG_BLOCK_LEAST ? (uint32_t)held : PXT_TOLOG_BLOCK_LEAST;
}

PXT_INLINE bool pxt_tolog_is_line(const struct pxt_tolog *log)
{
	return CONFIG_PTRACE_LOG_LINE && log->line;
}

/* ---- Sealed by a signal handler (seal.c) ---- */

/*
 * tolog.output.  Only who holds the log's lock changes it, and a signal handler of the same thread; so
 * plain loads and stores do.
 */
enum pxt_tolog_output {
	PXT_OUTPUT_IDLE,
	PXT_OUTPUT_WRITING, /* between calls of the port: everything else is as it should be */
	PXT_OUTPUT_SEALING, /* a signal handler ends the log, and keeps the mutex meanwhile */
	PXT_OUTPUT_SEALED,  /* it has: nothing goes out any more */
};

PXT_INLINE uint32_t pxt_tolog_output(const struct pxt_tolog *log)
{
	return CONFIG_PTRACE_LOG_SEAL ? atomic_load_explicit(&log->output, memory_order_relaxed)
	                              : PXT_OUTPUT_IDLE;
}

/*
 * Turns from @from to @to, if it is there; the handler of the same thread sees it in order.  Both
 * fences pair with the interruption: where the handler (may_take_over() in seal.c) finds @to, all
 * that is before the first one is done; where it finds @from, nothing after the second has begun.
 */
PXT_INLINE void pxt_tolog_switch_output(struct pxt_tolog *log, uint32_t from, uint32_t to)
{
	if (pxt_tolog_output(log) != from)
		return;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&log->output, to, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
}

/* The mutex around what may take long; a handler keeps it, since it could wait for ever for it. */
PXT_INLINE void pxt_tolog_let_go(struct pxt_stream *stream, const struct pxt_tolog *log)
{
	if (pxt_tolog_output(log) != PXT_OUTPUT_SEALING)
		pxt_stream_unlock(stream);
}

PXT_INLINE void pxt_tolog_regain(struct pxt_stream *stream, const struct pxt_tolog *log)
{
	if (pxt_tolog_output(log) != PXT_OUTPUT_SEALING)
		pxt_port_mutex_lock(&stream->mutex);
}

#if CONFIG_PTRACE_LOG_SEAL
/* Whether signals are watched for: a log then tells early what a handler cannot find out. */
bool pxt_tolog_seals(void);
/* Not 0: they are.  Changed under the process lock. */
extern _Atomic uint32_t pxt_tolog_watched;
#else
PXT_OFF_RETURNS(false, bool, pxt_tolog_seals, void);
#endif

/* ---- What a log says beside records (types.c, output.c, describe.c); with the log's lock ---- */

enum pxt_tolog_when {
	PXT_WHEN_BLOCK,
	PXT_WHEN_FLUSH,
	PXT_WHEN_END
};

/* Types, threads and so on that are new since the last call. */
int pxt_tolog_tell(struct pxt_stream *stream, enum pxt_tolog_when when);
/* The log was begun again: it has no names, threads and modules yet. */
void pxt_tolog_forget_told(struct pxt_tolog *log);

size_t pxt_tolog_describe_bytes(void);
void pxt_tolog_describe_forget(struct pxt_tolog *log);
/* @slow: also what changes slowly, names of threads and modules. */
int pxt_tolog_describe(struct pxt_tolog *log, bool slow);

/* ---- Notes (note.c); with the log's lock ---- */

#if CONFIG_PTRACE_EXTENSIONS && CONFIG_PTRACE_PORT_HAS_FILES
size_t pxt_tolog_notes_bytes(void);
/* Those that are new since the last call. */
int pxt_tolog_notes_tell(struct pxt_tolog *log);
#else
PXT_OFF_RETURNS(0, size_t, pxt_tolog_notes_bytes, void);
PXT_OFF_RETURNS(0, int, pxt_tolog_notes_tell, struct pxt_tolog *log);
#endif

/* ---- Flush (flush.c, fill.c); with the log's lock and the mutex, which is given up meanwhile ---- */

struct pxt_tolog_flush {
	uint64_t bound;      /* records up to this stamp belong to it */
	bool marks;          /* FLUSH_START and FLUSH_STOP */
	bool start_told;     /* FLUSH_START is in the log */
	bool final;          /* at shutdown: everything */
	bool exact;          /* of a copy: what is younger than @bound is left out, ... */
	uint64_t younger;    /* ... so many records */
	bool held;           /* an unfinished record was met ... */
	uint64_t held_since; /* ... first at this time, ticks */
};

enum pxt_fill {
	PXT_FILL_ON,       /* a record was put */
	PXT_FILL_MORE,     /* the block is full */
	PXT_FILL_HELD,     /* an unfinished record must be waited for */
	PXT_FILL_LOG_FULL, /* the next record does not fit into the log */
	PXT_FILL_DONE,     /* all that belongs to the flush is in `data` or in the log */
};

/* Takes records out of the stream into `data`. */
enum pxt_fill pxt_tolog_fill(struct pxt_stream *stream, struct pxt_tolog_flush *flush);
/* Writes all that the copy holds: in it no record is waited for.  (snapshot.c) */
int pxt_tolog_put_copy(struct pxt_stream *copy, struct pxt_tolog_flush *flush);
int pxt_tolog_flush(struct pxt_stream *stream, bool final);

/* ---- The log's lock (output.c); with the mutex, which is given up meanwhile ---- */

void pxt_tolog_lock(struct pxt_stream *stream);
void pxt_tolog_unlock(struct pxt_stream *stream);
/* The stream with its mutex and its log's lock.  NULL: there is none, it has no log, or its shutdown has begun. */
struct pxt_stream *pxt_tolog_enter(trace_id_t trid);
/* Gives both back; returns @error. */
int pxt_tolog_leave(struct pxt_stream *stream, int error);

/* ---- Clear and end (finish.c) ---- */

/* As pxt_stream.before_clear, .at_clear and .at_shutdown. */
int pxt_tolog_before_clear(struct pxt_stream *stream);
int pxt_tolog_at_clear(struct pxt_stream *stream);
int pxt_tolog_at_shutdown(struct pxt_stream *stream);
/*
 * Without the mutex: what the end of a log says, and @trailer, of which the log's own part is set.
 * @anyway: the trailer also where what comes before it did not fit.
 */
int pxt_tolog_put_end(struct pxt_stream *stream, struct pxt_log_trailer *trailer, bool anyway);
/* What the end says of a log that its stream goes on without; @trailer has the counts. */
void pxt_tolog_tell_status(const struct pxt_block *block, struct pxt_log_trailer *trailer);
/* The trailer alone, after all that the end of a file says besides. */
int pxt_tolog_put_trailer(struct pxt_tolog *log, struct pxt_log_trailer *trailer);
bool pxt_tolog_at_exit(struct pxt_stream *stream);
/*
 * With the log's lock and the mutex: the end of the log after a final flush that returned @failed.  @crash:
 * what ends the process, or NULL.
 */
int pxt_tolog_complete(struct pxt_stream *stream, int failed, const struct pxt_crash *crash);
/* With the log's lock and the mutex, which is given up meanwhile: the log begins anew. */
int pxt_tolog_begin_anew(struct pxt_stream *stream);

int pxt_tolog_get_status(void *object, struct posix_trace_status_info *status);

/* ---- The flusher: the thread of policy FLUSH (flusher.c) ---- */

#if CONFIG_PTRACE_POLICY_FLUSH
size_t pxt_tolog_flusher_bytes(void);
/* 0 for other policies too; or what pxt_port_thread_start() says to the priority. */
int pxt_tolog_flusher_start(struct pxt_stream *stream);
/* Returns when the flusher has ended; without the mutex. */
void pxt_tolog_flusher_end(struct pxt_stream *stream);
#else
PXT_OFF_RETURNS(0, size_t, pxt_tolog_flusher_bytes, void);
PXT_OFF_RETURNS(0, int, pxt_tolog_flusher_start, struct pxt_stream *stream);
PXT_OFF(pxt_tolog_flusher_end, struct pxt_stream *stream);
#endif

PXT_INLINE struct pxt_tolog *pxt_tolog_of(struct pxt_stream *stream)
{
	return stream->log;
}

/* `data` holds nothing new. */
PXT_INLINE void pxt_tolog_no_fresh(struct pxt_tolog *log)
{
	log->fresh = 0;
	log->unwritten = 0;
}

/* The first one is kept until somebody asks (STA-05). */
PXT_INLINE void pxt_tolog_note_error(struct pxt_tolog *log, int error)
{
	int none = 0;

	if (error)
		(void)atomic_compare_exchange_strong_explicit(
		    &log->error, &none, error, memory_order_acq_rel, memory_order_relaxed);
}

PXT_INLINE void pxt_tolog_lost(struct pxt_tolog *log, uint64_t records)
{
	if (!records)
		return;
	log->lost += records;
	atomic_store_explicit(&log->overrun, 1u, memory_order_release);
}

#endif
