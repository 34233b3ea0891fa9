/* SPDX-License-Identifier: MIT */
/* ground.c - see ground.h. */
#include "ground.h"

#include "../beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "core/process/threads.h"
#include "suite.h"

#include <unistd.h>

#define EACH 1024u /* events of a source */

const struct ground *ground;
trace_id_t ground_streams[GROUND_STREAMS];
static struct rd_list lists[GROUND_STREAMS];
static int logs[GROUND_STREAMS];
static _Thread_local volatile uint32_t lane;

unsigned ground_count(void)
{
	return ground->two ? GROUND_STREAMS : 1u;
}

const char *ground_name(void)
{
	return st_text("policy %d, lanes %u, %zu bytes, fill %d%s%s%s%s", ground->policy,
	    ground->lanes, ground->len, (int)ground->fill, ground->ordered ? ", ordered" : "",
	    ground->two ? ", two" : "", ground->logged ? ", logged" : "",
	    ground->many ? ", many at once" : "");
}

/* ---- Writers ---- */

void ground_register(void)
{
	(void)posix_trace_thread_register_np();
	pxt_self.cpu = &lane;
}

void ground_lane(uint32_t to)
{
	lane = to;
}

void ground_say(uint32_t beside, enum ground_source source, size_t len)
{
	uint32_t kept = lane;

	lane = kept + beside;
	CU_ASSERT(rd_say_long(source, len));
	lane = kept;
}

void ground_lap(void)
{
	for (unsigned i = 0; i < GROUND_LAP; i++)
		ground_say(0, LAP, 4);
}

/* ---- Control ---- */

void ground_read(void)
{
	for (unsigned i = 0; i < ground_count(); i++) {
		if (ground->logged)
			PXT_EQ(posix_trace_flush(ground_streams[i]), 0);
		else if (ground->many)
			(void)rd_take_many(&lists[i], ground_streams[i]);
		else
			(void)rd_take(&lists[i], ground_streams[i]);
	}
}

void ground_clear(void)
{
	for (unsigned i = 0; i < ground_count(); i++)
		PXT_EQ(posix_trace_clear(ground_streams[i]), 0);
}

/* ---- One case ---- */

static void open_stream(unsigned i, const trace_attr_t *attr)
{
	if (ground->logged) {
		logs[i] = st_file();
		PXT_EQ_FATAL(posix_trace_create_withlog(0, attr, logs[i], &ground_streams[i]), 0);
	} else {
		PXT_EQ_FATAL(posix_trace_create(0, attr, &ground_streams[i]), 0);
	}
	PXT_EQ(rd_call(posix_trace_start, ground_streams[i]), 0);
	if (!lists[i].at)
		rd_list_begin(&lists[i], 4 * EACH);
	lists[i].count = 0;
	lists[i].strange = 0;
}

static void open_streams(void)
{
	const struct st_spec spec = { .policy = ground->policy,
		.size = 1024,
		.max_data = RD_LONGEST,
		.lanes = ground->lanes };
	trace_attr_t attr;

	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, ground->ordered), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	for (unsigned i = 0; i < ground_count(); i++)
		open_stream(i, &attr);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

static void fill_streams(void)
{
	unsigned few = ground->fill == SOME ? 3 : 0;
	unsigned events = ground->fill != BRIM ? few : ground->policy == LOOP ? 50 : 20;

	if (ground->fill != SOME)
		ground_read();
	for (uint32_t to = 0; to < ground->lanes; to++) {
		for (unsigned i = 0; i < events; i++)
			ground_say(to, BEFORE, i % 2 ? 4 : 12);
	}
}

void ground_begin(const struct ground *where)
{
	ground = where;
	rd_begin(EACH);
	open_streams();
	ground_register();
	lane = 0;
	pxt_holdback_ns = LONG_NS;
	fill_streams();
}

/* Everybody has left: what is unfinished still was spoiled by a writer that was overtaken. */
static void expect_the_law(unsigned i)
{
	struct posix_trace_counts_np counts;

	CU_ASSERT(st_law(ground_streams[i], &counts));
	PXT_EQ(counts.posix_held_np, 0);
}

static bool judge(unsigned i, trace_id_t trid, const char *what)
{
	struct rd_verdict verdict;

	rd_judge(&lists[i], trid, 0, &verdict);
	return rd_expect(&verdict, what);
}

static bool judge_log(unsigned i, const char *what)
{
	trace_id_t log;
	bool fine;

	PXT_EQ(lseek(logs[i], 0, SEEK_SET), 0);
	PXT_EQ_FATAL(posix_trace_open(logs[i], &log), 0);
	(void)rd_take(&lists[i], log);
	fine = judge(i, log, what);
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(close(logs[i]), 0);
	return fine;
}

bool ground_end(const char *what)
{
	bool fine = true;

	/* A clear may have left them stopped. */
	for (unsigned i = 0; i < ground_count(); i++)
		(void)rd_call(posix_trace_start, ground_streams[i]);
	ground_say(0, AFTER, 4);
	ground_say(1, AFTER, 32);
	ground_read();
	pxt_holdback_ns = 0;
	ground_read();
	for (unsigned i = 0; i < ground_count(); i++) {
		expect_the_law(i);
		if (!ground->logged)
			fine &= judge(i, ground_streams[i], what);
	}
	for (unsigned i = 0; i < ground_count(); i++) {
		PXT_EQ(rd_call(posix_trace_stop, ground_streams[i]), 0);
		PXT_EQ(posix_trace_shutdown(ground_streams[i]), 0);
		if (ground->logged)
			fine &= judge_log(i, what);
	}
	return fine;
}
