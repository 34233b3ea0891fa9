/* SPDX-License-Identifier: MIT */
/*
 * test_tolog.c - what is written to a log when the system below fails, is slow, or does not return,
 * and that no event is in the log twice or in part.
 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "fakes/fakes.h"
#include "suite.h"

#include "format/logfmt.h"
#include "format/slot.h"
#include "port/port_sysinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MARKS "FLUSH_START FLUSH_STOP"

/* What a log holds of the test's events. */
struct contents {
	int events;
	int first;
	int last;
	int gaps;      /* places where numbers are missing */
	int mistakes;  /* numbers that do not ascend, data that is not as it was written */
	int errors;    /* that the log tells of itself */
	uint64_t told; /* records that the log says were lost before others */
};

static struct contents contents_of(trace_id_t log)
{
	struct contents found = { 0 };
	struct posix_trace_eventextra_np extra;
	struct st_event event;

	while (st_take(log, &event)) {
		PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
		found.told += extra.posix_lost_before_np;
		found.errors += event.info.posix_event_id == PXT_ID_ERROR;
		if (event.info.posix_event_id != st_type())
			continue;
		found.mistakes += found.events && st_number(&event) <= found.last;
		found.gaps += found.events && st_number(&event) != found.last + 1;
		found.mistakes += !st_data_intact(&event);
		found.last = st_number(&event);
		found.first = found.events++ ? found.first : found.last;
	}
	return found;
}

/* ---- Writes that fail ---- */

struct failing {
	const char *name;
	int log_policy;
	int flags; /* of the file */
	size_t accept;
	int error;
};

static const struct failing failing[] = {
	{ "append, nothing goes out", POSIX_TRACE_APPEND, 0, 0, ENOSPC },
	{ "append, 1000 bytes go out", POSIX_TRACE_APPEND, 0, 1000, EFBIG },
	{ "until full, 17 bytes go out", POSIX_TRACE_UNTIL_FULL, 0, 17, EIO },
	{ "loop, nothing goes out", POSIX_TRACE_LOOP, 0, 0, ENOSPC },
	{ "loop, 100 bytes go out", POSIX_TRACE_LOOP, 0, 100, ENOSPC },
	{ "O_APPEND, nothing goes out", POSIX_TRACE_APPEND, O_APPEND, 0, ENOSPC },
	{ "O_APPEND, 600 bytes go out", POSIX_TRACE_APPEND, O_APPEND, 600, ENOSPC },
};
#define FAILING (sizeof(failing) / sizeof(failing[0]))

#define ROUNDS 5
#define EACH   700

static void log_attr(const struct st_spec *spec, trace_attr_t *attr)
{
	st_attr(spec, attr);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(attr, spec->log_policy), 0);
	if (spec->log_size)
		PXT_EQ(posix_trace_attr_setlogsize(attr, spec->log_size), 0);
}

static trace_id_t create_failing(const struct failing *how, int fd, int *error)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 16,
		.max_data = 300,
		.lanes = 1,
		.log_policy = how->log_policy,
		.log_size = 1 << 20 };
	trace_attr_t attr;
	trace_id_t trid = 0;

	log_attr(&spec, &attr);
	*error = posix_trace_create_withlog(0, &attr, fd, &trid);
	return trid;
}

/* Traces and flushes; the number of calls that failed. */
static int trace_in_rounds(trace_id_t trid, const struct failing *how, unsigned n)
{
	int failures = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	for (int round = 0; round < ROUNDS; round++) {
		int error;

		st_say_many(round * EACH + 1, round * EACH + EACH);
		error = posix_trace_flush(trid);
		PXT_CHECK(error == 0 || error == how->error, "%s, call %u: flush says %d",
		    how->name, n, error);
		failures += error != 0;
	}
	return failures;
}

/* One pass in which the n-th write fails, once.  False: there was no such write. */
static bool fail_once(const struct failing *how, unsigned n)
{
	int fd = pxt_temp_file();
	int error;
	trace_id_t trid;

	(void)fcntl(fd, F_SETFL, how->flags);
	pxt_fault_arm(&pxt_fault_write, n, how->error);
	pxt_fault_write.accept = how->accept;
	trid = create_failing(how, fd, &error);
	if (error) {
		PXT_CHECK(n == 1 && error == how->error, "%s: create says %d", how->name, error);
		(void)close(fd);
		return n == 1;
	}
	int failures = trace_in_rounds(trid, how, n);
	bool reached = atomic_load(&pxt_fault_write.calls) >= n;

	PXT_CHECK(
	    failures == (reached ? 1 : 0), "%s, call %u: %d failures", how->name, n, failures);
	int last = posix_trace_shutdown(trid);
	bool at_shutdown = !reached && atomic_load(&pxt_fault_write.calls) >= n;
	PXT_EQ(last, at_shutdown ? how->error : 0);
	if (!at_shutdown) {
		trace_id_t log = pxt_open_log(fd);
		struct contents found = contents_of(log);

		PXT_CHECK(found.events == ROUNDS * EACH && !found.gaps && !found.mistakes,
		    "%s, call %u: %d events, %d gaps, %d mistakes", how->name, n, found.events,
		    found.gaps, found.mistakes);
		PXT_EQ(posix_trace_close(log), 0);
	}
	(void)close(fd);
	return atomic_load(&pxt_fault_write.calls) >= n;
}

/* FLUSH-05, FLUSH-E2, FLUSH-E3, CRLOG-E3, CREATE-10: a later flush makes good what one could not */
PXT_TEST(a_write_that_fails_once_loses_and_doubles_nothing_whichever_it_is)
{
	for (size_t i = 0; i < FAILING; i++) {
		unsigned n = 1;

		while (fail_once(&failing[i], n))
			n++;
		PXT_CHECK(n > 10, "%s: only %u writes", failing[i].name, n);
	}
	pxt_fault_arm(&pxt_fault_write, 0, 0);
}

/* The n-th write and all after it fail, until everything is traced; then the log is ended. */
static void fail_for_long(const struct failing *how, unsigned n)
{
	int fd = pxt_temp_file();
	int error;
	trace_id_t trid;
	struct posix_trace_counts_np counts;
	struct posix_trace_status_info status;

	(void)fcntl(fd, F_SETFL, how->flags);
	pxt_fault_arm_from(&pxt_fault_write, n, how->error);
	pxt_fault_write.accept = how->accept;
	trid = create_failing(how, fd, &error);
	PXT_EQ_FATAL(error, 0);
	CU_ASSERT(trace_in_rounds(trid, how, n) > 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_flush_error, how->error);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_flush_error, 0);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(posix_trace_shutdown(trid), 0);

	trace_id_t log = pxt_open_log(fd);
	struct contents found = contents_of(log);

	/* START and ERROR are records too. */
	PXT_CHECK(
	    (uint64_t)found.events + 1 + (uint64_t)found.errors == counts.posix_retrieved_np &&
	        found.last == ROUNDS * EACH && !found.mistakes &&
	        found.told == counts.posix_lost_np,
	    "%s, from %u: %d events, last %d, %d mistakes, %llu of %llu losses told", how->name, n,
	    found.events, found.last, found.mistakes, (unsigned long long)found.told,
	    (unsigned long long)counts.posix_lost_np);
	lk_close_log(log, fd);
}

