/* SPDX-License-Identifier: MIT */
/*
 * states.c - the state table cell by cell, as data: each state x each input ->
 * status, what the reader gets from then on, and the status when everything has been read.  Each
 * cell runs with one lane and with the default, and, where that is determined, with a log, where
 * flushing plays the part of reading.
 *
 * LAST stands for the number of the last event that found room.  A story that begins with "..."
 * need only end like this (how many events a LOOP stream keeps is not this table's business).
 */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LATE 1000000 /* number of the event that is the input "event" */

enum state {
	NEW,          /* S: created */
	STOPPED,      /* S: START 1 STOP0 are unread */
	RUNNING,      /* R: START 1..2 are unread */
	FULL_LOOP,    /* R FULL: the window moves */
	STOPPED_LOOP, /* S FULL: stopped when the window moved */
	AUTO_FULL,    /* A FULL: the last slot was taken */
	AUTO_PART,    /* A NOT_FULL: START and 1 were read */
	AUTO_LAST,    /* A: all but the automatic STOP was read */
	CANCELLED,    /* S FULL: stopped automatically, then by call */
};

enum input {
	START,
	STOP,
	EVENT,
	READ,
	FLUSHES,
	CLEAR,
	FILTER,
	SHUTDOWN
};

#define L 1u /* the row holds for LOOP, */
#define U 2u /* for UNTIL_FULL, */
#define F 4u /* for a flush (with a log) */

struct row {
	enum state state;
	enum input input;
	unsigned policies;
	const char *status; /* directly after the input */
	const char *story;  /* what is then read; NULL: only with a log */
	const char *end;    /* stream status when that has been read */
	const char *log;    /* what the log holds after a shutdown instead; NULL: only without */
};

#define S_EMPTY "SUSPENDED NOT_FULL NO_OVERRUN"
#define S_FULL  "SUSPENDED FULL NO_OVERRUN"
#define R_EMPTY "RUNNING NOT_FULL NO_OVERRUN"
#define R_FULL  "RUNNING FULL NO_OVERRUN"

