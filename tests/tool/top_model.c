/* SPDX-License-Identifier: MIT */
/*
 * top_model.c - the numbers of `pxtrace top`: what counts, for how long, and how it is shown in a view of
 * any size.
 */
#include "tools/top/top.h"
#include "tools/write/logwrite.h"

#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS     INT64_C(1000000)
#define SECOND (1000 * MS)

enum {
	JOB_BEGIN = 40,
	JOB_END,
	MTX_WAIT,
	MTX_LOCK,
	MTX_UNLOCK,
	NOTE,
	WAIT_BLOCK,
	WAIT_UNBLOCK
};

/* An event of a story: its time in milliseconds, type, thread (1 to 3), number, what was lost before. */
struct told {
	int64_t ms;
	int type;
	uint32_t thread;
	uint32_t number;
	uint32_t lost;
};

/* A model that is told a story out of a log. */
static struct {
	struct pxt_reader reader;
	struct pxt_model *model;
	struct pxt_numbers *numbers;
	struct pxt_event *next;
	int64_t start_ns;
} story;

static void write_story(const char *path, const struct told *events, size_t count)
{
	const struct pxt_loghead head = { .uuid = { 1 }, .hz = 1000000000 };
	struct pxt_logwrite *log = pxt_logwrite_begin(path, PXT_LOG_GROWING, &head);

	CU_ASSERT_FATAL(log != NULL);
	pxt_logwrite_type(log, JOB_BEGIN, "job_begin", "u32 job");
	pxt_logwrite_type(log, JOB_END, "job_end", "u32 job");
	pxt_logwrite_type(log, MTX_WAIT, "mtx_wait", "u32 lock");
	pxt_logwrite_type(log, MTX_LOCK, "mtx_lock", "u32 lock");
	pxt_logwrite_type(log, MTX_UNLOCK, "mtx_unlock", "u32 lock");
	pxt_logwrite_type(log, NOTE, "note", "u32 n");
	pxt_logwrite_type(log, WAIT_BLOCK, "wait_block", "u32 on");
	pxt_logwrite_type(log, WAIT_UNBLOCK, "wait_unblock", "u32 on");
	for (uint32_t i = 1; i <= 3; i++) {
		struct posix_trace_logthread_np thread = { .posix_thread_np = 0x7000 + i,
			.posix_pid_np = 4711,
			.posix_tid_np = (pid_t)(4711 + i) };

		(void)snprintf(thread.posix_name_np, sizeof thread.posix_name_np, "t%u", i);
		pxt_logwrite_thread(log, i, &thread);
	}
	for (size_t i = 0; i < count; i++) {
		const struct pxt_logevent event = { .id = (trace_event_id_t)events[i].type,
			.ticks = (uint64_t)(events[i].ms * MS),
			.thread_index = events[i].thread,
			.cpu = -1,
			.data = &events[i].number,
			.bytes = sizeof events[i].number };

		if (events[i].lost > 0)
			pxt_logwrite_loss(log, events[i].lost);
		pxt_logwrite_event(log, &event);
	}
	CU_ASSERT_EQUAL_FATAL(pxt_logwrite_end(log, NULL), 0);
}

/* A model with slots of a second, at time 0. */
static void begin(const struct told *events, size_t count)
{
	char path[64];
	char *paths[] = { path };

	(void)snprintf(path, sizeof path, "top_model.%ld.ptl", (long)getpid());
	write_story(path, events, count);
	memset(&story, 0, sizeof story);
	CU_ASSERT_EQUAL_FATAL(pxt_reader_open(&story.reader, paths, 1, PXT_OPEN_COMPLETE, NULL), 0);
	(void)unlink(path);
	story.numbers = calloc(1, sizeof *story.numbers);
	CU_ASSERT_FATAL(story.numbers != NULL);
	story.model = pxt_model_new(SECOND, 0);
	pxt_model_open(story.model, &story.reader);
	story.next = pxt_reader_next(&story.reader);
	story.start_ns = story.next ? story.next->ns - events[0].ms * MS : 0;
}

/* It is @ms by now, and all events up to then were taken. */
static void go_on(int64_t ms, bool counts)
{
	for (; story.next && story.next->ns - story.start_ns <= ms * MS;
	     story.next = pxt_reader_next(&story.reader)) {
		pxt_model_tick(story.model, story.next->ns - story.start_ns);
		pxt_model_take(story.model, story.next, counts);
	}
	pxt_model_tick(story.model, ms * MS);
	pxt_numbers_clear(story.numbers);
	pxt_model_rows(story.model, 7, story.numbers);
	pxt_numbers_sort(story.numbers, PXT_NUMBERS_USUAL);
}

