/* SPDX-License-Identifier: MIT */
/*
 * logwrite.h - writes a log (FORMAT.md) from events that a command has as structures.  What another
 * machine made stays in its byte order instead: logwrite.h, on which this is.
 *
 * A log appears under its name when it is whole, or grows there and is valid as a growing one at each
 * instant (POSIX_TRACE_OPEN_GROWING_NP); see enum pxt_logmode.  Nobody ever meets half a log under the
 * name.
 *
 * Errors stay: after the first one nothing is written, and pxt_logwrite_end() tells it.  So the
 * functions between begin and end need no test after each call.  Memory: two blocks and 1 KiB,
 * whatever is written.
 *
 * 	struct pxt_loghead head = { .name = "both", .hz = 1000000000, .created = ... };
 * 	struct pxt_logwrite *log = pxt_logwrite_begin("both.ptl", PXT_LOG_WHOLE, &head);
 * 	pxt_logwrite_type(log, 32, "job_begin", "u32 job");
 * 	pxt_logwrite_thread(log, 1, &thread);
 * 	pxt_logwrite_loss(log, 3);
 * 	pxt_logwrite_event(log, &event);
 * 	error = pxt_logwrite_end(log, NULL);
 */
#ifndef PXT_LOGWRITE_H
#define PXT_LOGWRITE_H

#include "format/logfmt.h"
#include "tools/packed/packed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>

enum pxt_logmode {
	PXT_LOG_WHOLE, /* a temporary name beside it, renamed by end */
	PXT_LOG_GROWING, /* under its name as it grows; what was there is replaced by its first bytes */
	PXT_LOG_MEMORY /* grows in memory without a name (pxt_logwrite_memory()); the path is NULL */
};

/* Four clocks read at one moment; those that are not known are 0. */
struct pxt_logclock {
	uint64_t ticks;
	struct timespec realtime;
	struct timespec monotonic;
	struct timespec boottime;
};

/* What a log says before its first event. */
struct pxt_loghead {
	unsigned char uuid[16];   /* all 0: a random one */
	const char *name;         /* of the stream; NULL: none.  Cut to TRACE_NAME_MAX bytes */
	const trace_attr_t *attr; /* of the stream, name excepted; NULL: defaults */
	int clock_source;         /* POSIX_TRACE_CLOCK_..._NP */
	uint32_t clock_error_ppm;
	uint64_t hz;          /* ticks per second, 1 to 2^40 */
	bool larger_priority; /* is more urgent, in system events */
	/*
	 * Times shown are .realtime + (MONOTONIC now - .monotonic), FORMAT.md section 7.  Where
	 * .monotonic is 0, ticks and rate alone count.
	 */
	struct pxt_logclock created;
};

#define PXT_LOGWRITE_THREADS       65534u /* the largest index */
#define PXT_LOGWRITE_NO_INDEX      0xffffu
/* A thread that the kernel told of, by this and its number: nobody knows its pthread_t. */
#define PXT_LOGWRITE_KERNEL_THREAD UINT64_C(0x6b000000)

struct pxt_logevent {
	trace_event_id_t id;
	uint64_t ticks;
	/*
	 * As told by pxt_logwrite_thread(), 0: not recorded, or PXT_LOGWRITE_NO_INDEX: @thread and
	 * @pid are in the record itself (12 bytes more).
	 */
	uint32_t thread_index;
	uint64_t thread;
	pid_t pid;
	uint64_t address; /* 0: none */
	int cpu;          /* -1: not known */
	bool cut;         /* POSIX_TRACE_TRUNCATED_RECORD */
	const void *data;
	size_t bytes; /* at most 4,095 */
};

struct pxt_logwrite;

/*
 * Every log of this writer says that records hold thread, address and CPU.  Predefined event
 * types 1 to 8 are in it from the start.  NULL: there is no memory.
 */
struct pxt_logwrite *pxt_logwrite_begin(
    const char *path, enum pxt_logmode mode, const struct pxt_loghead *head);

/* A type has one name, and its first description (NULL: none); @id 9 to 28 or 32 to 1023. */
void pxt_logwrite_type(
    struct pxt_logwrite *log, trace_event_id_t id, const char *name, const char *format);
