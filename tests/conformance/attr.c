/* SPDX-License-Identifier: MIT */
/* attr.c - the attributes object: defaults, what each setter takes, and what streams make of it. */
#include "../suite.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define BEYOND 0x5a /* fills what a getter must not touch */

/* ---- Life of the object ---- */

/* AINIT-01, AGNAM-01 */
PXT_TEST(a_fresh_object_has_an_empty_name)
{
	trace_attr_t attr;
	char name[TRACE_NAME_MAX + 1] = "not empty";

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getname(&attr, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "");
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

/* AINIT-01, AINIT-02, AGMDS-01, AGSSZ-01, AGMSE-01, AGMUE-01 */
PXT_TEST(every_getter_answers_on_a_fresh_object)
{
	trace_attr_t attr;
	size_t stream = 0;
	size_t data = SIZE_MAX;
	size_t user = 0;
	size_t system = 0;
	int policy = -1;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &stream), 0);
	PXT_EQ(posix_trace_attr_getmaxdatasize(&attr, &data), 0);
	PXT_EQ(posix_trace_attr_getmaxusereventsize(&attr, 1, &user), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &system), 0);
	PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
	CU_ASSERT(stream > 0);
	CU_ASSERT(data < stream);
	CU_ASSERT(user > 1);
	CU_ASSERT(system >= sizeof(int));
	CU_ASSERT(policy == POSIX_TRACE_LOOP || policy == POSIX_TRACE_UNTIL_FULL ||
	          policy == POSIX_TRACE_FLUSH);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

#if _PXT_LANES_MAX > 1
/* AGMSE-01: what a START takes in the stream includes the mark in each lane. */
PXT_TEST(a_system_event_of_several_lanes_has_a_mark_of_its_own)
{
	size_t alone = 0;
	size_t marked = 0;
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 1), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &alone), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 2), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &marked), 0);
	PXT_EQ(marked, alone + 16);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}
#endif

/* AINIT-02, AGGEN-01, AGGEN-02, DEC-04 */
PXT_TEST(the_generation_version_fits_an_array_of_trace_name_max)
{
	trace_attr_t attr;
	char version[TRACE_NAME_MAX + 1];

	memset(version, BEYOND, sizeof(version));
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getgenversion(&attr, version), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(memchr(version, 0, TRACE_NAME_MAX));
	CU_ASSERT(strlen(version) > 0);
	PXT_EQ(version[TRACE_NAME_MAX], BEYOND);
}

/* AINIT-02, AGCLK-01, TIM-05 */
PXT_TEST(the_clock_resolution_is_positive_and_normalised)
{
	trace_attr_t attr;
	struct timespec resolution = { -1, -1 };

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getclockres(&attr, &resolution), 0);
	CU_ASSERT(resolution.tv_nsec >= 0 && resolution.tv_nsec < 1000000000L);
	CU_ASSERT(pxt_ns(&resolution) > 0);
	CU_ASSERT(pxt_ns(&resolution) <= 1000);
}

/* AINIT-04, ADEST-01 */
PXT_TEST(a_destroyed_object_can_be_initialised_again)
{
	trace_attr_t attr;
	size_t size = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &size), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

/* DEC-05, AINIT-01 */
PXT_TEST(init_overwrites_whatever_is_there)
{
	trace_attr_t attr;
	char name[TRACE_NAME_MAX + 1] = "x";

	memset(&attr, BEYOND, sizeof(attr));
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getname(&attr, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "");
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}

/* DEC-05, AGCRT-02 */
PXT_TEST(the_creation_time_of_no_stream_is_zero)
{
	trace_attr_t attr;
	struct timespec created = { 7, 7 };

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getcreatetime(&attr, &created), 0);
	PXT_EQ(pxt_ns(&created), 0);
}

/* ---- Names ---- */

