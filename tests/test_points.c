/* SPDX-License-Identifier: MIT */
/* test_points.c - typed trace points of one line: what they record, and what they leave alone. */
#define _DEFAULT_SOURCE               /* sigaltstack() */
#define POSIX_TRACE_WITHOUT_absent_NP 1
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
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <trace_np.h>
#include <unistd.h>

#define WHO_BYTES 8
/* What the longer of these tests need. */
#define HAVE_MANY (_PXT_USER_EVENT_MAX > 20 && CONFIG_PTRACE_FORMAT_POOL_BYTES >= 1024)

/* Where it is known which functions called. */
#if _PXT_UNIT_STACKS && HAVE_MANY && defined(__GLIBC__) &&                                         \
    (defined(__x86_64__) || defined(__aarch64__))
#define HAVE_STACKS __GLIBC_PREREQ(2, 35)
#else
#define HAVE_STACKS 0
#endif

POSIX_TRACE_DEFINE_NP(job_late, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(tick);
/* NOLINTNEXTLINE(readability-function-size) */
POSIX_TRACE_DEFINE_NP(
    every, u8, a, x16, b, float, c, double, d, text(WHO_BYTES), e, i8, f, f32, g, string, h);
POSIX_TRACE_DEFINE_NP(message, string, words);
POSIX_TRACE_DEFINE_NP(twice, u8, a);
#if HAVE_MANY
POSIX_TRACE_DEFINE_NP(absent, u32, a);
POSIX_TRACE_DEFINE_NP(kinds, bool, yes, enum, state, size, bytes, pointer, at);
POSIX_TRACE_DEFINE_TEXT_NP(said, "%u of %s", u32, a, string, b);
POSIX_TRACE_DEFINE_TEXT_NP(said_only, "nothing else");
/* NOLINTNEXTLINE(readability-function-size) */
POSIX_TRACE_DEFINE_NP(most, u8, f1, u8, f2, u8, f3, u8, f4, u8, f5, u8, f6, u8, f7, u8, f8, u8, f9,
    u8, f10, u8, f11, u8, f12, u8, f13, u8, f14, u8, f15, u8, f16, u8, f17, u8, f18, u8, f19, u8,
    f20, u8, f21, u8, f22, u8, f23, u8, f24, u8, f25, u8, f26, u8, f27, u8, f28, u8, f29, u8, f30,
    u8, f31, string, f32);
enum state {
	IDLE,
	BUSY = 7
};
#endif
#if HAVE_STACKS
POSIX_TRACE_DEFINE_STACK_NP(stacked, 3, u32, job);
#endif
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
PXT_TEST_FRESH(a_point_records_what_its_description_says)
{
	struct posix_trace_event_info info;
	struct posix_trace_field_np field;
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	unsigned char data[512];
	trace_event_id_t id;
	size_t cursor = 0;
	size_t len;

	begin();
	PXT_EQ(posix_trace_open_np(job_late), 0);
	posix_trace_point_np(job_late, number(7), -5);
	PXT_EQ(evaluated, 1);
	len = (size_t)read_event(&info, data, sizeof(data), &id);
	PXT_EQ_FATAL(len, 12);
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, format, sizeof(format)), 0);
	CU_ASSERT_STRING_EQUAL(format, "u32 job, i64 late_ns");
	PXT_EQ(posix_trace_eventid_get_name(stream, id, format), 0);
	CU_ASSERT_STRING_EQUAL(format, "job_late");
	PXT_EQ(posix_trace_field_next_np(
	           "u32 job, i64 late_ns", data, len, 0, &cursor, &field, sizeof(field)),
	    0);
	PXT_EQ(field.posix_value_np.posix_u_np, 7);
	PXT_EQ(posix_trace_field_next_np(
	           "u32 job, i64 late_ns", data, len, 0, &cursor, &field, sizeof(field)),
	    0);
	PXT_EQ(field.posix_value_np.posix_i_np, -5);
	posix_trace_shutdown(stream);
}

#if _PXT_USER_EVENT_MAX > 10
/* SHARK-33 */
PXT_TEST_FRESH(a_job_has_five_points_of_its_name)
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
		PXT_EQ(posix_trace_eventid_getformat_np(stream, id, text, sizeof(text)), 0);
		CU_ASSERT_STRING_EQUAL(text, wanted[i].format);
		CU_ASSERT(values[0] == wanted[i].values[0] && values[1] == wanted[i].values[1]);
	}
	posix_trace_shutdown(stream);
}
#endif