/* The number of a predefined type ("posix_trace_start"), or 0: numbers mean the same in all logs. */
trace_event_id_t pxt_logwrite_system_type(const char *name);
/* @index: 1 to PXT_LOGWRITE_THREADS; an index once told stays with its thread. */
void pxt_logwrite_thread(
    struct pxt_logwrite *log, uint32_t index, const struct posix_trace_logthread_np *thread);
/* What @info says of process and machine: pid, executable, host, boot id, CPUs, system; of each, if it is known. */
void pxt_logwrite_process(struct pxt_logwrite *log, const struct posix_trace_loginfo_np *info);
void pxt_logwrite_module(struct pxt_logwrite *log, const struct posix_trace_logmodule_np *module);
void pxt_logwrite_note(struct pxt_logwrite *log, const struct posix_trace_lognote_np *note);
/* A note of so many lost events, by one of the names that output/out.h has. */
void pxt_logwrite_lossnote(struct posix_trace_lognote_np *note, const char *name, uint64_t events);
/* A reading between creation and end, in the order of ticks. */
void pxt_logwrite_clock(struct pxt_logwrite *log, const struct pxt_logclock *clock);

/* Events in the order in which they are to be read. */
void pxt_logwrite_event(struct pxt_logwrite *log, const struct pxt_logevent *event);
/* @records were lost directly before the next event.  Several calls add up. */
void pxt_logwrite_loss(struct pxt_logwrite *log, uint64_t records);
/* Brings what was put so far into the file. */
void pxt_logwrite_flush(struct pxt_logwrite *log);

/* MEMORY: the descriptor, which the end closes; -1: there is none. */
int pxt_logwrite_memory(const struct pxt_logwrite *log);
uint64_t pxt_logwrite_events(const struct pxt_logwrite *log);
/* The first error so far, an errno; 0. */
int pxt_logwrite_error(const struct pxt_logwrite *log);

/* What the trailer says. */
struct pxt_logend {
	struct posix_trace_counts_np counts; /* of the stream or streams */
	uint64_t log_lost;                   /* records that the log was given and does not hold */
	struct pxt_logclock clock;           /* .ticks 0: the last event's time, by the rate */
	bool unknown;                        /* more was recorded after its last event, or not */
};

/*
 * The trailer, and the end.  @end NULL: the counts are what was put here (all losses of the
 * stream).  Returns 0 or the first error; then nothing is under the name in the mode WHOLE.
 */
int pxt_logwrite_end(struct pxt_logwrite *log, const struct pxt_logend *end);
/* Gives up: WHOLE leaves nothing after, GROWING what was flushed. */
void pxt_logwrite_abandon(struct pxt_logwrite *log);

/*
 * ---- The file of a log that is being written: records and entries go into blocks, blocks go into the
 * file by one write each ----
 *
 * The log has the byte order of its head: what another machine recorded stays as it is, and what is
 * added here (heads of blocks, losses, the trailer) is turned into its order.
 *
 * For any input, the log is consistent: each type that an event has gets a name, and a trailer whose
 * counts cannot be those of this log gets the log's own.
 *
 * Errors stay: after the first one nothing is written, and pxt_logblocks_close() tells it.
 */

/* More losses than this no sum of counts holds, and no stream has. */
#define PXT_LOGBLOCKS_MOST (UINT64_C(1) << 62)

struct pxt_logblocks {
	int fd;
	int error; /* the first errno */
	bool swapped;
	char *path;
	char *temporary;           /* NULL: the log is under its name */
	struct pxt_packer *packer; /* NULL: it is not compressed */
	struct pxt_log_stream sums;
	struct pxt_log_block data;
	struct pxt_log_block meta;
	enum pxt_log_type meta_type;
	uint32_t room; /* of a block */
	unsigned char *memory;
	uint64_t last_ticks;                    /* the largest stamp so far */
	uint64_t missed;                        /* before the records of @data */
	bool names;                             /* a record of @data may tell a thread's name */
	unsigned char head[PXT_LOG_HEAD_BYTES]; /* the entry that repeats the file's head */
	bool anew; /* the head says that its stream was cleared, and counts more */
	bool used[PXT_LOG_IDS];
	bool named[PXT_LOG_IDS];
	bool nameless[PXT_LOG_IDS]; /* named, and no record of it tells a thread's name */
};

