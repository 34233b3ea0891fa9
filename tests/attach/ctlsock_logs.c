/* SPDX-License-Identifier: MIT */
/*
 * ctlsock_logs.c - logs for those who ask: of what a stream holds at one moment, and of what comes.
 * (LPT-31, LPT-32, SHARK-21)
 */
#define _GNU_SOURCE
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static trace_event_id_t tick;

static void record(unsigned first, unsigned last)
{
	if (!tick)
		tick = pxt_open_event("tick");
	for (unsigned i = first; i <= last; i++)
		posix_trace_event(tick, &i, sizeof(i));
}

static int ask_with(int fd, uint32_t what, int passed)
{
	const struct at_ask ask = { .what = what, .passed = passed };

	return at_ask(fd, &ask, NULL, NULL);
}

/* What a log says: numbers of ticks in a row, and what was lost between. */
struct story {
	unsigned ticks;
	unsigned first;
	unsigned last;
	unsigned jumps; /* a number that is not the one before and 1 */
	unsigned backward;
	unsigned starts;
	unsigned stops;
	uint64_t lost;
	bool complete;
};

static void hear_event(struct story *story, const struct pxt_got *event, trace_event_id_t type)
{
	struct posix_trace_eventextra_np extra;
	unsigned number;

	PXT_EQ(posix_trace_eventinfo_getextra_np(&event->info, &extra, sizeof(extra)), 0);
	story->lost += extra.posix_lost_before_np;
	story->starts += event->info.posix_event_id == POSIX_TRACE_START;
	story->stops += event->info.posix_event_id == POSIX_TRACE_STOP;
	if (event->info.posix_event_id != type)
		return;
	memcpy(&number, event->data, sizeof(number));
	if (!story->ticks)
		story->first = number;
	else if (number <= story->last)
		story->backward++;
	else if (number != story->last + 1)
		story->jumps++;
	story->ticks++;
	story->last = number;
}

/* Reads on in a log that grows, or is complete. */
static void hear(trace_id_t log, struct story *story)
{
	struct pxt_got event;
	trace_event_id_t type = 0;

	while (pxt_log_next(log, &event)) {
		char name[TRACE_EVENT_NAME_MAX + 1];

		if (!type &&
		    posix_trace_eventid_get_name(log, event.info.posix_event_id, name) == 0 &&
		    strcmp(name, "tick") == 0)
			type = event.info.posix_event_id;
		hear_event(story, &event, type);
	}
}

/* A complete log, also in the eyes of the one who looks at every sum. */
static struct story complete(int fd)
{
	struct posix_trace_logfinding_np finding = { .posix_reason_np = "" };
	struct posix_trace_logcheck_np result;
	struct story story = { 0 };
	trace_id_t log = 0;
	int error = posix_trace_log_check_np(
	    fd, &result, sizeof(result), &finding, sizeof(finding), 1, NULL, NULL);

	PXT_EQ(error, 0);
	PXT_CHECK(result.posix_findings_np == 0 && result.posix_complete_np, "%s",
	    finding.posix_reason_np);
	error = posix_trace_open(fd, &log);
	PXT_EQ(error, 0);
	if (error)
		return story;
	hear(log, &story);
	PXT_EQ(posix_trace_close(log), 0);
	story.complete = true;
	return story;
}

/* ---- The stream's own log ---- */

PXT_TEST(a_flush_puts_what_there_is_into_the_stream_s_log)
{
	char path[PXT_CTLSOCK_PATH];
	int file = pxt_temp_file();
	struct posix_trace_counts_np counts;
	struct pxt_ctlsock_status status;
	trace_attr_t attr;
	trace_id_t trid;
	int fd;

	at_path(path);
	pxt_attr(&attr, 65536, 64, 0);
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, path), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, file, &trid), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	record(1, 100);
	fd = at_connect(path);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_FLUSH), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	CU_ASSERT(counts.posix_retrieved_np >= 100);
	PXT_EQ(at_status(path, &status), 0);
	CU_ASSERT(status.with_log != 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(complete(file).ticks, 100);
	(void)close(file);
	(void)close(fd);
}

/* ---- Snapshots ---- */

