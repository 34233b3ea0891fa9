/* SPDX-License-Identifier: MIT */
/*
 * fuzz_top.c - whatever a program that is watched says of its events, what top shows of them is bounded
 * and fit for a terminal.
 *
 * The first byte says whether checksums are made right, the second one how large the view is; the rest
 * is a log that grows.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/output/say.h"
#include "tools/top/model.h"
#include "tools/top/view.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pxt_reader reader = { 0 };
	unsigned char *log;
	int fd;

	if (size < 2)
		return 0;
	log = malloc(size);
	if (!log)
		abort();
	memcpy(log, data + 2, size - 2);
	if (data[0] & 1u)
		sign(log, size - 2);
	fd = open(input_path(log, size - 2), O_RDONLY | O_CLOEXEC);
	free(log);
	if (fd < 0)
		abort();
	if (pxt_reader_open_growing(&reader, "stream", fd, NULL) == PXT_EXIT_OK)
		watch(&reader, data + 1);
	pxt_reader_close(&reader);
	return 0;
}
