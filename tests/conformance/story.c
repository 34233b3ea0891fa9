/* SPDX-License-Identifier: MIT */
/* story.c - helps for tests of streams; see story.h. */
#define _GNU_SOURCE /* sched_setaffinity(): a test of lanes must know on which CPU it traces */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_BYTES 8192

void st_attr(const struct st_spec *spec, trace_attr_t *attr)
{
	CU_ASSERT_EQUAL_FATAL(posix_trace_attr_init(attr), 0);
	if (spec->policy != 0)
		CU_ASSERT_EQUAL(posix_trace_attr_setstreamfullpolicy(attr, spec->policy), 0);
	if (spec->size != 0)
		CU_ASSERT_EQUAL(posix_trace_attr_setstreamsize(attr, spec->size), 0);
	if (spec->max_data != 0)
		CU_ASSERT_EQUAL(posix_trace_attr_setmaxdatasize(attr, spec->max_data), 0);
	if (spec->lanes != 0)
		CU_ASSERT_EQUAL(posix_trace_attr_setlanes_np(attr, spec->lanes), 0);
}

#if _PXT_UNIT_TOLOG
static int create_with_log(const struct st_spec *spec, trace_attr_t *attr, trace_id_t *trid)
{
	if (spec->log_policy != 0)
		CU_ASSERT_EQUAL(posix_trace_attr_setlogfullpolicy(attr, spec->log_policy), 0);
	if (spec->log_size != 0)
		CU_ASSERT_EQUAL(posix_trace_attr_setlogsize(attr, spec->log_size), 0);
	return posix_trace_create_withlog(0, attr, spec->fd, trid);
}
#else
static int create_with_log(const struct st_spec *spec, trace_attr_t *attr, trace_id_t *trid)
{
	return ENOTSUP;
}
#endif

#if _PXT_UNIT_ONLINE
static int create_alone(trace_attr_t *attr, trace_id_t *trid)
{
	return posix_trace_create(0, attr, trid);
}
#else
static int create_alone(trace_attr_t *attr, trace_id_t *trid)
{
	return ENOTSUP;
}
#endif

trace_id_t st_create(const struct st_spec *spec)
{
	trace_attr_t attr;
	trace_id_t trid = 0;
	int error;

	st_attr(spec, &attr);
	error = spec->with_log ? create_with_log(spec, &attr, &trid) : create_alone(&attr, &trid);
	CU_ASSERT_EQUAL_FATAL(error, 0);
	CU_ASSERT_EQUAL(posix_trace_attr_destroy(&attr), 0);
	return trid;
}

trace_id_t st_started(const struct st_spec *spec)
{
	trace_id_t trid = st_create(spec);

	CU_ASSERT_EQUAL(posix_trace_start(trid), 0);
	return trid;
}

trace_event_id_t st_type(void)
{
	static _Atomic trace_event_id_t known;
	trace_event_id_t id = known;

	if (id == 0) {
		CU_ASSERT_EQUAL_FATAL(posix_trace_eventid_open("story_event", &id), 0);
		known = id;
	}
	return id;
}

void st_say(int number)
{
	posix_trace_event(st_type(), &number, sizeof(number));
}

void st_say_many(int first, int last)
{
	for (int number = first; number <= last; number++)
		st_say(number);
}

static unsigned char pattern(int number, size_t i)
{
	return (unsigned char)((unsigned)number * 31u + i * 7u + 1u);
}

void st_say_long(int number, size_t len)
{
	unsigned char data[8192];

	CU_ASSERT_FATAL(len >= sizeof(number) && len <= sizeof(data));
	memcpy(data, &number, sizeof(number));
	for (size_t i = sizeof(number); i < len; i++)
		data[i] = pattern(number, i);
	posix_trace_event(st_type(), data, len);
}

int st_number(const struct st_event *event)
{
	int number = 0;

	if (event->len >= sizeof(number))
		memcpy(&number, event->data, sizeof(number));
	return number;
}

bool st_data_intact(const struct st_event *event)
{
	int number = st_number(event);

	for (size_t i = sizeof(number); i < event->len; i++) {
		if (event->data[i] != pattern(number, i))
			return false;
	}
	return event->len >= sizeof(number);
}