#if _PXT_UNIT_CORE
/* ASNAM-01, ASNAM-02, ASNAM-03, ASNAM-04, AGNAM-01, DEC-04 */
PXT_TEST(names_up_to_the_limit_are_kept_and_longer_ones_cut)
{
	trace_attr_t attr;
	char given[TRACE_NAME_MAX + 8];
	char got[TRACE_NAME_MAX + 2];

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	for (size_t len = 0; len < TRACE_NAME_MAX + 7; len++) {
		size_t kept = len <= TRACE_NAME_MAX ? len : TRACE_NAME_MAX - 1;
		for (size_t i = 0; i < len; i++)
			given[i] = (char)('a' + (int)(i % 26));
		given[len] = '\0';
		PXT_EQ(posix_trace_attr_setname(&attr, given), 0);
		memset(given, '#', sizeof(given));
		memset(got, BEYOND, sizeof(got));
		PXT_EQ(posix_trace_attr_getname(&attr, got), 0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(memchr(got, 0, TRACE_NAME_MAX + 1));
		PXT_CHECK(strlen(got) == kept, "%zu bytes kept of a name of %zu", strlen(got), len);
		PXT_CHECK(
		    kept == 0 || (got[0] == 'a' && got[kept - 1] == 'a' + (int)((kept - 1) % 26)),
		    "a name of %zu bytes was changed", len);
		PXT_EQ(got[TRACE_NAME_MAX + 1], BEYOND);
	}
}
#endif

/* ---- Policies ---- */

#if _PXT_UNIT_CORE
struct policy_row {
	int value;
	bool takes_stream;
	bool takes_log;
};
static const struct policy_row policy_table[] = {
	{ POSIX_TRACE_LOOP, true, true },
	{ POSIX_TRACE_UNTIL_FULL, true, true },
	{ POSIX_TRACE_FLUSH, true, false },
	{ POSIX_TRACE_APPEND, false, true },
	{ 0, false, false },
	{ -1, false, false },
	{ 1000, false, false },
	{ INT32_MAX, false, false },
};
#define POLICY_ROWS (sizeof(policy_table) / sizeof(policy_table[0]))

/* ASSFP-01, ASSFP-E1, AGSFP-01, DEC-02, LPT-14 */
PXT_TEST(the_stream_policy_takes_exactly_its_own_constants)
{
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	for (size_t i = 0; i < POLICY_ROWS; i++) {
		const struct policy_row *row = &policy_table[i];
		bool fits = row->takes_stream && pxt_stream_policy_exists(row->value);
		int before = -1;
		int after = -1;
		PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &before), 0);
		PXT_CHECK(
		    posix_trace_attr_setstreamfullpolicy(&attr, row->value) == (fits ? 0 : EINVAL),
		    "setstreamfullpolicy(%d)", row->value);
		PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &after), 0);
		PXT_CHECK(after == (fits ? row->value : before), "policy is %d after setting %d",
		    after, row->value);
	}
}

#if _PXT_UNIT_TOLOG
/* ASLFP-01, ASLFP-E1, AGLFP-01, DEC-02 */
PXT_TEST(the_log_policy_takes_exactly_its_own_constants)
{
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	for (size_t i = 0; i < POLICY_ROWS; i++) {
		const struct policy_row *row = &policy_table[i];
		bool fits = row->takes_log && pxt_log_policy_exists(row->value);
		int before = -1;
		int after = -1;
		PXT_EQ(posix_trace_attr_getlogfullpolicy(&attr, &before), 0);
		PXT_CHECK(
		    posix_trace_attr_setlogfullpolicy(&attr, row->value) == (fits ? 0 : EINVAL),
		    "setlogfullpolicy(%d)", row->value);
		PXT_EQ(posix_trace_attr_getlogfullpolicy(&attr, &after), 0);
		PXT_CHECK(after == (fits ? row->value : before), "policy is %d after setting %d",
		    after, row->value);
	}
}

/* AINIT-01, AGLFP-01, AGLSZ-01 */
PXT_TEST(the_log_defaults_to_loop_and_to_some_size)
{
	trace_attr_t attr;
	int policy = -1;
	size_t size = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getlogfullpolicy(&attr, &policy), 0);
	PXT_EQ(policy, pxt_default_log_policy_is());
	PXT_EQ(posix_trace_attr_getlogsize(&attr, &size), 0);
	CU_ASSERT(size > 0);
}
#endif

