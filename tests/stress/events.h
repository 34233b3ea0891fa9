/* SPDX-License-Identifier: MIT */
/*
 * events.h - events that prove themselves: each says who traced it, which one it is, and carries
 * bytes and a checksum that follow from that.  A witness looks at what readers get and notices
 * what is torn, twice there, or out of order within its thread.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define EV_SOURCES    192 /* threads, and their signal handlers as sources of their own */
#define EV_HANDLER    64  /* source of the handlers that interrupt thread n: n + EV_HANDLER */
#define EV_MOST_BYTES 64
#define EV_ENDLESS    UINT32_MAX /* events: until it is killed */

/* What came out of one stream.  One thread at a time uses it. */
struct ev_witness {
	uint32_t last[EV_SOURCES];
	uint64_t user;       /* intact events of ours */
	uint64_t torn;       /* wrong length, bytes or checksum */
	uint64_t disordered; /* not after the source's last one: swapped or there twice */
	uint64_t back;       /* reported stamps that step back */
	uint64_t starts;     /* START by call (they have an address), automatic ones */
	uint64_t auto_starts;
	uint64_t stops; /* STOP 0, STOP 1 */
	uint64_t auto_stops;
	uint64_t filters;
	uint64_t overflows;
	uint64_t resumes;
	uint64_t
	    passed_over; /* ERROR: a record that was not finished in time, by a thread without a CPU */
	uint64_t strange; /* anything else */
	int64_t last_stamp;
	bool last_was_stop;      /* the last event was STOP with data 0, ... */
	bool last_was_auto_stop; /* ... or with other data */
};

trace_event_id_t ev_type(void);
/* Traces event @number of @source; the length follows from both. */
void ev_say(uint32_t source, uint32_t number);
/*
 * Traces @count events of @source after event @number, with short pauses at random; @number is what
 * it set out to write last, in memory that outlives it.
 */
void ev_go_on(uint32_t source, _Atomic uint32_t *number, uint32_t count);
/* What @sources have set out to write. */
uint64_t ev_sum(_Atomic uint32_t *numbers, uint32_t sources);
void ev_look(struct ev_witness *witness, const struct posix_trace_event_info *info,
    const void *data, size_t len);
/* Takes what there is, at most @most events; how many there were. */
uint64_t ev_drain(trace_id_t trid, struct ev_witness *witness, uint64_t most);
/* The records that counts_np counts: all but the automatic and synthetic ones. */
uint64_t ev_counted(const struct ev_witness *witness);
bool ev_lawful(const struct posix_trace_counts_np *counts);
/* Stops the stream and reads until nothing is held any more. */
void ev_take_rest(
    trace_id_t trid, struct ev_witness *witness, struct posix_trace_counts_np *counts);
/* All that is counted was read, or lost; nothing torn, strange or back in time. */
void ev_expect_all(const struct ev_witness *witness, const struct posix_trace_counts_np *counts);

/*
 * The hold-back time becomes so long that a writer is waited for, however busy the machine: then
 * nothing is lost for it, and order has no excuse.
 */
void ev_give_nobody_up(void);

/*
 * Events a case: 1 million, or 10 in full; a tenth and 2 million under a sanitizer, but in whole.
 */
uint32_t ev_total(void);
int64_t ev_now_ns(void);
void ev_sleep_us(unsigned us);
/* A quick random number of the calling thread. */
uint32_t ev_random(void);

#endif