static void end(void)
{
	pxt_model_free(story.model);
	pxt_reader_close(&story.reader);
	free(story.numbers);
}

static uint32_t rows(enum pxt_numbers_table table)
{
	return story.numbers->tables[table].count;
}

static const struct pxt_numbers_row *row(enum pxt_numbers_table table, uint32_t at)
{
	CU_ASSERT_FATAL(at < rows(table));
	return &story.numbers->tables[table].rows[at];
}

static bool is(const struct pxt_numbers_row *of, enum pxt_numbers_column column, double value)
{
	return of->values[column] > value * 0.999 && of->values[column] < value * 1.001 + 1e-9;
}

/* ---- Events ---- */

PXT_TEST(threads_are_told_by_their_events_a_second)
{
	const struct told events[] = { { 0, NOTE, 1, 0, 0 }, { 100, NOTE, 2, 0, 0 },
		{ 200, NOTE, 2, 0, 0 }, { 300, NOTE, 2, 0, 0 } };

	begin(events, 4);
	go_on(500, true);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 2);
	CU_ASSERT_STRING_EQUAL(row(PXT_NUMBERS_THREADS, 0)->label, "t2/4713");
	CU_ASSERT(is(row(PXT_NUMBERS_THREADS, 0), PXT_NUMBERS_EVENTS, 6));
	CU_ASSERT(is(row(PXT_NUMBERS_THREADS, 0), PXT_NUMBERS_SHARE, 75));
	CU_ASSERT(is(row(PXT_NUMBERS_THREADS, 1), PXT_NUMBERS_EVENTS, 2));
	PXT_EQ(row(PXT_NUMBERS_THREADS, 1)->stream, 7);
	end();
}

PXT_TEST(what_is_older_than_five_slots_is_forgotten)
{
	const struct told events[] = { { 500, NOTE, 1, 0, 0 }, { 1500, JOB_BEGIN, 2, 1, 0 },
		{ 1600, JOB_END, 2, 1, 0 } };

	begin(events, 3);
	go_on(4999, true);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 2);
	go_on(5000, true);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 1);
	PXT_EQ(rows(PXT_NUMBERS_PAIRS), 1);
	go_on(5999, true);
	PXT_EQ(rows(PXT_NUMBERS_PAIRS), 1);
	go_on(6000, true);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 0);
	PXT_EQ(rows(PXT_NUMBERS_PAIRS), 0);
	end();
}

PXT_TEST(after_a_long_pause_all_begins_anew)
{
	const struct told events[] = { { 500, NOTE, 1, 0, 0 }, { 3600000, NOTE, 2, 0, 0 } };

	begin(events, 2);
	go_on(600, true);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 1);
	go_on(3600500, true);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 1);
	CU_ASSERT_STRING_EQUAL(row(PXT_NUMBERS_THREADS, 0)->label, "t2/4713");
	/* One in half a second, not in an hour, nor in five seconds. */
	CU_ASSERT(is(row(PXT_NUMBERS_THREADS, 0), PXT_NUMBERS_EVENTS, 2));
	end();
}

PXT_TEST(what_was_there_before_does_not_count_but_ends_later)
{
	const struct told events[] = { { 0, NOTE, 1, 0, 0 }, { 10, JOB_BEGIN, 1, 1, 0 },
		{ 20, JOB_END, 1, 1, 0 }, { 30, JOB_BEGIN, 1, 2, 0 }, { 230, JOB_END, 1, 2, 0 } };

	begin(events, 5);
	go_on(100, false);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 0);
	PXT_EQ(rows(PXT_NUMBERS_PAIRS), 0);
	go_on(300, true);
	PXT_EQ(rows(PXT_NUMBERS_THREADS), 1);
	PXT_EQ(rows(PXT_NUMBERS_PAIRS), 1);
	CU_ASSERT(is(row(PXT_NUMBERS_PAIRS, 0), PXT_NUMBERS_MAX, 200e6));
	end();
}

