/* SPDX-License-Identifier: MIT */
/*
 * ctlsock_requests.c - what others ask of a stream with a name, in good order and in bad: every request,
 * every kind of malformed message, crowds, silence; and what never comes of it. (LPT-31, LPT-32)
 */
#define _GNU_SOURCE
#include "logs.h"

#include "core/process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static trace_event_id_t tick;

static void record(unsigned events)
{
	if (!tick)
		tick = pxt_open_event("tick");
	for (unsigned i = 0; i < events; i++)
		posix_trace_event(tick, &i, sizeof(i));
}

static bool running(trace_id_t trid)
{
	struct posix_trace_status_info status;

	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	return status.posix_stream_status == POSIX_TRACE_RUNNING;
}

/* ---- Requests ---- */

static void read_events(trace_id_t trid, unsigned count)
{
	struct posix_trace_event_info info;
	char data[256];

	for (unsigned i = 0; i < count; i++) {
		int unavailable = 1;
		size_t len;

		PXT_EQ(posix_trace_trygetnext_event(
		           trid, &info, data, sizeof(data), &len, &unavailable),
		    0);
		PXT_EQ(unavailable, 0);
	}
}

PXT_TEST(status_tells_what_the_stream_is_and_holds)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(FULL, path);
	struct posix_trace_counts_np counts;
	struct pxt_ctlsock_status status;

	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(status.state, PXT_CTLSOCK_STOPPED);
	PXT_EQ(posix_trace_start(trid), 0);
	record(100);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(status.pid, getpid());
	PXT_EQ(status.state, PXT_CTLSOCK_RUNNING);
	PXT_EQ(status.full_policy, FULL);
	PXT_EQ(status.with_log, 0);
	PXT_EQ(status.producers, 0);
	PXT_EQ(status.filtered, 0);
	PXT_EQ(status.written, counts.posix_written_np);
	PXT_EQ(status.held, counts.posix_held_np);
	PXT_EQ(status.lost, 0);
	CU_ASSERT(status.slot_count >= 65536 / 16);
	CU_ASSERT(status.slots_used >= 100 && status.slots_used < status.slot_count);
	CU_ASSERT(status.created_sec > 1600000000 && status.created_nsec < 1000000000);
	CU_ASSERT(strstr(status.executable, "test_attach_ctlsock_requests") != NULL);
	CU_ASSERT(memchr(status.name, '\0', sizeof(status.name)) != NULL);
	read_events(trid, 7);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(status.retrieved, 7);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	CU_ASSERT(counts.posix_cleared_np >= 93);
	PXT_EQ(status.cleared, counts.posix_cleared_np);
	PXT_EQ(status.held, counts.posix_held_np);
	record(20000);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(status.state, PXT_CTLSOCK_FULL);
	CU_ASSERT(status.lost > 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(status.lost, counts.posix_lost_np);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Nobody reads: the writer has gone round its lane.  One more is for the records of other processes. */
PXT_TEST(status_says_that_a_lane_that_was_overwritten_is_full)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	trace_attr_t attr;
	unsigned lanes = 0;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getlanes_np(&attr, &lanes), 0);
	CU_ASSERT_FATAL(lanes > 0);
	PXT_EQ(posix_trace_start(trid), 0);
	for (int i = 0; i < 3; i++) {
		record(10000);
		PXT_EQ(at_status(path, &status), 0);
		CU_ASSERT(status.slots_used >= status.slot_count / (lanes + 1));
		CU_ASSERT(status.slots_used <= status.slot_count);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(start_stop_and_clear_do_what_their_functions_do)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	struct posix_trace_counts_np counts;

	PXT_EQ(at_tell(fd, PXT_CTLSOCK_START), 0);
	CU_ASSERT(running(trid));
	record(10);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STOP), 0);
	CU_ASSERT(!running(trid));
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	CU_ASSERT(counts.posix_held_np >= 10);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_CLEAR), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_held_np, 0);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(flush_needs_a_log)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	int error = at_tell(fd, PXT_CTLSOCK_FLUSH);

	CU_ASSERT(error == EINVAL || error == ENOTSUP);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if _PXT_UNIT_FILTER