/* CON-26, STA-05, FLUSH-07: what the stream overwrote meanwhile is missing, and told */
PXT_TEST(writes_that_fail_for_long_lose_only_what_the_stream_could_not_keep)
{
	for (size_t i = 0; i < FAILING; i++) {
		for (unsigned n = 2; n < 9; n += 3)
			fail_for_long(&failing[i], n);
	}
}

/* The device never comes back: what is there must be a log all the same, where that can be. */
static void fail_for_ever(const struct failing *how, unsigned n)
{
	int fd = pxt_temp_file();
	int error;
	trace_id_t trid;
	trace_id_t log = 0;

	pxt_fault_arm_from(&pxt_fault_write, n, how->error);
	pxt_fault_write.accept = how->accept;
	trid = create_failing(how, fd, &error);
	PXT_EQ_FATAL(error, 0);
	(void)trace_in_rounds(trid, how, n);
	PXT_EQ(posix_trace_shutdown(trid), how->error);
	PXT_EQ(posix_trace_shutdown(trid), EINVAL);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_EQ(posix_trace_open(fd, &log), EINVAL);
	(void)close(fd);
}

/* SHUT-02, SHUT-E2, SHUT-E3 */
PXT_TEST(a_device_that_stays_broken_is_told_at_shutdown)
{
	for (size_t i = 0; i < FAILING; i++)
		fail_for_ever(&failing[i], 4);
}

/* SHUT-E3, SHUT-05, LOGP-08: the last block does not fit, the trailer does */
PXT_TEST(a_log_that_could_not_take_the_last_block_is_complete_without_it)
{
	const int policies[] = { POSIX_TRACE_APPEND, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_LOOP };

	for (size_t i = 0; i < 3; i++) {
		const struct failing how = { "last block", policies[i], 0, 50, ENOSPC };
		int fd = pxt_temp_file();
		int error;
		trace_id_t trid = create_failing(&how, fd, &error);
		struct posix_trace_status_info status;
		struct posix_trace_loginfo_np info;

		PXT_EQ_FATAL(error, 0);
		PXT_EQ(posix_trace_start(trid), 0);
		st_say_many(1, 100);
		PXT_EQ(posix_trace_flush(trid), 0);
		st_say_many(101, 200);
		pxt_fault_arm(&pxt_fault_write, 1, ENOSPC);
		pxt_fault_write.accept = 50;
		PXT_EQ(posix_trace_shutdown(trid), ENOSPC);
		pxt_fault_arm(&pxt_fault_write, 0, 0);

		trace_id_t log = pxt_open_log(fd);
		struct contents found = contents_of(log);

		PXT_EQ(found.events, 100);
		PXT_EQ(found.last, 100);
		/* STOP and the flush's FLUSH_STOP as well; what the flush brought into the log is there. */
		PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
		PXT_EQ(info.posix_lost_np, 102);
		PXT_EQ(posix_trace_get_status(log, &status), 0);
		PXT_EQ(status.posix_stream_flush_error, ENOSPC);
		PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
		lk_close_log(log, fd);
	}
}

/* FLUSH-05: a device that says "not now" is asked again */
PXT_TEST(a_device_that_says_not_now_is_asked_again)
{
	const struct failing how = { "not now", POSIX_TRACE_APPEND, O_APPEND, 3, EAGAIN };
	int fd = pxt_temp_file();
	int error;
	trace_id_t trid;

	(void)fcntl(fd, F_SETFL, O_APPEND);
	pxt_fault_arm(&pxt_fault_write, 1, EAGAIN);
	pxt_fault_write.accept = how.accept;
	trid = create_failing(&how, fd, &error);
	PXT_EQ_FATAL(error, 0);
	for (unsigned n = 1; n <= 8; n++) {
		pxt_fault_arm(&pxt_fault_write, 1, EAGAIN);
		pxt_fault_write.last = n;
		pxt_fault_write.accept = how.accept;
		if (n == 1)
			PXT_EQ(posix_trace_start(trid), 0);
		st_say_many((int)n * 10 + 1, (int)n * 10 + 10);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trace_id_t log = pxt_open_log(fd);
	st_expect_without(log, MARKS, "START 11..90 STOP0");
	lk_close_log(log, fd);
}

/* ---- Create and clear that fail ---- */

/* CLEAR-06, DEC-25: what clear could not do, the next flush does first */
PXT_TEST(a_clear_that_could_not_cut_the_file_is_made_good)
{
	const struct failing how = { "clear", POSIX_TRACE_APPEND, 0, 0, 0 };
	int fd = pxt_temp_file();
	int error;
	trace_id_t trid = create_failing(&how, fd, &error);

	PXT_EQ(posix_trace_start(trid), 0);
	st_say_many(1, 500);
	PXT_EQ(posix_trace_flush(trid), 0);
	pxt_fault_arm(&pxt_fault_truncate, 1, EIO);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_say_many(1001, 1003);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trace_id_t log = pxt_open_log(fd);
	st_expect(log, "1001..1003 STOP0");
	lk_close_log(log, fd);
}

/* ---- Pipes ---- */

struct drain {
	int from;
	int to;
	unsigned pause_us;
	size_t piece;
	size_t bytes;
};

static void *drain_pipe(void *argument)
{
	struct drain *drain = argument;
	char bytes[65536];
	ssize_t got;

	while ((got = read(drain->from, bytes, drain->piece)) > 0) {
		drain->bytes += (size_t)got;
		if (write(drain->to, bytes, (size_t)got) != got)
			return NULL;
		if (drain->pause_us)
			(void)usleep(drain->pause_us);
	}
	return NULL;
}

static trace_id_t create_append(int fd)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 18,
		.lanes = 1,
		.log_policy = POSIX_TRACE_APPEND };
	trace_attr_t attr;
	trace_id_t trid = 0;

	log_attr(&spec, &attr);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	return trid;
}

/* ---- Records in few bytes ---- */

static uint64_t slot_bytes(size_t data)
{
	return 16u * pxt_slots_for(PXT_CTX_BYTES + (uint32_t)data);
}

#if CONFIG_PTRACE_LOG_CODED