PXT_TEST(durations_of_several_slots_are_told_as_one)
{
	struct told events[200];

	/* Of 100 in five seconds one takes 40 ms, one 30, and all others 1 to 2. */
	for (unsigned i = 0; i < 100; i++) {
		int64_t ms = i == 20 ? 40 : i == 80 ? 30 : i < 50 ? 1 : 2;

		events[2 * i] = (struct told){ i * 49, JOB_BEGIN, 1, i, 0 };
		events[2 * i + 1] = (struct told){ i * 49 + ms, JOB_END, 1, i, 0 };
	}
	begin(events, 200);
	go_on(4990, true);
	PXT_EQ(rows(PXT_NUMBERS_PAIRS), 1);
	CU_ASSERT_STRING_EQUAL(row(PXT_NUMBERS_PAIRS, 0)->label, "job_begin .. _end");
	CU_ASSERT(is(row(PXT_NUMBERS_PAIRS, 0), PXT_NUMBERS_COUNT, 100));
	CU_ASSERT(is(row(PXT_NUMBERS_PAIRS, 0), PXT_NUMBERS_P50, 2e6));
	CU_ASSERT(is(row(PXT_NUMBERS_PAIRS, 0), PXT_NUMBERS_P99, 30e6));
	CU_ASSERT(is(row(PXT_NUMBERS_PAIRS, 0), PXT_NUMBERS_MAX, 40e6));
	end();
}

PXT_TEST(no_duration_is_measured_across_a_loss)
{
	const struct told events[] = { { 0, JOB_BEGIN, 1, 1, 0 }, { 100, JOB_END, 1, 1, 5 },
		{ 200, JOB_BEGIN, 1, 2, 0 }, { 250, JOB_END, 1, 2, 0 } };
	struct pxt_numbers_row own = { .label = "" };

	begin(events, 4);
	go_on(300, true);
	CU_ASSERT(is(row(PXT_NUMBERS_PAIRS, 0), PXT_NUMBERS_COUNT, 1));
	CU_ASSERT(is(row(PXT_NUMBERS_PAIRS, 0), PXT_NUMBERS_MAX, 50e6));
	/* And how much was read is known: 4 of 9. */
	pxt_model_rates(story.model, &own);
	CU_ASSERT(own.seen > 44 && own.seen < 45);
	end();
}

/* ---- Rounds ---- */

/* It waits 9 ms and works 1 ms, again and again; once it works 41 ms. */
PXT_TEST(late_rounds_are_told_by_how_much_they_were_late)
{
	struct told events[40];

	for (int64_t i = 0; i < 20; i++) {
		int64_t ms = i * 10 + (i > 12 ? 40 : 0);

		events[2 * i] = (struct told){ ms, WAIT_BLOCK, 1, 7, 0 };
		events[2 * i + 1] = (struct told){ ms + 9, WAIT_UNBLOCK, 1, 7, 0 };
	}
	begin(events, 40);
	go_on(300, true);
	PXT_EQ(rows(PXT_NUMBERS_ROUNDS), 1);
	CU_ASSERT_STRING_EQUAL(row(PXT_NUMBERS_ROUNDS, 0)->label, "t1");
	CU_ASSERT(is(row(PXT_NUMBERS_ROUNDS, 0), PXT_NUMBERS_COUNT, 1));
	CU_ASSERT(is(row(PXT_NUMBERS_ROUNDS, 0), PXT_NUMBERS_LATE, 40e6));
	CU_ASSERT(is(row(PXT_NUMBERS_ROUNDS, 0), PXT_NUMBERS_LONGEST, 40e6));
	end();
}

/* ---- Locks ---- */

PXT_TEST(a_lock_is_told_by_its_waits_alone)
{
	const struct told events[] = { { 0, MTX_WAIT, 1, 5, 0 }, { 1, MTX_LOCK, 1, 5, 0 },
		{ 10, MTX_WAIT, 2, 5, 0 }, { 30, MTX_UNLOCK, 1, 5, 0 }, { 40, MTX_LOCK, 2, 5, 0 },
		{ 50, MTX_UNLOCK, 2, 5, 0 },
		/* Free: nobody waits, though it was asked for. */
		{ 60, MTX_WAIT, 1, 5, 0 }, { 70, MTX_LOCK, 1, 5, 0 }, { 80, MTX_UNLOCK, 1, 5, 0 } };

	begin(events, 9);
	go_on(2, true);
	go_on(100, true);
	PXT_EQ(rows(PXT_NUMBERS_LOCKS), 1);
	CU_ASSERT_STRING_EQUAL(row(PXT_NUMBERS_LOCKS, 0)->label, "mtx 5");
	/* The first one might have waited: what was before, nobody knows. */
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_WAITS, 2));
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_WAITED, 31e6));
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_LONGEST, 30e6));
	CU_ASSERT(row(PXT_NUMBERS_LOCKS, 0)->values[PXT_NUMBERS_WAITING] < 0.5);
	end();
}

