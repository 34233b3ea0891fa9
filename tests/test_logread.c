/* SPDX-License-Identifier: MIT */
/*
 * test_logread.c - golden logs, made by golden/make_golden.py from FORMAT.md alone, say what they
 * should on every machine.
 */
#include "suite.h"

#include "base/attr.h"
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define CREATED 1700000000

struct expected {
	trace_event_id_t id;
	int32_t pid;
	uint64_t thread64, thread32; /* on the recording machine */
	uint64_t address64, address32;
	int64_t sec;
	long nsec;
	uint64_t ticks;
	uint64_t lost_before;
	int cpu;
	int truncation;
	size_t len;
};

#define WORKER  0x7f12345678u, 0x12345678u
#define SAME(x) x, x
#define NOT_CUT POSIX_TRACE_NOT_TRUNCATED
#define CUT     POSIX_TRACE_TRUNCATED_RECORD
#define HIGH    0xffffffff80001000u, 0x80001000u

static const struct expected story[] = {
	{ 2, 4711, WORKER, SAME(0x400100), CREATED, 250005005, 1000010, 0, -1, NOT_CUT, 128 },
	{ 32, 4711, WORKER, SAME(0x401234), CREATED, 250050050, 1000100, 0, 2, NOT_CUT, 12 },
	/* Its stamp is earlier; what is reported is not (TIM-06). */
	{ 33, 4711, SAME(99), HIGH, CREATED, 250050050, 1000099, 0, -1, NOT_CUT, 5 },
	{ 34, 4711, WORKER, SAME(0x401300), CREATED, 250100100, 1000200, 3, 0, NOT_CUT, 28 },
	{ 31, 777, SAME(0xdead), SAME(0x401400), CREATED, 250150150, 1000300, 0, 254, NOT_CUT, 0 },
	{ 33, 4711, SAME(55), SAME(0x401234), CREATED, 750500500, 2000001, 3, 1, CUT, 20 },
	{ 6, 4711, SAME(55), SAME(0x400200), CREATED + 1, 750000, 2500000, 0, -1, NOT_CUT, 256 },
	{ 32, 4711, SAME(99), SAME(1), CREATED + 1, 251000000, 3000000, 0, -1, NOT_CUT, 300 },
	{ 3, 4711, SAME(0), SAME(0), CREATED + 2, 252998497, 5000001, 0, -1, NOT_CUT, 4 },
};
#define STORY (sizeof(story) / sizeof(story[0]))

static const struct {
	const char *name;
	int word;
	bool big;
} machines[] = {
	{ "le64", 8, false },
	{ "be64", 8, true },
	{ "le32", 4, false },
	{ "be32", 4, true },
	{ "newer-minor", 8, false },
	{ "coded-le64", 8, false },
	{ "coded-be64", 8, true },
	{ "coded-le32", 4, false },
	{ "coded-be32", 4, true },
};
#define MACHINES (sizeof(machines) / sizeof(machines[0]))

static bool swapped(unsigned machine)
{
	const uint16_t one = 1;
	unsigned char first;

	memcpy(&first, &one, 1);
	return machines[machine].big == (first == 1);
}

static uintptr_t thread_number(const struct posix_trace_event_info *event)
{
	uintptr_t number;

	memcpy(&number, &event->posix_thread_id, sizeof(number));
	return number;
}

static void check_event(
    unsigned machine, unsigned i, const struct posix_trace_event_info *event, size_t len)
{
	const struct expected *want = &story[i];
	bool wide = machines[machine].word == 8;
	const char *name = machines[machine].name;
	struct posix_trace_eventextra_np extra;

	CU_ASSERT(posix_trace_eventinfo_getextra_np(event, &extra, sizeof(extra)) == 0);
	PXT_CHECK(event->posix_event_id == want->id, "%s event %u: id", name, i);
	PXT_CHECK(event->posix_pid == want->pid, "%s event %u: pid", name, i);
	PXT_CHECK(thread_number(event) == (uintptr_t)(wide ? want->thread64 : want->thread32),
	    "%s event %u: thread", name, i);
	PXT_CHECK((uintptr_t)event->posix_prog_address ==
	              (uintptr_t)(wide ? want->address64 : want->address32),
	    "%s event %u: address %p", name, i, event->posix_prog_address);
	PXT_CHECK(event->posix_timestamp.tv_sec == want->sec &&
	              event->posix_timestamp.tv_nsec == want->nsec,
	    "%s event %u: time %lld.%09ld", name, i, (long long)event->posix_timestamp.tv_sec,
	    event->posix_timestamp.tv_nsec);
	PXT_CHECK(event->posix_truncation_status == want->truncation, "%s event %u: cut", name, i);
	PXT_CHECK(extra.posix_ticks_np == want->ticks, "%s event %u: ticks", name, i);
	PXT_CHECK(extra.posix_lost_before_np == want->lost_before, "%s event %u: lost", name, i);
	PXT_CHECK(extra.posix_number_np == i, "%s event %u: number", name, i);
	PXT_CHECK(extra.posix_cpu_np == want->cpu, "%s event %u: CPU", name, i);
	PXT_CHECK(
	    extra.posix_thread_exact_np == (want->thread64 != 0), "%s event %u: exact", name, i);
	PXT_CHECK(len == want->len, "%s event %u: length %zu", name, i, len);
}