static int policy_in_force(trace_id_t trid)
{
	trace_attr_t attr;
	int policy = -1;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
	return policy;
}
#endif

#if _PXT_UNIT_ONLINE
/* AGSFP-02, AGSFP-03, DEC-06, ASSFP-02 */
PXT_TEST(the_default_policy_without_log_is_loop)
{
	trace_attr_t attr;
	trace_id_t trid;
	int policy = -1;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
	PXT_EQ(policy, pxt_default_stream_policy_is(false));
	trid = pxt_any_stream(&attr);
	PXT_EQ(policy_in_force(trid), pxt_default_stream_policy_is(false));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_any_stream(NULL);
	PXT_EQ(policy_in_force(trid), pxt_default_stream_policy_is(false));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_TOLOG
/* AGSFP-02, AGSFP-03, CRLOG-03, DEC-06 */
PXT_TEST(the_default_policy_with_log_is_flush)
{
	trace_attr_t attr;
	int fd = pxt_temp_file();
	trace_id_t trid;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	trid = pxt_log_stream(&attr, fd);
	PXT_EQ(policy_in_force(trid), pxt_default_stream_policy_is(true));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_log_stream(NULL, fd);
	PXT_EQ(policy_in_force(trid), pxt_default_stream_policy_is(true));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close(fd);
}

/* ASSFP-02, ASSFP-03 */
PXT_TEST(an_explicit_policy_overrides_the_default_with_log)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_FLUSH };

	for (size_t i = 0; i < 3; i++) {
		trace_attr_t attr;
		int fd = pxt_temp_file();
		if (!pxt_stream_policy_exists(policies[i])) {
			close(fd);
			continue;
		}
		pxt_attr(&attr, 0, 0, policies[i]);
		trace_id_t trid = pxt_log_stream(&attr, fd);
		PXT_EQ(policy_in_force(trid), policies[i]);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		close(fd);
	}
}
#endif

#if PXT_CAN_LOG && _PXT_UNIT_USEREVENTS
static off_t bytes_of(int fd)
{
	struct stat status;

	CU_ASSERT_FATAL(fstat(fd, &status) == 0);
	return status.st_size;
}

/* ASSFP-03 */
PXT_TEST(a_loop_stream_with_log_is_flushed_only_on_request)
{
	trace_attr_t attr;
	trace_event_id_t id = pxt_open_event("attr_flush_on_request");
	int fd = pxt_temp_file();

	if (!pxt_stream_policy_exists(POSIX_TRACE_LOOP)) {
		close(fd);
		pxt_skip("no LOOP policy");
		return;
	}
	pxt_attr(&attr, 4096, 64, POSIX_TRACE_LOOP);
	trace_id_t trid = pxt_log_stream(&attr, fd);
	off_t fresh = bytes_of(fd);
	PXT_EQ(posix_trace_start(trid), 0);
	/* Many times the size of the stream, and time enough for a helper to act. */
	for (int i = 0; i < 5000; i++)
		posix_trace_event(id, &i, sizeof(i));
	pxt_sleep_ms(150);
	PXT_EQ(bytes_of(fd), fresh);
	PXT_EQ(posix_trace_flush(trid), 0);
	CU_ASSERT(bytes_of(fd) > fresh);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close(fd);
}
#endif

#if _PXT_UNIT_ONLINE
#endif

/* ---- Sizes ---- */

#if _PXT_UNIT_CORE
struct size_row {
	const char *name;
	int (*get)(const trace_attr_t *, size_t *);
	int (*set)(trace_attr_t *, size_t);
	size_t values[4];
};
static const struct size_row size_table[] = {
	{ "streamsize", posix_trace_attr_getstreamsize, posix_trace_attr_setstreamsize,
	    { 1, 4097, 12345, 8192 } },
	{ "maxdatasize", posix_trace_attr_getmaxdatasize, posix_trace_attr_setmaxdatasize,
	    { 0, 1, 13, 16 } },
#if _PXT_UNIT_TOLOG
	{ "logsize", posix_trace_attr_getlogsize, posix_trace_attr_setlogsize,
	    { 4097, 100000, 12345, 1 } },
#endif
};