#if _PXT_UNIT_ONLINE
static int get_one(trace_id_t trid, struct st_event *event, int *unavailable)
{
	struct posix_trace_status_info status;
	int error = posix_trace_trygetnext_event(
	    trid, &event->info, event->data, sizeof(event->data), &event->len, unavailable);

	/* A log is read with getnext, which never waits there. */
	if (error == EINVAL && posix_trace_get_status(trid, &status) == 0)
		error = posix_trace_getnext_event(
		    trid, &event->info, event->data, sizeof(event->data), &event->len, unavailable);
	return error;
}
#else
static int get_one(trace_id_t trid, struct st_event *event, int *unavailable)
{
	return posix_trace_getnext_event(
	    trid, &event->info, event->data, sizeof(event->data), &event->len, unavailable);
}
#endif

bool st_take(trace_id_t trid, struct st_event *event)
{
	int unavailable = 77;
	int error = get_one(trid, event, &unavailable);

	CU_ASSERT_EQUAL(error, 0);
	return error == 0 && unavailable == 0;
}

bool st_take_user(trace_id_t trid, struct st_event *event)
{
	while (st_take(trid, event)) {
		if (event->info.posix_event_id == st_type())
			return true;
	}
	return false;
}

/* ---- The story ---- */

static const struct {
	trace_event_id_t id;
	const char *word;
} words[] = {
	{ POSIX_TRACE_ERROR, "ERROR" },
	{ POSIX_TRACE_START, "START" },
	{ POSIX_TRACE_STOP, "STOP" },
	{ POSIX_TRACE_OVERFLOW, "OVERFLOW" },
	{ POSIX_TRACE_RESUME, "RESUME" },
	{ POSIX_TRACE_FILTER, "FILTER" },
	{ POSIX_TRACE_FLUSH_START, "FLUSH_START" },
	{ POSIX_TRACE_FLUSH_STOP, "FLUSH_STOP" },
	{ POSIX_TRACE_UNNAMED_USEREVENT, "UNNAMED" },
};

#define WORDS (sizeof(words) / sizeof(words[0]))

struct text {
	char *at;
	size_t room;
	int run_first;
	int run_last;
	bool in_run;
	const char *ignored; /* words that are left out */
};

/* Whether @word, of @len bytes, is one of the words in @list. */
static bool is_among(const char *word, size_t len, const char *list)
{
	while (*list != '\0') {
		size_t bytes = strcspn(list, " ");

		if (bytes == len && strncmp(word, list, len) == 0)
			return true;
		list += bytes;
		list += strspn(list, " ");
	}
	return false;
}

static void append(struct text *text, const char *word)
{
	size_t bytes = strlen(word);

	if (bytes + 2 > text->room)
		return;
	memcpy(text->at, word, bytes);
	text->at[bytes] = ' ';
	text->at[bytes + 1] = '\0';
	text->at += bytes + 1;
	text->room -= bytes + 1;
}

static void end_run(struct text *text)
{
	char word[40];

	if (!text->in_run)
		return;
	if (text->run_first == text->run_last)
		(void)snprintf(word, sizeof(word), "%d", text->run_first);
	else
		(void)snprintf(word, sizeof(word), "%d..%d", text->run_first, text->run_last);
	append(text, word);
	text->in_run = false;
}

static void append_number(struct text *text, int number)
{
	if (text->in_run && number == text->run_last + 1) {
		text->run_last = number;
		return;
	}
	end_run(text);
	text->in_run = true;
	text->run_first = text->run_last = number;
}

static void append_word(struct text *text, const char *word)
{
	if (is_among(word, strlen(word), text->ignored))
		return;
	end_run(text);
	append(text, word);
}

static void append_event(struct text *text, trace_id_t trid, const struct st_event *event)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	int value = 0;

	if (event->info.posix_event_id == st_type()) {
		append_number(text, st_number(event));
		return;
	}
	if (event->info.posix_event_id == POSIX_TRACE_STOP) {
		if (event->len == sizeof(value))
			memcpy(&value, event->data, sizeof(value));
		append_word(text, event->len != sizeof(value) ? "STOP?"
		                  : value                     ? "STOP1"
		                                              : "STOP0");
		return;
	}
	for (size_t i = 0; i < WORDS; i++) {
		if (posix_trace_eventid_equal(trid, words[i].id, event->info.posix_event_id)) {
			append_word(text, words[i].word);
			return;
		}
	}
	if (posix_trace_eventid_get_name(trid, event->info.posix_event_id, name) != 0)
		(void)snprintf(name, sizeof(name), "type-%u", event->info.posix_event_id);
	append_word(text, name);
}

