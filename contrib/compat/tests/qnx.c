/* SPDX-License-Identifier: MIT */
/* qnx.c - QNX's trace events: the structure, Figures 3 and 4, emitting, parsing, bad input. */
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <qnx_trace_event.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#define CALL(event) QNX_HEADER(QNX_CLASS_KERNEL_CALL, event)

/* What callbacks were given, in order. */
static struct {
	unsigned header;
	unsigned time;
	unsigned length;
	bool cut;
	unsigned char data[5000];
} got[64];
static unsigned count;
static unsigned end_at;

static int note(struct traceparser_state *state, void *user, unsigned header, unsigned time,
    const void *data, unsigned length)
{
	(void)user;
	if (count < 64) {
		got[count].header = header;
		got[count].time = time;
		got[count].length = length;
		got[count].cut = traceparser_is_cut(state);
		memcpy(got[count].data, data, length < 5000 ? length : 5000);
	}
	count++;
	return end_at != 0 && count == end_at ? 77 : 0;
}

static struct traceparser_state *parser(void)
{
	struct traceparser_state *state = traceparser_init();

	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	for (unsigned class_ = 0; class_ < QNX_CLASSES; class_++)
		CU_ASSERT_EQUAL(
		    traceparser_cs_range(state, NULL, note, class_, 0, QNX_EVENTS - 1), 0);
	count = end_at = 0;
	return state;
}

static bool is(unsigned index, unsigned header, const void *data, unsigned length)
{
	return index < count && (got[index].header & 0x7fff) == header &&
	       got[index].length == length && memcmp(got[index].data, data, length) == 0;
}

/* ---- The structure ---- */

/* QNX-10, TEV-02, TEV-03, TEV-09 */
PXT_TEST_FRESH(a_slot_is_16_bytes_of_which_8_describe_the_event)
{
	CU_ASSERT_EQUAL(sizeof(traceevent_t), 16);
	CU_ASSERT_EQUAL(offsetof(traceevent_t, header), 0);
	CU_ASSERT_EQUAL(offsetof(traceevent_t, data), 4);
}

/* QNX-11, QNX-12, TEV-05, TEV-10, TEV-11, TEV-12, TEV-13, TEV-14: Figure 4, a bit at each end of each part. */
PXT_TEST_FRESH(figure_4_says_where_each_part_of_a_header_lies)
{
	CU_ASSERT_EQUAL(_TRACE_STRUCT_S, 0);
	CU_ASSERT_EQUAL(_TRACE_STRUCT_CB, 1u << 30);
	CU_ASSERT_EQUAL(_TRACE_STRUCT_CC, 1u << 31);
	CU_ASSERT_EQUAL(_TRACE_STRUCT_CE, 3u << 30);
	for (unsigned bit = 0; bit < 32; bit++) {
		const uint32_t header = UINT32_C(1) << bit;

		CU_ASSERT_EQUAL(_TRACE_GET_STRUCT(header), bit >= 30 ? header : 0);
		CU_ASSERT_EQUAL(
		    _NTO_TRACE_GETCPU(header), bit >= 24 && bit < 30 ? header >> 24 : 0);
		CU_ASSERT_EQUAL(_NTO_TRACE_GETEVENT_C(header), bit >= 10 && bit < 15 ? header : 0);
		CU_ASSERT_EQUAL(_NTO_TRACE_GETEVENT(header), bit < 10 ? header : 0);
	}
	CU_ASSERT_EQUAL(_NTO_TRACE_GETEVENT_C(QNX_HEADER(31, 1023)), 31u << 10);
	CU_ASSERT_EQUAL(_NTO_TRACE_GETEVENT(QNX_HEADER(31, 1023)), 1023);
	CU_ASSERT_EQUAL(_NTO_TRACE_GETCPU(0xffffffffu), 63);
}

/* TEV-14, QNX-11 */
PXT_TEST_FRESH(each_part_of_a_header_is_set_and_the_others_stay)
{
	static const uint32_t before[] = { 0, 0xffffffffu, 0xa5a5a5a5u };

	for (unsigned i = 0; i < 3; i++) {
		uint32_t header = before[i];

		_NTO_TRACE_SETCPU(header, 41);
		_NTO_TRACE_SETEVENT(header, 1 + 513);
		_NTO_TRACE_SETEVENT_C(header, QNX_CLASS_CONTAINER << 10);
		_TRACE_SET_STRUCT(header, _TRACE_STRUCT_CC);
		CU_ASSERT_EQUAL(_NTO_TRACE_GETCPU(header), 41);
		CU_ASSERT_EQUAL(_NTO_TRACE_GETEVENT(header), 514);
		CU_ASSERT_EQUAL(_NTO_TRACE_GETEVENT_C(header), QNX_CLASS_CONTAINER << 10);
		CU_ASSERT_EQUAL(_TRACE_GET_STRUCT(header), _TRACE_STRUCT_CC);
		CU_ASSERT_EQUAL(header & 0x00ff8000u, before[i] & 0x00ff8000u);
	}
}