/* AGLSZ-01, ASLSZ-01, AGMDS-01, ASMDS-01, AGSSZ-01, ASSSZ-01, DEC-07, DEC-08 */
PXT_TEST(sizes_read_back_as_they_were_set)
{
	for (size_t i = 0; i < sizeof(size_table) / sizeof(size_table[0]); i++) {
		const struct size_row *row = &size_table[i];
		trace_attr_t attr;
		PXT_EQ(posix_trace_attr_init(&attr), 0);
		for (size_t j = 0; j < 4; j++) {
			size_t got = SIZE_MAX;
			PXT_CHECK(row->set(&attr, row->values[j]) == 0, "set %s to %zu", row->name,
			    row->values[j]);
			PXT_CHECK(row->get(&attr, &got) == 0 && got == row->values[j],
			    "%s is %zu after %zu", row->name, got, row->values[j]);
		}
	}
}

#if SIZE_MAX > UINT32_MAX
/* AGSSZ-01, ASSSZ-01, AGLSZ-01, ASLSZ-01 */
PXT_TEST(sizes_of_more_than_32_bits_read_back_whole)
{
	const size_t large = (size_t)UINT32_MAX + 4098;
	trace_attr_t attr;
	size_t got = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	if (!CONFIG_PTRACE_LIMIT_STREAM_SIZE) {
		PXT_EQ(posix_trace_attr_setstreamsize(&attr, large), 0);
		PXT_EQ(posix_trace_attr_getstreamsize(&attr, &got), 0);
		PXT_EQ(got, large);
	}
#if _PXT_UNIT_TOLOG
	PXT_EQ(posix_trace_attr_setlogsize(&attr, large), 0);
	PXT_EQ(posix_trace_attr_getlogsize(&attr, &got), 0);
	PXT_EQ(got, large);
#endif
}
#endif

#if CONFIG_PTRACE_LIMIT_STREAM_SIZE
/* ASSSZ-01, ASSSZ-E1, LPT-11 */
PXT_TEST(a_stream_size_beyond_the_maximum_changes_nothing)
{
	static const size_t beyond[] = { (size_t)CONFIG_PTRACE_MAX_STREAM_SIZE + 1, SIZE_MAX };
	trace_attr_t attr;
	size_t got = 0;

	pxt_attr(&attr, 0, 9, 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, CONFIG_PTRACE_MAX_STREAM_SIZE), 0);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		PXT_EQ(posix_trace_attr_setstreamsize(&attr, beyond[i]), EINVAL);
		PXT_EQ(posix_trace_attr_getstreamsize(&attr, &got), 0);
		PXT_EQ(got, CONFIG_PTRACE_MAX_STREAM_SIZE);
	}
}
#endif

/* AGMUE-01, AGMUE-02, SIZ-02, DEC-07 */
PXT_TEST(user_event_sizes_never_decrease_and_stop_at_the_truncated_record)
{
	trace_attr_t attr;
	size_t last = 0;
	size_t largest = 0;

	pxt_attr(&attr, 0, 16, 0);
	for (size_t n = 0; n <= 16; n++) {
		size_t size = 0;
		PXT_EQ(posix_trace_attr_getmaxusereventsize(&attr, n, &size), 0);
		PXT_CHECK(size > n && size >= last, "U(%zu) = %zu after %zu", n, size, last);
		last = size;
	}
	PXT_EQ(posix_trace_attr_getmaxusereventsize(&attr, SIZE_MAX, &largest), 0);
	CU_ASSERT(largest >= last);
	CU_ASSERT(largest < SIZE_MAX / 2);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, 0), 0);
	PXT_EQ(posix_trace_attr_getmaxusereventsize(&attr, 16, &last), 0);
	CU_ASSERT(last > 0);
	CU_ASSERT(last <= largest);
}
#endif