PXT_TEST(a_snapshot_is_a_complete_log_and_the_stream_goes_on)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	struct story story;

	PXT_EQ(posix_trace_start(trid), 0);
	record(1, 100);
	for (int round = 0; round < 3; round++) {
		int memory = at_memfd();

		PXT_EQ(ask_with(fd, PXT_CTLSOCK_SNAPSHOT, memory), 0);
		story = complete(memory);
		PXT_EQ(story.ticks, 100);
		PXT_EQ(story.starts, 1);
		(void)close(memory);
	}
	record(101, 101);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(only_files_that_keep_nobody_waiting_take_logs)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int memory = at_memfd();
	char name[64];
	int readable;
	int ends[2];

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", memory);
	readable = open(name, O_RDONLY | O_CLOEXEC);
	PXT_EQ(pipe(ends), 0);
	for (uint32_t what = PXT_CTLSOCK_SNAPSHOT; what <= PXT_CTLSOCK_FOLLOW; what++) {
		PXT_EQ(ask_with(fd, what, null), EINVAL);
		PXT_EQ(ask_with(fd, what, ends[1]), EINVAL);
		PXT_EQ(ask_with(fd, what, fd), EINVAL);
		PXT_EQ(ask_with(fd, what, readable), EINVAL);
	}
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	(void)close(null);
	(void)close(memory);
	(void)close(readable);
	(void)close(ends[0]);
	(void)close(ends[1]);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/*
 * It is a regular file, and a write at a page that another process has to supply takes as long as that
 * one likes.  Here the page is there: what is written would be seen.
 */
PXT_TEST(a_file_of_proc_takes_no_log)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	int name = open("/proc/self/comm", O_RDWR | O_CLOEXEC);
	unsigned char *page =
	    mmap(NULL, 1u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL(page != MAP_FAILED && memory >= 0 && name >= 0);
	for (uint32_t what = PXT_CTLSOCK_SNAPSHOT; what <= PXT_CTLSOCK_FOLLOW; what++) {
		PXT_EQ(lseek(memory, (off_t)(uintptr_t)page, SEEK_SET), (off_t)(uintptr_t)page);
		PXT_EQ(ask_with(fd, what, memory), EINVAL);
		PXT_EQ(ask_with(fd, what, name), EINVAL);
	}
	for (size_t i = 0; i < 1u << 20; i += 64)
		CU_ASSERT(page[i] == 0);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	(void)munmap(page, 1u << 20);
	(void)close(memory);
	(void)close(name);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Following ---- */

struct reading {
	trace_id_t log;
	struct story story;
	unsigned until;
};

static bool heard_up_to(void *of)
{
	struct reading *reading = of;

	hear(reading->log, &reading->story);
	return reading->story.last >= reading->until;
}

PXT_TEST(a_follower_gets_what_was_there_and_what_comes)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int memory = at_memfd();
	struct reading reading = { .until = 50 };
	struct story story;

	PXT_EQ(posix_trace_start(trid), 0);
	record(1, 50);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
	PXT_EQ_FATAL(
	    posix_trace_log_open_np(&memory, 1, POSIX_TRACE_OPEN_GROWING_NP, &reading.log, NULL, 0),
	    0);
	CU_ASSERT(at_until(heard_up_to, &reading));
	for (unsigned i = 1; i <= 10; i++) {
		record(i * 50 + 1, i * 50 + 50);
		reading.until = i * 50 + 50;
		CU_ASSERT(at_until(heard_up_to, &reading));
	}
	PXT_EQ(reading.story.ticks, 550);
	PXT_EQ(reading.story.jumps, 0);
	PXT_EQ(reading.story.lost, 0);
	PXT_EQ(posix_trace_close(reading.log), 0);
	(void)close(fd);
	/* Who looked on took nothing from anybody. */
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(pxt_drain(trid, tick), 550);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	story = complete(memory);
	PXT_EQ(story.ticks, 550);
	(void)close(memory);
}

/* The stream's own reader takes everything away: whoever follows gets it all the same. */
PXT_TEST(a_follower_does_not_depend_on_the_stream_s_reader)
{
	static const int policies[] = { LOOP, FULL };

	for (unsigned p = 0; p < 2; p++) {
		char path[PXT_CTLSOCK_PATH];
		trace_id_t trid = at_stream(policies[p], path);
		int fd = at_connect(path);
		int memory = at_memfd();
		struct story story;

		PXT_EQ(posix_trace_start(trid), 0);
		record(1, 10);
		PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
		for (unsigned i = 1; i <= 30; i++) {
			record(i * 10 + 1, i * 10 + 10);
			(void)pxt_drain(trid, tick);
			pxt_sleep_ms(3);
		}
		PXT_EQ(posix_trace_stop(trid), 0);
		(void)pxt_drain(trid, tick);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		CU_ASSERT(at_ended(fd));
		story = complete(memory);
		PXT_EQ(story.first, 1);
		PXT_EQ(story.ticks, 310);
		PXT_EQ(story.jumps + story.backward, 0);
		PXT_EQ(story.lost, 0);
		PXT_EQ(story.starts, 1);
		PXT_EQ(story.stops, 1);
		(void)close(memory);
		(void)close(fd);
	}
}

