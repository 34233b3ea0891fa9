/* SPDX-License-Identifier: MIT */
/*
 * logged.c - a write into a stream of policy FLUSH is interrupted at each of its points, while the
 * flusher's own thread takes records out whenever it likes.  In the end the log is read: the books
 * balance, and what was counted as retrieved is what the log holds.
 */
#include "../beside.h"
#include "core/process/process.h"
#include "kit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define AFTERS 5u

static trace_id_t stream;
static FILE *file;
static unsigned lanes;
static bool cleared;

static void open_stream(void)
{
	trace_attr_t attr;

	file = tmpfile();
	CU_ASSERT_FATAL(file != NULL);
	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, 1024), 0);
	PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(&attr, 64), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlanes_np(&attr, lanes), 0);
	UNREPORTED();
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fileno(file), &stream), 0);
	PXT_EQ_FATAL(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_start(stream), 0);
}

static void read_the_log(void)
{
	static unsigned char data[4096];
	struct posix_trace_event_info info;
	trace_id_t log = 0;
	size_t len = 0;
	int end = 0;

	PXT_EQ_FATAL(posix_trace_open(fileno(file), &log), 0);
	for (;;) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(log, &info, data, sizeof(data), &len, &end), 0);
		if (end)
			break;
		if (info.posix_event_id == POSIX_TRACE_FLUSH_START ||
		    info.posix_event_id == POSIX_TRACE_FLUSH_STOP)
			continue;
		/* By call, or after an automatic stop: that is what the address tells. */
		kit_seen.due_starts +=
		    info.posix_event_id == POSIX_TRACE_START && info.posix_prog_address != NULL;
		kit_judge(&info, data, len);
	}
	PXT_EQ(posix_trace_close(log), 0);
	(void)fclose(file);
}

static void shut_down_and_look(const char *name, int point)
{
	struct posix_trace_counts_np now;
	uint64_t read;

	PXT_EQ(posix_trace_flush(stream), 0);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(posix_trace_flush(stream), 0);
	kit_counts(stream, &now);
	PXT_EQ(posix_trace_shutdown(stream), 0);
	stream = 0;
	read_the_log();
	read = kit_seen.user + kit_seen.starts + kit_seen.stops + kit_seen.filters;
	PXT_CHECK(now.posix_written_np == now.posix_retrieved_np + now.posix_lost_np +
	                                      now.posix_cleared_np + now.posix_held_np &&
	              now.posix_held_np == 0,
	    "%s at %d: written %llu retrieved %llu lost %llu cleared %llu held %llu", name, point,
	    (unsigned long long)now.posix_written_np, (unsigned long long)now.posix_retrieved_np,
	    (unsigned long long)now.posix_lost_np, (unsigned long long)now.posix_cleared_np,
	    (unsigned long long)now.posix_held_np);
	PXT_CHECK(cleared ? read <= now.posix_retrieved_np : read == now.posix_retrieved_np,
	    "%s at %d: %llu retrieved, %llu in the log", name, point,
	    (unsigned long long)now.posix_retrieved_np, (unsigned long long)read);
	PXT_CHECK(kit_clean(),
	    "%s at %d: torn %llu strange %llu disordered %llu back %llu "
	    "misplaced %llu",
	    name, point, (unsigned long long)kit_seen.torn, (unsigned long long)kit_seen.strange,
	    (unsigned long long)kit_seen.disordered, (unsigned long long)kit_seen.back,
	    (unsigned long long)kit_seen.misplaced);
	/* The flusher was asked before and after them: there was room. */
	PXT_CHECK(kit_missing(AFTER, 1, kit_seen.sent[AFTER]) == 0, "%s at %d: %u of %u missing",
	    name, point, kit_missing(AFTER, 1, kit_seen.sent[AFTER]), kit_seen.sent[AFTER]);
}

/* ---- Deeds ---- */

static void write_one(void *argument)
{
	kit_write(NESTED, 4);
}

static void write_a_lap(void *argument)
{
	for (int i = 0; i < 40; i++)
		kit_write(NESTED, i % 2 ? 4 : 30);
}

static void flush(void *argument)
{
	PXT_EQ(posix_trace_flush(stream), 0);
}

static void write_and_flush(void *argument)
{
	for (int i = 0; i < 5; i++) {
		write_a_lap(argument);
		flush(argument);
	}
}

static void stop(void *argument)
{
	PXT_EQ(posix_trace_stop(stream), 0);
}

static void stop_flush_start(void *argument)
{
	stop(argument);
	flush(argument);
	PXT_EQ(posix_trace_start(stream), 0);
}

static void clear(void *argument)
{
	PXT_EQ(posix_trace_clear(stream), 0);
	cleared = true;
}

static void filter(void *argument)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

static void shut_down(void *argument)
{
	PXT_EQ(posix_trace_shutdown(stream), 0);
	stream = 0;
}

static const struct {
	const char *name;
	void (*run)(void *);
} meanwhile[] = {
	{ "write", write_one },
	{ "lap", write_a_lap },
	{ "flush", flush },
	{ "write and flush", write_and_flush },
	{ "stop", stop },
	{ "stop, flush, start", stop_flush_start },
	{ "clear", clear },
	{ "set_filter", filter },
	{ "shutdown", shut_down },
	{ "die", kit_die },
};

/* ---- One case ---- */

static void fill(unsigned events)
{
	for (unsigned i = 0; i < events; i++) {
		kit_lane(i % lanes);
		kit_write(BEFORE, 4);
	}
	kit_lane(0);
}

/* False: the write has no such point. */
static bool one_case(size_t which, uint32_t nth, unsigned before, size_t len)
{
	int point;

	memset(&kit_seen, 0, sizeof(kit_seen));
	cleared = false;
	open_stream();
	fill(before);
	kit_interrupt(nth, KIT_WRITER_POINTS, meanwhile[which].run, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(OUTER, len);
	point = kit_interrupted();
	if (stream) {
		PXT_EQ(posix_trace_flush(stream), 0);
		PXT_EQ(posix_trace_start(stream), 0);
		for (unsigned i = 0; i < AFTERS; i++) {
			kit_lane(i % lanes);
			kit_write(AFTER, 4);
		}
		kit_lane(0);
		shut_down_and_look(meanwhile[which].name, point);
	} else {
		read_the_log();
		CU_ASSERT(kit_clean());
	}
	kit_heal();
	return point >= 0;
}

static void on(unsigned before, size_t len)
{
	/* Once in the ordinary way: the thread is known, and plays its lanes from now on. */
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t first = kit_open(&spec);

	PXT_EQ(posix_trace_shutdown(first), 0);
	for (size_t which = 0; which < sizeof(meanwhile) / sizeof(meanwhile[0]); which++) {
		uint32_t nth = 0;

		while (one_case(which, nth, before, len))
			nth++;
		PXT_CHECK(nth > 3, "only %u points", nth);
	}
}

/* POL-09, POL-11, FLUSH-02, SHUT-05, DEC-11, DEC-42; rulings 7, 12, 14 */
PXT_TEST(a_write_into_a_stream_with_log_may_be_interrupted_anywhere)
{
	for (lanes = 1; lanes <= 2; lanes++) {
		on(0, 4);
		on(8, 30);
	}
}

/* The same, around the mark where the flusher begins, and where the stream is full. */
PXT_TEST(a_write_that_wakes_the_flusher_or_fills_the_stream_may_be_interrupted_anywhere)
{
	for (lanes = 1; lanes <= 2; lanes++) {
		on(24 * lanes, 30);
		on(29 * lanes, 30);
	}
}