static uint32_t filtered(int fd)
{
	const struct at_ask ask = { .what = PXT_CTLSOCK_STATUS };
	struct pxt_ctlsock_reply reply;

	PXT_EQ(at_ask(fd, &ask, &reply, NULL), 0);
	return reply.status.filtered;
}

static uint32_t types_of(trace_id_t trid)
{
	trace_event_id_t id;
	int unavailable = 0;
	uint32_t count = 0;

	PXT_EQ(posix_trace_eventtypelist_rewind(trid), 0);
	while (posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == 0 && !unavailable)
		count++;
	return count;
}

PXT_TEST(filter_takes_names_and_says_which_is_unknown)
{
	static const char names[] = "tick\0tock";
	char path[PXT_CTLSOCK_PATH];
	char text[256];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	struct at_ask ask = { .what = PXT_CTLSOCK_FILTER,
		.how = POSIX_TRACE_SET_EVENTSET,
		.text = names,
		.bytes = sizeof(names) };
	trace_event_set_t set;
	int member = 0;

	tick = pxt_open_event("tick");
	PXT_EQ(at_ask(fd, &ask, NULL, text), EINVAL);
	CU_ASSERT_STRING_EQUAL(text, "no event type tock");
	PXT_EQ(filtered(fd), 0);
	ask.bytes = 5;
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), 0);
	PXT_EQ(filtered(fd), 1);
	PXT_EQ(posix_trace_get_filter(trid, &set), 0);
	PXT_EQ(posix_trace_eventset_ismember(tick, &set, &member), 0);
	CU_ASSERT(member);
	ask.how = POSIX_TRACE_ADD_EVENTSET;
	ask.text = "posix_trace_start";
	ask.bytes = sizeof("posix_trace_start");
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), 0);
	PXT_EQ(filtered(fd), 2);
	ask.how = POSIX_TRACE_SUB_EVENTSET;
	ask.text = names;
	ask.bytes = 5;
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), 0);
	PXT_EQ(filtered(fd), 1);
	ask.how = 77;
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), EINVAL);
	/* None at all: an empty set. */
	ask.how = POSIX_TRACE_SET_EVENTSET;
	ask.bytes = 0;
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), 0);
	PXT_EQ(filtered(fd), 0);
	/* All are those that have a name. */
	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(filtered(fd), types_of(trid));
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_name_that_begins_as_a_known_one_is_unknown)
{
	static const char longer[] = "ticks";
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	const struct at_ask ask = { .what = PXT_CTLSOCK_FILTER,
		.how = POSIX_TRACE_SET_EVENTSET,
		.text = longer,
		.bytes = sizeof(longer) };

	tick = pxt_open_event("tick");
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), EINVAL);
	PXT_EQ(filtered(fd), 0);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_name_that_is_unknown_is_told_as_far_as_there_is_room)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	char name[200];
	char text[256];
	const struct at_ask ask = { .what = PXT_CTLSOCK_FILTER,
		.how = POSIX_TRACE_SET_EVENTSET,
		.text = name,
		.bytes = sizeof(name) };

	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	PXT_EQ(at_ask(fd, &ask, NULL, text), EINVAL);
	CU_ASSERT(strncmp(text, "no event type xxx", 17) == 0);
	/* With its end it fills what a text of an answer has. */
	PXT_EQ(strlen(text), 127);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Others could fill the table of names. */