PXT_TEST_FRESH(every_type_is_packed)
{
	struct posix_trace_event_info info;
	struct posix_trace_field_np field[8];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	unsigned char data[512];
	trace_event_id_t id;
	size_t cursor = 0;
	long len;

	begin();
	PXT_EQ(posix_trace_open_np(every), 0);
	posix_trace_point_np(every, 1, 0xabc, 1.5f, -2.5, "much too long", -1, 0.25f, "hello");
	len = read_event(&info, data, sizeof(data), &id);
	PXT_EQ_FATAL(len, 1 + 2 + 4 + 8 + WHO_BYTES + 1 + 4 + 5);
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, format, sizeof(format)), 0);
	for (int i = 0; i < 8; i++)
		PXT_EQ_FATAL(posix_trace_field_next_np(format, data, (size_t)len, 0, &cursor,
		                 &field[i], sizeof(field[i])),
		    0);
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

PXT_TEST_FRESH(a_point_without_fields_and_one_with_text_alone_are_recorded)
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
PXT_TEST_FRESH(nothing_is_evaluated_when_nobody_wants_the_event)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	/* No stream runs, and it was not opened. */
	evaluated = 0;
	posix_trace_point_np(twice, (uint8_t)number(1));
	PXT_EQ(evaluated, 0);
	begin();
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

/* A type described otherwise before: opening says so. */
PXT_TEST_FRESH(a_point_with_another_description_is_not_taken_for_that_type)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	PXT_EQ(posix_trace_eventid_open("twice", &id), 0);
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u16 b"), 0);
	PXT_EQ(posix_trace_open_np(twice), EBUSY);
	posix_trace_point_np(twice, (uint8_t)number(1));
	PXT_EQ(evaluated, _PXT_UNIT_EXTENSIONS);
#if _PXT_UNIT_EXTENSIONS
	PXT_EQ(read_event(&info, data, sizeof(data), &id), 1);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
#endif
	PXT_EQ(read_event(&info, data, sizeof(data), &id), -1);
	posix_trace_shutdown(stream);
}

#if _PXT_UNIT_EXTENSIONS && HAVE_MANY
/* No call before it: the type has its name and its description. */
PXT_TEST_FRESH(a_point_opens_itself_when_a_stream_runs)
{
	char text[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	posix_trace_point_np(job_late, number(7), -5);
	PXT_EQ(evaluated, 1);
	PXT_EQ_FATAL(read_event(&info, data, sizeof(data), &id), 12);
	PXT_EQ(posix_trace_eventid_get_name(stream, id, text), 0);
	CU_ASSERT_STRING_EQUAL(text, "job_late");
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "u32 job, i64 late_ns");
	/* Kept: the next use does not open it again. */
	PXT_EQ(_pxt_id_job_late, id);
	posix_trace_shutdown(stream);
}

/* EVOPEN-06, LIM-04 */
PXT_TEST_FRESH(a_point_that_opens_itself_may_have_the_longest_name)
{
	char given[TRACE_EVENT_NAME_MAX + 1];
	char got[TRACE_EVENT_NAME_MAX + 1] = "";
	trace_event_id_t point = 0;
	trace_event_id_t id;

	memset(given, 'n', TRACE_EVENT_NAME_MAX);
	given[TRACE_EVENT_NAME_MAX] = '\0';
	begin();
	id = _pxt_point_open(&point, given, "");
	CU_ASSERT(id > POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(point, id);
	PXT_EQ(posix_trace_eventid_get_name(stream, id, got), 0);
	CU_ASSERT_STRING_EQUAL(got, given);
	posix_trace_shutdown(stream);
}

#if _PXT_UNIT_FILTER
/* Whether a filter takes its type is not known before it is opened. */
PXT_TEST_FRESH(a_point_that_opens_itself_meets_the_filter_of_its_name)
{
	struct posix_trace_event_info info;
	trace_event_set_t set;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	PXT_EQ(posix_trace_eventid_open("twice", &id), 0);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(id, &set), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
	posix_trace_point_np(twice, 1);
	posix_trace_point_np(tick);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), 0);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), -1);
	posix_trace_shutdown(stream);
}
#endif

#if _PXT_UNIT_INHERIT
static int pass_a_point(void *unused)
{
	posix_trace_point_np(job_late, 7, -5);
	return 0;
}