/* clang-format off */
static const struct row rows[] = {
	{ NEW, START,    L|U|F, R_EMPTY, "START", "RUNNING", "START STOP0" },
	{ NEW, STOP,     L|U|F, S_EMPTY, "", "SUSPENDED", "" },
	{ NEW, EVENT,    L|U|F, S_EMPTY, "", "SUSPENDED", "" },
	{ NEW, READ,     L|U,   S_EMPTY, "", "SUSPENDED", NULL },
	{ NEW, CLEAR,    L|U|F, S_EMPTY, "", "SUSPENDED", "" },
	{ NEW, FILTER,   L|U|F, S_EMPTY, "", "SUSPENDED", "" },
	{ NEW, SHUTDOWN, L|U|F, NULL, NULL, NULL, "" },

	{ STOPPED, START,    L|U|F, R_EMPTY, "START 1 STOP0 START", "RUNNING",
	                                     "START 1 STOP0 START STOP0" },
	{ STOPPED, STOP,     L|U|F, S_EMPTY, "START 1 STOP0", "SUSPENDED", "START 1 STOP0" },
	{ STOPPED, EVENT,    L|U|F, S_EMPTY, "START 1 STOP0", "SUSPENDED", "START 1 STOP0" },
	{ STOPPED, READ,     L|U,   S_EMPTY, "1 STOP0", "SUSPENDED", NULL },
	{ STOPPED, FLUSHES,  L|U|F, S_EMPTY, NULL, NULL, "START 1 STOP0" },
	{ STOPPED, CLEAR,    L|U|F, S_EMPTY, "", "SUSPENDED", "" },
	{ STOPPED, FILTER,   L|U|F, S_EMPTY, "START 1 STOP0", "SUSPENDED", "START 1 STOP0" },
	{ STOPPED, SHUTDOWN, L|U|F, NULL, NULL, NULL, "START 1 STOP0" },

	{ RUNNING, START,    L|U|F, R_EMPTY, "START 1..2", "RUNNING", "START 1..2 STOP0" },
	{ RUNNING, STOP,     L|U|F, S_EMPTY, "START 1..2 STOP0", "SUSPENDED", "START 1..2 STOP0" },
	{ RUNNING, EVENT,    L|U|F, R_EMPTY, "START 1..2 LATE", "RUNNING", "START 1..2 LATE STOP0" },
	{ RUNNING, READ,     L|U,   R_EMPTY, "1..2", "RUNNING", NULL },
	{ RUNNING, FLUSHES,  L|U|F, R_EMPTY, NULL, NULL, "START 1..2 FLUSH_START FLUSH_STOP STOP0" },
	{ RUNNING, CLEAR,    L|U|F, R_EMPTY, "", "RUNNING", "STOP0" },
	{ RUNNING, FILTER,   L|U|F, R_EMPTY, "START 1..2 FILTER", "RUNNING",
	                                     "START 1..2 FILTER STOP0" },
	{ RUNNING, SHUTDOWN, L|U|F, NULL, NULL, NULL, "START 1..2 STOP0" },

	{ FULL_LOOP, START,    L, R_FULL, "...LAST", "RUNNING", "...LAST STOP0" },
	{ FULL_LOOP, STOP,     L, "SUSPENDED FULL OVERRUN", "...LAST STOP0", "SUSPENDED",
	                          "...LAST STOP0" },
	{ FULL_LOOP, EVENT,    L, "RUNNING FULL OVERRUN", "...LAST LATE", "RUNNING",
	                          "...LAST LATE STOP0" },
	{ FULL_LOOP, FLUSHES,  L, R_EMPTY, NULL, NULL, "...LAST FLUSH_START FLUSH_STOP STOP0" },
	{ FULL_LOOP, CLEAR,    L, R_EMPTY, "", "RUNNING", "STOP0" },
	{ FULL_LOOP, FILTER,   L, "RUNNING FULL OVERRUN", "...LAST FILTER", "RUNNING",
	                          "...LAST FILTER STOP0" },
	{ FULL_LOOP, SHUTDOWN, L, NULL, NULL, NULL, "...LAST STOP0" },

	{ STOPPED_LOOP, START,    L, "RUNNING FULL OVERRUN", "...LAST STOP0 START", "RUNNING",
	                             "...LAST STOP0 START STOP0" },
	{ STOPPED_LOOP, STOP,     L, S_FULL, "...LAST STOP0", "SUSPENDED", "...LAST STOP0" },
	{ STOPPED_LOOP, EVENT,    L, S_FULL, "...LAST STOP0", "SUSPENDED", "...LAST STOP0" },
	{ STOPPED_LOOP, FLUSHES,  L, S_EMPTY, NULL, NULL, "...LAST STOP0" },
	{ STOPPED_LOOP, CLEAR,    L, S_EMPTY, "", "SUSPENDED", "" },
	{ STOPPED_LOOP, FILTER,   L, S_FULL, "...LAST STOP0", "SUSPENDED", "...LAST STOP0" },

	{ AUTO_FULL, START,    U, S_FULL, "START 1..LAST STOP1 START", "RUNNING",
	                          "START 1..LAST STOP1" },
	{ AUTO_FULL, STOP,     U, S_FULL, "START 1..LAST STOP1", "SUSPENDED", "START 1..LAST STOP1" },
	{ AUTO_FULL, EVENT,    U, "SUSPENDED FULL OVERRUN", "START 1..LAST STOP1 START", "RUNNING",
	                          "START 1..LAST STOP1" },
	{ AUTO_FULL, READ,     U, S_EMPTY, "1..LAST STOP1 START", "RUNNING", NULL },
	{ AUTO_FULL, FLUSHES,  U, R_EMPTY, NULL, NULL,
	                          "START 1..LAST STOP1 FLUSH_START FLUSH_STOP START STOP0" },
	{ AUTO_FULL, CLEAR,    U, S_EMPTY, "", "SUSPENDED", "" },
	{ AUTO_FULL, FILTER,   U, S_FULL, "START 1..LAST STOP1 START", "RUNNING",
	                          "START 1..LAST STOP1" },
	{ AUTO_FULL, SHUTDOWN, U, NULL, NULL, NULL, "START 1..LAST STOP1" },

	{ AUTO_PART, START,  U, R_EMPTY, "2..LAST STOP1 START", "RUNNING", NULL },
	{ AUTO_PART, STOP,   U, S_EMPTY, "2..LAST STOP1", "SUSPENDED", NULL },
	{ AUTO_PART, EVENT,  U, "SUSPENDED NOT_FULL OVERRUN", "2..LAST STOP1 START", "RUNNING", NULL },
	{ AUTO_PART, READ,   U, S_EMPTY, "3..LAST STOP1 START", "RUNNING", NULL },
	{ AUTO_PART, CLEAR,  U, S_EMPTY, "", "SUSPENDED", NULL },
	{ AUTO_PART, FILTER, U, S_EMPTY, "2..LAST STOP1 START", "RUNNING", NULL },

	{ AUTO_LAST, START,  U, R_EMPTY, "STOP1 START", "RUNNING", NULL },
	{ AUTO_LAST, STOP,   U, S_EMPTY, "STOP1", "SUSPENDED", NULL },
	{ AUTO_LAST, EVENT,  U, "SUSPENDED NOT_FULL OVERRUN", "STOP1 START", "RUNNING", NULL },
	{ AUTO_LAST, READ,   U, R_EMPTY, "START", "RUNNING", NULL },
	{ AUTO_LAST, CLEAR,  U, S_EMPTY, "", "SUSPENDED", NULL },
	{ AUTO_LAST, FILTER, U, S_EMPTY, "STOP1 START", "RUNNING", NULL },

	{ CANCELLED, START,    U, S_FULL, "START 1..LAST STOP1", "SUSPENDED", "START 1..LAST STOP1" },
	{ CANCELLED, STOP,     U, S_FULL, "START 1..LAST STOP1", "SUSPENDED", "START 1..LAST STOP1" },
	{ CANCELLED, EVENT,    U, S_FULL, "START 1..LAST STOP1", "SUSPENDED", "START 1..LAST STOP1" },
	{ CANCELLED, READ,     U, S_EMPTY, "1..LAST STOP1", "SUSPENDED", NULL },
	{ CANCELLED, FLUSHES,  U, S_EMPTY, NULL, NULL, "START 1..LAST STOP1" },
	{ CANCELLED, CLEAR,    U, S_EMPTY, "", "SUSPENDED", "" },
	{ CANCELLED, FILTER,   U, S_FULL, "START 1..LAST STOP1", "SUSPENDED", "START 1..LAST STOP1" },
	{ CANCELLED, SHUTDOWN, U, NULL, NULL, NULL, "START 1..LAST STOP1" },
};
/* clang-format on */

