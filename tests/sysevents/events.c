/* SPDX-License-Identifier: MIT */
/* events.c - system events of this process: types, hooks, and who is excluded. */
#include "suite.h"

#if _PXT_UNIT_ATTACH
#include "logs.h"
#endif
#include "format/ids.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <trace_hooks_np.h>
#include <trace_np.h>
#include <unistd.h>

static struct pxt_got event;

/* The next event that is not START. */
static bool next_of(trace_id_t trid, trace_event_id_t id)
{
	while (pxt_next(trid, &event))
		if (event.info.posix_event_id == id)
			return true;
	return false;
}

/* The field @name of the event that was read last; ~0: it has none. */
static uint64_t field(trace_id_t trid, const char *name)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_field_np found;
	size_t cursor = 0;

	if (posix_trace_eventid_getformat_np(
	        trid, event.info.posix_event_id, format, sizeof(format)))
		return UINT64_MAX;
	while (posix_trace_field_next_np(
	           format, event.data, event.len, 0, &cursor, &found, sizeof(found)) == 0)
		if (strcmp(found.posix_name_np, name) == 0)
			return found.posix_value_np.posix_u_np;
	return UINT64_MAX;
}

/* LPT-24, LPT-30 */
PXT_TEST(each_specific_type_has_a_name_and_a_description_that_is_well_formed)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	unsigned wrong = 0;

	for (trace_event_id_t id = PXT_ID_SPECIFIC_FIRST; id <= PXT_ID_SYSTEM_LAST; id++) {
		char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
		char name[TRACE_EVENT_NAME_MAX + 1];
		struct posix_trace_field_np first;
		size_t cursor = 0;
		static const char data[64];

		if (!pxt_has_type(trid, id))
			continue;
		PXT_EQ(posix_trace_eventid_get_name(trid, id, name), 0);
		PXT_EQ(posix_trace_eventid_getformat_np(trid, id, format, sizeof(format)), 0);
		wrong += strncmp(name, "posix_trace_", 12) != 0;
		wrong += posix_trace_field_next_np(
		             format, data, sizeof data, 0, &cursor, &first, sizeof(first)) != 0;
	}
	PXT_EQ(wrong, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if CONFIG_PTRACE_SYSEV_MUTEX
/* LPT-30 */
PXT_TEST(a_system_event_has_its_type_its_data_and_the_given_place)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	char here;

	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "0123456789ab", 12, &here);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_MUTEX_WAIT_NP));
	PXT_EQ(event.len, 12);
	CU_ASSERT(memcmp(event.data, "0123456789ab", 12) == 0);
#if CONFIG_PTRACE_RECORD_ADDRESS
	CU_ASSERT_PTR_EQUAL(event.info.posix_prog_address, &here);
#endif
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* LPT-30: what streams say of themselves, what is the user's, and what no type has. */
PXT_TEST(only_specific_types_are_recorded_by_that_call)
{
	static const trace_event_id_t others[] = { 0, 1, 2, 8, 29, 30, 31, 32, 1023, 5000 };
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);

	for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
		posix_trace_system_event_np(others[i], "x", 1, NULL);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if CONFIG_PTRACE_FILTER
/* LPT-30 */
PXT_TEST(filling_a_set_with_system_events_takes_them_out_of_a_stream)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	CU_ASSERT_FALSE(posix_trace_wanted_np(POSIX_TRACE_MUTEX_WAIT_NP));
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "0123456789ab", 12, NULL);
	CU_ASSERT_FALSE(next_of(trid, POSIX_TRACE_MUTEX_WAIT_NP));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

static void *records_once(void *argument)
{
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "other thread", 12, NULL);
	return NULL;
}

