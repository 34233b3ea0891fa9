/* SPDX-License-Identifier: MIT */
/* suite_trace.c - streams, logs and events for tests. */
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

/* Of a library with test points (format/compiler.h), where a test does not define it. */
__attribute__((weak)) void (*_Atomic pxt_testpoint_hook)(int point);

struct policy_row {
	int policy;
	bool stream;
	bool log;
};
/* In the order in which the default of a log is looked for. */
static const struct policy_row policies[] = {
	{ POSIX_TRACE_LOOP, CONFIG_PTRACE_POLICY_LOOP, CONFIG_PTRACE_LOG_LOOP },
	{ POSIX_TRACE_UNTIL_FULL, CONFIG_PTRACE_POLICY_UNTIL_FULL, CONFIG_PTRACE_LOG_UNTIL_FULL },
	{ POSIX_TRACE_FLUSH, CONFIG_PTRACE_POLICY_FLUSH, false },
	{ POSIX_TRACE_APPEND, false, CONFIG_PTRACE_LOG_APPEND },
	{ POSIX_TRACE_DISCARD_NP, CONFIG_PTRACE_POLICY_DISCARD, false },
};
#define POLICIES (sizeof(policies) / sizeof(policies[0]))

bool pxt_stream_policy_exists(int policy)
{
	for (size_t i = 0; i < POLICIES; i++) {
		if (policies[i].policy == policy)
			return policies[i].stream;
	}
	return false;
}

bool pxt_log_policy_exists(int policy)
{
	for (size_t i = 0; i < POLICIES; i++) {
		if (policies[i].policy == policy)
			return policies[i].log;
	}
	return false;
}

int pxt_default_stream_policy_is(bool with_log)
{
	if (with_log && pxt_stream_policy_exists(POSIX_TRACE_FLUSH))
		return POSIX_TRACE_FLUSH;
	if (with_log && pxt_stream_policy_exists(POSIX_TRACE_UNTIL_FULL))
		return POSIX_TRACE_UNTIL_FULL;
	if (pxt_stream_policy_exists(POSIX_TRACE_LOOP))
		return POSIX_TRACE_LOOP;
	return POSIX_TRACE_UNTIL_FULL;
}

int pxt_default_log_policy_is(void)
{
	for (size_t i = 0; i < POLICIES; i++) {
		if (policies[i].log)
			return policies[i].policy;
	}
	return -1;
}

int pxt_temp_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/pxt-test-XXXXXX", folder ? folder : "/tmp");
	fd = mkstemp(path);
	CU_ASSERT_FATAL(fd >= 0);
	unlink(path);
	return fd;
}

#if _PXT_UNIT_CORE
void pxt_attr(trace_attr_t *attr, size_t stream_bytes, size_t data_bytes, int policy)
{
	PXT_EQ_FATAL(posix_trace_attr_init(attr), 0);
	if (stream_bytes)
		PXT_EQ_FATAL(posix_trace_attr_setstreamsize(attr, stream_bytes), 0);
	if (data_bytes)
		PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(attr, data_bytes), 0);
	if (policy)
		PXT_EQ_FATAL(posix_trace_attr_setstreamfullpolicy(attr, policy), 0);
}
#endif

#if _PXT_UNIT_ONLINE
trace_id_t pxt_any_stream(const trace_attr_t *attr)
{
	trace_id_t trid = 0;

	PXT_EQ_FATAL(posix_trace_create(0, attr, &trid), 0);
	return trid;
}

trace_id_t pxt_stream(size_t stream_bytes, size_t data_bytes, int policy)
{
	trace_attr_t attr;

	pxt_attr(&attr, stream_bytes, data_bytes, policy);
	return pxt_any_stream(&attr);
}

trace_id_t pxt_running_stream(size_t stream_bytes, size_t data_bytes, int policy)
{
	trace_id_t trid = pxt_stream(stream_bytes, data_bytes, policy);
	struct pxt_got event;

	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	if (pxt_has_type(trid, POSIX_TRACE_START)) {
		CU_ASSERT_FATAL(pxt_next(trid, &event));
		PXT_EQ(event.info.posix_event_id, POSIX_TRACE_START);
	}
	return trid;
}

