/* SPDX-License-Identifier: MIT */
/*
 * fuzz_where.c - whatever a condition (--where) says: it is taken or refused with a place in it, and
 * an event is never chosen by a condition and its contrary.
 */
#include "tools/command/command.h"
#include "tools/event/fields.h"
#include "tools/select/select.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned char bytes[] = { 0x01, 0x80, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xe0, 0x3f, 0xef, 0xbe, 0xad, 0xde, 'o', 'k', 0, 0, 'a',
	'\n', 0, 0xc3 };

/* Types with fields of each kind; with their data whole, and cut in several places. */
static struct pxt_layout fields[2][POSIX_TRACE_FIELDS_MAX_NP];
static struct pxt_type types[2] = {
	{ .id = 40, .index = 0, .name = "job_end", .fields = fields[0] },
	{ .id = 72, .index = 1, .name = "other", .fields = fields[1] },
};
static struct pxt_thread thread = { .id = 1, .tid = 7, .recorded = true, .name = "ctl" };

static void prepare(void)
{
	types[0].field_count = pxt_fields_of(
	    "u8 job, i8 minus, i64 late_ns, double real, x32 mask, char[4] code, text label",
	    fields[0]);
	types[1].field_count = pxt_fields_of("u64 huge, f32 real, i16 pid", fields[1]);
	if (types[0].field_count != 7 || types[1].field_count != 3)
		abort();
}

static unsigned answers(struct pxt_where *where)
{
	static const size_t lengths[] = { sizeof bytes, 26, 12, 1, 0 };
	unsigned chosen = 0;

	for (unsigned i = 0; i < 10; i++) {
		struct pxt_event event = { .ns = 1000 * (int64_t)i - 500,
			.type = &types[i & 1],
			.thread = &thread,
			.data = bytes,
			.bytes = lengths[i / 2] };

		event.info.posix_pid = 4711;
		event.extra.posix_cpu_np = (int)i - 1;
		event.extra.posix_lost_before_np = i;
		chosen |= (unsigned)pxt_where_true(where, &event, 0) << i;
	}
	return chosen;
}

static struct pxt_where *parse(const char *text)
{
	struct pxt_text_error error = { 0 };
	struct pxt_where *where = pxt_where_parse(text, &error);

	if (!where && (error.at > strlen(text) || error.reason[0] == '\0'))
		abort();
	return where;
}

static void check(const char *text)
{
	char contrary[PXT_WHERE_BYTES + 32] = "not (";
	struct pxt_where *where = parse(text);

	if (!where)
		return;
	unsigned chosen = answers(where);
	if (answers(where) != chosen)
		abort();
	for (unsigned i = 0; pxt_where_field(where, i); i++)
		if (i > 2 * PXT_WHERE_TESTS)
			abort();
	pxt_where_free(where);
	strcat(contrary, text);
	strcat(contrary, ")");
	/* It may be too deep or too long now. */
	where = parse(contrary);
	if (where && (answers(where) & chosen) != 0)
		abort();
	pxt_where_free(where);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[PXT_WHERE_BYTES + 64];

	if (types[0].field_count == 0)
		prepare();
	if (size >= sizeof text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (strlen(text) <= PXT_WHERE_BYTES)
		check(text);
	else if (parse(text))
		abort();
	return 0;
}