/* ASINH-02: of a type that the child alone has come to. */
PXT_TEST_FRESH(a_point_opens_itself_in_a_child_of_an_inherited_stream)
{
	char text[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ(pxt_in_child(pass_a_point, NULL), 0);
	PXT_EQ_FATAL(read_event(&info, data, sizeof(data), &id), 12);
	CU_ASSERT(info.posix_pid != getpid());
	PXT_EQ(posix_trace_eventid_get_name(stream, id, text), 0);
	CU_ASSERT_STRING_EQUAL(text, "job_late");
	posix_trace_shutdown(stream);
}
#endif

/* Types with the longest descriptions that there is room for, until there is none for the shortest. */
static bool fill_pool(void)
{
	char text[POSIX_TRACE_FORMAT_MAX_NP + 1] = "u8 a;";
	size_t bytes = POSIX_TRACE_FORMAT_MAX_NP;

	memset(text + strlen(text), 'x', sizeof(text) - strlen(text));
	for (unsigned i = 0; i < TRACE_USER_EVENT_MAX / 2u; i++) {
		trace_event_id_t id;
		char name[32];

		(void)snprintf(name, sizeof(name), "filler %u", i);
		PXT_EQ_FATAL(posix_trace_eventid_open(name, &id), 0);
		do {
			text[bytes] = '\0';
		} while (posix_trace_eventid_setformat_np(id, text) == ENOMEM && --bytes > 4);
		if (bytes == 4)
			return true;
	}
	return false;
}

PXT_TEST_FRESH(a_point_without_room_for_its_description_records_without)
{
	char text[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	if (fill_pool()) {
		posix_trace_point_np(job_late, 7, -5);
		PXT_EQ(read_event(&info, data, sizeof(data), &id), 12);
		PXT_EQ(posix_trace_eventid_get_name(stream, id, text), 0);
		CU_ASSERT_STRING_EQUAL(text, "job_late");
		PXT_EQ(posix_trace_eventid_getformat_np(stream, id, text, sizeof(text)), 0);
		CU_ASSERT_STRING_EQUAL(text, "");
	} else {
		pxt_skip("more room for descriptions than names to use it up");
	}
	posix_trace_shutdown(stream);
}
#endif

#if HAVE_MANY
/* points/other.c declares the same two, traces with them, and says what it takes for the first one's identifier. */
POSIX_TRACE_DECLARE_NP(shared, u32, number);
POSIX_TRACE_DECLARE_TEXT_NP(shared_text, "number %u of both", u32, number);
trace_event_id_t points_other(uint32_t number);

PXT_TEST_FRESH(files_that_share_a_declared_point_share_its_identifier)
{
	struct posix_trace_event_info info;
	uint32_t data;
	trace_event_id_t first;
	trace_event_id_t id;

	begin();
	first = posix_trace_point_id_np(shared);
	CU_ASSERT(first > POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(posix_trace_open_np(shared_text), 0);
	PXT_EQ(points_other(9), first);
	posix_trace_point_np(shared, 10);
	PXT_EQ(read_event(&info, (unsigned char *)&data, sizeof(data), &id), 4);
	PXT_EQ(id, first);
	PXT_EQ(data, 9);
	PXT_EQ(read_event(&info, (unsigned char *)&data, sizeof(data), &id), 4);
	PXT_EQ(id, posix_trace_point_id_np(shared_text));
	PXT_EQ(read_event(&info, (unsigned char *)&data, sizeof(data), &id), 4);
	PXT_EQ(id, first);
	PXT_EQ(data, 10);
	posix_trace_shutdown(stream);
}

/* The words of a definition that C has types for: the description says what they are here. */
PXT_TEST_FRESH(a_bool_an_enum_a_size_and_a_pointer_are_numbers_of_their_size)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_event_info info;
	struct posix_trace_field_np field[4];
	enum state state = BUSY;
	unsigned char data[64];
	trace_event_id_t id;
	size_t cursor = 0;
	long len;

	begin();
	PXT_EQ(posix_trace_open_np(kinds), 0);
	posix_trace_point_np(kinds, 4, state, sizeof(format), format);
	len = read_event(&info, data, sizeof(data), &id);
	PXT_EQ_FATAL(len, 1 + 4 + sizeof(size_t) + sizeof(void *));
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, format, sizeof(format)), 0);
	for (int i = 0; i < 4; i++)
		PXT_EQ_FATAL(posix_trace_field_next_np(format, data, (size_t)len, 0, &cursor,
		                 &field[i], sizeof(field[i])),
		    0);
	PXT_EQ(field[0].posix_value_np.posix_u_np, 1);
	PXT_EQ(field[1].posix_value_np.posix_i_np, BUSY);
	PXT_EQ(field[2].posix_value_np.posix_u_np, sizeof(format));
	CU_ASSERT(field[3].posix_value_np.posix_u_np == (uintptr_t)format);
	PXT_EQ(field[3].posix_kind_np, POSIX_TRACE_FIELD_HEX_NP);
	posix_trace_shutdown(stream);
}

