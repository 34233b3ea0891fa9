/* SPDX-License-Identifier: MIT */
/*
 * fuzz_flight.c - whatever a log says that a flight recorder watches: each condition is judged, names are fit for a
 * terminal, and what is cut out of it is a sound log.
 *
 * The first byte says whether checksums are made right, the second one which condition; the rest is a log that
 * grows.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/flight/flight.h"
#include "tools/output/say.h"

#define EVENTS_JUDGED 5000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const conditions[] = { "* late > 1ns", "span * > 1ns", "wait > 1ns",
	"wait * > 1ns", "wait read > 1ns", "wakeup > 1ns", "wakeup * > 1ns", "event *",
	"event *.cpu > 0", "event tick" };
#define CONDITIONS (sizeof conditions / sizeof *conditions)

static void met(void *self, const struct pxt_meeting *meeting)
{
	struct pxt_meeting *last = self;

	check_text(meeting->who, strnlen(meeting->who, sizeof meeting->who));
	*last = *meeting;
}

/* What it was met by last. */
static struct pxt_meeting judge(const struct pxt_condition *condition, int fd)
{
	struct pxt_reader reader = { 0 };
	struct pxt_meeting last = { .begin_ns = INT64_MIN, .end_ns = INT64_MAX };

	if (pxt_reader_open_growing(&reader, "stream", fd, NULL) == PXT_EXIT_OK) {
		struct pxt_judge *judge = pxt_judge_new(condition, &reader, met, &last);
		struct pxt_event *event;
		unsigned taken = 0;

		while (taken++ < EVENTS_JUDGED && (event = pxt_reader_next(&reader)) != NULL) {
			pxt_judge_take(judge, event);
			if (taken % 16 == 0)
				pxt_judge_look(judge, event->ns);
			if (taken % 256 == 0)
				pxt_judge_forget(judge);
		}
		pxt_judge_look(judge, INT64_MAX);
		(void)pxt_judge_knows(judge);
		pxt_judge_free(judge);
	}
	pxt_reader_close(&reader);
	return last;
}

static void cut_out(const struct pxt_flight_wish *wish, int fd, const struct pxt_meeting *around)
{
	struct pxt_reader reader = { 0 };
	char path[64];

	(void)snprintf(path, sizeof path, "flight-%ld.ptl", (long)getpid());
	if (pxt_reader_open_growing(&reader, "stream", fd, NULL) == PXT_EXIT_OK) {
		struct pxt_cut cut = { .wish = wish,
			.lanes = { { .reader = &reader, .standing = pxt_standing_new() } },
			.lane_count = 1,
			.begin_ns = around->begin_ns,
			.end_ns = around->end_ns };

		if (pxt_cut_write(&cut, path))
			check_log(path);
		pxt_standing_free(cut.lanes[0].standing);
	}
	pxt_reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pxt_flight_wish wish = { .command = "fuzz", .output = "fuzz.ptl" };
	struct pxt_meeting last;
	unsigned char *log;
	const char *path;
	int fd[2];

	if (size < 2)
		return 0;
	log = malloc(size);
	if (!log || !pxt_condition_parse(&wish.condition, conditions[data[1] % CONDITIONS]))
		abort();
	memcpy(log, data + 2, size - 2);
	if (data[0] & 1u)
		sign(log, size - 2);
	path = input_path(log, size - 2);
	free(log);
	for (unsigned i = 0; i < 2; i++)
		fd[i] = open(path, O_RDONLY | O_CLOEXEC);
	if (fd[0] < 0 || fd[1] < 0)
		abort();
	last = judge(&wish.condition, fd[0]);
	cut_out(&wish, fd[1], &last);
	pxt_where_free(wish.condition.where);
	return 0;
}
