/* SPDX-License-Identifier: MIT */
/*
 * story.h - the inversion of inversion.c, told by a scheduler that is played: a system's own macros or
 * callbacks are called in its order, on the tasks of that system.  Who includes it has told what they are:
 *
 *	play_task(name, priority), play_switch(to), play_ready(task), play_sleep(),
 *	play_wait(), play_take(), play_give()
 *
 * of the running task, and of one mutex.
 */
#ifndef STORY_H
#define STORY_H

#include "kernel.h"

#include "port/bare/board.h"

static trace_id_t story_trid;
static trace_event_id_t story_begin, story_end;

static void story_work(uint32_t ms)
{
	uint64_t until = pxt_board_ticks() + ms * (pxt_board_hz() / 1000u);

	while (pxt_board_ticks() < until)
		;
}

static void story_job(task_t control, task_t logger, task_t cruncher, uint32_t job)
{
	bool late = job == 8;

	if (late) {
		play_switch(logger);
		play_take();
	}
	play_ready(control);
	play_switch(control);
	posix_trace_event(story_begin, &job, sizeof(job));
	if (late) {
		play_wait();
		play_switch(logger);
		play_ready(cruncher);
		play_switch(cruncher);
		story_work(20);
		play_sleep();
		play_switch(logger);
		play_give();
		play_ready(control);
		play_switch(control);
	}
	play_take();
	story_work(1);
	play_give();
	posix_trace_event(story_end, &job, sizeof(job));
	play_sleep();
	play_switch(logger);
	story_work(5);
	MUST(posix_trace_flush(story_trid) == 0);
}

static int story(void)
{
	trace_attr_t attr;
	task_t logger, cruncher, control;

	MUST(posix_trace_attr_init(&attr) == 0);
	MUST(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_FRAMES_NP) == 0);
	MUST(posix_trace_create_withlog(0, &attr, 1, &story_trid) == 0);
	MUST(posix_trace_eventid_open("job_begin", &story_begin) == 0);
	MUST(posix_trace_eventid_open("job_end", &story_end) == 0);
	MUST(posix_trace_eventid_setformat_np(story_begin, "u32 job") == 0);
	MUST(posix_trace_eventid_setformat_np(story_end, "u32 job") == 0);
	MUST(posix_trace_start(story_trid) == 0);
	control = play_task("control", 0);
	cruncher = play_task("cruncher", 1);
	logger = play_task("logger", 2);
	for (uint32_t job = 0; job < 12; job++)
		story_job(control, logger, cruncher, job);
	MUST(posix_trace_shutdown(story_trid) == 0);
	return 0;
}

#endif