static uint32_t word_of(const unsigned char *data, unsigned which)
{
	uint32_t word;

	memcpy(&word, data + 4 * which, sizeof(word));
	return word;
}

/* START, STOP and FILTER are in this machine's byte order (DEC-41), wherever they come from. */
static void check_system_data(unsigned i, const unsigned char *data)
{
	if (i == 0) {
		CU_ASSERT(word_of(data, 0) == 1u << 3);
		CU_ASSERT(word_of(data, 1) == 1u << 8);
	} else if (i == 6) {
		CU_ASSERT(word_of(data, 1) == 1u << 1);
		CU_ASSERT(word_of(data, 32 + 31) == 1u << 31);
	} else if (i == 8) {
		CU_ASSERT(word_of(data, 0) == 1);
	}
}

static void check_user_data(unsigned i, const unsigned char *data)
{
	static const unsigned char counting[] = { 1, 2, 3, 4, 5 };
	int64_t late;
	uint16_t mask;
	float temp;
	double level;

	if (i == 1) {
		memcpy(&late, data + 4, sizeof(late));
		CU_ASSERT(word_of(data, 0) == 7);
		CU_ASSERT(late == -5);
	} else if (i == 2) {
		CU_ASSERT(memcmp(data, counting, sizeof(counting)) == 0);
	} else if (i == 3) {
		memcpy(&mask, data, sizeof(mask));
		memcpy(&temp, data + 2, sizeof(temp));
		memcpy(&level, data + 6, sizeof(level));
		CU_ASSERT(mask == 0xbeef);
		CU_ASSERT(temp > 1.4f && temp < 1.6f);
		CU_ASSERT(level > -0.126 && level < -0.124);
		CU_ASSERT(memcmp(data + 14, "ab\0\0", 4) == 0);
		CU_ASSERT(data[18] == 0xfd);
		CU_ASSERT(memcmp(data + 19, "free text", 9) == 0);
	}
}

/* Described as twelve bytes, holds 300: what is described is turned round, the rest is not. */
static void check_long_data(bool turned, const unsigned char *data)
{
	unsigned wrong = 0;

	for (unsigned at = 12; at < 300; at++)
		wrong += data[at] != (unsigned char)at;
	CU_ASSERT(wrong == 0);
	CU_ASSERT(data[0] == (turned ? 3 : 0));
	CU_ASSERT(data[4] == (turned ? 11 : 4));
}

static void check_story(trace_id_t trid, unsigned machine)
{
	struct posix_trace_event_info event;
	unsigned char data[512];
	int unavailable = 7;
	size_t len = 0;

	for (unsigned i = 0; i < STORY; i++) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(trid, &event, data, sizeof(data), &len, &unavailable),
		    0);
		PXT_EQ_FATAL(unavailable, 0);
		check_event(machine, i, &event, len);
		check_system_data(i, data);
		check_user_data(i, data);
		if (i == 7)
			check_long_data(swapped(machine), data);
	}
	for (unsigned i = 0; i < 3; i++) {
		unavailable = 0;
		PXT_EQ(
		    posix_trace_getnext_event(trid, &event, data, sizeof(data), &len, &unavailable),
		    0);
		CU_ASSERT(unavailable != 0);
	}
}

