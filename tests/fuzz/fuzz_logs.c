/* SPDX-License-Identifier: MIT */
/*
 * fuzz_logs.c - what the tool makes of whatever a log holds.
 *
 * Of each target the first byte says whether checksums are made right.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/export/export.h"
#include "tools/flight/flight.h"
#include "tools/output/out.h"
#include "tools/run/recorder.h"
#include "tools/top/top.h"

#include <getopt.h>

/*
 * ---- export ----
 *
 * Each form that no library makes is made of the log, in bounded memory.  The first byte says which form with
 * which options, too.
 */

static const struct {
	const struct pxt_command *command;
	const char *option;
} forms[] = {
	{ &pxt_export_chrome, "--strict" },
	{ &pxt_export_chrome, "--counter=*" },
	{ &pxt_export_csv, "--thread-name" },
	{ &pxt_export_csv, "--no-payload" },
	{ &pxt_export_folded, "--strict" },
	{ &pxt_export_speedscope, "--strict" },
};
#define FORMS (sizeof forms / sizeof *forms)

static void export(unsigned form, const char *log)
{
	/* A counter's pattern is kept until the process ends, so it is given once. */
	static char kept[FORMS][32];
	const bool again = *kept[form] != 0;
	char name[] = "export";
	char strict[] = "--strict";
	char incomplete[] = "--incomplete";
	char output[] = "--output=/dev/null";
	char path[32];
	char *words[] = { name, kept[form], incomplete, output, path, NULL };

	(void)snprintf(kept[form], sizeof kept[form], "%s", forms[form].option);
	if (again && strstr(kept[form], "counter"))
		words[1] = strict;
	(void)snprintf(path, sizeof path, "%s", log);
	/* As if nothing had been read before. */
	optind = 0;
	(void)forms[form].command->run(5, words);
}

/* The one form that is a folder. */
static void export_ctf2(const char *log)
{
	static const char *const files[] = { "/metadata", "/stream", "" };
	char folder[64];
	char path[96];
	char name[32];
	char *names[] = { name };
	struct pxt_reader reader = { 0 };

	(void)snprintf(name, sizeof name, "%s", log);
	(void)snprintf(folder, sizeof folder, "/tmp/fuzz-ctf2-%ld", (long)getpid());
	if (pxt_reader_open(&reader, names, 1, PXT_OPEN_INCOMPLETE, NULL) == PXT_EXIT_OK)
		(void)pxt_ctf2_write(&reader, folder);
	pxt_reader_close(&reader);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		(void)snprintf(path, sizeof path, "%s%s", folder, files[i]);
		(void)remove(path);
	}
}

static void fuzz_export(const uint8_t *data, size_t size)
{
	if (size < 1)
		return;
	if (data[0] / 2 % (FORMS + 1) == FORMS)
		export_ctf2(input_log(data, size, 1));
	else
		export(data[0] / 2 % (FORMS + 1), input_log(data, size, 1));
}

/*
 * ---- top ----
 *
 * What is shown of a log that grows is bounded and fit for a terminal.  The second byte says how large the view is.
 */

#define SLOT_NS INT64_C(1000000000)

static void look_at(void *context, enum pxt_view_style style, const char *text, size_t bytes)
{
	(void)context, (void)style;
	if (text[bytes] != '\0')
		abort();
	check_text(text, bytes);
}

static void show(struct pxt_model *model, const uint8_t *choice)
{
	static struct pxt_numbers numbers;
	const struct pxt_view view = { .width = *choice % 128u,
		.height = *choice / 8u,
		.rows = *choice % 16u,
		.chosen = *choice & 1u,
		.line = look_at };

	pxt_numbers_clear(&numbers);
	pxt_model_rows(model, 1, &numbers);
	pxt_numbers_sort(&numbers, (enum pxt_numbers_column)(*choice % PXT_NUMBERS_COLUMNS));
	pxt_view_put(&view, &numbers);
}

static void watch(struct pxt_reader *reader, const uint8_t *choice)
{
	struct pxt_model *model = pxt_model_new(SLOT_NS, 0);
	struct pxt_event *event;
	int64_t now_ns = 0;
	unsigned taken = 0;

	pxt_model_open(model, reader);
	while ((event = pxt_reader_next(reader)) != NULL && taken++ < 5000) {
		int64_t since_ns = event->ns - reader->start_ns;

		now_ns = since_ns > now_ns ? since_ns : now_ns;
		pxt_model_tick(model, now_ns);
		pxt_model_take(model, event, taken % 16 != 0);
	}
	pxt_model_status(model, taken, *choice);
	show(model, choice);
	pxt_model_tick(model, now_ns > INT64_MAX - 9 * SLOT_NS ? INT64_MAX : now_ns + 9 * SLOT_NS);
	show(model, choice);
	pxt_model_free(model);
}

static void fuzz_top(const uint8_t *data, size_t size)
{
	struct pxt_reader reader = { 0 };
	int fd;

	if (size < 2)
		return;
	fd = open(input_log(data, size, 2), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort();
	if (pxt_reader_open_growing(&reader, "stream", fd, NULL) == PXT_EXIT_OK)
		watch(&reader, data + 1);
	pxt_reader_close(&reader);
}

/*
 * ---- flight ----
 *
 * Each condition is judged of a log that grows, names are fit for a terminal, and what is cut out of it is a
 * sound log.  The second byte says which condition.
 */

#define EVENTS_JUDGED 5000u

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

static void fuzz_flight(const uint8_t *data, size_t size)
{
	struct pxt_flight_wish wish = { .command = "fuzz", .output = "fuzz.ptl" };
	struct pxt_meeting last;
	const char *path;
	int fd[2];

	if (size < 2)
		return;
	if (!pxt_condition_parse(&wish.condition, conditions[data[1] % CONDITIONS]))
		abort();
	path = input_log(data, size, 2);
	for (unsigned i = 0; i < 2; i++)
		fd[i] = open(path, O_RDONLY | O_CLOEXEC);
	if (fd[0] < 0 || fd[1] < 0)
		abort();
	last = judge(&wish.condition, fd[0]);
	cut_out(&wish, fd[1], &last);
	pxt_where_free(wish.condition.where);
}

/*
 * ---- summary ----
 *
 * The summary of a run ends, and is fit for a terminal.
 */

#ifdef PXT_FUZZ_RUN
static void fuzz_summary(const uint8_t *data, size_t size)
{
	static struct pxt_out out;
	struct pxt_recorder_sum sum = { 0 };
	struct pxt_summary summary = { .sum = &sum };
	char text[4096];
	ssize_t bytes;
	off_t at = 0;

	if (size < 1)
		return;
	summary.path = input_log(data, size, 1);
	if (out.fd == 0)
		out.fd = memfd_create("summary", MFD_CLOEXEC);
	if (out.fd < 0 || ftruncate(out.fd, 0) || lseek(out.fd, 0, SEEK_SET))
		abort();
	(void)pxt_summary(&out, &summary);
	pxt_out_flush(&out);
	for (; (bytes = pread(out.fd, text, sizeof text, at)) > 0; at += bytes)
		check_text(text, (size_t)bytes);
}
#endif

static const struct fuzz_target targets[] = {
	{ "export", fuzz_export },
	{ "flight", fuzz_flight },
#ifdef PXT_FUZZ_RUN
	{ "summary", fuzz_summary },
#endif
	{ "top", fuzz_top },
	{ NULL, NULL },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return run_target(targets, data, size);
}