/* Far more than the stream holds between two looks. */
PXT_TEST(what_was_overwritten_before_a_look_is_counted)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int memory = at_memfd();
	struct story story;
	unsigned all = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
	for (unsigned round = 0; round < 10; round++) {
		record(all + 1, all + 50000);
		all += 50000;
		pxt_sleep_ms(20);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	story = complete(memory);
	PXT_EQ(story.last, all);
	PXT_EQ(story.backward, 0);
	CU_ASSERT(story.lost > 0);
	PXT_CHECK(story.ticks + story.lost >= all && story.ticks + story.lost <= all + 2,
	    "%u and %llu lost of %u", story.ticks, (unsigned long long)story.lost, all);
	(void)close(memory);
	(void)close(fd);
}

PXT_TEST(automatic_stops_and_starts_are_seen_and_refusals_counted)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(FULL, path);
	int fd = at_connect(path);
	int memory = at_memfd();
	struct posix_trace_counts_np counts;
	struct story story;
	unsigned taken = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
	for (unsigned round = 0; round < 3; round++) {
		record(round * 20000 + 1, round * 20000 + 20000);
		pxt_sleep_ms(150);
		taken += (unsigned)pxt_drain(trid, tick);
		pxt_sleep_ms(150);
	}
	record(100000, 100000);
	taken++;
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	story = complete(memory);
	/* A writer that is kept for longer than the hold-back time in the middle of a record is not waited for. */
	CU_ASSERT(story.ticks <= taken);
	PXT_EQ(story.ticks + story.lost, taken + counts.posix_lost_np);
	PXT_EQ(story.starts, 4);
	PXT_EQ(story.stops, 4);
	PXT_EQ(story.last, 100000);
	(void)close(memory);
	(void)close(fd);
}

/* One lane of 4,096 slots, in which so few are left that no START has room. */
static trace_id_t nearly_full(char path[PXT_CTLSOCK_PATH])
{
	struct pxt_ctlsock_status status;
	trace_attr_t attr;
	trace_id_t trid = 0;
	unsigned number = 1;

	at_path(path);
	pxt_attr(&attr, 65536, 64, FULL);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 1), 0);
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, path), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	record(number, 1800);
	number = 1801;
	do {
		record(number, number);
		number++;
		PXT_EQ(at_status(path, &status), 0);
	} while (status.slots_used < 4096 - 4 && status.state == PXT_CTLSOCK_RUNNING);
	PXT_EQ(status.state, PXT_CTLSOCK_RUNNING);
	return trid;
}

/* They are beside the lanes; the reader gets them, and whoever follows gets them once. */
PXT_TEST(starts_and_stops_that_have_no_room_are_seen_once)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = nearly_full(path);
	int fd = at_connect(path);
	int memory = at_memfd();
	struct pxt_got event;
	struct story story;
	unsigned starts = 0;
	unsigned stops = 0;

	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	pxt_sleep_ms(120);
	PXT_EQ(posix_trace_start(trid), 0);
	pxt_sleep_ms(120);
	PXT_EQ(posix_trace_stop(trid), 0);
	pxt_sleep_ms(120);
	while (pxt_next(trid, &event)) {
		starts += event.info.posix_event_id == POSIX_TRACE_START;
		stops += event.info.posix_event_id == POSIX_TRACE_STOP;
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	story = complete(memory);
	PXT_EQ(starts, 2);
	PXT_EQ(stops, 2);
	PXT_EQ(story.starts, starts);
	PXT_EQ(story.stops, stops);
	(void)close(memory);
	(void)close(fd);
}

/* ---- Who goes, who is too many ---- */