/* The DATA block with the number @number: its length, and where it is. */
static uint32_t data_block(int fd, uint64_t number, off_t *at)
{
	unsigned char head[96];

	for (*at = 512; pread(fd, head, sizeof(head), *at) == (ssize_t)sizeof(head);) {
		uint64_t sequence;
		uint32_t length;
		uint16_t type;

		memcpy(&type, head + 4, sizeof(type));
		memcpy(&length, head + 8, sizeof(length));
		memcpy(&sequence, head + 16, sizeof(sequence));
		if (type == 1 && sequence == number)
			return length;
		*at += (off_t)length;
	}
	CU_FAIL_FATAL("no such block");
	return 0;
}

PXT_TEST(an_event_of_4_bytes_takes_at_most_10_bytes_of_a_log)
{
	int fd = pxt_temp_file();
	trace_id_t trid = create_append(fd);
	off_t before;

	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	before = lseek(fd, 0, SEEK_END);
	for (uint32_t i = 0; i < 7000; i++) {
		uint32_t number = i * 2654435761u;

		posix_trace_event(st_type(), &number, sizeof(number));
	}
	PXT_EQ(posix_trace_flush(trid), 0);
	/* Heads, names and clocks are among them. */
	CU_ASSERT(lseek(fd, 0, SEEK_END) - before < 7000 * 10);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(close(fd), 0);
}

/* Each flush is a block of its own; a byte of the third one is another one then. */
PXT_TEST(damage_among_coded_records_costs_their_block_alone)
{
	struct posix_trace_logfinding_np finding;
	struct posix_trace_eventview_np views[64];
	int fd = pxt_temp_file();
	trace_id_t trid = create_append(fd);
	uint64_t lost = 0;
	unsigned events = 0;
	size_t count = 1;
	unsigned char byte;
	uint32_t length;
	trace_id_t log;
	off_t at;

	PXT_EQ(posix_trace_start(trid), 0);
	for (int i = 0; i < 5; i++) {
		st_say_many(1 + i * 100, 100 + i * 100);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	length = data_block(fd, 2, &at);
	at += (off_t)(length / 2);
	CU_ASSERT_FATAL(pread(fd, &byte, 1, at) == 1);
	byte ^= 0x10;
	CU_ASSERT_FATAL(pwrite(fd, &byte, 1, at) == 1);
	log = pxt_open_log(fd);
	while (count) {
		int error = posix_trace_getnext_events_np(log, views, sizeof(views[0]), 64, &count);

		if (error) {
			PXT_EQ(error, EIO);
			PXT_EQ_FATAL(
			    posix_trace_log_skipdamage_np(log, &finding, sizeof(finding)), 0);
			PXT_EQ(finding.posix_block_np > 2, true);
			count = 1;
			continue;
		}
		for (size_t i = 0; i < count; i++) {
			events += views[i].posix_event_id_np == st_type();
			lost += views[i].posix_lost_before_np;
		}
	}
	PXT_EQ(events, 400);
	/* The block's 100, and the marks of its flush. */
	CU_ASSERT(lost >= 100 && lost <= 102);
	lk_close_log(log, fd);
}

/* Bytes of records in the file, and whether it is one that readers of version 1 take. */
static uint64_t record_bytes(int fd, bool *old)
{
	unsigned char head[96];
	uint64_t sum = 0;
	uint16_t major;
	off_t at;

	PXT_EQ(pread(fd, &major, sizeof(major), 16), sizeof(major));
	*old = major == 1;
	for (at = 512; pread(fd, head, sizeof(head), at) == (ssize_t)sizeof(head);) {
		uint32_t length;
		uint16_t type;

		memcpy(&type, head + 4, sizeof(type));
		memcpy(&length, head + 8, sizeof(length));
		sum += type == 1 ? length - sizeof(head) : 0;
		at += (off_t)length;
	}
	return sum;
}

/* A flush adds no records of its own. */
static void start_without_marks(trace_id_t trid)
{
	trace_event_set_t marks;

	PXT_EQ(posix_trace_eventset_empty(&marks), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_FLUSH_START, &marks), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &marks), 0);
	PXT_EQ(posix_trace_set_filter(trid, &marks, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_start(trid), 0);
}

static trace_id_t start_log(int policy, size_t size, int form, int fd)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 18,
		.max_data = 64,
		.lanes = 1,
		.log_policy = policy,
		.log_size = size };
	trace_attr_t attr;
	trace_id_t trid = 0;

	log_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, form), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	start_without_marks(trid);
	return trid;
}

static trace_id_t until_full(size_t size, int form, int fd)
{
	return start_log(POSIX_TRACE_UNTIL_FULL, size, form, fd);
}

/* Events 1 to the last one that the log has, and then an automatic STOP; returns the last one's number. */
static int kept_until_full(int fd, size_t bytes)
{
	struct posix_trace_status_info status;
	trace_id_t log = pxt_open_log(fd);
	struct st_event event;
	trace_event_id_t last = 0;
	int number = 0;

	PXT_EQ(posix_trace_get_status(log, &status), 0);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_FULL);
	while (st_take(log, &event)) {
		last = event.info.posix_event_id;
		if (last != st_type())
			continue;
		PXT_EQ(st_number(&event), ++number);
		PXT_EQ(event.len, bytes);
	}
	PXT_EQ(last, POSIX_TRACE_STOP);
	PXT_EQ(posix_trace_close(log), 0);
	return number;
}

#define STOP_ROOM 48u /* slots of a STOP of a thread without place */

/* LOGP-02, LOGP-04, DEC-14: in one flush, until not even the slots of one more would fit. */
PXT_TEST(a_coded_log_until_full_takes_the_bytes_that_it_may_have_in_the_file)
{
	for (size_t size = 2048; size < 2048 + 16 * 40; size += 48) {
		int fd = pxt_temp_file();
		trace_id_t trid = until_full(size, POSIX_TRACE_LOG_AUTO_NP, fd);
		uint64_t bytes;
		bool old;
		int kept;

		st_say_many(1, 3000);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		bytes = record_bytes(fd, &old);
		kept = kept_until_full(fd, sizeof(int));
		/* The STOP may have been coded, too. */
		PXT_CHECK(!old && bytes <= size && bytes + slot_bytes(4) + STOP_ROOM + 16 > size,
		    "%zu bytes: %llu used", size, (unsigned long long)bytes);
		PXT_CHECK(
		    kept > 2 * (int)(size / slot_bytes(4)), "%zu bytes: %d events", size, kept);
		PXT_EQ(close(fd), 0);
	}
}

