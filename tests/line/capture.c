/* SPDX-License-Identifier: MIT */
/* capture.c - the library itself is the target: its bytes are read from the end of a pipe. */
#include "forge.h"

#include "suite.h"

#include "format/compiler.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EVENT "line_event"

struct catcher {
	struct capture *capture;
	int fd;
};

static void *catch (void *argument)
{
	struct catcher *catcher = argument;
	struct capture *capture = catcher->capture;
	ssize_t got;

	do {
		if (capture->room - capture->count < 65536) {
			capture->room += 262144;
			capture->bytes = realloc(capture->bytes, capture->room);
		}
		got = read(catcher->fd, capture->bytes + capture->count, 65536);
		if (got > 0)
			capture->count += (size_t)got;
	} while (got > 0);
	return NULL;
}

static void play(trace_id_t trid, const struct capture_script *script)
{
	static const struct timespec pause = { CONFIG_PTRACE_LOG_LINE_REPEAT_MS / 1000 + 1,
		1000000 };
	unsigned char data[600];
	trace_event_id_t id;

	memset(data, 0xa5, sizeof data);
	PXT_EQ(posix_trace_eventid_open(EVENT, &id), 0);
	(void)posix_trace_eventid_setformat_np(id, "u32 number, text rest");
	PXT_EQ(posix_trace_start(trid), 0);
	for (uint32_t i = 0; i < script->events; i++) {
		if (script->pause_at && i == script->pause_at)
			(void)nanosleep(&pause, NULL);
		memcpy(data, &i, sizeof i);
		posix_trace_event(
		    id, data, script->longer && i % script->longer == 0 ? sizeof data : sizeof i);
		if (script->flush && i % script->flush == script->flush - 1)
			PXT_EQ(posix_trace_flush(trid), 0);
		if (script->clear_in_the_middle && i == script->events / 2)
			PXT_EQ(posix_trace_clear(trid), 0);
	}
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

void capture_run(struct capture *capture, const struct capture_script *script)
{
	struct catcher catcher = { .capture = capture };
	pthread_t thread;
	trace_attr_t attr;
	trace_id_t trid;
	int ends[2];

	capture_free(capture);
	CU_ASSERT_FATAL(pipe(ends) == 0);
	catcher.fd = ends[0];
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, catch, &catcher) == 0);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 262144), 0);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, 1024), 0);
	PXT_EQ(posix_trace_attr_setlogform_np(&attr, script->form), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, ends[1], &trid), 0);
	(void)close(ends[1]);
	play(trid, script);
	(void)pthread_join(thread, NULL);
	(void)close(ends[0]);
	(void)posix_trace_attr_destroy(&attr);
}

void capture_free(struct capture *capture)
{
	free(capture->bytes);
	memset(capture, 0, sizeof *capture);
}

bool capture_next(const struct capture *capture, size_t *at, struct capture_frame *frame)
{
	while (*at < capture->count) {
		const unsigned char *from = capture->bytes + *at;
		const unsigned char *end = memchr(from, 0, capture->count - *at);
		size_t bytes = end ? (size_t)(end - from) : 0;
		size_t plain;

		if (!end)
			return false;
		frame->at = *at;
		frame->bytes = bytes + 1;
		*at += bytes + 1;
		plain = bytes ? pxt_linkframe_unstuff(from, bytes, frame->plain) : 0;
		if (plain && pxt_linkframe_parse(&frame->frame, frame->plain, plain))
			return true;
	}
	return false;
}

uint32_t capture_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}