static const char *story_without(trace_id_t trid, int most, const char *ignored)
{
	static char buffer[TEXT_BYTES];
	static struct st_event event;
	struct text text = { .at = buffer, .room = sizeof(buffer), .ignored = ignored };

	buffer[0] = '\0';
	for (int i = 0; i < most && st_take(trid, &event); i++)
		append_event(&text, trid, &event);
	end_run(&text);
	if (text.at > buffer)
		text.at[-1] = '\0';
	return buffer;
}

const char *st_story_of(trace_id_t trid, int most)
{
	return story_without(trid, most, "");
}

/* A system event that this configuration was built without. */
static bool is_not_built(trace_id_t trid, const char *word, size_t len)
{
	char name[TRACE_EVENT_NAME_MAX + 1];

	for (size_t i = 0; i < WORDS; i++) {
		size_t bytes = strlen(words[i].word);
		bool stop = words[i].id == POSIX_TRACE_STOP && len == bytes + 1;

		if (strncmp(word, words[i].word, bytes) == 0 && (len == bytes || stop))
			return posix_trace_eventid_get_name(trid, words[i].id, name) != 0;
	}
	return false;
}

/* What this configuration can tell of @from. */
static void copy_built(trace_id_t trid, char *to, const char *from)
{
	char *start = to;

	while (*from != '\0') {
		size_t len = strcspn(from, " ");

		if (len != 0 && !is_not_built(trid, from, len)) {
			memcpy(to, from, len);
			to += len;
			*to++ = ' ';
		}
		from += len;
		from += strspn(from, " ");
	}
	if (to > start)
		to--;
	*to = '\0';
}

bool st_text_equal(
    const char *got, const char *expected, const char *what, const char *file, int line)
{
	bool equal = strcmp(got, expected) == 0;

	if (!equal)
		printf("\n    %s:%d: %s\n      expected: %s\n      got:      %s\n", file, line,
		    what, expected, got);
	pxt_verdict(equal, line, what, file, false);
	return equal;
}

void st_expect_at(trace_id_t trid, int most, const char *expected, const char *file, int line)
{
	char wanted[TEXT_BYTES];

	copy_built(trid, wanted, expected);
	(void)st_text_equal(st_story_of(trid, most), wanted, "the story", file, line);
}

void st_expect_without_at(
    trace_id_t trid, const char *ignored, const char *expected, const char *file, int line)
{
	char wanted[TEXT_BYTES];

	copy_built(trid, wanted, expected);
	(void)st_text_equal(story_without(trid, 1 << 30, ignored), wanted, "the story", file, line);
}

void st_expect_status_at(trace_id_t trid, const char *expected, const char *file, int line)
{
	struct posix_trace_status_info status;
	char got[100];

	CU_ASSERT_EQUAL_FATAL(posix_trace_get_status(trid, &status), 0);
	(void)snprintf(got, sizeof(got), "%s %s %s",
	    status.posix_stream_status == POSIX_TRACE_RUNNING     ? "RUNNING"
	    : status.posix_stream_status == POSIX_TRACE_SUSPENDED ? "SUSPENDED"
	                                                          : "?",
	    status.posix_stream_full_status == POSIX_TRACE_FULL       ? "FULL"
	    : status.posix_stream_full_status == POSIX_TRACE_NOT_FULL ? "NOT_FULL"
	                                                              : "?",
	    status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN      ? "OVERRUN"
	    : status.posix_stream_overrun_status == POSIX_TRACE_NO_OVERRUN ? "NO_OVERRUN"
	                                                                   : "?");
	(void)st_text_equal(got, expected, "the status", file, line);
}

const char *st_text(const char *format, ...)
{
	static char buffers[4][512];
	static unsigned next;
	char *buffer = buffers[next++ % 4];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(buffer, sizeof(buffers[0]), format, args);
	va_end(args);
	return buffer;
}