/* OPEN-01, OPEN-02, OPEN-04, GETNX-01, GETNX-02, GETNX-04, INF-01..07, DEC-30, DEC-41, TIM-06 */
PXT_TEST(both_byte_orders_and_word_sizes_tell_the_same_story)
{
	for (unsigned machine = 0; machine < MACHINES; machine++) {
		trace_id_t trid = golden_open(machines[machine].name);

		check_story(trid, machine);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* REWIND-01 */
PXT_TEST(rewind_tells_the_same_story_again_from_anywhere)
{
	trace_id_t trid = golden_open("be32");
	struct posix_trace_event_info event;
	unsigned char data[512];
	int unavailable;
	size_t len;

	for (unsigned consumed = 0; consumed <= STORY; consumed++) {
		for (unsigned i = 0; i < consumed; i++)
			CU_ASSERT(posix_trace_getnext_event(
			              trid, &event, data, sizeof(data), &len, &unavailable) == 0);
		CU_ASSERT(posix_trace_rewind(trid) == 0);
		check_story(trid, 3);
		CU_ASSERT(posix_trace_rewind(trid) == 0);
	}
	CU_ASSERT(posix_trace_close(trid) == 0);
}

/* TRU-04, TRU-05, TRU-06, TRU-07, TRU-08 */
PXT_TEST(reading_cuts_data_and_rewind_brings_it_back)
{
	trace_id_t trid = golden_open("be64");
	struct posix_trace_event_info event;
	unsigned char data[16];
	int unavailable;
	size_t len;

	CU_ASSERT(posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable) == 0);
	CU_ASSERT(event.posix_truncation_status == POSIX_TRACE_TRUNCATED_READ && len == 0);
	memset(data, 0x55, sizeof(data));
	/* The first four bytes are the number 7 in this machine's order, and whole. */
	CU_ASSERT(posix_trace_getnext_event(trid, &event, data, 6, &len, &unavailable) == 0);
	CU_ASSERT(event.posix_truncation_status == POSIX_TRACE_TRUNCATED_READ && len == 6);
	CU_ASSERT(word_of(data, 0) == 7);
	CU_ASSERT(data[6] == 0x55 && data[15] == 0x55);
	for (unsigned i = 0; i < 3; i++)
		CU_ASSERT(
		    posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable) == 0);
	/* The unnamed event has no data, so nothing was cut. */
	CU_ASSERT(event.posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED && len == 0);
	CU_ASSERT(posix_trace_getnext_event(trid, &event, data, 16, &len, &unavailable) == 0);
	CU_ASSERT(event.posix_truncation_status == POSIX_TRACE_TRUNCATED_READ && len == 16);
	CU_ASSERT(posix_trace_rewind(trid) == 0);
	check_story(trid, 1);
	CU_ASSERT(posix_trace_close(trid) == 0);
}

/* EVNAM-01, EVNAM-04, EVNAM-E2, CON-20, LSTNX-01, LSTNX-02, LSTNX-03, LSTRW-01 */
PXT_TEST(names_and_the_list_of_types_come_from_the_log)
{
	static const trace_event_id_t order[] = { 1, 2, 3, 4, 5, 6, 7, 8, 31, 32, 33, 34 };
	char name[TRACE_EVENT_NAME_MAX + 1];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	trace_id_t trid = golden_open("be64");
	trace_event_id_t event;
	int unavailable;

	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
			CU_ASSERT(
			    posix_trace_eventtypelist_getnext_id(trid, &event, &unavailable) == 0);
			CU_ASSERT(unavailable == 0 && event == order[i]);
		}
		event = 1234;
		CU_ASSERT(posix_trace_eventtypelist_getnext_id(trid, &event, &unavailable) == 0);
		CU_ASSERT(unavailable != 0 && event == 1234);
		CU_ASSERT(posix_trace_eventtypelist_rewind(trid) == 0);
	}
	CU_ASSERT(posix_trace_eventid_get_name(trid, POSIX_TRACE_STOP, name) == 0);
	CU_ASSERT_STRING_EQUAL(name, "posix_trace_stop");
	CU_ASSERT(posix_trace_eventid_get_name(trid, 32, name) == 0);
	CU_ASSERT_STRING_EQUAL(name, "job_start");
	CU_ASSERT(posix_trace_eventid_get_name(trid, 35, name) == EINVAL);
	CU_ASSERT(posix_trace_eventid_get_name(trid, 0xffffffffu, name) == EINVAL);
	/* Given when the type was told for the second time. */
	CU_ASSERT(posix_trace_eventid_getformat_np(trid, 32, format, sizeof(format)) == 0);
	CU_ASSERT_STRING_EQUAL(format, "u32 job, i64 late_ns");
	CU_ASSERT(posix_trace_eventid_getformat_np(trid, 33, format, sizeof(format)) == 0);
	CU_ASSERT_STRING_EQUAL(format, "");
	CU_ASSERT(posix_trace_close(trid) == 0);
}