/* ---- Slots ---- */

static traceevent_t slot(unsigned kind, unsigned event, unsigned time, unsigned one, unsigned two)
{
	return (traceevent_t){ kind | CALL(event), { time, one, two } };
}

/* QNX-16, TEV-07: Figure 3, one simple event and two interlaced ones, in the order of their begins. */
PXT_TEST_FRESH(figure_3_comes_apart_into_its_three_events)
{
	const traceevent_t stream[] = {
		slot(_TRACE_STRUCT_CB, 1, 100, 11, 12),
		slot(_TRACE_STRUCT_S, 2, 101, 21, 22),
		slot(_TRACE_STRUCT_CC, 1, 100, 13, 14),
		slot(_TRACE_STRUCT_CB, 1, 102, 31, 32),
		slot(_TRACE_STRUCT_CE, 1, 100, 15, 16),
		slot(_TRACE_STRUCT_CC, 1, 102, 33, 34),
		slot(_TRACE_STRUCT_CE, 1, 102, 35, 36),
	};
	static const uint32_t c1[] = { 11, 12, 13, 14, 15, 16 };
	static const uint32_t s1[] = { 21, 22 };
	static const uint32_t c2[] = { 31, 32, 33, 34, 35, 36 };
	struct traceparser_state *state = parser();
	struct traceparser_info info;

	CU_ASSERT_EQUAL(traceparser_slots(state, stream, 7), 0);
	CU_ASSERT_EQUAL(count, 3);
	CU_ASSERT(is(0, CALL(1), c1, sizeof(c1)) && got[0].time == 100);
	CU_ASSERT(is(1, CALL(2), s1, sizeof(s1)) && got[1].time == 101);
	CU_ASSERT(is(2, CALL(1), c2, sizeof(c2)) && got[2].time == 102);
	traceparser_get_info(state, &info);
	CU_ASSERT(info.events == 3 && info.parts == 7 && info.orphans == 0 && info.unfinished == 0);
	traceparser_destroy(state);
}

/* TEV-06: the two bits tell some damage; it is counted. Slots of the empty class were never written. */
PXT_TEST_FRESH(what_lacks_its_begin_or_end_is_counted)
{
	const traceevent_t stream[] = {
		slot(_TRACE_STRUCT_CC, 1, 1, 0, 0),
		slot(_TRACE_STRUCT_CE, 1, 1, 0, 0),
		slot(_TRACE_STRUCT_CB, 1, 2, 0, 0),
		slot(_TRACE_STRUCT_CE, 2, 2, 0, 0),
		{ 0, { 0, 0, 0 } },
		slot(_TRACE_STRUCT_CB, 3, 3, 0, 0),
		slot(_TRACE_STRUCT_CE, 3, 4, 0, 0),
		slot(_TRACE_STRUCT_S, 4, 5, 0, 0),
	};
	struct traceparser_state *state = parser();
	struct traceparser_info info;

	CU_ASSERT_EQUAL(traceparser_slots(state, stream, 8), 0);
	traceparser_get_info(state, &info);
	CU_ASSERT(info.events == 1 && info.orphans == 4 && info.unfinished == 2 && info.parts == 8);
	CU_ASSERT(count == 1 && (got[0].header & 0x7fff) == CALL(4));
	CU_ASSERT_EQUAL(traceparser_slots(state, NULL, 1), EINVAL);
	CU_ASSERT_EQUAL(traceparser_slots(NULL, stream, 1), EINVAL);
	traceparser_destroy(state);
}