PXT_TEST_FRESH(a_point_has_up_to_32_fields)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	PXT_EQ(posix_trace_open_np(most), 0);
	posix_trace_point_np(most, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
	    19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, "end");
	PXT_EQ_FATAL(read_event(&info, data, sizeof(data), &id), 34);
	for (unsigned i = 0; i < 31; i++)
		PXT_EQ(data[i], i + 1);
	CU_ASSERT(memcmp(data + 31, "end", 3) == 0);
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, format, sizeof(format)), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(format, "u8 f31, string f32"));
	posix_trace_shutdown(stream);
}

/* QNX-32, QNX-33, QNX-34: text with arguments; what is recorded is the arguments alone. */
PXT_TEST_FRESH(a_point_with_a_message_records_its_fields_alone)
{
	char text[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	PXT_EQ(posix_trace_open_np(said), 0);
	PXT_EQ(posix_trace_open_np(said_only), 0);
	posix_trace_point_np(said, 3, "five");
	posix_trace_point_np(said_only);
	PXT_EQ_FATAL(read_event(&info, data, sizeof(data), &id), 8);
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "u32 a, string b; %u of %s");
#if (_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL
	PXT_EQ(posix_trace_text_np("u32 a, string b; %u of %s", data, 8, 0, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "3 of five");
#endif
	PXT_EQ(read_event(&info, data, sizeof(data), &id), 0);
	PXT_EQ(posix_trace_eventid_getformat_np(stream, id, text, sizeof(text)), 0);
	CU_ASSERT_STRING_EQUAL(text, "; nothing else");
	posix_trace_shutdown(stream);
}

/* QNX-29, QNX-30, QNX-31: pieces of 1, 7, 8 and 9 bytes are one event; no piece is none. */
PXT_TEST_FRESH(pieces_of_any_length_are_one_event)
{
	static const char text[] = "abcdefghijklmnopqrstuvwxy";
	struct posix_trace_event_info info;
	struct posix_trace_pieces_np pieces;
	unsigned char gathered[64];
	unsigned char data[64];
	trace_event_id_t tick_id;
	trace_event_id_t id;

	begin();
	tick_id = posix_trace_point_id_np(tick);
	posix_trace_pieces_begin_np(&pieces, tick_id, gathered, sizeof(gathered));
	PXT_EQ(posix_trace_pieces_end_np(&pieces), 0);
	posix_trace_pieces_begin_np(&pieces, tick_id, gathered, sizeof(gathered));
	posix_trace_pieces_add_np(&pieces, text, 1);
	posix_trace_pieces_add_np(&pieces, text + 1, 7);
	posix_trace_pieces_add_np(&pieces, NULL, 0);
	posix_trace_pieces_add_np(&pieces, text + 8, 8);
	posix_trace_pieces_add_np(&pieces, text + 16, 9);
	PXT_EQ(posix_trace_pieces_end_np(&pieces), 0);
	PXT_EQ_FATAL(read_event(&info, data, sizeof(data), &id), 25);
	PXT_EQ(id, tick_id);
	CU_ASSERT(memcmp(data, text, 25) == 0);
	/* What does not fit is told; what nobody wants is not even copied. */
	posix_trace_pieces_begin_np(&pieces, tick_id, gathered, sizeof(gathered));
	for (int i = 0; i < 64 / 8 + 1; i++)
		posix_trace_pieces_add_np(&pieces, text, 8);
	PXT_EQ(posix_trace_pieces_end_np(&pieces), 8);
	posix_trace_stop(stream);
	memset(gathered, 1, sizeof(gathered));
	posix_trace_pieces_begin_np(&pieces, tick_id, gathered, sizeof(gathered));
	posix_trace_pieces_add_np(&pieces, text, 8);
	PXT_EQ(gathered[0], 1);
	PXT_EQ(posix_trace_pieces_end_np(&pieces), 0);
	posix_trace_shutdown(stream);
}

/* QNX-40: left out by the compiler, with the others of the file in place. */
PXT_TEST_FRESH(a_type_that_is_left_out_evaluates_nothing_and_is_not_opened)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	trace_event_id_t id;

	begin();
	PXT_EQ(posix_trace_open_np(absent), 0);
	PXT_EQ(posix_trace_open_np(tick), 0);
	posix_trace_point_np(absent, number(1));
	posix_trace_point_np(tick);
	PXT_EQ(evaluated, 0);
	PXT_EQ(read_event(&info, data, sizeof(data), &id), 0);
	PXT_EQ(id, posix_trace_point_id_np(tick));
	PXT_EQ(read_event(&info, data, sizeof(data), &id), -1);
	PXT_EQ(id, 0);
	posix_trace_shutdown(stream);
}
#endif

