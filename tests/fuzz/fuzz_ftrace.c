/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ftrace.c - whatever the text of ftrace or trace-cmd says, its events are read to the end.
 *
 * The first byte chooses the clock; the rest is the text.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/merge/merge.h"
#include "tools/output/say.h"
#include "tools/write/logwrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NS_PER_S INT64_C(1000000000)

static struct pxt_reader reader;
static struct pxt_line line;

/* Of a machine that counts nanoseconds: ten seconds from when it began. */
static void make_log(const char *path)
{
	const struct pxt_loghead head = { .uuid = { 1 },
		.hz = 1000000000,
		.created = {
		    .realtime.tv_sec = 1000, .monotonic.tv_sec = 1, .boottime.tv_sec = 1 } };
	struct pxt_logwrite *log = pxt_logwrite_begin(path, PXT_LOG_WHOLE, &head);
	struct pxt_logclock clock = { .realtime.tv_sec = 1000 };

	pxt_logwrite_type(log, 40, "note", "u32 n");
	for (uint32_t i = 0; i <= 10; i++) {
		const struct pxt_logevent event = { .id = 40,
			.ticks = (uint64_t)(i * NS_PER_S),
			.cpu = -1,
			.data = &i,
			.bytes = sizeof i };

		clock.ticks = event.ticks;
		clock.realtime.tv_sec = 1000 + (time_t)i;
		clock.monotonic.tv_sec = 1 + (time_t)i;
		clock.boottime.tv_sec = 1 + (time_t)i;
		pxt_logwrite_clock(log, &clock);
		pxt_logwrite_event(log, &event);
	}
	if (pxt_logwrite_end(log, NULL))
		abort();
}

static void begin(void)
{
	static char path[64]; /* messages name it */
	char *paths[] = { path };
	static const struct pxt_placing placing = { .rule = PXT_CLOCK_AUTO };

	(void)snprintf(path, sizeof path, "/tmp/fuzz-ftrace-%ld.ptl", (long)getpid());
	make_log(path);
	if (pxt_reader_open(&reader, paths, 1, PXT_OPEN_COMPLETE, NULL) != PXT_EXIT_OK ||
	    !pxt_line_make(&line, &reader, &placing))
		abort();
	(void)unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pxt_ftrace ftrace;

	if (reader.count == 0)
		begin();
	if (size < 1)
		return 0;
	if (pxt_ftrace_open(&ftrace, input_path(data + 1, size - 1),
	        (enum pxt_ftrace_clock)(data[0] % (PXT_FTRACE_TSC + 1)), &reader, &line)) {
		for (size_t i = 0; pxt_ftrace_next(&ftrace); i++)
			if (i > size || ftrace.event.kind >= PXT_FTRACE_KINDS)
				abort();
	}
	pxt_ftrace_close(&ftrace);
	return 0;
}
