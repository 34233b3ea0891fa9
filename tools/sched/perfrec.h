/* SPDX-License-Identifier: MIT */
/*
 * perfrec.h - what the kernel's perf_event_open(2) and tracefs say, from its bytes and texts: records, the buffer that
 * it fills with them, tracepoints.
 */
#ifndef PXT_PERFREC_H
#define PXT_PERFREC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ---- One record of perf_event_open(2), from its bytes ----
 *
 * Only what is asked for here is understood: records of events whose sample type is
 * PXT_PERFREC_SAMPLE_TYPE, that and PERF_SAMPLE_RAW, or one of those below it.  Then every record
 * tells its thread, time and CPU.  Nothing else is believed of the bytes: a record whose size does not
 * fit its type is none.
 */

/* PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU, and sample_id_all. */
#define PXT_PERFREC_SAMPLE_TYPE (2u | 4u | 128u)
/*
 * That and PERF_SAMPLE_IP: page faults; with PERF_SAMPLE_ADDR, one that waited for a disk; with
 * PERF_SAMPLE_PERIOD as well, a thread that runs.  So each kind has a size of its own, and records of losses, which
 * any of them may write, have the same tail: none of these is in it.
 */
#define PXT_PERFREC_FAULTS_TYPE (PXT_PERFREC_SAMPLE_TYPE | 1u)
#define PXT_PERFREC_MAJOR_TYPE  (PXT_PERFREC_FAULTS_TYPE | 8u)
#define PXT_PERFREC_RUNS_TYPE   (PXT_PERFREC_MAJOR_TYPE | 256u)
#define PXT_PERFREC_FAULTS_EACH 64u /* page faults that one record tells of */
/*
 * The last with PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER: registers that lead to the frame, and so many bytes
 * of the stack.
 */
#define PXT_PERFREC_STACK_TYPE  (PXT_PERFREC_RUNS_TYPE | 4096u | 8192u)
#define PXT_PERFREC_STACK       256u
#if defined(__aarch64__)
#define PXT_PERFREC_REGISTERS 3u
#define PXT_PERFREC_MASK      (UINT64_C(7) << 29)
#else
#define PXT_PERFREC_REGISTERS 2u
#define PXT_PERFREC_MASK      (UINT64_C(3) << 6)
#endif

enum pxt_perfrec_kind {
	PXT_PERFREC_OTHER, /* well formed, and not of interest */
	PXT_PERFREC_IN,    /* the thread begins to run; instead of @other, if that is told */
	PXT_PERFREC_OUT,   /* the thread leaves the CPU; to @other, if that is told */
	PXT_PERFREC_NAME,
	PXT_PERFREC_FORK, /* of a process or a thread */
	PXT_PERFREC_EXIT,
	PXT_PERFREC_LOST,
	PXT_PERFREC_SAMPLE, /* a tracepoint's data */
	PXT_PERFREC_FAULTS, /* page faults of a thread */
	PXT_PERFREC_RUNS    /* where a thread is, after each millisecond that it ran */
};

struct pxt_perfrec {
	enum pxt_perfrec_kind kind;
	uint64_t ns; /* 0: not told (losses of samples) */
	int cpu;
	int32_t pid;    /* of the thread in which it was recorded, ... */
	int32_t tid;    /* ... or that it is about: NAME, FORK (the new one), EXIT */
	bool preempted; /* OUT: it could have run on */
	bool told_other;
	bool exec;         /* NAME: by exec */
	int32_t other_pid; /* IN, OUT, FORK (who forked) */
	int32_t other_tid;
	char name[16];
	uint64_t lost;
	const unsigned char *data; /* SAMPLE; RUNS, with @has_stack: the stack; in the record */
	size_t bytes;
	bool has_stack;
	uint64_t frame; /* registers */
	uint64_t stack;
	uint64_t link;
	uint64_t address; /* FAULTS, RUNS: of the instruction, of the last fault */
	bool major;       /* FAULTS: it waited for a disk */
};

/* False: no whole record.  @size: of the whole record, as its head says. */
bool pxt_perfrec_parse(struct pxt_perfrec *rec, const unsigned char *bytes, size_t size);

/*
 * ---- Records in the buffer that the kernel fills ----
 *
 * The kernel writes, and only this reads.  What the kernel wrote is seen once pxt_perfring_look()
 * has seen how far it came; the kernel gets room back by pxt_perfring_free().  Between the two the
 * bytes stay.
 *
 * 	| who | what |
 * 	|-----|------|
 * 	| kernel | data_head: how far it came, after the bytes |
 * 	| us     | data_tail: up to where it may overwrite, after the last look at the bytes |
 */