PXT_TEST(who_waits_still_is_told_with_all_the_time)
{
	const struct told events[] = { { 0, MTX_LOCK, 1, 5, 0 }, { 100, MTX_WAIT, 2, 5, 0 },
		{ 200, MTX_WAIT, 3, 5, 0 } };

	begin(events, 3);
	go_on(1200, true);
	PXT_EQ(rows(PXT_NUMBERS_LOCKS), 1);
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_WAITING, 2));
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_WAITS, 2));
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_LONGEST, 1100e6));
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_WAITED, 2100e6));
	/* No event comes any more; of a minute the last seconds alone are these seconds'. */
	for (int64_t ms = 2000; ms < 60000; ms += 1000)
		go_on(ms, true);
	CU_ASSERT(is(row(PXT_NUMBERS_LOCKS, 0), PXT_NUMBERS_LONGEST, 58900e6));
	CU_ASSERT(row(PXT_NUMBERS_LOCKS, 0)->values[PXT_NUMBERS_WAITED] <= 10000e6);
	end();
}

/* ---- What the owner says ---- */

PXT_TEST(rates_are_those_of_the_owners_own_counts)
{
	struct pxt_numbers_row own = { .label = "" };
	struct pxt_model *model = pxt_model_new(SECOND, 0);

	pxt_model_status(model, 1000, 10);
	pxt_model_rates(model, &own);
	CU_ASSERT(own.values[PXT_NUMBERS_EVENTS] < 0.5);
	CU_ASSERT(own.seen < 0);
	for (unsigned i = 1; i <= 20; i++) {
		pxt_model_tick(model, i * SECOND / 4);
		/* 100 a second, and 800 in the last two seconds. */
		pxt_model_status(model, 1000 + 25 * i + (i > 12 ? 175 * (i - 12) : 0), 10 + i);
	}
	pxt_model_rates(model, &own);
	CU_ASSERT(own.values[PXT_NUMBERS_EVENTS] > 400 && own.values[PXT_NUMBERS_EVENTS] < 500);
	CU_ASSERT(is(&own, PXT_NUMBERS_LOST, 4));
	PXT_EQ((uint64_t)own.lost_all, 30);
	/* A stream that was begun anew under its name has no rate below nothing. */
	pxt_model_tick(model, 6 * SECOND);
	pxt_model_status(model, 3, 0);
	CU_ASSERT(pxt_model_rate(model) < 0.5);
	pxt_model_free(model);
}

/* ---- Tables ---- */

PXT_TEST(a_full_table_keeps_what_is_first_in_it)
{
	struct pxt_numbers *numbers = calloc(1, sizeof *numbers);

	CU_ASSERT_FATAL(numbers != NULL);
	for (unsigned i = 0; i < 2 * PXT_NUMBERS_ROWS; i++)
		(void)pxt_numbers_add(numbers, PXT_NUMBERS_THREADS, (double)((i * 77) % 512));
	pxt_numbers_sort(numbers, PXT_NUMBERS_USUAL);
	const struct pxt_numbers_row *all = numbers->tables[PXT_NUMBERS_THREADS].rows;
	PXT_EQ(numbers->tables[PXT_NUMBERS_THREADS].count, PXT_NUMBERS_ROWS);
	PXT_EQ((uint64_t)all[0].values[PXT_NUMBERS_EVENTS], 511);
	PXT_EQ((uint64_t)all[PXT_NUMBERS_ROWS - 1].values[PXT_NUMBERS_EVENTS], 256);
	free(numbers);
}

static struct pxt_numbers_row *pair(
    struct pxt_numbers *numbers, const char *name, double p50, double p99)
{
	struct pxt_numbers_row *made = pxt_numbers_add(numbers, PXT_NUMBERS_PAIRS, p99);

	CU_ASSERT_FATAL(made != NULL);
	made->values[PXT_NUMBERS_P50] = p50;
	(void)snprintf(made->label, sizeof made->label, "%s", name);
	return made;
}

