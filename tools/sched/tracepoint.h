/* SPDX-License-Identifier: MIT */
/*
 * tracepoint.h - where a tracepoint's fields lie, by the text that tracefs has of it:
 *
 *	name: sched_waking
 *	ID: 318
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		field:char comm[16];	offset:8;	size:16;	signed:0;
 *		field:pid_t pid;	offset:24;	size:4;	signed:1;
 *
 * A sample's data begins with the ID.
 */
#ifndef PXT_TRACEPOINT_H
#define PXT_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pxt_tracepoint_kind {
	PXT_TRACEPOINT_SWITCH,
	PXT_TRACEPOINT_WAKING,
	PXT_TRACEPOINT_WAKEUP, /* where there is no sched_waking */
	PXT_TRACEPOINT_NEW,    /* of a thread that was just made */
	PXT_TRACEPOINT_MIGRATE,
	PXT_TRACEPOINT_BOOST, /* by who waits for a lock of this thread's, and back */
	PXT_TRACEPOINTS
};

#define PXT_TRACEPOINT_FIELDS 7u

struct pxt_tracepoint {
	bool known;
	uint32_t id;
	struct pxt_tracepoint_field {
		uint16_t offset;
		uint16_t size;
	} fields[PXT_TRACEPOINT_FIELDS]; /* in the order of pxt_tracepoint_names */
};

extern const char *const pxt_tracepoint_names[PXT_TRACEPOINTS];

/* @text ends in 0.  False: it does not have all fields that are wanted, in sizes that are known. */
bool pxt_tracepoint_parse(
    struct pxt_tracepoint *point, enum pxt_tracepoint_kind kind, const char *text);

/* What a sample says: of the thread that leaves or is woken, and of the one that comes. */
struct pxt_tracepoint_said {
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
 * Reads the formats of the scheduler's tracepoints where tracefs is mounted; where it is not, from a
 * mount that nobody else sees and that goes with its descriptor, if this process may make one.
 * Returns 0 when sched_switch is known, else an errno: ENOENT, tracefs is not mounted.
 */
int pxt_tracefs_points(struct pxt_tracepoint points[PXT_TRACEPOINTS]);

#endif