#if HAVE_STACKS
/* ---- Functions that called ---- */

/* Where the functions below return to: what the events should tell, innermost first. */
static const void *returns[3];
#define NOTE_RETURN(n) (returns[n] = __builtin_return_address(0))
/* Of a function that is called, and stays on the stack while it calls. */
#define ON_STACK       __attribute__((noinline))
#define STAY()         __asm__ volatile("" ::: "memory")

static ON_STACK void innermost(void)
{
	NOTE_RETURN(0);
	posix_trace_point_np(stacked, number(7));
	STAY();
}

static ON_STACK void inner(void)
{
	NOTE_RETURN(1);
	innermost();
	STAY();
}

static ON_STACK void outer(void)
{
	NOTE_RETURN(2);
	inner();
	STAY();
}

static unsigned long read_callers(uint64_t callers[POSIX_TRACE_STACK_MAX_NP], size_t payload)
{
	struct posix_trace_event_info info;
	unsigned char data[512];
	trace_event_id_t id;
	long len = read_event(&info, data, sizeof(data), &id);

	memset(callers, 0, POSIX_TRACE_STACK_MAX_NP * sizeof(*callers));
	PXT_EQ_FATAL(len >= (long)payload && (len - (long)payload) % 8 == 0, 1);
	memcpy(callers, data + payload, (size_t)len - payload);
	return ((unsigned long)len - payload) / 8;
}

static void begin_stacked(void)
{
	begin();
	PXT_EQ_FATAL(posix_trace_open_np(stacked), 0);
}

PXT_TEST_FRESH(a_point_tells_as_many_callers_as_it_was_defined_with_innermost_first)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	uint64_t callers[POSIX_TRACE_STACK_MAX_NP];

	begin_stacked();
	outer();
	PXT_EQ(evaluated, 1);
	PXT_EQ(read_callers(callers, sizeof(uint32_t)), 3);
	for (int i = 0; i < 3; i++)
		PXT_EQ(callers[i], (uint64_t)(uintptr_t)returns[i]);
	PXT_EQ(posix_trace_eventid_getformat_np(
	           stream, posix_trace_point_id_np(stacked), format, sizeof(format)),
	    0);
	CU_ASSERT_STRING_EQUAL(format, "u32 job, x64 caller1, x64 caller2, x64 caller3");
	posix_trace_shutdown(stream);
}

static ON_STACK int call_by_number(trace_event_id_t id, unsigned depth)
{
	uint32_t job = 9;
	int error;

	NOTE_RETURN(0);
	error = posix_trace_event_stack_np(id, &job, sizeof(job), depth);
	STAY();
	return error;
}

PXT_TEST_FRESH(an_event_by_number_tells_as_many_callers_as_asked_for)
{
	uint64_t callers[POSIX_TRACE_STACK_MAX_NP];

	begin_stacked();
	PXT_EQ(call_by_number(posix_trace_point_id_np(stacked), 1), 0);
	PXT_EQ(read_callers(callers, sizeof(uint32_t)), 1);
	PXT_EQ(callers[0], (uint64_t)(uintptr_t)returns[0]);
	/* Of a system's type, and of one that nobody wants, there is none. */
	PXT_EQ(call_by_number(POSIX_TRACE_START, 1), 0);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(call_by_number(posix_trace_point_id_np(stacked), 1), 0);
	posix_trace_shutdown(stream);
}

static void handle(int signal)
{
	(void)signal;
	innermost();
	STAY();
}