PXT_TEST(a_filter_defines_no_names)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd = at_connect(path);
	char name[32];
	char all[PXT_CTLSOCK_TEXT];
	struct at_ask ask = { .what = PXT_CTLSOCK_FILTER, .how = POSIX_TRACE_SET_EVENTSET };

	for (int i = 0; i < 300; i++) {
		ask.text = name;
		ask.bytes = (uint32_t)snprintf(name, sizeof(name), "stranger%d", i) + 1;
		PXT_EQ(at_ask(fd, &ask, NULL, NULL), EINVAL);
	}
	CU_ASSERT(!pxt_has_type(trid, pxt_open_event("one more") + 1));
	/* As much text as there may be: empty names, or a single one without an end before the last byte. */
	memset(all, 0, sizeof(all));
	ask.text = all;
	ask.bytes = sizeof(all);
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), EINVAL);
	memset(all, 'x', sizeof(all) - 1);
	PXT_EQ(at_ask(fd, &ask, NULL, NULL), EINVAL);
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	(void)close(fd);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- Malformed messages ---- */

#define GOOD                                                                                       \
	{                                                                                          \
		.magic = PXT_CTLSOCK_MAGIC, .version = PXT_CTLSOCK_VERSION,                        \
		.what = PXT_CTLSOCK_STATUS                                                         \
	}

/* The answer to it, and that nothing more comes. */
static int answer_to(
    const char *path, const void *bytes, size_t length, const int *passed, unsigned count)
{
	struct pxt_ctlsock_reply reply = { .error = -1 };
	int fd = at_connect(path);
	long got;

	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ(at_send(fd, bytes, length, passed, count), 0);
	got = at_hear(fd, &reply, NULL);
	CU_ASSERT(got == 0 || got >= (long)sizeof(reply));
	CU_ASSERT(at_ended(fd));
	(void)close(fd);
	return got == 0 ? -1 : reply.error;
}