/* Any bits at all: no crash, and each slot is part of an event or counted. */
PXT_TEST_FRESH(slots_of_any_bits_do_no_harm)
{
	static traceevent_t stream[20000];
	struct traceparser_state *state = parser();
	struct traceparser_info info;
	uint32_t random = 1;

	for (size_t i = 0; i < 20000; i++) {
		random = random * 1664525u + 1013904223u;
		stream[i].header = (random & 0xc0000000u) | (random >> 8 & 0xc03u);
		stream[i].data[0] = random >> 20 & 3u;
	}
	CU_ASSERT_EQUAL(traceparser_slots(state, stream, 20000), 0);
	traceparser_get_info(state, &info);
	CU_ASSERT(info.parts == 20000 && info.events == count && info.orphans != 0);
	traceparser_destroy(state);
}

/* ---- Emitting ---- */

static trace_id_t stream;
static char path[] = "qnxXXXXXX";

static void begin_log_of(const trace_attr_t *attr)
{
	(void)memcpy(path, "qnxXXXXXX", sizeof(path));
	const int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_create_withlog(0, attr, fd, &stream), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_start(stream), 0);
	(void)close(fd);
}

static void begin_log(void)
{
	begin_log_of(NULL);
}

static struct traceparser_state *parse_log(void)
{
	struct traceparser_state *state = parser();

	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
	CU_ASSERT_EQUAL(traceparser(state, path), 0);
	(void)unlink(path);
	return state;
}

/* QNX-27, QNX-28, QNX-14, QNX-15 */
PXT_TEST_FRESH(simple_events_and_buffers_come_back_whole)
{
	static const uint32_t words[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
		18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38,
		39, 40 };
	static const uint32_t two[] = { 7, 8 };
	static const uint32_t one[] = { 1, 0 };
	static const uint32_t none[] = { 0, 0 };

	begin_log();
	CU_ASSERT_EQUAL(add_trace_event(CALL(5), 7, 8), 0);
	CU_ASSERT_EQUAL(add_trace_buffer(CALL(6), NULL, 0), 0);
	CU_ASSERT_EQUAL(add_trace_buffer(CALL(6), words, 1), 0);
	CU_ASSERT_EQUAL(add_trace_buffer(CALL(6), words, 3), 0);
	CU_ASSERT_EQUAL(add_trace_buffer(QNX_HEADER(31, 1023), words, 40), 0);
	traceparser_destroy(parse_log());
	CU_ASSERT_EQUAL(count, 5);
	CU_ASSERT(is(0, CALL(5), two, 8));
	CU_ASSERT(is(1, CALL(6), none, 8));
	CU_ASSERT(is(2, CALL(6), one, 8));
	CU_ASSERT(is(3, CALL(6), words, 12));
	CU_ASSERT(is(4, QNX_HEADER(31, 1023), words, 160));
	for (unsigned i = 1; i < 5; i++)
		PXT_CHECK((int)(got[i].time - got[i - 1].time) >= 0, "%u before %u",
		    (unsigned)got[i - 1].time, (unsigned)got[i].time);
}

/* QNX-35: else the first call of all would take a lock that a signal may have interrupted. */
PXT_TEST_FRESH(the_types_are_open_before_the_first_call)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "";
	trace_event_id_t id;
	int unavailable = 0;
	bool there = false;

	begin_log();
	while (posix_trace_eventtypelist_getnext_id(stream, &id, &unavailable) == 0 && !unavailable)
		there |= posix_trace_eventid_get_name(stream, id, name) == 0 &&
		         strcmp(name, "qnx_class_31") == 0;
	CU_ASSERT(there);
	traceparser_destroy(parse_log());
}

/* A part that was cut leaves no hole in what comes back: data ends at the cut, and the reader is told. */
PXT_TEST_FRESH(data_that_was_cut_ends_at_the_cut)
{
	uint32_t words[40];

	for (unsigned i = 0; i < 40; i++)
		words[i] = i;
	for (size_t most = 0; most <= 80; most += 4) {
		struct traceparser_info info;
		struct traceparser_state *state;
		const size_t kept = most >= 72 ? 160 : most > 8 ? most - 8 : 0;
		trace_attr_t attr;

		count = 0;
		CU_ASSERT_EQUAL_FATAL(posix_trace_attr_init(&attr), 0);
		CU_ASSERT_EQUAL_FATAL(posix_trace_attr_setmaxdatasize(&attr, most), 0);
		begin_log_of(&attr);
		CU_ASSERT_EQUAL(add_trace_buffer(CALL(5), words, 40), 0);
		CU_ASSERT_EQUAL(add_trace_event(CALL(6), 0, 1), 0);
		state = parse_log();
		traceparser_get_info(state, &info);
		/* Without a header an event is counted, and that is all. */
		if (most < 4) {
			CU_ASSERT(count == 0 && info.cut == 5 && info.events == 0);
		} else {
			CU_ASSERT_FATAL(count == 2);
			CU_ASSERT(is(0, CALL(5), words, (unsigned)kept));
			CU_ASSERT(is(1, CALL(6), words, most < 12 ? (unsigned)most - 4 : 8));
			CU_ASSERT_EQUAL(info.cut, most < 12 ? 2u : most < 72 ? 1u : 0u);
			CU_ASSERT(got[0].cut == (most < 72) && got[1].cut == (most < 12));
		}
		CU_ASSERT(info.orphans == 0 && info.unfinished == 0);
		traceparser_destroy(state);
	}
}