bool pxt_next(trace_id_t trid, struct pxt_got *event)
{
	int unavailable = -1;

	event->len = 0;
	PXT_EQ_FATAL(posix_trace_trygetnext_event(trid, &event->info, event->data,
	                 sizeof(event->data), &event->len, &unavailable),
	    0);
	CU_ASSERT_FATAL(unavailable != -1);
	return unavailable == 0;
}

void pxt_expect(trace_id_t trid, trace_event_id_t id, const void *data, size_t len)
{
	struct pxt_got event;

	if (!pxt_next(trid, &event)) {
		PXT_CHECK(false, "no event where %u was expected", (unsigned)id);
		return;
	}
	PXT_EQ(event.info.posix_event_id, id);
	PXT_EQ(event.len, len);
	if (len != 0 && event.len == len)
		PXT_CHECK(
		    memcmp(event.data, data, len) == 0, "other data in event %u", (unsigned)id);
}

void pxt_expect_none(trace_id_t trid)
{
	struct pxt_got event;

	if (pxt_next(trid, &event))
		PXT_CHECK(
		    false, "event %u where none was expected", (unsigned)event.info.posix_event_id);
}

size_t pxt_drain(trace_id_t trid, trace_event_id_t id)
{
	struct pxt_got event;
	size_t count = 0;

	while (pxt_next(trid, &event))
		count += event.info.posix_event_id == id;
	return count;
}
#elif _PXT_UNIT_TOLOG
trace_id_t pxt_any_stream(const trace_attr_t *attr)
{
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(attr, fd);

	/* The library keeps a descriptor of its own (DEC-22). */
	close(fd);
	return trid;
}
#endif

#if _PXT_UNIT_TOLOG
trace_id_t pxt_log_stream(const trace_attr_t *attr, int fd)
{
	trace_id_t trid = 0;

	PXT_EQ_FATAL(posix_trace_create_withlog(0, attr, fd, &trid), 0);
	return trid;
}
#endif

#if _PXT_UNIT_LOGRETRIEVAL
trace_id_t pxt_open_log(int fd)
{
	trace_id_t trid = 0;

	lseek(fd, 0, SEEK_SET);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	return trid;
}

bool pxt_log_next(trace_id_t trid, struct pxt_got *event)
{
	int unavailable = -1;

	event->len = 0;
	PXT_EQ_FATAL(posix_trace_getnext_event(trid, &event->info, event->data, sizeof(event->data),
	                 &event->len, &unavailable),
	    0);
	CU_ASSERT_FATAL(unavailable != -1);
	return unavailable == 0;
}
#endif

#if _PXT_UNIT_USEREVENTS
trace_event_id_t pxt_open_event(const char *name)
{
	trace_event_id_t id = 0;

	PXT_EQ_FATAL(posix_trace_eventid_open(name, &id), 0);
	CU_ASSERT_FATAL(id != 0);
	return id;
}
#endif

bool pxt_has_type(trace_id_t trid, trace_event_id_t id)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	return posix_trace_eventid_get_name(trid, id, name) == 0;
}

long long pxt_ns(const struct timespec *time)
{
	return (long long)time->tv_sec * 1000000000LL + time->tv_nsec;
}

long long pxt_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return pxt_ns(&now);
}

long long pxt_monotonic_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return pxt_ns(&now);
}

struct timespec pxt_in_ms(long ms)
{
	long long ns = pxt_now_ns() + ms * 1000000LL;
	struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	return time;
}

/* Less than a second. */
void pxt_sleep_us(unsigned us)
{
	struct timespec pause = { 0, (long)us * 1000 };

	(void)nanosleep(&pause, NULL);
}

void pxt_sleep_ms(long ms)
{
	struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
		;
}