static const char *const state_names[] = { "new", "stopped", "running", "full loop", "stopped loop",
	"auto full", "auto part", "auto last", "cancelled" };
static const char *const input_names[] = { "start", "stop", "event", "read", "flush", "clear",
	"filter", "shutdown" };

/* Brings a new stream into @state; the flags are reset when this returns. */
static trace_id_t stream_in(enum state state, const struct st_spec *spec, int *last)
{
	const bool automatic = state >= AUTO_FULL;
	struct st_full full = { .recorded = 2 };
	trace_id_t trid = automatic ? st_full_stream(spec, false, &full) : st_create(spec);
	struct posix_trace_status_info status;
	struct st_event event;

	if (state == STOPPED || state == RUNNING || state == FULL_LOOP || state == STOPPED_LOOP)
		PXT_EQ(posix_trace_start(trid), 0);
	if (state == STOPPED || state == RUNNING)
		st_say(1);
	if (state == RUNNING)
		st_say(2);
	if (state == FULL_LOOP || state == STOPPED_LOOP) {
		full.recorded = 1000;
		for (int i = 1; i <= full.recorded; i++)
			st_say(i);
	}
	if (state == STOPPED || state == STOPPED_LOOP || state == CANCELLED)
		PXT_EQ(posix_trace_stop(trid), 0);
	for (int i = 0; i < (state == AUTO_PART      ? 2
	                        : state == AUTO_LAST ? full.recorded + 1
	                                             : 0);
	     i++)
		CU_ASSERT(st_take(trid, &event));
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	*last = full.recorded;
	return trid;
}

#if _PXT_UNIT_FILTER
static void change_filter(trace_id_t trid)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
}
static const bool can_filter = true;
#else
static void change_filter(trace_id_t trid)
{
}
static const bool can_filter = false;
#endif

#if _PXT_UNIT_TOLOG
static int flush(trace_id_t trid)
{
	return posix_trace_flush(trid);
}
#else
static int flush(trace_id_t trid)
{
	return 0;
}
#endif

static void apply(enum input input, trace_id_t trid)
{
	struct st_event event;

	switch (input) {
	case START:
		PXT_EQ(posix_trace_start(trid), 0);
		break;
	case STOP:
		PXT_EQ(posix_trace_stop(trid), 0);
		break;
	case EVENT:
		st_say(LATE);
		break;
	case READ:
		(void)st_take(trid, &event);
		break;
	case FLUSHES:
		PXT_EQ(flush(trid), 0);
		break;
	case CLEAR:
		PXT_EQ(posix_trace_clear(trid), 0);
		break;
	case FILTER:
		change_filter(trid);
		break;
	case SHUTDOWN:
		break;
	}
}

/* Replaces LAST and LATE by their numbers. */
static const char *with_numbers(const char *story, int last)
{
	static char text[512];
	char *to = text;

	while (*story != '\0') {
		bool is_last = strncmp(story, "LAST", 4) == 0;

		if (is_last || strncmp(story, "LATE", 4) == 0) {
			to += sprintf(to, "%d", is_last ? last : LATE);
			story += 4;
		} else {
			*to++ = *story++;
		}
	}
	*to = '\0';
	return text;
}