/* QNX-36, QNX-38: one class is fast, the other one wide, in the same trace. */
PXT_TEST_FRESH(a_class_in_fast_mode_is_told_without_its_data)
{
	static const uint32_t words[] = { 1, 2, 3, 4 };
	trace_event_set_t fast;
	trace_event_id_t id;
	struct traceparser_info info;
	struct traceparser_state *state;

	begin_log();
	CU_ASSERT_EQUAL(posix_trace_eventid_open("qnx_kernel_call", &id), 0);
	CU_ASSERT_EQUAL(posix_trace_eventset_empty(&fast), 0);
	CU_ASSERT_EQUAL(posix_trace_eventset_add(id, &fast), 0);
	CU_ASSERT_EQUAL(posix_trace_set_short_np(stream, &fast), 0);
	CU_ASSERT_EQUAL(add_trace_buffer(CALL(5), words, 4), 0);
	CU_ASSERT_EQUAL(add_trace_buffer(QNX_HEADER(QNX_CLASS_CONTROL, 5), words, 4), 0);
	CU_ASSERT_EQUAL(add_trace_event(CALL(6), 1, 2), 0);
	state = parse_log();
	traceparser_get_info(state, &info);
	CU_ASSERT_EQUAL_FATAL(count, 3);
	CU_ASSERT(is(0, CALL(5), words, 0) && got[0].cut);
	CU_ASSERT(is(1, QNX_HEADER(QNX_CLASS_CONTROL, 5), words, 16) && !got[1].cut);
	CU_ASSERT(is(2, CALL(6), words, 0) && got[2].cut);
	CU_ASSERT(info.cut == 2 && info.orphans == 0);
	traceparser_destroy(state);
}

/* QNX-29 to QNX-31: pieces of any length, exact; a sequence without any emits nothing. */
PXT_TEST_FRESH(pieces_of_any_length_come_back_whole)
{
	static const unsigned lengths[] = { 1, 7, 8, 9, 63, 64, 65, 200, 0, 1000 };
	unsigned char bytes[2000];
	unsigned all = 0;
	trace_state_t state;
	struct traceparser_state *parsed;
	struct traceparser_info info;

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 7);
	begin_log();
	CU_ASSERT_EQUAL(add_trace_b_init(&state), 0);
	CU_ASSERT_EQUAL(add_trace_b_end(&state, CALL(1)), 0);
	for (unsigned i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(add_trace_b_init(&state), 0);
		CU_ASSERT_EQUAL(add_trace_b_add(&state, CALL(2), bytes, lengths[i]), 0);
		CU_ASSERT_EQUAL(add_trace_b_end(&state, CALL(2)), 0);
	}
	CU_ASSERT_EQUAL(add_trace_b_init(&state), 0);
	for (unsigned i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(add_trace_b_add(&state, CALL(3), &bytes[all], lengths[i]), 0);
		all += lengths[i];
	}
	CU_ASSERT_EQUAL(add_trace_b_end(&state, CALL(3)), 0);
	parsed = parse_log();
	CU_ASSERT_EQUAL(count, 10);
	for (unsigned i = 0, next = 0; i < 10; i++)
		if (lengths[i] != 0) {
			CU_ASSERT(is(next, CALL(2), bytes, lengths[i]));
			next++;
		}
	CU_ASSERT(is(9, CALL(3), bytes, all));
	traceparser_get_info(parsed, &info);
	CU_ASSERT(info.orphans == 0 && info.unfinished == 0 && info.lost == 0);
	traceparser_destroy(parsed);
}