/* LOGP-02, LOGP-04: what cannot be told in fewer bytes takes no more than its slots. */
PXT_TEST(a_coded_log_until_full_holds_as_many_events_as_slots_would)
{
	unsigned char data[64];
	uint32_t mixed = 1;
	int kept[2];

	for (int form = 0; form < 2; form++) {
		int fd = pxt_temp_file();
		trace_id_t trid = until_full(4096, form, fd);
		uint64_t bytes;
		bool old;

		for (int i = 1; i <= 200; i++) {
			for (size_t k = 0; k < sizeof(data); k++)
				data[k] =
				    (unsigned char)((mixed = mixed * 1664525u + 1013904223u) >> 24);
			memcpy(data, &i, sizeof(i));
			posix_trace_event(st_type(), data, sizeof(data));
		}
		PXT_EQ(posix_trace_shutdown(trid), 0);
		bytes = record_bytes(fd, &old);
		CU_ASSERT(bytes <= 4096);
		PXT_EQ(old, form == POSIX_TRACE_LOG_PLAIN_NP);
		kept[form] = kept_until_full(fd, sizeof(data));
		PXT_EQ(close(fd), 0);
	}
	CU_ASSERT(kept[POSIX_TRACE_LOG_AUTO_NP] >= kept[POSIX_TRACE_LOG_PLAIN_NP]);
}

/* LOGP-02, LOGP-09, DEC-14: event by event, a block each; and a clear makes room again. */
PXT_TEST(a_coded_log_is_full_at_the_first_event_whose_slots_do_not_fit)
{
	const size_t size = 2048;
	int fd = pxt_temp_file();
	trace_id_t trid = until_full(size, POSIX_TRACE_LOG_AUTO_NP, fd);
	struct posix_trace_status_info status;
	bool old;

	for (int round = 0; round < 2; round++) {
		bool fits = true;
		int i;

		PXT_EQ(posix_trace_flush(trid), 0);
		for (i = 1; fits; i++) {
			fits = record_bytes(fd, &old) + slot_bytes(4) + STOP_ROOM <= size;
			st_say_many(i, i);
			PXT_EQ_FATAL(posix_trace_flush(trid), 0);
			PXT_EQ(posix_trace_get_status(trid, &status), 0);
			PXT_CHECK(status.posix_log_full_status ==
			              (fits ? POSIX_TRACE_NOT_FULL : POSIX_TRACE_FULL),
			    "round %d, event %d", round, i);
			PXT_EQ(status.posix_log_overrun_status,
			    fits ? POSIX_TRACE_NO_OVERRUN : POSIX_TRACE_OVERRUN);
		}
		CU_ASSERT(i > 50);
		CU_ASSERT(record_bytes(fd, &old) <= size);
		if (round)
			break;
		PXT_EQ(posix_trace_clear(trid), 0);
		start_without_marks(trid);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(kept_until_full(fd, sizeof(int)) > 50);
	PXT_EQ(close(fd), 0);
}

/* What the frames of a LOOP log may hold together, as its head says. */
static uint64_t bytes_of_frames(int fd)
{
	uint32_t frame[2] = { 0, 0 }; /* bytes, number */

	PXT_EQ(pread(fd, frame, sizeof(frame), 136), sizeof(frame));
	return (uint64_t)frame[1] * (frame[0] - PXT_LOG_BLOCK_BYTES);
}

/* LOGP-01, LOGP-04: in one flush, and in many. */
PXT_TEST(a_looping_log_keeps_more_events_where_they_are_coded)
{
	const size_t size = 1 << 16;

	for (int batch = 50; batch <= 5000; batch *= 10) {
		int kept[2];

		for (int form = 0; form < 2; form++) {
			int fd = pxt_temp_file();
			trace_id_t trid = start_log(POSIX_TRACE_LOOP, size, form, fd);
			trace_id_t log;

			for (int i = 0; i < 20000; i += batch) {
				st_say_many(i + 1, i + batch);
				PXT_EQ(posix_trace_flush(trid), 0);
			}
			PXT_EQ(posix_trace_shutdown(trid), 0);
			CU_ASSERT(bytes_of_frames(fd) <= size);
			log = pxt_open_log(fd);
			struct contents found = contents_of(log);
			PXT_EQ(found.last, 20000);
			PXT_EQ(found.gaps + found.mistakes, 0);
			kept[form] = found.events;
			lk_close_log(log, fd);
		}
		PXT_CHECK(kept[POSIX_TRACE_LOG_AUTO_NP] > 3 * kept[POSIX_TRACE_LOG_PLAIN_NP],
		    "%d at a time: %d and %d events", batch, kept[0], kept[1]);
	}
}

/* LOGP-01, LOGP-04: what cannot be told in fewer bytes takes no more than its slots. */
PXT_TEST(a_looping_log_of_drawn_data_keeps_as_many_events_as_slots_would)
{
	unsigned char data[64];
	uint32_t mixed = 1;
	int kept[2];

	for (int form = 0; form < 2; form++) {
		int fd = pxt_temp_file();
		trace_id_t trid = start_log(POSIX_TRACE_LOOP, 1 << 15, form, fd);
		struct st_event event;
		trace_id_t log;

		for (int i = 1; i <= 1500; i++) {
			for (size_t k = 0; k < sizeof(data); k++)
				data[k] =
				    (unsigned char)((mixed = mixed * 1664525u + 1013904223u) >> 24);
			posix_trace_event(st_type(), data, sizeof(data));
			if (i % 7 == 0)
				PXT_EQ(posix_trace_flush(trid), 0);
		}
		PXT_EQ(posix_trace_shutdown(trid), 0);
		log = pxt_open_log(fd);
		for (kept[form] = 0; st_take_user(log, &event);)
			kept[form]++;
		lk_close_log(log, fd);
	}
	CU_ASSERT(kept[POSIX_TRACE_LOG_AUTO_NP] >= kept[POSIX_TRACE_LOG_PLAIN_NP]);
}

/* Bytes that this process has read so far. */
static unsigned long long bytes_read(void)
{
	FILE *io = fopen("/proc/self/io", "r");
	unsigned long long bytes = 0;

	if (!io)
		return 0;
	CU_ASSERT(fscanf(io, "rchar: %llu", &bytes) == 1);
	CU_ASSERT(fclose(io) == 0);
	return bytes;
}

/* LOGP-01: as of other logs, records are read when they are asked for. */
PXT_TEST(opening_a_looping_log_reads_the_heads_of_its_frames)
{
	int fd = pxt_temp_file();
	trace_id_t trid = start_log(POSIX_TRACE_LOOP, 1 << 22, POSIX_TRACE_LOG_PLAIN_NP, fd);
	unsigned long long before;
	trace_id_t log;

	for (int i = 0; i < 100000; i += 5000) {
		st_say_many(i + 1, i + 5000);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	before = bytes_read();
	log = pxt_open_log(fd);
	CU_ASSERT(bytes_read() - before < 1 << 18);
	lk_close_log(log, fd);
}

/* LOGP-01: the newest block is written again, behind its records, after each flush. */
PXT_TEST(a_reader_of_a_growing_loop_log_gets_each_event_once)
{
	for (int form = 0; form < 2; form++) {
		int fd = pxt_temp_file();
		trace_id_t trid = start_log(POSIX_TRACE_LOOP, 1 << 16, form, fd);
		trace_id_t log = 0;
		struct st_event event;
		int number = 0;

		PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ_FATAL(
		    posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &log, NULL, 0), 0);
		for (int i = 0; i < 600; i++) {
			const int first = number + 1;

			for (int k = 0; k <= i % 23; k++)
				st_say_long(first + k, 4 + (size_t)k % 50);
			PXT_EQ(posix_trace_flush(trid), 0);
			/* The first look may still be at what was in memory. */
			while (st_take_user(log, &event) || st_take_user(log, &event))
				PXT_EQ(st_number(&event), ++number);
			PXT_EQ(number, first + i % 23);
		}
		PXT_EQ(posix_trace_close(log), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		PXT_EQ(close(fd), 0);
	}
}

#endif

/* One place in the program for both: START and STOP record from where they were called. */
static void both(int (*call)(trace_id_t), trace_id_t one, trace_id_t two)
{
	const trace_id_t trids[2] = { one, two };

	for (volatile int i = 0; i < 2; i++)
		PXT_EQ(call(trids[i]), 0);
}

/* Ruling 22, LOGP-05: a slow pipe of 4 KiB gets the same bytes as a file */
PXT_TEST_FRESH(a_pipe_gets_the_same_bytes_as_a_file)
{
	int fds[2];
	int file = pxt_temp_file();
	struct drain drain = { .to = pxt_temp_file(), .pause_us = 20, .piece = 999 };
	pthread_t reader;
	static unsigned char bytes[2][1 << 20];

	pxt_fake_clock_start(1000000);
	pxt_fake_random(0x42);
	PXT_EQ_FATAL(pipe(fds), 0);
	(void)fcntl(fds[1], F_SETPIPE_SZ, 4096);
	drain.from = fds[0];
	PXT_EQ_FATAL(pthread_create(&reader, NULL, drain_pipe, &drain), 0);
	trace_id_t one = create_append(file);
	trace_id_t two = create_append(fds[1]);
	both(posix_trace_start, one, two);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 300; i++) {
			st_say_long(round * 300 + i, 4 + (size_t)(i % 200));
			pxt_fake_clock_advance(10);
		}
		both(posix_trace_flush, one, two);
		pxt_fake_clock_advance(400000);
	}
	both(posix_trace_stop, one, two);
	both(posix_trace_shutdown, one, two);
	(void)close(fds[1]);
	(void)pthread_join(reader, NULL);
	PXT_EQ(st_file_bytes(file), drain.bytes);
	CU_ASSERT(drain.bytes > 100000 && drain.bytes < sizeof(bytes[0]));
	PXT_EQ(pread(file, bytes[0], sizeof(bytes[0]), 0), drain.bytes);
	PXT_EQ(pread(drain.to, bytes[1], sizeof(bytes[1]), 0), drain.bytes);
	CU_ASSERT(memcmp(bytes[0], bytes[1], drain.bytes) == 0);
	(void)close(fds[0]);
	(void)close(file);
	(void)close(drain.to);
}