PXT_TEST(a_message_of_another_length_ends_the_connection)
{
	struct {
		struct pxt_ctlsock_request request;
		char text[PXT_CTLSOCK_TEXT + 64];
	} out = { .request = GOOD };
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	const size_t whole = sizeof(out.request);

	for (size_t length = 1; length < whole; length++)
		PXT_EQ(answer_to(path, &out, length, NULL, 0), EPROTO);
	PXT_EQ(answer_to(path, &out, 0, NULL, 0), -1);
	PXT_EQ(answer_to(path, &out, whole + 1, NULL, 0), EPROTO);
	PXT_EQ(answer_to(path, &out, whole + PXT_CTLSOCK_TEXT, NULL, 0), EPROTO);
	PXT_EQ(answer_to(path, &out, whole + PXT_CTLSOCK_TEXT + 1, NULL, 0), EPROTO);
	PXT_EQ(answer_to(path, &out, sizeof(out), NULL, 0), EPROTO);
	out.request.text_bytes = 1;
	PXT_EQ(answer_to(path, &out, whole, NULL, 0), EPROTO);
	out.request.text_bytes = UINT32_MAX;
	PXT_EQ(answer_to(path, &out, whole, NULL, 0), EPROTO);
	PXT_EQ(answer_to(path, &out, whole + PXT_CTLSOCK_TEXT, NULL, 0), EPROTO);
	out.request.text_bytes = (uint32_t) - sizeof(out.request);
	PXT_EQ(answer_to(path, &out, whole, NULL, 0), EPROTO);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_message_with_other_words_ends_the_connection)
{
	static const struct {
		struct pxt_ctlsock_request request;
		const char *what;
		int error;
	} wrong[] = {
		{ { .version = PXT_CTLSOCK_VERSION, .what = PXT_CTLSOCK_STATUS }, "no magic",
		    EPROTO },
		{ { .magic = 0x50545844,
		      .version = PXT_CTLSOCK_VERSION,
		      .what = PXT_CTLSOCK_STATUS },
		    "the other byte order", EPROTO },
		{ { .magic = PXT_CTLSOCK_MAGIC, .what = PXT_CTLSOCK_STATUS }, "version 0",
		    ENOTSUP },
		{ { .magic = PXT_CTLSOCK_MAGIC, .version = PXT_CTLSOCK_VERSION + 1 },
		    "the next version", ENOTSUP },
		{ { .magic = PXT_CTLSOCK_MAGIC, .version = PXT_CTLSOCK_VERSION }, "request 0",
		    EPROTO },
		{ { .magic = PXT_CTLSOCK_MAGIC, .version = PXT_CTLSOCK_VERSION, .what = 10 },
		    "request 10", EPROTO },
		{ { .magic = PXT_CTLSOCK_MAGIC,
		      .version = PXT_CTLSOCK_VERSION,
		      .what = UINT32_MAX },
		    "request -1", EPROTO },
	};
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		int got = answer_to(path, &wrong[i].request, sizeof(wrong[i].request), NULL, 0);

		PXT_CHECK(got == wrong[i].error, "%s: %d", wrong[i].what, got);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_text_without_an_end_or_a_use_ends_the_connection)
{
	struct {
		struct pxt_ctlsock_request request;
		char text[8];
	} out = { .request = GOOD, .text = "name" };
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);

	out.request.what = PXT_CTLSOCK_FILTER;
	out.request.text_bytes = 4;
	PXT_EQ(answer_to(path, &out, sizeof(out.request) + 4, NULL, 0), EPROTO);
	out.request.what = PXT_CTLSOCK_START;
	out.request.text_bytes = 5;
	PXT_EQ(answer_to(path, &out, sizeof(out.request) + 5, NULL, 0), EPROTO);
	CU_ASSERT(!running(trid));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(descriptors_come_where_they_are_needed_and_as_many)
{
	struct pxt_ctlsock_request out = GOOD;
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	int passed[4] = { at_memfd(), at_memfd(), at_memfd(), at_memfd() };
	unsigned before = at_descriptors();

	for (uint32_t what = PXT_CTLSOCK_ATTACH; what <= PXT_CTLSOCK_FOLLOW; what++) {
		unsigned needed = what == PXT_CTLSOCK_ATTACH                                   ? 2
		                  : what == PXT_CTLSOCK_SNAPSHOT || what == PXT_CTLSOCK_FOLLOW ? 1
		                                                                               : 0;

		out.what = what;
		for (unsigned count = 0; count <= 4; count++) {
			if (count != needed)
				PXT_EQ(answer_to(path, &out, sizeof(out), passed, count), EPROTO);
		}
	}
	/* Also with messages that nobody could read. */
	PXT_EQ(answer_to(path, &out, 3, passed, 1), EPROTO);
	PXT_EQ(answer_to(path, &out, 3, passed, 4), EPROTO);
	PXT_EQ(at_status(path, &status), 0);
	CU_ASSERT(at_closed_down_to(before));
	for (unsigned i = 0; i < 4; i++)
		(void)close(passed[i]);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Attaching with what is no stream ---- */

static int attach_with_both(const char *path, int stream, int directory, int source)
{
	const int passed[2] = { stream, directory };
	struct pxt_ctlsock_request out = { .magic = PXT_CTLSOCK_MAGIC,
		.version = PXT_CTLSOCK_VERSION,
		.what = PXT_CTLSOCK_ATTACH,
		.hz = pxt_clock.hz,
		.clock_source = (uint32_t)source };
	struct pxt_ctlsock_reply reply = { .error = -1 };
	int fd = at_connect(path);

	PXT_EQ(at_send(fd, &out, sizeof(out), passed, 2), 0);
	CU_ASSERT(at_hear(fd, &reply, NULL) >= (long)sizeof(reply));
	/* It may still ask. */
	PXT_EQ(at_tell(fd, PXT_CTLSOCK_STATUS), 0);
	(void)close(fd);
	return reply.error;
}

static int attach_with(const char *path, int stream, int source)
{
	return attach_with_both(path, stream, stream, source);
}

/* Memory that another process may map without fear, of zeros. */
static int settled(off_t bytes)
{
	int fd = at_memfd();

	PXT_EQ(posix_fallocate(fd, 0, bytes), 0);
	PXT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | 0x0010 /* F_SEAL_FUTURE_WRITE */), 0);
	return fd;
}