/* OPEN-05, GATTR-01, STA-07, DEC-28, AGCLK-02 */
PXT_TEST(attributes_and_status_are_those_of_the_shutdown)
{
	trace_id_t trid = golden_open("be32");
	struct posix_trace_status_info status;
	char text[TRACE_NAME_MAX + 1];
	struct timespec time;
	trace_attr_t attr;
	size_t size;
	int policy;

	CU_ASSERT(posix_trace_get_attr(trid, &attr) == 0);
	CU_ASSERT(posix_trace_attr_getname(&attr, text) == 0);
	CU_ASSERT_STRING_EQUAL(text, "golden");
	CU_ASSERT(posix_trace_attr_getgenversion(&attr, text) == 0);
	CU_ASSERT_STRING_EQUAL(text, "golden 1");
	CU_ASSERT(posix_trace_attr_getstreamsize(&attr, &size) == 0 && size == 65536);
	CU_ASSERT(posix_trace_attr_getmaxdatasize(&attr, &size) == 0 && size == 256);
	CU_ASSERT(posix_trace_attr_getlogsize(&attr, &size) == 0 && size == 1u << 20);
	CU_ASSERT(posix_trace_attr_getstreamfullpolicy(&attr, &policy) == 0);
	CU_ASSERT(policy == POSIX_TRACE_FLUSH);
	CU_ASSERT(posix_trace_attr_getlogfullpolicy(&attr, &policy) == 0);
	CU_ASSERT(policy == POSIX_TRACE_APPEND);
	CU_ASSERT(posix_trace_attr_getclockres(&attr, &time) == 0 && time.tv_nsec == 500);
	CU_ASSERT(posix_trace_attr_getcreatetime(&attr, &time) == 0);
	CU_ASSERT(time.tv_sec == CREATED && time.tv_nsec == 250000000);
	/* Twice, because reading resets nothing. */
	for (unsigned round = 0; round < 2; round++) {
		CU_ASSERT(posix_trace_get_status(trid, &status) == 0);
		CU_ASSERT(status.posix_stream_status == POSIX_TRACE_SUSPENDED);
		CU_ASSERT(status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN);
		CU_ASSERT(status.posix_stream_full_status == POSIX_TRACE_NOT_FULL);
		CU_ASSERT(status.posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING);
		CU_ASSERT(status.posix_stream_flush_error == 5);
		CU_ASSERT(status.posix_log_overrun_status == POSIX_TRACE_OVERRUN);
		CU_ASSERT(status.posix_log_full_status == POSIX_TRACE_NOT_FULL);
	}
	CU_ASSERT(posix_trace_close(trid) == 0);
}