/* ---- Full streams ---- */

void st_fill(trace_id_t trid, int first, size_t len, struct st_full *full)
{
	struct posix_trace_status_info status;

	full->len = len;
	full->last = first - 1;
	for (;;) {
		CU_ASSERT_EQUAL_FATAL(posix_trace_get_status(trid, &status), 0);
		if (status.posix_stream_status != POSIX_TRACE_RUNNING)
			break;
		full->last++;
		CU_ASSERT_FATAL(full->last < first + 10000000);
		st_say_long(full->last, len);
	}
	/* The status was read after each event: the last one alone can have been refused. */
	full->overrun = status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN;
	full->recorded = full->last - (full->overrun ? 1 : 0);
}

static size_t user_event_size(trace_id_t trid, size_t len)
{
	trace_attr_t attr;
	size_t bytes = 0;

	CU_ASSERT_EQUAL_FATAL(posix_trace_get_attr(trid, &attr), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_attr_getmaxusereventsize(&attr, len, &bytes), 0);
	CU_ASSERT_FATAL(bytes > 0);
	return bytes;
}

/* Two lengths whose records differ in size, so that some mix of them misses the exact end. */
trace_id_t st_full_stream(const struct st_spec *spec, bool refused, struct st_full *full)
{
	for (int small = 0; small < 8; small++) {
		trace_id_t trid = st_started(spec);
		size_t len = 4;

		while (user_event_size(trid, len) == user_event_size(trid, 4))
			len++;
		for (int i = 1; i <= small; i++)
			st_say_long(i, 4);
		st_fill(trid, small + 1, len, full);
		full->small = small;
		if (refused == (full->recorded != full->last))
			return trid;
		CU_ASSERT_EQUAL(posix_trace_shutdown(trid), 0);
	}
	CU_FAIL_FATAL("no mix of events leads to the wanted end");
	return 0;
}

size_t st_size_in_force(trace_id_t trid)
{
	trace_attr_t attr;
	size_t bytes = 0;

	CU_ASSERT_EQUAL_FATAL(posix_trace_get_attr(trid, &attr), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_attr_getstreamsize(&attr, &bytes), 0);
	return bytes;
}

int st_fitting(trace_id_t trid, size_t bytes, size_t len)
{
	return (int)(bytes / user_event_size(trid, len));
}

bool st_law(trace_id_t trid, struct posix_trace_counts_np *counts)
{
	struct posix_trace_counts_np own;

	if (counts == NULL)
		counts = &own;
	if (posix_trace_getcounts_np(trid, counts, sizeof(*counts)) != 0)
		return false;
	return counts->posix_written_np == counts->posix_retrieved_np + counts->posix_lost_np +
	                                       counts->posix_cleared_np + counts->posix_held_np;
}

/* ---- CPUs, time, signals, files ---- */

static cpu_set_t cpus;

static void find_cpus(void)
{
	(void)sched_getaffinity(0, sizeof(cpus), &cpus);
}

/* Those of the process before anybody was bound: the first to ask must be free. */
static cpu_set_t *all_cpus(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, find_cpus);
	return &cpus;
}

void st_pin_to(unsigned n)
{
	cpu_set_t *all = all_cpus();
	cpu_set_t one;

	n %= (unsigned)CPU_COUNT(all);
	CPU_ZERO(&one);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, all) && n-- == 0) {
			CPU_SET(cpu, &one);
			break;
		}
	}
	(void)sched_setaffinity(0, sizeof(one), &one);
}

void st_pin(bool pinned)
{
	cpu_set_t *all = all_cpus();

	if (pinned)
		st_pin_to(0);
	else
		(void)sched_setaffinity(0, sizeof(*all), all);
}

static void do_nothing(int signal)
{
}

void st_on_signal(int signal, void (*handler)(int))
{
	struct sigaction action = { 0 };

	action.sa_handler = handler != NULL ? handler : do_nothing;
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(signal, &action, NULL);
}

bool st_sanitized(void)
{
	return PXT_SANITIZED != 0;
}

int64_t st_file_bytes(int fd)
{
	struct stat status;

	CU_ASSERT_EQUAL_FATAL(fstat(fd, &status), 0);
	return (int64_t)status.st_size;
}