/* ZEP-27 */
PXT_TEST(an_excluded_thread_has_no_system_events_and_others_have)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	pthread_t thread;

	PXT_EQ(posix_trace_thread_exclude_np(1), 0);
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "this thread!", 12, NULL);
	PXT_EQ(pthread_create(&thread, NULL, records_once, NULL), 0);
	(void)pthread_join(thread, NULL);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_MUTEX_WAIT_NP));
	CU_ASSERT(memcmp(event.data, "other thread", 12) == 0);
	CU_ASSERT_FALSE(next_of(trid, POSIX_TRACE_MUTEX_WAIT_NP));
	PXT_EQ(posix_trace_thread_exclude_np(0), 0);
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "this thread!", 12, NULL);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_MUTEX_WAIT_NP));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if _PXT_UNIT_USEREVENTS
/* ZEP-27 */
PXT_TEST(trace_points_of_an_excluded_thread_are_recorded)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	trace_event_id_t own = pxt_open_event("own");

	PXT_EQ(posix_trace_thread_exclude_np(1), 0);
	posix_trace_event(own, "x", 1);
	PXT_EQ(posix_trace_thread_exclude_np(0), 0);
	CU_ASSERT_TRUE(next_of(trid, own));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif
#endif

#if CONFIG_PTRACE_SYSEV_CONTEXT_SWITCH && CONFIG_PTRACE_SYSEV_TASK_STATE &&                        \
    CONFIG_PTRACE_SYSEV_KERNEL_OVERHEAD && CONFIG_PTRACE_SYSEV_SYSTEM_CALL &&                      \
    CONFIG_PTRACE_SYSEV_GENERAL_DEBUG