PXT_TEST(a_log_names_its_process_its_clock_and_what_was_lost)
{
	struct posix_trace_loginfo_np info;
	struct posix_trace_clock_np clock;

	for (unsigned machine = 0; machine < MACHINES; machine++) {
		trace_id_t trid = golden_open(machines[machine].name);

		CU_ASSERT(posix_trace_log_getinfo_np(trid, &info, sizeof(info)) == 0);
		CU_ASSERT(info.posix_uuid_np[0] == 0xa0 && info.posix_uuid_np[15] == 0xaf);
		CU_ASSERT(info.posix_format_major_np == (machine < 5 ? 1 : 2));
		CU_ASSERT(info.posix_format_minor_np == (machine == 4 ? 9 : 0));
		CU_ASSERT(info.posix_word_bytes_np == machines[machine].word);
		CU_ASSERT(info.posix_swapped_np == swapped(machine));
		CU_ASSERT(info.posix_complete_np == 1);
		CU_ASSERT(info.posix_pid_np == 4711);
		CU_ASSERT(info.posix_start_np.tv_sec == CREATED);
		CU_ASSERT(info.posix_end_np.tv_sec == CREATED + 2);
		/* Each by its own clock. */
		CU_ASSERT(info.posix_end_monotonic_np.tv_sec == 5002);
		CU_ASSERT(info.posix_end_boottime_np.tv_sec == 5003);
		CU_ASSERT(info.posix_blocks_np == (machine == 4 ? 11 : 10));
		CU_ASSERT(info.posix_lost_np == 6);
		CU_ASSERT(info.posix_counts_np.posix_written_np == 20);
		CU_ASSERT(info.posix_counts_np.posix_retrieved_np == 9);
		CU_ASSERT(info.posix_counts_np.posix_cleared_np == 5);
		CU_ASSERT_STRING_EQUAL(info.posix_executable_np, "/opt/rt/control");
		CU_ASSERT_STRING_EQUAL(info.posix_host_np, "target-7");
		CU_ASSERT(info.posix_threads_np == 3);
		CU_ASSERT(info.posix_modules_np == 2);
		CU_ASSERT(posix_trace_getclock_np(trid, &clock, sizeof(clock)) == 0);
		CU_ASSERT(clock.posix_source_np == POSIX_TRACE_CLOCK_TSC_NP);
		CU_ASSERT(clock.posix_hz_np == 2000000 && clock.posix_error_ppm_np == 50);
		CU_ASSERT(clock.posix_anchor_ticks_np == 1000000);
		CU_ASSERT(clock.posix_anchor_np.tv_nsec == 250000000);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* QNX-52: longer once more since version 1.2. */
PXT_TEST(a_log_carries_the_machine_it_was_recorded_on)
{
	static const struct {
		const char *name;
		uint32_t cpus;
		const char *system;
	} logs[] = { { "machine-le64", 0x102, "riscv64 Linux 6.1.0-13-rt" },
		{ "machine-be64", 0x102, "riscv64 Linux 6.1.0-13-rt" }, { "boot-le64", 0, "" },
		{ "le64", 0, "" } };
	struct posix_trace_loginfo_np info;

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		trace_id_t trid = golden_open(logs[i].name);

		memset(&info, 0xee, sizeof(info));
		CU_ASSERT(posix_trace_log_getinfo_np(trid, &info, sizeof(info)) == 0);
		PXT_EQ(info.posix_cpus_np, logs[i].cpus);
		CU_ASSERT_STRING_EQUAL(info.posix_system_np, logs[i].system);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* QNX-52: since version 1.2; those of one name are all kept. */
PXT_TEST(a_log_carries_the_notes_that_were_given)
{
	static const char *const names[] = { "notes-le64", "notes-be64", "repeats-le64",
		"repeats-be64" };
	struct posix_trace_lognote_np note;
	struct posix_trace_loginfo_np info;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		trace_id_t trid = golden_open(names[i]);

		CU_ASSERT(posix_trace_log_getinfo_np(trid, &info, sizeof(info)) == 0);
		PXT_EQ(info.posix_notes_np, 3);
		PXT_EQ(posix_trace_log_getnote_np(trid, 0, &note, sizeof(note)), 0);
		CU_ASSERT_STRING_EQUAL(note.posix_name_np, "load");
		CU_ASSERT_STRING_EQUAL(note.posix_text_np, "80 %, without network");
		PXT_EQ(posix_trace_log_getnote_np(trid, 1, &note, sizeof(note)), 0);
		PXT_EQ(strlen(note.posix_name_np), POSIX_TRACE_NOTE_NAME_MAX_NP);
		PXT_EQ(strlen(note.posix_text_np), POSIX_TRACE_NOTE_TEXT_MAX_NP);
		PXT_EQ(posix_trace_log_getnote_np(trid, 2, &note, sizeof(note)), 0);
		CU_ASSERT_STRING_EQUAL(note.posix_name_np, "load");
		CU_ASSERT_STRING_EQUAL(note.posix_text_np, "");
		PXT_EQ(posix_trace_log_getnote_np(trid, 3, &note, sizeof(note)), ENOENT);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* LPT-96: since version 1.5; a log that is one file has no number. */
PXT_TEST(a_file_of_a_set_says_which_it_is_and_what_is_in_earlier_ones)
{
	static const char *const names[] = { "set-le64", "set-be64", "repeats-le64" };
	struct posix_trace_loginfo_np info;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		trace_id_t trid = golden_open(names[i]);
		bool set = i < 2;

		CU_ASSERT(posix_trace_log_getinfo_np(trid, &info, sizeof(info)) == 0);
		PXT_EQ(info.posix_file_np, set ? 2 : 0);
		PXT_EQ(info.posix_earlier_np, set ? 700 : 0);
		PXT_EQ(info.posix_earlier_lost_np, set ? 50 : 0);
		PXT_EQ(info.posix_earlier_repeated_np, set ? 3 : 0);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* The entry is longer since version 1.1; a log of 1.0 says nothing of it. */
PXT_TEST(a_log_carries_the_boot_it_was_recorded_in)
{
	static const struct {
		const char *name;
		unsigned char first, last;
		uint32_t minor;
	} logs[] = { { "boot-le64", 0xb0, 0xbf, 1 }, { "boot-be64", 0xb0, 0xbf, 1 },
		{ "le64", 0, 0, 0 }, { "be32", 0, 0, 0 } };
	struct posix_trace_loginfo_np info;

	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		trace_id_t trid = golden_open(logs[i].name);

		CU_ASSERT(posix_trace_log_getinfo_np(trid, &info, sizeof(info)) == 0);
		PXT_EQ(info.posix_boot_id_np[0], logs[i].first);
		PXT_EQ(info.posix_boot_id_np[15], logs[i].last);
		PXT_EQ(info.posix_format_minor_np, logs[i].minor);
		CU_ASSERT_STRING_EQUAL(info.posix_host_np, "target-7");
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
}

/* DEC-23 */
PXT_TEST(a_log_tells_the_signal_that_ended_its_process_and_others_none)
{
	static const char *const names[] = { "sealed-le64", "sealed-be32", "le64", "newer-minor" };
	struct posix_trace_loginfo_np info;

	for (unsigned i = 0; i < 4; i++) {
		trace_id_t trid = golden_open(names[i]);

		CU_ASSERT(posix_trace_log_getinfo_np(trid, &info, sizeof(info)) == 0);
		PXT_EQ(info.posix_signal_np, i < 2 ? 11 : 0);
		PXT_EQ(info.posix_signal_code_np, i < 2 ? 1 : 0);
		PXT_EQ(info.posix_signal_address_np, i < 2 ? 0xdead0 : 0);
		PXT_EQ(info.posix_signal_at_np, i < 2 ? 0x401230 : 0);
		PXT_EQ(info.posix_signal_sender_np, 0);
		PXT_EQ(info.posix_signal_tid_np, i < 2 ? 4712 : 0);
		PXT_EQ(posix_trace_close(trid), 0);
	}
}

/* SHARK-31 */
PXT_TEST(a_log_names_its_threads_and_modules)
{
	struct posix_trace_logthread_np thread;
	struct posix_trace_logmodule_np module;
	trace_id_t trid = golden_open("be64");

	CU_ASSERT(posix_trace_log_getthread_np(trid, 0, &thread, sizeof(thread)) == 0);
	CU_ASSERT(thread.posix_thread_np == 0x7f12345678u);
	CU_ASSERT(thread.posix_pid_np == 4711 && thread.posix_tid_np == 4712);
	CU_ASSERT_STRING_EQUAL(thread.posix_name_np, "worker");
	CU_ASSERT(posix_trace_log_getthread_np(trid, 1, &thread, sizeof(thread)) == 0);
	CU_ASSERT_STRING_EQUAL(thread.posix_name_np, "fifteen-letters");
	CU_ASSERT(posix_trace_log_getthread_np(trid, 2, &thread, sizeof(thread)) == 0);
	CU_ASSERT_STRING_EQUAL(thread.posix_name_np, "late");
	CU_ASSERT(posix_trace_log_getthread_np(trid, 3, &thread, sizeof(thread)) == ENOENT);
	CU_ASSERT(posix_trace_log_getmodule_np(trid, 0, &module, sizeof(module)) == 0);
	CU_ASSERT(module.posix_low_np == 0x400000 && module.posix_high_np == 0x480000);
	CU_ASSERT(module.posix_buildid_bytes_np == 20 && module.posix_buildid_np[19] == 19);
	CU_ASSERT_STRING_EQUAL(module.posix_path_np, "/opt/rt/control");
	CU_ASSERT(posix_trace_log_getmodule_np(trid, 1, &module, sizeof(module)) == 0);
	CU_ASSERT(module.posix_base_np == 0x7f0000000000u);
	CU_ASSERT(module.posix_buildid_bytes_np == 0);
	CU_ASSERT(posix_trace_log_getmodule_np(trid, 2, &module, sizeof(module)) == ENOENT);
	CU_ASSERT(posix_trace_close(trid) == 0);
}

/* Events 2b and 2b + 1 of each block that is left; @lost before the first. */
static void check_counting(trace_id_t trid, uint32_t from, uint32_t to, uint64_t lost)
{
	struct posix_trace_event_info event;
	struct posix_trace_eventextra_np extra;
	uint32_t number;
	int unavailable;
	size_t len;

	for (uint32_t i = from; i < to; i++) {
		CU_ASSERT_FATAL(posix_trace_getnext_event(trid, &event, &number, sizeof(number),
		                    &len, &unavailable) == 0);
		CU_ASSERT_FATAL(unavailable == 0);
		CU_ASSERT(event.posix_event_id == 35 && number == i);
		CU_ASSERT(event.posix_timestamp.tv_nsec == 250000000 + (long)i * 1000);
		CU_ASSERT(posix_trace_eventinfo_getextra_np(&event, &extra, sizeof(extra)) == 0);
		PXT_EQ(extra.posix_lost_before_np, i == from ? lost : from == 0 && i == 2 ? 10 : 0);
		PXT_EQ(extra.posix_number_np, i);
	}
	CU_ASSERT(posix_trace_getnext_event(
	              trid, &event, &number, sizeof(number), &len, &unavailable) == 0);
	CU_ASSERT(unavailable != 0);
}

/* LOGP-01, OPEN-02 */
PXT_TEST(a_wrapped_loop_log_begins_with_its_oldest_event_and_says_what_is_gone)
{
	static const char *const names[] = { "loop-le64", "loop-be32", "loop-coded-le64",
		"loop-coded-be32" };
	trace_id_t trid;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		trid = golden_open(names[i]);
		/* 4 events were overwritten, and 10 lost among them. */
		check_counting(trid, 4, 10, 14);
		CU_ASSERT(posix_trace_rewind(trid) == 0);
		check_counting(trid, 4, 10, 14);
		CU_ASSERT(posix_trace_close(trid) == 0);
	}
	trid = golden_open("loop-short");
	check_counting(trid, 0, 4, 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
	trid = golden_open("loop-empty");
	check_counting(trid, 0, 0, 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
}

/* DEC-25 */
PXT_TEST(what_was_cleared_in_a_sequential_log_is_not_reported)
{
	trace_id_t trid = golden_open("cleared");
	struct posix_trace_event_info event;
	char data[16];
	int unavailable;
	size_t len;

	for (unsigned round = 0; round < 2; round++) {
		CU_ASSERT(posix_trace_getnext_event(
		              trid, &event, data, sizeof(data), &len, &unavailable) == 0);
		CU_ASSERT(unavailable == 0 && len == 5 && memcmp(data, "after", 5) == 0);
		CU_ASSERT(event._pxt_lost_before == 0);
		CU_ASSERT(posix_trace_getnext_event(
		              trid, &event, data, sizeof(data), &len, &unavailable) == 0);
		CU_ASSERT(unavailable != 0);
		CU_ASSERT(posix_trace_rewind(trid) == 0);
	}
	CU_ASSERT(posix_trace_close(trid) == 0);
}

/* CLOSE-01, CLOSE-02, DEC-22, DEC-02 */
PXT_TEST(the_descriptor_stays_the_application_s_own)
{
	struct golden golden;
	trace_id_t trid;
	int fd;

	golden_read(&golden, "le64");
	fd = golden_file(golden.bytes, golden.size);
	CU_ASSERT(lseek(fd, 17, SEEK_SET) == 17);
	CU_ASSERT_FATAL(posix_trace_open(fd, &trid) == 0);
	CU_ASSERT(lseek(fd, 0, SEEK_CUR) == 17);
	CU_ASSERT(close(fd) == 0);
	check_story(trid, 0);
	CU_ASSERT(posix_trace_close(trid) == 0);
	CU_ASSERT(posix_trace_close(trid) == EINVAL);
	CU_ASSERT(posix_trace_rewind(trid) == EINVAL);
	CU_ASSERT(fcntl(fd, F_GETFD) == -1);
}

/* ---- Programs of other releases, whose structures have another size ---- */

static int ask_info(trace_id_t log, void *room, size_t bytes)
{
	return posix_trace_log_getinfo_np(log, room, bytes);
}

static int ask_clock(trace_id_t log, void *room, size_t bytes)
{
	return posix_trace_getclock_np(log, room, bytes);
}

static int ask_thread(trace_id_t log, void *room, size_t bytes)
{
	return posix_trace_log_getthread_np(log, 0, room, bytes);
}

static int ask_module(trace_id_t log, void *room, size_t bytes)
{
	return posix_trace_log_getmodule_np(log, 0, room, bytes);
}

static int ask_block(trace_id_t log, void *room, size_t bytes)
{
	int end;

	(void)posix_trace_rewind(log);
	return posix_trace_log_nextblock_np(log, room, bytes, &end);
}

static int ask_passed(trace_id_t log, void *room, size_t bytes)
{
	return posix_trace_seek_np(log, INT64_MAX, room, bytes);
}

static int ask_extra(trace_id_t log, void *room, size_t bytes)
{
	struct posix_trace_event_info event;
	size_t length;
	int end;

	(void)posix_trace_rewind(log);
	(void)posix_trace_getnext_event(log, &event, NULL, 0, &length, &end);
	return posix_trace_eventinfo_getextra_np(&event, room, bytes);
}

static int ask_field(trace_id_t log, void *room, size_t bytes)
{
	size_t cursor = 0;

	return posix_trace_field_next_np("u32 a", "abcd", 4, 0, &cursor, room, bytes);
}

PXT_TEST(no_more_of_an_answer_is_stored_than_there_is_room_for_and_what_is_unknown_reads_0)
{
	static const struct {
		int (*ask)(trace_id_t log, void *room, size_t bytes);
		size_t bytes;
	} kinds[] = { { ask_info, sizeof(struct posix_trace_loginfo_np) },
		{ ask_clock, sizeof(struct posix_trace_clock_np) },
		{ ask_thread, sizeof(struct posix_trace_logthread_np) },
		{ ask_module, sizeof(struct posix_trace_logmodule_np) },
		{ ask_block, sizeof(struct posix_trace_logblock_np) },
		{ ask_passed, sizeof(struct posix_trace_logpassed_np) },
		{ ask_extra, sizeof(struct posix_trace_eventextra_np) },
		{ ask_field, sizeof(struct posix_trace_field_np) } };
	trace_id_t log = golden_open("le64");

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		static _Alignas(16) unsigned char whole[2048], room[2048];
		size_t bytes = kinds[i].bytes;
		size_t at;

		memset(whole, 0x5a, sizeof(whole));
		memset(room, 0x5a, sizeof(room));
		PXT_EQ(kinds[i].ask(log, whole, bytes + 8), 0);
		PXT_EQ(kinds[i].ask(log, room, 8), 0);
		CU_ASSERT(memcmp(whole, room, 8) == 0);
		for (at = 8; at < sizeof(room) && room[at] == 0x5a; at++)
			;
		PXT_EQ(at, sizeof(room));
		for (at = bytes; at < bytes + 8; at++)
			PXT_EQ(whole[at], 0);
		for (; at < sizeof(whole) && whole[at] == 0x5a; at++)
			;
		PXT_EQ(at, sizeof(whole));
	}
	CU_ASSERT(posix_trace_close(log) == 0);
}

/* In a log of the other byte order, too: a number that is cut is turned round before. */
PXT_TEST(a_read_that_is_cut_has_the_first_bytes_of_the_whole)
{
	static const char *const names[] = { "le64", "be64", "le32", "be32" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t room = 1; room <= 16; room++) {
			trace_id_t whole = golden_open(names[i]);
			trace_id_t cut = golden_open(names[i]);
			struct posix_trace_event_info event;
			unsigned char all[4096];
			unsigned char some[16];
			size_t all_bytes;
			size_t some_bytes;
			int end = 0;

			while (posix_trace_getnext_event(
			           whole, &event, all, sizeof(all), &all_bytes, &end) == 0 &&
			       !end) {
				PXT_EQ(posix_trace_getnext_event(
				           cut, &event, some, room, &some_bytes, &end),
				    0);
				PXT_EQ(some_bytes, all_bytes < room ? all_bytes : room);
				CU_ASSERT(memcmp(all, some, some_bytes) == 0);
			}
			PXT_EQ(posix_trace_close(whole), 0);
			PXT_EQ(posix_trace_close(cut), 0);
		}
	}
}