/* The stream is looked at first, and would do as memory. */
PXT_TEST(what_is_no_directory_is_not_attached)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	int stream = settled(1 << 20);
	int large = settled(8 << 20);
	int huge = settled(72 << 20);
	int open_memory = at_memfd();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	unsigned before = at_descriptors();

	PXT_EQ(attach_with_both(path, stream, null, (int)pxt_clock.source), EINVAL);
	PXT_EQ(attach_with_both(path, stream, open_memory, (int)pxt_clock.source), EINVAL);
	PXT_EQ(attach_with_both(path, stream, large, (int)pxt_clock.source), ENOTSUP);
	PXT_EQ(attach_with_both(path, huge, stream, (int)pxt_clock.source), ENOTSUP);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(status.producers, 0);
	CU_ASSERT(at_closed_down_to(before));
	(void)close(stream);
	(void)close(large);
	(void)close(huge);
	(void)close(open_memory);
	(void)close(null);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(what_is_no_stream_is_not_attached)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	int memory = at_memfd();
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];
	unsigned before;

	PXT_EQ(pipe(ends), 0);
	before = at_descriptors();
	PXT_EQ(attach_with(path, memory, (int)pxt_clock.source + 1), ENOTSUP);
	PXT_EQ(attach_with(path, null, (int)pxt_clock.source), EINVAL);
	PXT_EQ(attach_with(path, ends[0], (int)pxt_clock.source), EINVAL);
	PXT_EQ(attach_with(path, memory, (int)pxt_clock.source), EINVAL);
	PXT_EQ(ftruncate(memory, 1 << 20), 0);
	PXT_EQ(attach_with(path, memory, (int)pxt_clock.source), EINVAL);
	PXT_EQ(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	CU_ASSERT(attach_with(path, memory, (int)pxt_clock.source) != 0);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(status.producers, 0);
	CU_ASSERT(at_closed_down_to(before));
	(void)close(memory);
	(void)close(null);
	(void)close(ends[0]);
	(void)close(ends[1]);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if CONFIG_PTRACE_SYSEV_ERROR
/* LPT-25 */
PXT_TEST(who_is_not_attached_is_an_error_event_of_the_stream)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_got event;
	int memory = at_memfd();
	int data = POSIX_TRACE_ERROR_OF_NP(POSIX_TRACE_ERROR_ATTACH_NP, ENOTSUP);

	PXT_EQ(posix_trace_start(trid), 0);
	CU_ASSERT(pxt_next(trid, &event)); /* START */
	PXT_EQ(attach_with(path, memory, (int)pxt_clock.source + 1), ENOTSUP);
	pxt_expect(trid, POSIX_TRACE_ERROR, &data, sizeof(data));
	pxt_expect_none(trid);
	(void)close(memory);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- Crowds ---- */

#define CROWD (AT_PLACES + 30)

/* Whoever has said nothing for longest goes; who comes last is heard. */
PXT_TEST(more_connections_than_places_push_out_the_silent_ones)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	unsigned before;
	int fd[CROWD];
	int asks;

	before = at_descriptors();
	for (unsigned i = 0; i < CROWD; i++) {
		fd[i] = at_connect(path);
		CU_ASSERT_FATAL(fd[i] >= 0);
	}
	asks = at_connect(path);
	PXT_EQ(at_tell(asks, PXT_CTLSOCK_STATUS), 0);
	CU_ASSERT(at_ended(fd[0]));
	CU_ASSERT(at_descriptors() <= before + CROWD + 1 + AT_PLACES);
	PXT_EQ(at_tell(fd[CROWD - 1], PXT_CTLSOCK_STATUS), 0);
	for (unsigned i = 0; i < CROWD; i++)
		(void)close(fd[i]);
	PXT_EQ(at_tell(asks, PXT_CTLSOCK_STATUS), 0);
	(void)close(asks);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(as_many_connections_as_there_are_places_are_all_heard)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd[AT_PLACES];

	for (unsigned i = 0; i < AT_PLACES; i++)
		fd[i] = at_connect(path);
	for (unsigned i = 0; i < AT_PLACES; i++) {
		PXT_EQ(at_tell(fd[i], PXT_CTLSOCK_STATUS), 0);
		(void)close(fd[i]);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* The first one came first, but asks again when all are there: so the second one goes. */
PXT_TEST(who_asked_lately_is_not_pushed_out_for_having_come_first)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	int fd[AT_PLACES + 1];

	for (unsigned i = 0; i < AT_PLACES; i++) {
		fd[i] = at_connect(path);
		/* It is let in, in a turn of its own. */
		PXT_EQ(at_tell(fd[i], PXT_CTLSOCK_STATUS), 0);
	}
	PXT_EQ(at_tell(fd[0], PXT_CTLSOCK_STATUS), 0);
	fd[AT_PLACES] = at_connect(path);
	PXT_EQ(at_tell(fd[AT_PLACES], PXT_CTLSOCK_STATUS), 0);
	CU_ASSERT(at_ended(fd[1]));
	PXT_EQ(at_tell(fd[0], PXT_CTLSOCK_STATUS), 0);
	for (unsigned i = 0; i <= AT_PLACES; i++)
		(void)close(fd[i]);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static long long own_time_ns(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return pxt_ns(&time);
}

/* The owner has no descriptor for who comes: it waits until there is one, and the helper does not spin. */
PXT_TEST(without_descriptors_clients_wait)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_status status;
	struct rlimit limit;
	struct rlimit low;
	long long begin;
	int exited = -1;
	int taken[64];
	unsigned used = 0;
	pid_t client;

	PXT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
	low = limit;
	low.rlim_cur = 64;
	client = fork();
	if (client == 0) {
		pxt_sleep_ms(50);
		_exit(at_status(path, &status) == 0 ? 0 : 1);
	}
	PXT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
	while (used < 64 && (taken[used] = dup(STDIN_FILENO)) >= 0)
		used++;
	begin = own_time_ns();
	pxt_sleep_ms(400);
	CU_ASSERT(waitpid(client, &exited, WNOHANG) == 0);
	PXT_CHECK(own_time_ns() - begin < 100000000ll, "%lld ns", own_time_ns() - begin);
	while (used)
		(void)close(taken[--used]);
	PXT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
	CU_ASSERT(waitpid(client, &exited, 0) == client);
	PXT_EQ(exited, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* It asks on and on and never takes an answer. */
PXT_TEST(who_does_not_listen_holds_up_nobody)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_request out = GOOD;
	struct pxt_ctlsock_status status;
	int fd = at_connect(path);
	int error = 0;
	long long begin = pxt_now_ns();

	PXT_EQ(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 100000 && error != EPIPE; i++) {
		error = at_send(fd, &out, sizeof(out), NULL, 0);
		if (error == EAGAIN)
			pxt_sleep_ms(1);
	}
	PXT_EQ(error, EPIPE);
	PXT_EQ(at_status(path, &status), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(pxt_now_ns() - begin < 20000000000ll);
	(void)close(fd);
}

/* Silent ones, and a message that nobody has taken yet. */
PXT_TEST(shutdown_waits_for_no_client)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(LOOP, path);
	struct pxt_ctlsock_request out = GOOD;
	int fd[20];
	long long begin;

	for (unsigned i = 0; i < 20; i++) {
		fd[i] = at_connect(path);
		if (i % 2)
			PXT_EQ(at_send(fd[i], &out, sizeof(out), NULL, 0), 0);
	}
	begin = pxt_now_ns();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_CHECK(pxt_now_ns() - begin < 500000000ll, "%lld ns", pxt_now_ns() - begin);
	for (unsigned i = 0; i < 20; i++) {
		CU_ASSERT(at_ended(fd[i]));
		(void)close(fd[i]);
	}
}