/* Bytes that a flush of a stream in which nothing new is adds to the log. */
static int64_t flushed(trace_id_t trid, int fd)
{
	int64_t before = st_file_bytes(fd);

	PXT_EQ(posix_trace_flush(trid), 0);
	return st_file_bytes(fd) - before;
}

/* A second of the counter, however fast that is. */
PXT_TEST_FRESH(the_clocks_are_told_with_the_first_flush_of_a_second)
{
	int fd = pxt_temp_file();
	trace_id_t trid;
	int64_t marks;

	pxt_fake_clock_start(1000);
	pxt_fake_clock_set(5000);
	trid = create_append(fd);
	PXT_EQ(posix_trace_start(trid), 0);
	(void)flushed(trid, fd);
	marks = flushed(trid, fd);
	pxt_fake_clock_advance(999);
	PXT_EQ(flushed(trid, fd), marks);
	pxt_fake_clock_advance(1);
	PXT_EQ(flushed(trid, fd), marks + PXT_LOG_BLOCK_BYTES + PXT_LOG_CLOCK_BYTES);
	pxt_fake_clock_advance(999);
	PXT_EQ(flushed(trid, fd), marks);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

/* A stream whose log is a pipe that somebody empties. */
static trace_id_t create_drained(struct drain *drain, int fds[2], pthread_t *reader)
{
	PXT_EQ_FATAL(pipe(fds), 0);
	drain->from = fds[0];
	PXT_EQ_FATAL(pthread_create(reader, NULL, drain_pipe, drain), 0);
	return create_append(fds[1]);
}

/* Shuts the stream down; what went through the pipe must then say @story. */
static void end_drained(
    trace_id_t trid, struct drain *drain, const int fds[2], pthread_t reader, const char *story)
{
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fds[1]);
	(void)pthread_join(reader, NULL);
	trace_id_t log = pxt_open_log(drain->to);
	st_expect(log, story);
	lk_close_log(log, drain->to);
	(void)close(fds[0]);
}

/* CLEAR-07, DEC-25: what is out stays, and does not count */
PXT_TEST(a_clear_on_a_pipe_is_a_mark_in_the_log)
{
	int fds[2];
	struct drain drain = { .to = pxt_temp_file(), .piece = 65536 };
	pthread_t reader;

	trace_id_t trid = create_drained(&drain, fds, &reader);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say_many(1, 1000);
	PXT_EQ(posix_trace_flush(trid), 0);
	st_say_many(1001, 1100);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_say_many(1, 7);
	end_drained(trid, &drain, fds, reader, "1..7 STOP0");
	CU_ASSERT(drain.bytes > 1000 * 3);
}

/* Of the writes after create, the n-th fails, and all up to the @last.  False: the clear was over before. */
static bool clear_a_failing_pipe(unsigned n, unsigned last, size_t accept)
{
	struct drain drain = { .to = pxt_temp_file(), .piece = 65536 };
	pthread_t reader;
	int fds[2];
	bool reached;

	trace_id_t trid = create_drained(&drain, fds, &reader);
	PXT_EQ(posix_trace_start(trid), 0);
	pxt_fault_arm(&pxt_fault_write, n, EIO);
	pxt_fault_write.last = last;
	pxt_fault_write.accept = accept;
	for (int round = 0; round < 3; round++) {
		st_say_many(1 + 100 * round, 100 + 100 * round);
		(void)posix_trace_flush(trid);
	}
	st_say_many(301, 310);
	PXT_EQ(posix_trace_clear(trid), 0);
	reached = atomic_load(&pxt_fault_write.calls) >= n;
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	st_say_many(1001, 1003);
	end_drained(trid, &drain, fds, reader, "1001..1003 STOP0");
	return reached;
}