/* Wherever the handler runs. */
PXT_TEST_FRESH(a_point_in_a_signal_handler_tells_its_callers_there)
{
	static char memory[64 << 10];
	stack_t own = { .ss_sp = memory, .ss_size = sizeof(memory) };
	uint64_t callers[POSIX_TRACE_STACK_MAX_NP];

	begin_stacked();
	PXT_EQ(sigaltstack(&own, NULL), 0);
	for (int flags = 0; flags <= SA_ONSTACK; flags += SA_ONSTACK) {
		struct sigaction action = { .sa_handler = handle, .sa_flags = flags };

		PXT_EQ_FATAL(sigaction(SIGUSR1, &action, NULL), 0);
		PXT_EQ(raise(SIGUSR1), 0);
		CU_ASSERT(read_callers(callers, sizeof(uint32_t)) >= 1);
		PXT_EQ(callers[0], (uint64_t)(uintptr_t)returns[0]);
	}
	own.ss_flags = SS_DISABLE;
	PXT_EQ(sigaltstack(&own, NULL), 0);
	posix_trace_shutdown(stream);
}

#ifdef __x86_64__
#define PIECE ((size_t)64 << 10)

void call_on(void *top);
void called_there(void);

/* What is said of its frame is not true of the stack it has while it calls. */
__asm__(".text\n"
        "call_on:\n\t"
        ".cfi_startproc\n\t"
        "push %rbx\n\t"
        ".cfi_def_cfa_offset 16\n\t"
        ".cfi_offset %rbx, -16\n\t"
        "mov %rsp, %rbx\n\t"
        "mov %rdi, %rsp\n\t"
        "call called_there\n\t"
        "mov %rbx, %rsp\n\t"
        "pop %rbx\n\t"
        "ret\n\t"
        ".cfi_endproc");

__attribute__((used)) void called_there(void)
{
	innermost();
	STAY();
}

static void *call_below(void *end)
{
	call_on(end);
	return NULL;
}

/* Close below a thread's stack, as if it were more of it. */
PXT_TEST_FRESH(behind_the_end_of_a_stack_that_the_program_made_nothing_is_read)
{
	uint64_t callers[POSIX_TRACE_STACK_MAX_NP];
	pthread_attr_t attr;
	pthread_t thread;
	char *memory =
	    mmap(NULL, 3 * PIECE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	PXT_CHECK(memory != MAP_FAILED, "%d", errno);
	PXT_EQ_FATAL(mprotect(memory + PIECE, PIECE, PROT_NONE), 0);
	begin_stacked();
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstack(&attr, memory + 2 * PIECE, PIECE);
	PXT_EQ_FATAL(pthread_create(&thread, &attr, call_below, memory + PIECE), 0);
	PXT_EQ(pthread_join(thread, NULL), 0);
	PXT_EQ(read_callers(callers, sizeof(uint32_t)), 2);
	PXT_EQ(callers[0], (uint64_t)(uintptr_t)returns[0]);
	posix_trace_shutdown(stream);
}
#endif

/* What it leaves for its caller is not what that had. */
static ON_STACK void smash(int what, uintptr_t value)
{
	uintptr_t volatile *frame = (uintptr_t volatile *)__builtin_frame_address(0);
	uintptr_t right = frame[what];

	frame[what] = value;
	posix_trace_point_np(stacked, 0);
	frame[what] = right;
	STAY();
}

/* A function that finds its frame by a pointer, as it has a piece of a size that no compiler knows. */
static ON_STACK void smashed_below(int what, uintptr_t value)
{
	static volatile size_t bytes = 64;
	char volatile *room = (char volatile *)__builtin_alloca(bytes);

	room[0] = 1;
	smash(what, value);
	STAY();
}

PXT_TEST_FRESH(a_stack_that_is_smashed_ends_the_callers_and_nothing_else)
{
	static const uintptr_t values[] = { 0, 1, 8, 4095, UINTPTR_MAX - 7, UINTPTR_MAX };
	uint64_t callers[POSIX_TRACE_STACK_MAX_NP];

	begin_stacked();
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		/* The frame pointer, and the place to return to beside it. */
		smashed_below(0, values[i]);
		PXT_EQ(read_callers(callers, sizeof(uint32_t)), 1);
		smashed_below(1, values[i]);
		CU_ASSERT(read_callers(callers, sizeof(uint32_t)) <= 1);
	}
	posix_trace_shutdown(stream);
}
#endif

/* CON-19: at the limit the point is the unnamed event's, without description. */
PXT_TEST_FRESH(a_point_beyond_the_limit_records_unnamed_events)
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
