/* SPDX-License-Identifier: MIT */
/* test_points.c - typed trace points of one line: what they record, and what they leave alone. */
#include "suite.h"

#include "format/compiler.h"

#include <trace.h>

/* The points of this file need names and room for their descriptions. */
#if _PXT_UNIT_USEREVENTS && _PXT_UNIT_ONLINE && _PXT_USER_EVENT_MAX > 5 &&                         \
    CONFIG_PTRACE_FORMAT_POOL_BYTES >= 512
#define HAVE_POINTS 1
#else
#define HAVE_POINTS 0
#endif

#if HAVE_POINTS
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace_np.h>

#define WHO_BYTES 8

POSIX_TRACE_DEFINE_NP(job_late, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(tick);
/* NOLINTNEXTLINE(readability-function-size) */
POSIX_TRACE_DEFINE_NP(
    every, u8, a, x16, b, float, c, double, d, text(WHO_BYTES), e, i8, f, f32, g, string, h);
POSIX_TRACE_DEFINE_NP(message, string, words);
POSIX_TRACE_DEFINE_NP(twice, u8, a);
#if _PXT_USER_EVENT_MAX > 10
POSIX_TRACE_DEFINE_JOB_NP(pump);
#endif

static trace_id_t stream;
static unsigned evaluated;

static uint32_t number(uint32_t value)
{
	evaluated++;
	return value;
}

static void begin(void)
{
	trace_attr_t attr;

	posix_trace_attr_init(&attr);
	posix_trace_attr_setmaxdatasize(&attr, CONFIG_PTRACE_DATA_LIMIT < 512 ? 64 : 512);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ_FATAL(posix_trace_start(stream), 0);
	evaluated = 0;
}

/* The next user event: its data, or a length of -1. */
static long read_event(
    struct posix_trace_event_info *info, unsigned char *data, size_t room, trace_event_id_t *id)
{
	int unavailable = 1;
	size_t len = 0;

	*id = 0;
	do {
		if (posix_trace_trygetnext_event(stream, info, data, room, &len, &unavailable) !=
		        0 ||
		    unavailable)
			return -1;
	} while (info->posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	*id = info->posix_event_id;
	return (long)len;
}

/* Arguments come out as the description says, packed in its order. */
static void a_point_records_what_its_description_says(void)
{
	struct posix_trace_event_info info;
	struct posix_trace_field_np field;
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	unsigned char data[512];
	trace_event_id_t id;
	uint32_t cursor = 0;
	size_t len;

	begin();
	PXT_EQ(posix_trace_open_np(job_late), 0);
	posix_trace_point_np(job_late, number(7), -5);
	PXT_EQ(evaluated, 1);
	len = (size_t)read_event(&info, data, sizeof(data), &id);
	PXT_EQ_FATAL(len, 12);
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, format), 0);
	CU_ASSERT_STRING_EQUAL(format, "u32 job, i64 late_ns");
	PXT_EQ(posix_trace_eventid_get_name(stream, id, format), 0);
	CU_ASSERT_STRING_EQUAL(format, "job_late");
	PXT_EQ(posix_trace_field_next_np("u32 job, i64 late_ns", data, len, 0, &cursor, &field), 0);
	PXT_EQ(field.posix_value_np.posix_u_np, 7);
	PXT_EQ(posix_trace_field_next_np("u32 job, i64 late_ns", data, len, 0, &cursor, &field), 0);
	PXT_EQ(field.posix_value_np.posix_i_np, -5);
	posix_trace_shutdown(stream);
}

#if _PXT_USER_EVENT_MAX > 10
/* SHARK-33 */
static void a_job_has_five_points_of_its_name(void)
{
	static const struct {
		const char *name;
		const char *format;
		int64_t values[2];
	} wanted[] = {
		{ "pump_release", "u64 number", { 7, 0 } },
		{ "pump_begin", "u64 number", { 8, 0 } },
		{ "pump_end", "u64 number", { 9, 0 } },
		{ "pump_deadline_miss", "u64 number, i64 late_ns", { 10, -1 } },
		{ "pump_overrun", "u64 number, i64 over_ns", { 11, 5000000000 } },
	};

	begin();
	PXT_EQ(posix_trace_open_job_np(pump), 0);
	posix_trace_job_release_np(pump, number(7));
	posix_trace_job_begin_np(pump, 8);
	posix_trace_job_end_np(pump, 9);
	posix_trace_job_miss_np(pump, 10, -1);
	posix_trace_job_overrun_np(pump, 11, 5000000000);
	PXT_EQ(evaluated, 1);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		char text[POSIX_TRACE_FORMAT_MAX_NP + 1];
		struct posix_trace_event_info info;
		int64_t values[2] = { 0, 0 };
		trace_event_id_t id;
		long len = read_event(&info, (unsigned char *)values, sizeof(values), &id);

		PXT_EQ(len, i < 3 ? 8 : 16);
		PXT_EQ(posix_trace_eventid_get_name(stream, id, text), 0);
		CU_ASSERT_STRING_EQUAL(text, wanted[i].name);
		PXT_EQ(posix_trace_eventid_getformat_np(stream, id, text), 0);
		CU_ASSERT_STRING_EQUAL(text, wanted[i].format);
		CU_ASSERT(values[0] == wanted[i].values[0] && values[1] == wanted[i].values[1]);
	}
	posix_trace_shutdown(stream);
}
#endif