/* LPT-30, SHARK-34, SHARK-35, SHARK-43, ZEP-02, ZEP-04, QNX-23: as a kernel would call them */
PXT_TEST(the_hooks_of_a_kernel_record_what_the_descriptions_say)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);

	posix_trace_hook_context_switch_np(3, 10, 11, 1, -5, 7);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_CONTEXT_SWITCH_NP));
	PXT_EQ(field(trid, "cpu"), 3);
	PXT_EQ(field(trid, "prev_tid"), 10);
	PXT_EQ(field(trid, "next_tid"), 11);
	PXT_EQ(field(trid, "prev_state"), 1);
	CU_ASSERT_TRUE((int64_t)field(trid, "prev_prio") == -5);
	PXT_EQ(field(trid, "next_prio"), 7);

	posix_trace_hook_task_state_np(12, POSIX_TRACE_TASK_BLOCKED_NP, 9, 0xabc);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_TASK_STATE_NP));
	PXT_EQ(field(trid, "tid"), 12);
	PXT_EQ(field(trid, "state"), 4);
	PXT_EQ(field(trid, "prio"), 9);
	PXT_EQ(field(trid, "object"), 0xabc);

	posix_trace_hook_kernel_np(POSIX_TRACE_KERNEL_INTERRUPT_NP, 33, 0xdef);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_KERNEL_OVERHEAD_NP));
	PXT_EQ(field(trid, "what"), 1);
	PXT_EQ(field(trid, "number"), 33);
	PXT_EQ(field(trid, "object"), 0xdef);

	posix_trace_hook_call_enter_np(POSIX_TRACE_CALL_READ_NP, 5, 4096);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_CALL_ENTER_NP));
	PXT_EQ(field(trid, "call"), 7);
	PXT_EQ(field(trid, "object"), 5);
	PXT_EQ(field(trid, "size"), 4096);

	posix_trace_hook_call_exit_np(POSIX_TRACE_CALL_READ_NP, 5, -EINTR, 77);
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_CALL_EXIT_NP));
	CU_ASSERT_TRUE((int64_t)field(trid, "result") == -EINTR);
	PXT_EQ(field(trid, "took_us"), 77);

	posix_trace_hook_debug_np(42, 43, "a text");
	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_GENERAL_DEBUG_NP));
	PXT_EQ(field(trid, "line"), 42);
	PXT_EQ(field(trid, "value"), 43);
	PXT_EQ(event.len, 4 + 8 + 6);
	CU_ASSERT(memcmp(event.data + 12, "a text", 6) == 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* QNX-54 */
PXT_TEST(here_tells_the_file_and_the_line)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	unsigned line = __LINE__ + 1;
	POSIX_TRACE_HERE_NP();

	CU_ASSERT_TRUE(next_of(trid, POSIX_TRACE_GENERAL_DEBUG_NP));
	PXT_EQ(field(trid, "line"), line);
	CU_ASSERT(event.len > 12 && strstr(__FILE__, "events.c"));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- Names of the types, and descriptions of their data, as in FORMAT.md, 5.1 ---- */

#define CALLERS                                                                                    \
	",x64 caller1,x64 caller2,x64 caller3,x64 caller4,x64 caller5,x64 caller6,x64 caller7,"    \
	"x64 caller8"

static const char *const layouts[][2] = {
	{ "mutex_wait", "x64 lock,u32 holder" },
	{ "mutex_lock", "x64 lock,u32 waited_us,i32 result" CALLERS },
	{ "mutex_unlock", "x64 lock,i32 result" },
	{ "cond_wait", "x64 cond,x64 lock,i64 asked_ns" },
	{ "cond_resume", "x64 cond,x64 lock,u32 waited_us,i32 result" CALLERS },
	{ "cond_signal", "x64 cond" },
	{ "cond_broadcast", "x64 cond" },
	{ "sync_wait", "x64 lock,u32 holder,u8 kind" },
	{ "sync_lock", "x64 lock,u32 waited_us,i32 result,u8 kind" CALLERS },
	{ "sync_unlock", "x64 lock,i32 result,u8 kind" },
	{ "process", "u8 what,u32 number,x64 address,u64 size,text name" },
	{ "call_enter", "u16 call,x64 object,u64 size,i64 asked_ns" },
	{ "call_exit", "u16 call,x64 object,i64 result,u32 took_us" CALLERS },
	{ "signal", "u8 what,i32 signo,u32 sender,x64 address" },
	{ "context_switch",
	    "u32 cpu,u32 prev_tid,u32 next_tid,u32 prev_state,i32 prev_prio,i32 next_prio" },
	{ "task_state", "u32 tid,u8 state,i32 prio,x64 object" },
	{ "kernel_overhead", "u8 what,u32 number,x64 object" },
	{ "function_enter", "x64 function,x64 caller" },
	{ "function_exit", "x64 function,x64 caller" },
	{ "general_debug", "u32 line,x64 value,text text" },
};
#define FIRST 9u
#define LAST  28u

/* LPT-24, LPT-30 */
PXT_TEST(each_type_has_the_number_the_name_and_the_fields_of_the_format)
{
	unsigned there = 0;

	PXT_EQ_FATAL(sizeof layouts / sizeof *layouts, LAST - FIRST + 1);
	for (unsigned id = FIRST; id <= LAST; id++) {
		const char *const *layout = layouts[id - FIRST];
		const char *name = pxt_sysspecific_name(id);
		char full[64];

		if (!name) {
			PXT_CHECK(
			    *pxt_sysspecific_format(id) == '\0', "%u: described, not named", id);
			continue;
		}
		there++;
		(void)snprintf(full, sizeof full, "posix_trace_%s", layout[0]);
		PXT_CHECK(strcmp(name, full) == 0, "%u: %s", id, name);
		PXT_CHECK(strcmp(pxt_sysspecific_format(id), layout[1]) == 0, "%u: %s", id,
		    pxt_sysspecific_format(id));
	}
	CU_ASSERT(there > 0);
}

PXT_TEST(other_numbers_have_neither_name_nor_fields)
{
	const unsigned others[] = { 0, FIRST - 1, LAST + 1, 63, 1000 };

	for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
		CU_ASSERT_PTR_NULL(pxt_sysspecific_name(others[i]));
		CU_ASSERT_STRING_EQUAL(pxt_sysspecific_format(others[i]), "");
	}
}

#if CONFIG_PTRACE_SYSEV_FUNCTION && _PXT_UNIT_FILTER
/* ---- What the compiler calls at a function's begin and end (sysevents/function/function.c) ---- */

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static char function;
static char caller;