PXT_TEST(a_table_without_the_column_keeps_its_usual_order)
{
	struct pxt_numbers *numbers = calloc(1, sizeof *numbers);

	CU_ASSERT_FATAL(numbers != NULL);
	(void)pair(numbers, "b", 9, 100);
	(void)pair(numbers, "c", 1, 300);
	(void)pair(numbers, "a", 9, 200);
	const struct pxt_numbers_row *all = numbers->tables[PXT_NUMBERS_PAIRS].rows;
	pxt_numbers_sort(numbers, PXT_NUMBERS_FILL);
	CU_ASSERT_STRING_EQUAL(all[0].label, "c");
	CU_ASSERT_STRING_EQUAL(all[2].label, "b");
	pxt_numbers_sort(numbers, PXT_NUMBERS_P50);
	CU_ASSERT_STRING_EQUAL(all[0].label, "a");
	CU_ASSERT_STRING_EQUAL(all[1].label, "b");
	pxt_numbers_sort(numbers, PXT_NUMBERS_NAME);
	CU_ASSERT_STRING_EQUAL(all[2].label, "c");
	free(numbers);
}

/* ---- The view ---- */

static char seen[64][1200];
static unsigned seen_count;

static void see(void *context, enum pxt_view_style style, const char *text, size_t bytes)
{
	CU_ASSERT_FATAL(seen_count < 64 && bytes < sizeof seen[0]);
	(void)snprintf(seen[seen_count++], sizeof seen[0], "%s", text);
}

