/* SPDX-License-Identifier: MIT */
/*
 * story.h - what a stream tells its reader, as one line of text, so that a test can say what it
 * expects in one line too:
 *
 *	st_expect(trid, "START 1..40 STOP1 START");
 *
 * Numbers are events of the type st_type() (the first int of their data), 1..40 are forty of
 * them; STOP0 is a stop by call, STOP1 an automatic one; FLUSH_START, OVERFLOW, ... as they are;
 * other types appear by their names.  Where the library was built without one of the system
 * events, the word is taken out of the expectation.
 */
#ifndef STORY_H
#define STORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

/* How a stream is to be made; zero means the default. */
struct st_spec {
	int policy;
	size_t size;
	size_t max_data;
	unsigned lanes;
	bool with_log;
	int fd;
	int log_policy;
	size_t log_size;
};

/* What filling a stream to the brim led to. */
struct st_full {
	int last;     /* number of the last event generated */
	int recorded; /* number of the last event that found room */
	bool overrun; /* what the status said at the moment it was first seen stopped */
	int small;    /* the first so many have 4 bytes (st_full_stream() only), ... */
	size_t len;   /* ... the others this many */
};

/* One event as the reader got it. */
struct st_event {
	struct posix_trace_event_info info;
	size_t len;
	unsigned char data[4096];
};

void st_attr(const struct st_spec *spec, trace_attr_t *attr);
/* Creates a stream (fails the test when that fails); 0 on failure. */
trace_id_t st_create(const struct st_spec *spec);
/* As st_create(), and started. */
trace_id_t st_started(const struct st_spec *spec);

trace_event_id_t st_type(void);
void st_say(int number);
/* The events @first to @last, in this order. */
void st_say_many(int first, int last);
/* An event of @len bytes (at least 4): the number, then bytes that follow from it. */
void st_say_long(int number, size_t len);
bool st_data_intact(const struct st_event *event);
int st_number(const struct st_event *event);

/* Takes one event without waiting; false when there is none. */
bool st_take(trace_id_t trid, struct st_event *event);
/* Takes the next event of the test's own type, skipping others; false when there is none. */
bool st_take_user(trace_id_t trid, struct st_event *event);
/* Takes everything there is (up to @most events); the text lives until the next call. */
const char *st_story_of(trace_id_t trid, int most);
void st_expect_at(trace_id_t trid, int most, const char *expected, const char *file, int line);
/* The same, without the words in @ignored, as if those events were not there. */
void st_expect_without_at(
    trace_id_t trid, const char *ignored, const char *expected, const char *file, int line);
void st_expect_status_at(trace_id_t trid, const char *expected, const char *file, int line);
bool st_text_equal(
    const char *got, const char *expected, const char *what, const char *file, int line);
/* printf into a buffer that lives until the fourth call from now. */
const char *st_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define st_expect(trid, expected)            st_expect_at(trid, 1 << 30, expected, __FILE__, __LINE__)
#define st_expect_most(trid, most, expected) st_expect_at(trid, most, expected, __FILE__, __LINE__)
#define st_expect_without(trid, ignored, expected)                                                 \
	st_expect_without_at(trid, ignored, expected, __FILE__, __LINE__)
/* "RUNNING NOT_FULL NO_OVERRUN": reading the status resets the overrun flag. */
#define st_expect_status(trid, expected) st_expect_status_at(trid, expected, __FILE__, __LINE__)

/*
 * Traces events numbered from @first until the stream has stopped itself.  st_full_stream()
 * makes, starts and fills one; @refused says whether the last event must have been turned away
 * for lack of room, or must have taken the last slot.
 */
void st_fill(trace_id_t trid, int first, size_t len, struct st_full *full);
trace_id_t st_full_stream(const struct st_spec *spec, bool refused, struct st_full *full);
/* Events of @len bytes that surely fit into @bytes. */
int st_fitting(trace_id_t trid, size_t bytes, size_t len);
size_t st_size_in_force(trace_id_t trid);
/* written == retrieved + lost + cleared + held; the counts go to @counts unless it is NULL. */
bool st_law(trace_id_t trid, struct posix_trace_counts_np *counts);

/* Binds the calling thread to one CPU (true), or sets it free again. */
void st_pin(bool pinned);
/*
 * A test of streams with one lane, and once more with @second lanes (0: as many as the library chooses), on one CPU:
 * PXT_TEST_LANES(name, second) { ... } with @lanes in its body.
 */
#define PXT_TEST_LANES(name, second)                                                               \
	static void name##_with(unsigned lanes);                                                   \
	PXT_TEST(name)                                                                             \
	{                                                                                          \
		st_pin(true);                                                                      \
		name##_with(1);                                                                    \
		name##_with(second);                                                               \
		st_pin(false);                                                                     \
	}                                                                                          \
	static void name##_with(unsigned lanes)
/* Binds the calling thread to the @n-th of the CPUs it may use, counted around. */
void st_pin_to(unsigned n);
/* Makes @handler (NULL: one that does nothing) the action of a signal, without SA_RESTART. */
void st_on_signal(int signal, void (*handler)(int));

/* Whether the program runs under a sanitizer, which needs memory and time of its own. */
bool st_sanitized(void);

int64_t st_file_bytes(int fd);

/* ---- Streams with a log in a file of their own, for the tests of logs ---- */

/* What no function writes. */
#define NEVER ((trace_id_t)0x5a5a5a5a)

/* A started stream with a log in a new file, which @spec has then; the policies as given (0: default). */
trace_id_t lk_logging(struct st_spec *spec);
/* Shuts the stream down and opens its log. */
trace_id_t lk_finish(trace_id_t trid, const struct st_spec *spec);
void lk_close_log(trace_id_t log, int fd);
/* A log file on which bytes were written by somebody else. */
int lk_foreign_file(const void *bytes, size_t len);

/*
 * ---- Snapshots as tests take them ----
 *
 * Into an unlinked file, looked through, opened, read.
 */

/* A snapshot of @trid in a file that is a sound log, opened. */
struct sn_shot {
	int fd;
	trace_id_t log;
};
struct sn_shot sn_take(trace_id_t trid);
/* Opens the log that a call wrote to @fd. */
struct sn_shot sn_open(int fd);
void sn_close(struct sn_shot *shot);
/* Takes a snapshot that tells this story. */
#define sn_expect(trid, story)                                                                     \
	do {                                                                                       \
		struct sn_shot sn_shot_ = sn_take(trid);                                           \
		st_expect(sn_shot_.log, story);                                                    \
		sn_close(&sn_shot_);                                                               \
	} while (0)

/* What a caller can ask of a stream, by calls that change nothing of it. */
bool sn_same_counts(trace_id_t trid, const struct posix_trace_counts_np *before);

/*
 * ---- Events that prove themselves (stress/events.c) ----
 *
 * Each says who traced it, which one it is, and carries bytes and a checksum that follow from that.  A
 * witness looks at what readers get and notices what is torn, twice there, or out of order within its thread.
 */

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
/* A quick random number of the calling thread. */
uint32_t ev_random(void);

#endif