static trace_id_t stream_without(trace_event_id_t id)
{
	trace_id_t trid = pxt_running_stream(0, 0, POSIX_TRACE_LOOP);
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_FILTER, &set), 0);
	if (id)
		PXT_EQ(posix_trace_eventset_add(id, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	(void)pxt_drain(trid, 0);
	__cyg_profile_func_enter(&function, &caller);
	__cyg_profile_func_exit(&function, &caller);
	return trid;
}

static void expect(trace_id_t trid, trace_event_id_t id)
{
	const uint64_t wanted[] = { (uint64_t)(uintptr_t)&function, (uint64_t)(uintptr_t)&caller };

	pxt_expect(trid, id, wanted, sizeof(wanted));
}

/* QNX-54 */
PXT_TEST(a_begin_and_an_end_have_the_function_and_its_caller)
{
	trace_id_t trid = stream_without(0);

	expect(trid, POSIX_TRACE_FUNCTION_ENTER_NP);
	expect(trid, POSIX_TRACE_FUNCTION_EXIT_NP);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* QNX-54 */
PXT_TEST(either_of_them_is_recorded_where_the_other_is_filtered)
{
	trace_id_t trid = stream_without(POSIX_TRACE_FUNCTION_ENTER_NP);

	expect(trid, POSIX_TRACE_FUNCTION_EXIT_NP);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = stream_without(POSIX_TRACE_FUNCTION_EXIT_NP);
	expect(trid, POSIX_TRACE_FUNCTION_ENTER_NP);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if CONFIG_PTRACE_SYSEV_MUTEX && PXT_CAN_LOG && _PXT_UNIT_USEREVENTS
/* ---- In a log: they are named and described there, once there are any ---- */

/* Specific types that the log names after @record was called while it was written. */
static unsigned types_of_log(void (*record)(void))
{
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(NULL, fd);
	unsigned found = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	record();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_open_log(fd);
	for (trace_event_id_t id = PXT_ID_SPECIFIC_FIRST; id <= PXT_ID_SYSTEM_LAST; id++)
		found += pxt_has_type(trid, id);
	if (found) {
		char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

		PXT_EQ(posix_trace_eventid_getformat_np(
		           trid, POSIX_TRACE_MUTEX_WAIT_NP, format, sizeof(format)),
		    0);
		CU_ASSERT_STRING_EQUAL(format, "x64 lock,u32 holder");
	}
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
	return found;
}

static void record_user(void)
{
	posix_trace_event(pxt_open_event("user"), "x", 1);
}

static void record_system(void)
{
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "0123456789ab", 12, NULL);
}

/* LPT-30; in this order, in a process of its own: what was recorded once may be in any later log. */
PXT_TEST_FRESH(a_log_names_specific_types_once_one_was_recorded)
{
	PXT_EQ(types_of_log(record_user), 0);
	CU_ASSERT(types_of_log(record_system) > 0);
	CU_ASSERT(types_of_log(record_user) > 0);
}
#endif

#if _PXT_UNIT_ATTACH && CONFIG_PTRACE_SYSEV_MUTEX && _PXT_UNIT_FILTER &&                           \
    !CONFIG_PTRACE_SINGLE_STREAM
/* ---- System events of attached processes come out in the owner's stream ---- */

/* The next event of another process, or of a user. */
static bool next_of_producer(trace_id_t trid)
{
	for (int ms = 0; ms < 1000; ms++) {
		while (pxt_next(trid, &event))
			if (event.info.posix_event_id >= PXT_ID_SPECIFIC_FIRST)
				return true;
		pxt_sleep_ms(1);
	}
	return false;
}

static void records_both(void *argument)
{
	trace_id_t trid = producer_attach(0);

	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "0123456789ab", 12, NULL);
	posix_trace_event(pxt_open_event("user"), "x", 1);
	if (posix_trace_shutdown(trid) != 0)
		_exit(1);
}

/* LPT-30, LPT-31 */
PXT_TEST(an_attached_process_system_events_come_with_its_pid)
{
	trace_id_t trid;
	struct producer producer;

	if (pxt_skip_emulated("a child makes a thread after a fork"))
		return;
	trid = owner_open(&(const struct owner_spec){ .stream_bytes = 1 << 16 });
	producer = producer_begin(records_both, NULL);
	CU_ASSERT_TRUE(next_of_producer(trid));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_MUTEX_WAIT_NP);
	PXT_EQ(event.info.posix_pid, producer.pid);
	CU_ASSERT(event.len == 12 && memcmp(event.data, "0123456789ab", 12) == 0);
	CU_ASSERT_TRUE(next_of_producer(trid));
	CU_ASSERT(event.info.posix_event_id >= PXT_ID_USER_FIRST);
	producer_end(&producer);
	owner_close(trid);
}
#endif