#if _PXT_UNIT_FILTER
/* mistake 14, AGMSE-01, SIZ-03 */
PXT_TEST(a_system_event_has_room_for_two_event_sets)
{
	trace_attr_t attr;
	size_t size = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &size), 0);
	if (PXT_HAS_FILTER_EVENT) {
		CU_ASSERT(size > 2 * sizeof(trace_event_set_t));
	}
}
#endif

/* ---- What streams make of the object ---- */

#if PXT_CAN_CREATE
/* AINIT-05, CREATE-02 */
PXT_TEST(one_object_serves_many_streams_and_later_changes_touch_none)
{
	trace_attr_t attr;
	trace_attr_t got;
	trace_id_t streams[2];
	char name[TRACE_NAME_MAX + 1];
	size_t data = 0;

	if (TRACE_SYS_MAX < 2) {
		pxt_skip("a single stream");
		return;
	}
	pxt_attr(&attr, 8192, 12, 0);
	PXT_EQ(posix_trace_attr_setname(&attr, "first"), 0);
	streams[0] = pxt_any_stream(&attr);
	PXT_EQ(posix_trace_attr_setname(&attr, "second"), 0);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, 14), 0);
	streams[1] = pxt_any_stream(&attr);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	for (size_t i = 0; i < 2; i++) {
		PXT_EQ(posix_trace_attr_init(&got), 0);
		PXT_EQ(posix_trace_get_attr(streams[i], &got), 0);
		PXT_EQ(posix_trace_attr_getname(&got, name), 0);
		CU_ASSERT_STRING_EQUAL(name, i == 0 ? "first" : "second");
		PXT_EQ(posix_trace_attr_getmaxdatasize(&got, &data), 0);
		PXT_EQ(data, i == 0 ? 12 : 14);
		PXT_EQ(posix_trace_shutdown(streams[i]), 0);
	}
}

/* AINIT-06, GATTR-03, AGCRT-01, SIZ-05 */
PXT_TEST(an_object_receives_a_streams_attributes_and_outlives_it)
{
	trace_attr_t attr;
	struct timespec created = { 0, 0 };
	size_t size = 0;
	long long before = pxt_now_ns();

	pxt_attr(&attr, 5000, 0, 0);
	trace_id_t trid = pxt_any_stream(&attr);
	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(posix_trace_attr_getcreatetime(&attr, &created), 0);
	CU_ASSERT(pxt_ns(&created) >= before);
	CU_ASSERT(pxt_ns(&created) <= pxt_now_ns());
	CU_ASSERT(created.tv_nsec >= 0 && created.tv_nsec < 1000000000L);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &size), 0);
	CU_ASSERT(size >= 5000);
	trid = pxt_any_stream(&attr);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-05, GATTR-02 */
PXT_TEST(attributes_can_be_got_into_an_object_never_initialised)
{
	trace_attr_t attr;
	size_t size = 0;
	trace_id_t trid = pxt_any_stream(NULL);

	memset(&attr, BEYOND, sizeof(attr));
	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getstreamsize(&attr, &size), 0);
	CU_ASSERT(size > 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-08, ASSSZ-01, SIZ-05 */
PXT_TEST(a_small_request_is_rounded_up_and_shown)
{
	static const size_t requests[] = { 1, 15, 17, 100, 1000, 4097 };
	static const size_t data[] = { 16, CONFIG_PTRACE_DEFAULT_DATA_SIZE,
		CONFIG_PTRACE_DATA_LIMIT };

	for (size_t i = 0; i < 3 * sizeof(requests) / sizeof(requests[0]); i++) {
		size_t request = requests[i / 3];
		trace_attr_t attr;
		size_t stream = 0;
		size_t user = 0;
		size_t system = 0;
		pxt_attr(&attr, request, data[i % 3], 0);
		trace_id_t trid = pxt_any_stream(&attr);
		PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
		PXT_EQ(posix_trace_attr_getstreamsize(&attr, &stream), 0);
		PXT_EQ(posix_trace_attr_getmaxusereventsize(&attr, data[i % 3], &user), 0);
		PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &system), 0);
		PXT_CHECK(stream >= request && stream >= user + system,
		    "a stream of %zu bytes for %zu and data of %zu", stream, request, data[i % 3]);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}
#endif