PXT_TEST(a_follower_that_goes_leaves_a_complete_log_and_nothing_else)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	unsigned before = at_descriptors();

	PXT_EQ(posix_trace_start(trid), 0);
	for (unsigned i = 0; i < 20; i++) {
		int fd = at_connect(path);
		int memory = at_memfd();
		struct story story;

		PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
		record(i + 1, i + 1);
		(void)close(fd);
		CU_ASSERT(at_closed_down_to(before + 1));
		story = complete(memory);
		PXT_EQ(story.ticks, i + 1);
		(void)close(memory);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(followers_beyond_their_number_are_told_to_come_again)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd[5];
	int memory[5];

	for (unsigned i = 0; i < 5; i++) {
		fd[i] = at_connect(path);
		memory[i] = at_memfd();
		PXT_EQ(ask_with(fd[i], PXT_CTLSOCK_FOLLOW, memory[i]), i < 4 ? 0 : EAGAIN);
	}
	/* A word too many ends it. */
	PXT_EQ(at_tell(fd[0], PXT_CTLSOCK_STATUS), -1);
	PXT_EQ(ask_with(fd[4], PXT_CTLSOCK_FOLLOW, memory[4]), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (unsigned i = 0; i < 5; i++) {
		CU_ASSERT(complete(memory[i]).complete);
		(void)close(memory[i]);
		(void)close(fd[i]);
	}
}

/* A file that is appended to, with what somebody else wrote. */
static int others_file(void)
{
	int memory = at_memfd();

	PXT_EQ(fcntl(memory, F_SETFL, O_APPEND), 0);
	PXT_EQ(write(memory, "other", 5), 5);
	return memory;
}

PXT_TEST(a_file_that_is_refused_is_not_kept_open)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int memory = others_file();
	unsigned before;

	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), EINVAL);
	before = at_descriptors();
	for (unsigned i = 0; i < 3; i++)
		PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), EINVAL);
	CU_ASSERT(at_closed_down_to(before));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(memory);
	(void)close(fd);
}

/* DEC-21: what somebody else wrote is never appended to. */
PXT_TEST(a_file_that_others_append_to_is_followed_into_while_it_is_empty)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int memory = others_file();

	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), EINVAL);
	PXT_EQ(lseek(memory, 0, SEEK_END), 5);
	PXT_EQ(ftruncate(memory, 0), 0);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(complete(memory).complete);
	(void)close(memory);
	(void)close(fd);
}

/* Sealed, cut short, or full: the connection ends, the stream goes on. */
PXT_TEST(a_file_that_takes_no_more_ends_the_following)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	int fd = at_connect(path);
	int memory = at_memfd();

	PXT_EQ(posix_trace_start(trid), 0);
	record(1, 10);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
	PXT_EQ(fcntl(memory, F_ADD_SEALS, F_SEAL_WRITE), 0);
	record(11, 20);
	CU_ASSERT(at_ended(fd));
	PXT_EQ(at_status(path, &status), 0);
	(void)close(fd);
	fd = at_connect(path);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), EPERM);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_SNAPSHOT, memory), EPERM);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	(void)close(fd);
	(void)close(memory);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Beside everything ---- */

static _Atomic bool ending;

static void *write_on(void *argument)
{
	unsigned *count = argument;

	while (!atomic_load(&ending)) {
		record(*count + 1, *count + 1);
		(*count)++;
		if (*count % 64 == 0)
			pxt_sleep_ms(1);
	}
	return NULL;
}

PXT_TEST(followers_beside_writers_readers_and_control_calls)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int asks = at_connect(path);
	int memory = at_memfd();
	unsigned count = 0;
	struct story story;
	pthread_t writer;

	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(ask_with(fd, PXT_CTLSOCK_FOLLOW, memory), 0);
	atomic_store(&ending, false);
	PXT_EQ_FATAL(pthread_create(&writer, NULL, write_on, &count), 0);
	for (int round = 0; round < 50; round++) {
		int snapshot = at_memfd();

		PXT_EQ(ask_with(asks, PXT_CTLSOCK_SNAPSHOT, snapshot), 0);
		(void)complete(snapshot);
		(void)close(snapshot);
		(void)pxt_drain(trid, tick);
		PXT_EQ(at_tell(asks, round % 5 ? PXT_CTLSOCK_STATUS : PXT_CTLSOCK_CLEAR), 0);
		pxt_sleep_ms(5);
	}
	atomic_store(&ending, true);
	PXT_EQ(pthread_join(writer, NULL), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	story = complete(memory);
	PXT_EQ(story.last, count);
	PXT_EQ(story.backward, 0);
	PXT_CHECK(story.ticks + story.lost == count || story.lost, "%u of %u", story.ticks, count);
	(void)close(memory);
	(void)close(asks);
	(void)close(fd);
}