static unsigned columns_of(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

/* Two streams, 30 threads, 30 pairs, one lock. */
static struct pxt_numbers *some_numbers(void)
{
	struct pxt_numbers *numbers = calloc(1, sizeof *numbers);
	struct pxt_numbers_row *made;

	CU_ASSERT_FATAL(numbers != NULL);
	for (unsigned i = 0; i < 2; i++) {
		made = pxt_numbers_add(numbers, PXT_NUMBERS_STREAMS, 1e12);
		made->stream = i;
		made->state = "running";
		made->pid = 4194304;
		made->lost_all = 1e15;
		made->values[PXT_NUMBERS_LOST] = 123456;
		made->values[PXT_NUMBERS_FILL] = 100;
		(void)snprintf(made->label, sizeof made->label, "%s",
		    i ? "a-stream-with-quite-a-long-name-of-its-own" : "m\xc3\xa4rz");
		(void)snprintf(made->program, sizeof made->program, "/opt/app/control");
	}
	for (unsigned i = 0; i < 30; i++) {
		made = pxt_numbers_add(numbers, PXT_NUMBERS_THREADS, 1e6);
		(void)snprintf(made->label, sizeof made->label, "thread-%u/%u", i, 4711 + i);
		(void)pair(numbers, "a_pair_of_events_begin .. _end", 1e6, 1e9)->stream;
	}
	made = pxt_numbers_add(numbers, PXT_NUMBERS_LOCKS, 1e9);
	(void)snprintf(made->label, sizeof made->label, "mtx 0x7fffdeadbeef");
	return numbers;
}

PXT_TEST(no_line_is_wider_than_the_view)
{
	struct pxt_numbers *numbers = some_numbers();
	struct pxt_view view = { .line = see, .chosen = PXT_VIEW_NOBODY, .rows = 10 };

	for (view.width = 1; view.width <= 200; view.width++) {
		seen_count = 0;
		pxt_view_put(&view, numbers);
		for (unsigned i = 0; i < seen_count; i++)
			CU_ASSERT(columns_of(seen[i]) <= view.width);
	}
	free(numbers);
}

PXT_TEST(eighty_columns_hold_all_but_the_program)
{
	static const char *const heads[] = { "STREAM", "STATE", "EVENTS/S", "LOST/S", "FILL",
		"READ", "SHARE", "P50", "P99", "MAX", "WAITED", "LONGEST", "WAITS", "WAITING" };
	struct pxt_numbers *numbers = some_numbers();
	const struct pxt_view view = {
		.line = see, .width = 80, .chosen = PXT_VIEW_NOBODY, .rows = 3
	};

	seen_count = 0;
	pxt_view_put(&view, numbers);
	for (unsigned i = 0; i < sizeof heads / sizeof *heads; i++) {
		bool there = false;

		for (unsigned k = 0; k < seen_count; k++)
			there = there || strstr(seen[k], heads[i]);
		CU_ASSERT(there);
	}
	CU_ASSERT(strstr(seen[0], "PROGRAM") == NULL);
	/* What is cut says so, and a large number stays one. */
	CU_ASSERT(strstr(seen[2], "+  ") != NULL || strstr(seen[1], "+  ") != NULL);
	CU_ASSERT(strstr(seen[1], "  1.0P  ") != NULL);
	free(numbers);
}

PXT_TEST(a_view_of_any_width_cuts_nothing)
{
	struct pxt_numbers *numbers = some_numbers();
	const struct pxt_view view = { .line = see, .chosen = PXT_VIEW_NOBODY, .rows = 3 };

	seen_count = 0;
	pxt_view_put(&view, numbers);
	CU_ASSERT(strstr(seen[1], "m\xc3\xa4rz ") != NULL);
	CU_ASSERT(strstr(seen[1], "  /opt/app/control") != NULL);
	CU_ASSERT(strstr(seen[2], "a-stream-with-quite-a-long-name-of-its-own  ") != NULL);
	free(numbers);
}

/* LPT-33 */
PXT_TEST(of_a_long_path_the_folder_is_cut_and_the_program_is_there)
{
	struct pxt_numbers *numbers = some_numbers();
	struct pxt_view view = { .line = see, .chosen = PXT_VIEW_NOBODY, .rows = 3 };

	for (unsigned i = 0; i < numbers->tables[PXT_NUMBERS_STREAMS].count; i++)
		(void)snprintf(numbers->tables[PXT_NUMBERS_STREAMS].rows[i].program,
		    PXT_NUMBERS_LABEL, "/home/somebody/m\xc3\xa4rz/build/release/bin/control");
	for (view.width = 130; view.width <= 150; view.width++) {
		seen_count = 0;
		pxt_view_put(&view, numbers);
		CU_ASSERT(strstr(seen[0], "PROGRAM") != NULL);
		PXT_EQ(columns_of(seen[1]), view.width);
		CU_ASSERT(strstr(seen[1], "  +") != NULL);
		CU_ASSERT_STRING_EQUAL(seen[1] + strlen(seen[1]) - 7, "control");
	}
	free(numbers);
}

PXT_TEST(tables_share_the_lines_that_there_are)
{
	struct pxt_numbers *numbers = some_numbers();
	struct pxt_view view = {
		.line = see, .width = 80, .chosen = PXT_VIEW_NOBODY, .rows = PXT_NUMBERS_ROWS
	};

	for (view.height = 1; view.height <= 60; view.height++) {
		seen_count = 0;
		pxt_view_put(&view, numbers);
		CU_ASSERT(seen_count <= view.height);
		/* All lines are used, but where the next table would have no row. */
		CU_ASSERT(view.height < 12 || view.height - seen_count <= 0);
	}
	view.height = 22;
	seen_count = 0;
	pxt_view_put(&view, numbers);
	unsigned heads = 0;
	for (unsigned i = 0; i < seen_count; i++)
		heads += strncmp(seen[i], "THREAD ", 7) == 0 || strncmp(seen[i], "PAIR ", 5) == 0 ||
		         strncmp(seen[i], "LOCK ", 5) == 0 || strncmp(seen[i], "STREAM ", 7) == 0;
	PXT_EQ(heads, 4);
	free(numbers);
}

PXT_TEST(the_stream_that_is_chosen_is_always_seen)
{
	struct pxt_numbers *numbers = calloc(1, sizeof *numbers);
	struct pxt_view view = { .line = see, .width = 80, .height = 5, .rows = 3 };

	CU_ASSERT_FATAL(numbers != NULL);
	for (unsigned i = 0; i < 20; i++) {
		struct pxt_numbers_row *made = pxt_numbers_add(numbers, PXT_NUMBERS_STREAMS, i);

		made->stream = i;
		(void)snprintf(made->label, sizeof made->label, "stream-%u", i);
	}
	for (view.chosen = 0; view.chosen < 20; view.chosen++) {
		char name[32];
		bool there = false;

		seen_count = 0;
		pxt_view_put(&view, numbers);
		PXT_EQ(seen_count, 5);
		(void)snprintf(name, sizeof name, "stream-%u ", (unsigned)view.chosen);
		for (unsigned i = 0; i < seen_count; i++)
			there = there || strncmp(seen[i], name, strlen(name)) == 0;
		CU_ASSERT(there);
	}
	free(numbers);
}