/* CLEAR-06, CLEAR-07, DEC-25: a block that is torn, whatever it is, goes out first, and then the mark */
PXT_TEST(a_clear_of_a_pipe_that_fails_meanwhile_is_made_good)
{
	for (unsigned more = 0; more < 4; more++) {
		for (size_t accept = 0; accept < 18; accept += 17) {
			unsigned n = 1;

			while (clear_a_failing_pipe(n, n + more, accept))
				n++;
			PXT_CHECK(n > 8, "only %u writes", n);
		}
	}
}

static void *flush_in_thread(void *argument)
{
	(void)posix_trace_flush(*(const trace_id_t *)argument);
	return NULL;
}

static void *clear_in_thread(void *argument)
{
	(void)posix_trace_clear(*(const trace_id_t *)argument);
	return NULL;
}

/* Nothing is taken out of it: it grows until it is full. */
static void wait_until_full(int pipe_end)
{
	int before = -1;
	int inside = 0;

	for (int i = 0; i < 1000 && (inside < 60000 || inside != before); i++) {
		before = inside;
		pxt_sleep_ms(10);
		PXT_EQ(ioctl(pipe_end, FIONREAD, &inside), 0);
	}
}

static void wait_until_cleared(trace_id_t trid)
{
	struct posix_trace_counts_np counts = { 0 };

	for (int i = 0; i < 1000 && !counts.posix_cleared_np; i++) {
		pxt_sleep_ms(10);
		PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	}
}

/* CLEAR-02, CLEAR-06, SAFE-03: a flush hangs in a full pipe while the stream is cleared */
PXT_TEST(a_clear_in_the_middle_of_a_flush_ends_what_was_before)
{
	int fds[2];
	struct drain drain = { .to = pxt_temp_file(), .piece = 65536 };
	struct posix_trace_counts_np counts;
	pthread_t threads[3];

	PXT_EQ_FATAL(pipe(fds), 0);
	drain.from = fds[0];
	trace_id_t trid = create_append(fds[1]);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say_many(1, 6000);
	PXT_EQ_FATAL(pthread_create(&threads[0], NULL, flush_in_thread, &trid), 0);
	wait_until_full(fds[0]);
	PXT_EQ_FATAL(pthread_create(&threads[1], NULL, clear_in_thread, &trid), 0);
	wait_until_cleared(trid);
	st_say_many(7001, 7005);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_held_np, 5);
	PXT_EQ_FATAL(pthread_create(&threads[2], NULL, drain_pipe, &drain), 0);
	(void)pthread_join(threads[0], NULL);
	(void)pthread_join(threads[1], NULL);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fds[1]);
	(void)pthread_join(threads[2], NULL);
	trace_id_t log = pxt_open_log(drain.to);
	st_expect(log, "7001..7005 STOP0");
	lk_close_log(log, drain.to);
	(void)close(fds[0]);
}

/* ---- Room ---- */

/* SIZ-05, AGSSZ-01 */
PXT_TEST(a_stream_that_a_thread_flushes_has_room_for_it_unless_a_size_was_set)
{
	for (int i = 0; i < 4; i++) {
		const uint64_t wanted = i < 2 ? CONFIG_PTRACE_DEFAULT_STREAM_SIZE : 1u << 18;
		int fd = pxt_temp_file();
		trace_attr_t attr;
		trace_id_t trid;
		unsigned lanes;
		size_t bytes;

		PXT_EQ(posix_trace_attr_init(&attr), 0);
		PXT_EQ(posix_trace_attr_setstreamfullpolicy(
		           &attr, i % 2 ? POSIX_TRACE_FLUSH : POSIX_TRACE_LOOP),
		    0);
		if (i >= 2)
			PXT_EQ(posix_trace_attr_setstreamsize(&attr, (size_t)wanted), 0);
		/* What a stream says of itself makes another one like it. */
		for (int again = 0; again < 2; again++) {
			PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
			PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
			PXT_EQ(posix_trace_shutdown(trid), 0);
			PXT_EQ(posix_trace_attr_getlanes_np(&attr, &lanes), 0);
			PXT_EQ(posix_trace_attr_getstreamsize(&attr, &bytes), 0);
			if (i == 1) {
				CU_ASSERT(bytes >= wanted &&
				          bytes * lanes >= CONFIG_PTRACE_FLUSH_STREAM_SIZE);
			} else {
				PXT_EQ(bytes, wanted);
			}
		}
		PXT_EQ(close(fd), 0);
	}
}

/* FORMAT.md, 3: the largest block is told at 120. */
PXT_TEST(a_block_of_a_small_stream_is_no_larger_than_what_the_stream_holds)
{
	static const size_t sizes[] = { 65536, 131072, 1048576 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint32_t most = CONFIG_PTRACE_LOG_BLOCK_SIZE;
		struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
			.lanes = 1,
			.size = sizes[i],
			.with_log = true,
			.fd = pxt_temp_file(),
			.log_policy = POSIX_TRACE_APPEND };
		uint32_t largest = 0;

		PXT_EQ(posix_trace_shutdown(st_create(&spec)), 0);
		PXT_EQ(pread(spec.fd, &largest, sizeof(largest), 120), sizeof(largest));
		PXT_EQ(largest, sizes[i] < most ? (uint32_t)sizes[i] : most);
		PXT_EQ(close(spec.fd), 0);
	}
}

/* ---- Log-full policies, exactly ---- */

/* LOGP-02, LOGP-04, DEC-14: to the last slot */
PXT_TEST(a_log_until_full_is_filled_to_the_last_record_that_fits)
{
	for (size_t size = 2048; size < 2048 + 16 * 9; size += 16) {
		struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
			.lanes = 1,
			.with_log = true,
			.fd = pxt_temp_file(),
			.log_policy = POSIX_TRACE_UNTIL_FULL,
			.log_size = size };
		struct posix_trace_status_info status;
		trace_attr_t attr;
		trace_id_t trid;
		struct st_event event;
		uint64_t used = 0;
		trace_event_id_t last = 0;

		log_attr(&spec, &attr);
		PXT_EQ(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_PLAIN_NP), 0);
		PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, spec.fd, &trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		for (int i = 1; i <= 100; i++)
			st_say_long(i, 4 + (size_t)i % 60);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		trace_id_t log = pxt_open_log(spec.fd);
		int number = 0;
		while (st_take(log, &event)) {
			used += slot_bytes(event.len);
			last = event.info.posix_event_id;
			number = last == st_type() ? st_number(&event) : number;
		}
		PXT_EQ(last, POSIX_TRACE_STOP);
		/* STOP's room is one slot larger than STOP, for a thread that is not in the table. */
		PXT_CHECK(
		    used <= size && used + 16 + slot_bytes(4 + (size_t)(number + 1) % 60) > size,
		    "%zu bytes: %llu used, up to event %d", size, (unsigned long long)used, number);
		PXT_EQ(posix_trace_get_status(log, &status), 0);
		PXT_EQ(status.posix_log_full_status, POSIX_TRACE_FULL);
		PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
		lk_close_log(log, spec.fd);
	}
}