/*
 * Begins @path (NULL: memory without a name), compressed if its name ends in ".zst", with @head, PXT_LOG_HEADER_BYTES bytes of which @header was read; the layout is
 * sequential.  False: there is no memory.  All other errors come to light in close.
 */
bool pxt_logblocks_open(struct pxt_logblocks *log, const char *path, enum pxt_logmode mode,
    const unsigned char *head, const struct pxt_log_header *header);

/* @slots: a whole record of @count slots, in the log's order.  False: no block is that large. */
bool pxt_logblocks_record(
    struct pxt_logblocks *log, const unsigned char *slots, uint32_t count, uint64_t ticks);
/* What would make the sum over all larger than PXT_LOGBLOCKS_MOST is left out. */
void pxt_logblocks_loss(struct pxt_logblocks *log, uint64_t records);
/*
 * So many records of the stream, in all, are not in the log: those that follow are numbered after
 * them, and begin a block.
 */
void pxt_logblocks_missed(struct pxt_logblocks *log, uint64_t records);
/* @entry: one of a block of @type, checked, in the log's order.  False: no block is that large. */
bool pxt_logblocks_entry(
    struct pxt_logblocks *log, enum pxt_log_type type, const unsigned char *entry, uint32_t bytes);
void pxt_logblocks_type(
    struct pxt_logblocks *log, uint32_t id, const char *name, const char *format);
/* Makes names for types that events have and nobody has named; returns how many. */
uint32_t pxt_logblocks_name_rest(struct pxt_logblocks *log);
/* A thread, a process, a module, a note, a clock reading; in either order. */
void pxt_logblocks_thread(struct pxt_logblocks *log, const struct pxt_log_thread *thread);
void pxt_logblocks_process(struct pxt_logblocks *log, const struct pxt_log_process *process);
void pxt_logblocks_module(struct pxt_logblocks *log, const struct pxt_log_module *module);
void pxt_logblocks_note(struct pxt_logblocks *log, const struct posix_trace_lognote_np *note);
void pxt_logblocks_clock(struct pxt_logblocks *log, const struct pxt_log_clock *clock);
/* What comes before is not to be reported: @records of log and stream were cleared. */
void pxt_logblocks_clear(struct pxt_logblocks *log, uint64_t ticks, uint64_t records);
/* Everything put so far goes into the file. */
void pxt_logblocks_flush(struct pxt_logblocks *log);

/*
 * The trailer; the numbers of blocks in it are filled in here, and its counts are corrected where
 * they contradict the log.  NULL: the log stays a growing one.  Frees what is held; returns 0 or
 * the first error.
 */
int pxt_logblocks_close(struct pxt_logblocks *log, struct pxt_log_trailer *trailer);
/* Gives up: a temporary file is removed, a growing one stays as it is. */
void pxt_logblocks_abandon(struct pxt_logblocks *log);

/*
 * What format/logfmt.c wrote in this machine's byte order, turned into the other one: for
 * logs whose records come from a machine of that order.
 */

/* @count numbers of @bytes bytes each, from offset @at on. */
struct pxt_logblocks_swap {
	uint16_t at;
	uint8_t bytes;
	uint8_t count;
};

/* Turns the numbers that @count runs tell of. */
void pxt_logblocks_swap(unsigned char *at, const struct pxt_logblocks_swap *runs, size_t count);
/* The head of a file, and its checksum anew. */
void pxt_logblocks_swap_head(unsigned char *head);
/* The head of a finished block, and its checksum anew; the contents stay as they are. */
void pxt_logblocks_swap_block(unsigned char *block, uint32_t length);
/* The entry of a block of @type; of DATA: a slot that tells a loss. */
void pxt_logblocks_swap_entry(enum pxt_log_type type, unsigned char *entry);

#endif