static void expect_story(trace_id_t trid, const char *story, int last, const char *cell)
{
	const char *expected = with_numbers(story, last);
	const char *got;

	if (strncmp(expected, "...", 3) != 0) {
		st_expect(trid, expected);
		return;
	}
	got = st_story_of(trid, 1 << 30);
	expected++; /* "..LAST": the end of a run */
	if (strlen(got) > strlen(expected))
		got += strlen(got) - strlen(expected);
	(void)st_text_equal(got, expected, cell, __FILE__, __LINE__);
}

static const char *name_cell(const struct row *row, const struct st_spec *spec)
{
	return st_text("%s x %s, policy %d, %u lanes%s", state_names[row->state],
	    input_names[row->input], spec->policy, spec->lanes, spec->with_log ? ", with log" : "");
}

#if _PXT_UNIT_ONLINE
static void run_without_log(const struct row *row, const struct st_spec *spec)
{
	const char *cell = name_cell(row, spec);
	struct posix_trace_status_info status;
	int last = 0;
	trace_id_t trid = stream_in(row->state, spec, &last);

	apply(row->input, trid);
	st_expect_status(trid, row->status);
	CU_ASSERT(st_law(trid, NULL));
	expect_story(trid, row->story, last, cell);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_CHECK(
	    status.posix_stream_status ==
	        (strcmp(row->end, "RUNNING") == 0 ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED),
	    "%s: not %s in the end", cell, row->end);
	CU_ASSERT(st_law(trid, NULL));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static void run_rows(unsigned policy_bit, int policy, unsigned lanes)
{
	const struct st_spec spec = { .policy = policy, .size = 2048, .lanes = lanes };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((rows[i].policies & policy_bit) == 0 || rows[i].story == NULL)
			continue;
		if (rows[i].input == FILTER && !can_filter)
			continue;
		run_without_log(&rows[i], &spec);
	}
}

/* POL-02, POL-05, POL-10, POL-14, START-01, START-02, STOP-01, STOP-02, CLEAR-01, DEC-10, DEC-25 */
PXT_TEST(every_cell_of_the_state_table_under_loop)
{
	st_pin(true);
	run_rows(L, POSIX_TRACE_LOOP, 1);
	run_rows(L, POSIX_TRACE_LOOP, 0);
	st_pin(false);
}

/* POL-03, POL-06, POL-07, POL-08, POL-09, POL-10, START-03, STOP-03, DEC-09, DEC-10, DEC-11, DEC-25 */
PXT_TEST(every_cell_of_the_state_table_under_until_full)
{
	st_pin(true);
	run_rows(U, POSIX_TRACE_UNTIL_FULL, 1);
	run_rows(U, POSIX_TRACE_UNTIL_FULL, 0);
	st_pin(false);
}
#endif

#if _PXT_UNIT_TOLOG && _PXT_UNIT_LOGRETRIEVAL
static void run_with_log(const struct row *row, struct st_spec *spec)
{
	const char *cell = name_cell(row, spec);
	int last = 0;
	trace_id_t trid = stream_in(row->state, spec, &last);
	trace_id_t log = 0;

	apply(row->input, trid);
	if (row->status != NULL)
		st_expect_status(trid, row->status);
	CU_ASSERT(st_law(trid, NULL));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_CHECK(posix_trace_open(spec->fd, &log) == 0, "%s: no log", cell);
	expect_story(log, row->log, last, cell);
	PXT_EQ(posix_trace_close(log), 0);
}

static void run_log_rows(unsigned policy_bit, int policy, unsigned lanes)
{
	struct st_spec spec = { .policy = policy, .size = 2048, .lanes = lanes, .with_log = true };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((rows[i].policies & policy_bit) == 0 || rows[i].log == NULL)
			continue;
		if (rows[i].input == FILTER && !can_filter)
			continue;
		spec.fd = pxt_temp_file();
		run_with_log(&rows[i], &spec);
		(void)close(spec.fd);
	}
}

/* ASSFP-03, CRLOG-04, SHUT-01, SHUT-05, FLUSH-03, FLUSH-06, SYS-09, DEC-13 */
PXT_TEST(every_cell_of_the_state_table_with_a_log)
{
	st_pin(true);
	for (unsigned lanes = 0; lanes <= 1; lanes++) {
		run_log_rows(L, POSIX_TRACE_LOOP, lanes);
		run_log_rows(U, POSIX_TRACE_UNTIL_FULL, lanes);
		run_log_rows(F, POSIX_TRACE_FLUSH, lanes);
	}
	st_pin(false);
}
#endif