/* LOGP-01, LOGP-08, CON-26: what is overwritten is counted */
PXT_TEST(a_looping_log_knows_how_much_it_has_overwritten)
{
	for (size_t size = 2048; size <= 1 << 16; size *= 2) {
		struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
			.size = 1 << 16,
			.lanes = 1,
			.max_data = 64,
			.with_log = true,
			.fd = pxt_temp_file(),
			.log_policy = POSIX_TRACE_LOOP,
			.log_size = size };
		trace_id_t trid = st_started(&spec);
		struct posix_trace_loginfo_np info;

		for (int i = 0; i < 40; i++) {
			for (int k = 1; k <= 100; k++)
				st_say_long(i * 100 + k, 4 + (size_t)k % 50);
			PXT_EQ(posix_trace_flush(trid), 0);
		}
		PXT_EQ(posix_trace_shutdown(trid), 0);
		CU_ASSERT(st_file_bytes(spec.fd) < (int64_t)size + (1 << 16));
		trace_id_t log = pxt_open_log(spec.fd);
		struct contents found = contents_of(log);

		PXT_EQ(found.last, 4000);
		PXT_EQ(found.gaps + found.mistakes, 0);
		PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
		PXT_EQ(info.posix_counts_np.posix_retrieved_np, 4002);
		PXT_CHECK(info.posix_lost_np >= (uint64_t)found.first &&
		              info.posix_lost_np <= (uint64_t)found.first + 80,
		    "size %zu: %llu lost, first is %d", size,
		    (unsigned long long)info.posix_lost_np, found.first);
		lk_close_log(log, spec.fd);
	}
}

/* POL-11, POL-12, FLUSH-07, CON-26: the device comes back after a while */
PXT_TEST(the_helper_goes_on_when_the_device_comes_back)
{
	struct st_spec spec = { .policy = POSIX_TRACE_FLUSH,
		.size = 1 << 14,
		.with_log = true,
		.fd = pxt_temp_file(),
		.log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid = st_started(&spec);
	struct posix_trace_status_info status;
	struct posix_trace_counts_np counts;
	int number = 0;

	pxt_fault_arm_from(&pxt_fault_write, 1, ENOSPC);
	for (int i = 0; i < 2000; i++)
		st_say(++number);
	/* At the second one the first has failed, and that was noted. */
	for (int i = 0; i < 1000 && atomic_load(&pxt_fault_write.calls) < 2; i++)
		pxt_sleep_ms(10);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	for (int i = 0; i < 300; i++) {
		pxt_sleep_ms(10);
		PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
		if (counts.posix_held_np == 0)
			break;
	}
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_flush_error, ENOSPC);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	/* The restart comes after the last write, a little later than the stream is empty. */
	for (int i = 0; i < 300 && status.posix_stream_status != POSIX_TRACE_RUNNING; i++) {
		pxt_sleep_ms(10);
		PXT_EQ(posix_trace_get_status(trid, &status), 0);
	}
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_RUNNING);
	st_say(++number);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trace_id_t log = pxt_open_log(spec.fd);
	struct contents found = contents_of(log);

	PXT_EQ(found.last, number);
	PXT_EQ(found.mistakes, 0);
	PXT_EQ(found.told, counts.posix_lost_np);
	PXT_EQ((uint64_t)found.events + counts.posix_lost_np, number);
	lk_close_log(log, spec.fd);
}

/* ---- Exit and fork ---- */

/* ---- What a log says beside events ---- */

static trace_id_t named_trid;
static sem_t named;
static sem_t seen;

static void *name_oneself(void *argument)
{
	const char *name = argument;

	(void)pthread_setname_np(pthread_self(), name);
	st_say(1);
	(void)sem_post(&named);
	/* Alive while the log looks for its name. */
	semwait(&seen);
	return NULL;
}

static bool log_has_thread(trace_id_t log, const char *name)
{
	struct posix_trace_logthread_np thread;

	for (uint32_t i = 0; posix_trace_log_getthread_np(log, i, &thread, sizeof(thread)) == 0;
	     i++) {
		if (strcmp(thread.posix_name_np, name) == 0)
			return thread.posix_tid_np > 0 && thread.posix_pid_np == getpid();
	}
	return false;
}

static void *create_and_end(void *argument)
{
	int *fd = argument;

	(void)pthread_setname_np(pthread_self(), "creator");
	named_trid = create_append(*fd);
	return NULL;
}

PXT_TEST(the_thread_that_created_a_stream_has_its_name_in_the_log_though_it_has_ended)
{
	int fd = pxt_temp_file();
	pthread_t thread;

	PXT_EQ_FATAL(pthread_create(&thread, NULL, create_and_end, &fd), 0);
	(void)pthread_join(thread, NULL);
	PXT_EQ(posix_trace_start(named_trid), 0);
	st_say(1);
	PXT_EQ(posix_trace_shutdown(named_trid), 0);
	trace_id_t log = pxt_open_log(fd);
	CU_ASSERT(log_has_thread(log, "creator"));
	lk_close_log(log, fd);
}

static bool log_has_address(trace_id_t log, uintptr_t address)
{
	struct posix_trace_logmodule_np module;

	for (uint32_t i = 0; posix_trace_log_getmodule_np(log, i, &module, sizeof(module)) == 0;
	     i++) {
		if (address >= module.posix_low_np && address < module.posix_high_np)
			return strstr(module.posix_path_np, "test_tolog") != NULL;
	}
	return false;
}