struct pxt_perfring {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	uint64_t size; /* of @data: a power of two */
	uint64_t head; /* as it was looked up last */
	uint64_t tail;
	uint64_t broken;         /* bytes that were no record */
	unsigned char *straight; /* a record that lies on both ends, in one piece: 64 KiB */
};

/* @size: a power of two, at least 4,096.  False: there is no memory. */
bool pxt_perfring_init(struct pxt_perfring *ring, struct perf_event_mmap_page *page,
    const unsigned char *data, uint64_t size);
void pxt_perfring_destroy(struct pxt_perfring *ring);
/* How far the kernel came; returns the bytes that are to be read. */
uint64_t pxt_perfring_look(struct pxt_perfring *ring);
/* The next record and its size; NULL: there is none.  It stays until the next call. */
const unsigned char *pxt_perfring_next(struct pxt_perfring *ring, size_t *size);
/* Behind the record that was the next one. */
void pxt_perfring_skip(struct pxt_perfring *ring, size_t size);
void pxt_perfring_free(struct pxt_perfring *ring);

/*
 * ---- Where a tracepoint's fields lie, by the text that tracefs has of it ----
 *
 * 	name: sched_waking
 * 	ID: 318
 * 	format:
 * 		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 * 		field:char comm[16];	offset:8;	size:16;	signed:0;
 * 		field:pid_t pid;	offset:24;	size:4;	signed:1;
 *
 * A sample's data begins with the ID.
 */

enum pxt_tracepoint_kind {
	PXT_TRACEPOINT_SWITCH,
	PXT_TRACEPOINT_WAKING,
	PXT_TRACEPOINT_WAKEUP, /* where there is no sched_waking */
	PXT_TRACEPOINT_NEW,    /* of a thread that was just made */
	PXT_TRACEPOINT_MIGRATE,
	PXT_TRACEPOINT_BOOST, /* by who waits for a lock of this thread's, and back */
	/* Not of the scheduler (schedmachine.c): */
	PXT_TRACEPOINT_IRQ,
	PXT_TRACEPOINT_IRQ_END,
	PXT_TRACEPOINT_SOFTIRQ,
	PXT_TRACEPOINT_SOFTIRQ_END,
	PXT_TRACEPOINT_BLOCK,
	PXT_TRACEPOINT_BLOCK_END,
	PXT_TRACEPOINT_FREQUENCY,
	PXT_TRACEPOINTS
};

#define PXT_TRACEPOINT_FIELDS 7u

struct pxt_tracepoint {
	bool known;
	uint32_t id;
	struct pxt_tracepoint_field {
		uint16_t offset;
		uint16_t size;
	} fields[PXT_TRACEPOINT_FIELDS]; /* in the order of its row in tracepoint.c */
};

/* @text ends in 0.  False: it does not have all fields that are wanted, in sizes that are known. */
bool pxt_tracepoint_parse(
    struct pxt_tracepoint *point, enum pxt_tracepoint_kind kind, const char *text);

/*
 * What a sample says: of the thread that leaves or is woken, and of the one that comes.  Of kinds that are not the
 * scheduler's, the name and the numbers in the order of their rows.
 */
struct pxt_tracepoint_said {
	int64_t numbers[3];
	char name[16];
	int32_t tid;
	int32_t prio;
	int64_t state; /* SWITCH */
	int32_t from;  /* MIGRATE: CPUs */
	int32_t to;    /* MIGRATE, WAKING, ... */
	char next_name[16];
	int32_t next_tid;
	int32_t next_prio; /* BOOST: its own from now on */
};

/* The kind of a sample; PXT_TRACEPOINTS: of none of @points, or too short for its fields. */
enum pxt_tracepoint_kind pxt_tracepoint_read(const struct pxt_tracepoint points[PXT_TRACEPOINTS],
    const unsigned char *data, size_t bytes, struct pxt_tracepoint_said *said);

/* ---- The kernel's files about tracepoints, wherever they are ---- */

/*
 * Reads the formats of the scheduler's tracepoints, and of @groups, where tracefs is mounted; where it is not, from a
 * mount that nobody else sees and that goes with its descriptor, if this process may make one.
 * Returns 0 when sched_switch is known, else an errno: ENOENT, tracefs is not mounted.
 */
int pxt_tracefs_points(struct pxt_tracepoint points[PXT_TRACEPOINTS], unsigned groups);
/* The group of a kind; 0: the scheduler's. */
unsigned pxt_tracepoint_group(enum pxt_tracepoint_kind kind);

#endif