static void every_type_is_packed(void)
{
	struct posix_trace_event_info info;
	struct posix_trace_field_np field[8];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	unsigned char data[512];
	trace_event_id_t id;
	uint32_t cursor = 0;
	long len;

	begin();
	PXT_EQ(posix_trace_open_np(every), 0);
	posix_trace_point_np(every, 1, 0xabc, 1.5f, -2.5, "much too long", -1, 0.25f, "hello");
	len = read_event(&info, data, sizeof(data), &id);
	PXT_EQ_FATAL(len, 1 + 2 + 4 + 8 + WHO_BYTES + 1 + 4 + 5);
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, format), 0);
	for (int i = 0; i < 8; i++)
		PXT_EQ_FATAL(
		    posix_trace_field_next_np(format, data, (size_t)len, 0, &cursor, &field[i]), 0);
	PXT_EQ(field[0].posix_value_np.posix_u_np, 1);
	PXT_EQ(field[1].posix_kind_np, POSIX_TRACE_FIELD_HEX_NP);
	PXT_EQ(field[1].posix_value_np.posix_u_np, 0xabc);
	CU_ASSERT(field[2].posix_value_np.posix_f_np == 1.5);
	CU_ASSERT(field[3].posix_value_np.posix_f_np == -2.5);
	PXT_EQ(field[4].posix_bytes_np, WHO_BYTES);
	CU_ASSERT(memcmp(data + field[4].posix_offset_np, "much too", WHO_BYTES) == 0);
	PXT_EQ(field[5].posix_value_np.posix_i_np, -1);
	CU_ASSERT(field[6].posix_value_np.posix_f_np == 0.25);
	PXT_EQ(field[7].posix_bytes_np, 5);
	CU_ASSERT(memcmp(data + field[7].posix_offset_np, "hello", 5) == 0);
	posix_trace_shutdown(stream);
}

static void a_point_without_fields_and_one_with_text_alone_are_recorded(void)
{
	char words[POSIX_TRACE_TEXT_MAX_NP + 50];
	struct posix_trace_event_info info;
	unsigned char data[512];
	trace_event_id_t id;
	size_t most = CONFIG_PTRACE_DATA_LIMIT < 512 ? 64 : POSIX_TRACE_TEXT_MAX_NP;

	begin();
	memset(words, 'w', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	PXT_EQ(posix_trace_open_np(tick), 0);
	PXT_EQ(posix_trace_open_np(message), 0);
	posix_trace_point_np(tick);
	posix_trace_point_np(message, "");
	posix_trace_point_np(message, NULL);
	posix_trace_point_np(message, words);
	for (int i = 0; i < 3; i++)
		PXT_EQ(read_event(&info, data, sizeof(data), &id), 0);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), most);
	posix_trace_shutdown(stream);
}

/* LPT-33, ZEP-25, QNX-39 */
static void nothing_is_evaluated_when_nobody_wants_the_event(void)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	/* Not opened. */
	posix_trace_point_np(twice, (uint8_t)number(1));
	PXT_EQ(evaluated, 0);
	PXT_EQ(posix_trace_open_np(twice), 0);
	posix_trace_stop(stream);
	posix_trace_point_np(twice, (uint8_t)number(1));
	posix_trace_event_np(POSIX_TRACE_UNNAMED_USEREVENT, "x", (size_t)number(1));
	PXT_EQ(evaluated, 0);
	posix_trace_start(stream);
	posix_trace_point_np(twice, (uint8_t)number(9));
	PXT_EQ(evaluated, 1);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), 1);
	PXT_EQ(data[0], 9);
	posix_trace_event_np(
	    (trace_event_id_t)number(POSIX_TRACE_UNNAMED_USEREVENT), "x", (size_t)number(1));
	PXT_EQ(evaluated, 3);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), 1);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	posix_trace_shutdown(stream);
	posix_trace_point_np(twice, (uint8_t)number(9));
	PXT_EQ(evaluated, 3);
}

/* A type described otherwise before: the point says so and stays off. */
static void a_point_with_another_description_stays_off(void)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	PXT_EQ(posix_trace_eventid_open("twice", &id), 0);
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u16 b"), 0);
	PXT_EQ(posix_trace_open_np(twice), EBUSY);
	posix_trace_point_np(twice, (uint8_t)number(1));
	PXT_EQ(evaluated, 0);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), -1);
	posix_trace_shutdown(stream);
}

/* CON-19: at the limit the point is the unnamed event's, without description. */
static void a_point_beyond_the_limit_records_unnamed_events(void)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;
	char name[32];

	begin();
	for (int i = 0; i < TRACE_USER_EVENT_MAX; i++) {
		(void)snprintf(name, sizeof(name), "filler %d", i);
		(void)posix_trace_eventid_open(name, &id);
	}
	PXT_EQ(posix_trace_open_np(twice), 0);
	posix_trace_point_np(twice, 3);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), 1);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	posix_trace_shutdown(stream);
}
#endif

static const struct pxt_case cases[] = {
#if HAVE_POINTS
	PXT_CASE_FRESH(a_point_records_what_its_description_says),
#if _PXT_USER_EVENT_MAX > 10
	PXT_CASE_FRESH(a_job_has_five_points_of_its_name),
#endif
	PXT_CASE_FRESH(every_type_is_packed),
	PXT_CASE_FRESH(a_point_without_fields_and_one_with_text_alone_are_recorded),
	PXT_CASE_FRESH(nothing_is_evaluated_when_nobody_wants_the_event),
	PXT_CASE_FRESH(a_point_with_another_description_stays_off),
	PXT_CASE_FRESH(a_point_beyond_the_limit_records_unnamed_events),
#endif
	PXT_CASE_END,
};

PXT_SUITE("points", cases)