/* A name that a thread got before a flush, one it got later, and one of the program. */
PXT_TEST(threads_and_modules_are_named_also_those_renamed_later)
{
	trace_id_t trid;
	int fd = pxt_temp_file();
	pthread_t thread;
	static char first[] = "early bird";
	unsigned char boot_id[PXT_BOOT_ID_BYTES];
	struct posix_trace_loginfo_np info;
	char executable[256] = "";
	char system[40];

	trid = create_append(fd);
	PXT_EQ(posix_trace_start(trid), 0);
	(void)sem_init(&named, 0, 0);
	(void)sem_init(&seen, 0, 0);
	PXT_EQ_FATAL(pthread_create(&thread, NULL, name_oneself, first), 0);
	semwait(&named);
	PXT_EQ(posix_trace_flush(trid), 0);
	(void)sem_post(&seen);
	(void)pthread_join(thread, NULL);
	st_say(2);
	(void)pthread_setname_np(pthread_self(), "late riser");
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trace_id_t log = pxt_open_log(fd);
	if (!pxt_skip_emulated("it does not tell descriptors of threads")) {
		CU_ASSERT(log_has_thread(log, "early bird"));
		CU_ASSERT(log_has_thread(log, "late riser"));
	}
	CU_ASSERT(log_has_address(log, (uintptr_t)create_append));
	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	CU_ASSERT(readlink("/proc/self/exe", executable, sizeof(executable) - 1) > 0);
	CU_ASSERT_STRING_EQUAL(info.posix_executable_np, executable);
	PXT_EQ(info.posix_pid_np, getpid());
	pxt_port_boot_id(boot_id);
	CU_ASSERT(memcmp(info.posix_boot_id_np, boot_id, sizeof(boot_id)) == 0);
	PXT_EQ(info.posix_cpus_np, pxt_port_cpus());
	pxt_port_system(system, sizeof(system));
	CU_ASSERT_STRING_EQUAL(info.posix_system_np, system);
	lk_close_log(log, fd);
}

/* FORMAT.md, 3 */
PXT_TEST(every_log_has_an_identity_of_its_own)
{
	struct posix_trace_loginfo_np infos[2];

	for (unsigned i = 0; i < 2; i++) {
		int fd = pxt_temp_file();
		trace_id_t trid = create_append(fd);
		trace_id_t log;

		PXT_EQ(posix_trace_start(trid), 0);
		st_say(1);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		log = pxt_open_log(fd);
		PXT_EQ(posix_trace_log_getinfo_np(log, &infos[i], sizeof(infos[i])), 0);
		lk_close_log(log, fd);
	}
	CU_ASSERT(memcmp(infos[0].posix_uuid_np, infos[1].posix_uuid_np,
	              sizeof infos[0].posix_uuid_np) != 0);
}

/* A name that the flush did not look for again.  False: there was no @n-th write at the shutdown. */
static bool fail_at_the_end(unsigned n)
{
	int fd = pxt_temp_file();
	trace_id_t trid = create_append(fd);
	bool reached;
	int error;

	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1);
	PXT_EQ(posix_trace_flush(trid), 0);
	(void)pthread_setname_np(pthread_self(), n % 2 ? "odd" : "even");
	pxt_fault_arm(&pxt_fault_write, n, ENOSPC);
	error = posix_trace_shutdown(trid);
	reached = atomic_load(&pxt_fault_write.calls) >= n;
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_CHECK(error == (reached ? ENOSPC : 0), "write %u: %d", n, error);
	(void)close(fd);
	return reached;
}

/* SHUT-E3: also that of the names, behind which the trailer has room. */
PXT_TEST(whichever_write_of_the_shutdown_fails_it_is_told)
{
	unsigned n = 1;

	while (fail_at_the_end(n))
		n++;
	/* Events, the name, the trailer. */
	if (!pxt_skip_emulated("it does not tell descriptors of threads"))
		PXT_CHECK(n > 3, "only %u writes", n);
}

PXT_TEST(a_description_that_came_late_is_in_the_log)
{
	int fd = pxt_temp_file();
	trace_id_t trid = create_append(fd);
	trace_event_id_t id = 0;
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_eventid_open("described late", &id), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 job"), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trace_id_t log = pxt_open_log(fd);
	PXT_EQ(posix_trace_eventid_getformat_np(log, id, format, sizeof(format)), 0);
	CU_ASSERT_STRING_EQUAL(format, "u32 job");
	lk_close_log(log, fd);
}

/* SYS-12, DEC-15: marks that are filtered are left out, the flush is the same */
PXT_TEST(filtered_marks_are_left_out)
{
	int fd = pxt_temp_file();
	trace_id_t trid = create_append(fd);
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_FLUSH_START, &set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_FLUSH_STOP, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1);
	PXT_EQ(posix_trace_flush(trid), 0);
	st_say(2);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trace_id_t log = pxt_open_log(fd);
	st_expect(log, "START 1..2 STOP0");
	lk_close_log(log, fd);
}

/* ---- A file that cannot be read for a moment ---- */

/* All events from here on, with their data, as one number; @errors: calls that said EIO. */
static uint64_t sum_of_rest(trace_id_t trid, unsigned *errors)
{
	struct posix_trace_event_info event;
	unsigned char data[512];
	uint64_t sum = 0;
	int unavailable = 0;
	size_t len = 0;

	while (!unavailable && *errors < 100) {
		int error =
		    posix_trace_getnext_event(trid, &event, data, sizeof(data), &len, &unavailable);

		CU_ASSERT(error == 0 || error == EIO);
		*errors += error == EIO;
		if (error) {
			pxt_fault_arm(&pxt_fault_read, 0, 0);
			unavailable = 0;
			continue;
		}
		sum = sum * 31u + event.posix_event_id + (uint64_t)event.posix_timestamp.tv_nsec;
		for (size_t i = 0; i < len && !unavailable; i++)
			sum = sum * 31u + data[i];
	}
	return sum;
}

/* A read that fails leaves nothing after of what it had stored, wherever the reader goes. */
PXT_TEST(behind_a_read_that_failed_everything_is_as_before_it)
{
	int fd = pxt_temp_file();
	trace_id_t trid = create_append(fd);
	unsigned failed = 0;
	unsigned errors = 0;
	uint64_t whole;
	trace_id_t log;

	PXT_EQ(posix_trace_start(trid), 0);
	/* More than is read at once. */
	for (int i = 0; i < 240; i++) {
		st_say_many(1 + i * 500, 500 + i * 500);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	log = pxt_open_log(fd);
	whole = sum_of_rest(log, &errors);
	PXT_EQ(errors, 0);
	for (unsigned n = 1; n < 6; n++) {
		PXT_EQ(posix_trace_rewind(log), 0);
		errors = 0;
		pxt_fault_arm(&pxt_fault_read, n, EIO);
		PXT_CHECK(sum_of_rest(log, &errors) == whole, "read %u: goes on otherwise", n);
		pxt_fault_arm(&pxt_fault_read, 0, 0);
		failed += errors;
		PXT_EQ(posix_trace_rewind(log), 0);
		PXT_CHECK(sum_of_rest(log, &errors) == whole, "read %u: is otherwise", n);
	}
	CU_ASSERT(failed > 0);
	lk_close_log(log, fd);
}