/* QNX-16: two of one type at once, and a simple event between them; the first that begins comes first. */
PXT_TEST_FRESH(interlaced_events_are_told_apart_by_their_stamps)
{
	static const uint32_t simple[] = { 1, 2 };
	trace_state_t one;
	trace_state_t two;

	begin_log();
	CU_ASSERT_EQUAL(add_trace_b_init(&one), 0);
	CU_ASSERT_EQUAL(add_trace_b_init(&two), 0);
	CU_ASSERT_NOT_EQUAL(one.stamp, two.stamp);
	CU_ASSERT_EQUAL(add_trace_b_add(&one, CALL(1), "ab", 2), 0);
	CU_ASSERT_EQUAL(add_trace_event(CALL(9), 1, 2), 0);
	CU_ASSERT_EQUAL(add_trace_b_add(&two, CALL(1), "xy", 2), 0);
	CU_ASSERT_EQUAL(add_trace_b_add(&one, CALL(1), "cd", 2), 0);
	CU_ASSERT_EQUAL(add_trace_b_add(&two, CALL(1), "z", 1), 0);
	CU_ASSERT_EQUAL(add_trace_b_end(&two, CALL(1)), 0);
	CU_ASSERT_EQUAL(add_trace_b_add(&one, CALL(1), "e", 1), 0);
	CU_ASSERT_EQUAL(add_trace_b_end(&one, CALL(1)), 0);
	traceparser_destroy(parse_log());
	CU_ASSERT_EQUAL(count, 3);
	CU_ASSERT(is(0, CALL(1), "abcde", 5));
	CU_ASSERT(is(1, CALL(9), simple, 8));
	CU_ASSERT(is(2, CALL(1), "xyz", 3));
}

/* QNX-32 to QNX-34: arguments first; at most 128 characters. */
PXT_TEST_FRESH(strings_are_formatted_and_cut)
{
	char text[8 + 200];
	const uint32_t arguments[] = { 5, 6 };

	begin_log();
	CU_ASSERT_EQUAL(add_trace_string(CALL(1), "%s is %d", "x", 42), 0);
	CU_ASSERT_EQUAL(add_trace_d1_string(CALL(2), 5, "one %u", 1u), 0);
	CU_ASSERT_EQUAL(add_trace_d2_string(CALL(3), 5, 6, "%s", "two"), 0);
	CU_ASSERT_EQUAL(add_trace_d2_string(CALL(4), 5, 6, "%0200d", 7), 0);
	traceparser_destroy(parse_log());
	CU_ASSERT_EQUAL(count, 4);
	CU_ASSERT(is(0, CALL(1), "x is 42", 7));
	memcpy(text, arguments, 8);
	memcpy(&text[4], "one 1", 5);
	CU_ASSERT(is(1, CALL(2), text, 9));
	memcpy(text, arguments, 8);
	memcpy(&text[8], "two", 3);
	CU_ASSERT(is(2, CALL(3), text, 11));
	memset(&text[8], '0', QNX_STRING_MAX);
	CU_ASSERT(is(3, CALL(4), text, 8 + QNX_STRING_MAX));
}

#define WRITERS 4
#define EACH    10

static void *emits(void *context)
{
	const unsigned char letter = *(const unsigned char *)context;
	unsigned char bytes[300];
	trace_state_t state;

	memset(bytes, letter, sizeof(bytes));
	for (unsigned i = 0; i < EACH; i++) {
		(void)add_trace_b_init(&state);
		for (unsigned k = 0; k < 5; k++)
			(void)add_trace_b_add(&state, CALL(1), bytes, 60 + letter);
		(void)add_trace_b_end(&state, CALL(1));
	}
	return NULL;
}

/* QNX-17: parts of several threads mix in the stream, and none in an event. */
PXT_TEST_FRESH(threads_emit_at_once_and_nothing_is_torn)
{
	static const unsigned char letters[WRITERS] = { 1, 2, 3, 4 };
	pthread_t threads[WRITERS];
	struct traceparser_state *state;
	struct traceparser_info info;

	begin_log();
	for (unsigned i = 0; i < WRITERS; i++)
		CU_ASSERT_EQUAL_FATAL(
		    pthread_create(&threads[i], NULL, emits, (void *)(uintptr_t)&letters[i]), 0);
	for (unsigned i = 0; i < WRITERS; i++)
		CU_ASSERT_EQUAL(pthread_join(threads[i], NULL), 0);
	state = parse_log();
	traceparser_get_info(state, &info);
	CU_ASSERT_EQUAL(count, WRITERS * EACH);
	CU_ASSERT(info.orphans == 0 && info.unfinished == 0 && info.events == WRITERS * EACH);
	for (unsigned i = 0; i < count; i++) {
		const unsigned letter = got[i].data[0];

		CU_ASSERT_EQUAL(got[i].length, 5 * (60 + letter));
		for (unsigned k = 0; k < got[i].length; k++)
			CU_ASSERT_EQUAL_FATAL(got[i].data[k], letter);
	}
	traceparser_destroy(state);
}

/* QNX-48: by class, by event, by range; the callback's word ends it; native events are no events of it. */
PXT_TEST_FRESH(callbacks_are_chosen_by_class_and_event)
{
	struct traceparser_state *state = traceparser_init();
	trace_event_id_t native;

	begin_log();
	CU_ASSERT_EQUAL(posix_trace_eventid_open("native", &native), 0);
	for (unsigned event = 0; event < 10; event++) {
		CU_ASSERT_EQUAL(add_trace_event(QNX_HEADER(1, event), event, 0), 0);
		posix_trace_event(native, &event, sizeof(event));
		CU_ASSERT_EQUAL(add_trace_event(QNX_HEADER(2, event), event, 0), 0);
	}
	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
	CU_ASSERT_EQUAL(traceparser_cs(state, NULL, note, 1, 4), 0);
	CU_ASSERT_EQUAL(traceparser_cs_range(state, NULL, note, 2, 3, 5), 0);
	CU_ASSERT_EQUAL(traceparser_cs(state, NULL, NULL, 2, 4), 0);
	count = end_at = 0;
	CU_ASSERT_EQUAL(traceparser(state, path), 0);
	CU_ASSERT_EQUAL(count, 3);
	CU_ASSERT(
	    got[0].header % 32768 == QNX_HEADER(2, 3) && got[1].header % 32768 == QNX_HEADER(1, 4));
	CU_ASSERT(got[2].header % 32768 == QNX_HEADER(2, 5));
	end_at = 5;
	CU_ASSERT_EQUAL(traceparser(state, path), 77);
	CU_ASSERT_EQUAL(count, 5);
	(void)unlink(path);
	CU_ASSERT_EQUAL(traceparser_cs(state, NULL, note, 32, 0), EINVAL);
	CU_ASSERT_EQUAL(traceparser_cs(state, NULL, note, 0, 1024), EINVAL);
	CU_ASSERT_EQUAL(traceparser_cs_range(state, NULL, note, 0, 5, 4), EINVAL);
	CU_ASSERT_EQUAL(traceparser(state, "/nowhere/at/all"), ENOENT);
	CU_ASSERT_EQUAL(traceparser(state, "/dev/null"), EINVAL);
	CU_ASSERT_EQUAL(traceparser(state, NULL), EINVAL);
	traceparser_destroy(state);
	traceparser_destroy(NULL);
}

/* QNX-20: the empty class is never emitted, nor what would look like another kind of event. */
PXT_TEST_FRESH(headers_that_make_no_sense_are_refused)
{
	trace_state_t state;

	begin_log();
	CU_ASSERT_EQUAL(add_trace_b_init(&state), 0);
	CU_ASSERT_EQUAL(add_trace_b_init(NULL), EINVAL);
	CU_ASSERT_EQUAL(add_trace_event(QNX_HEADER(0, 5), 1, 2), EINVAL);
	CU_ASSERT_EQUAL(add_trace_event(_TRACE_STRUCT_CB | CALL(1), 1, 2), EINVAL);
	CU_ASSERT_EQUAL(add_trace_event(0x8000u | CALL(1), 1, 2), EINVAL);
	CU_ASSERT_EQUAL(add_trace_buffer(CALL(1), NULL, 1), EINVAL);
	CU_ASSERT_EQUAL(add_trace_b_add(&state, 0, "a", 1), EINVAL);
	CU_ASSERT_EQUAL(add_trace_b_add(&state, CALL(1), NULL, 1), EINVAL);
	CU_ASSERT_EQUAL(add_trace_b_add(NULL, CALL(1), "a", 1), EINVAL);
	CU_ASSERT_EQUAL(add_trace_b_end(NULL, CALL(1)), EINVAL);
	CU_ASSERT_EQUAL(add_trace_b_end(&state, 0), EINVAL);
	CU_ASSERT_EQUAL(add_trace_string(0, "a"), EINVAL);
	traceparser_destroy(parse_log());
	CU_ASSERT_EQUAL(count, 0);
}
