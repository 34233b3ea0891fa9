/* SPDX-License-Identifier: MIT */
/* zephyr_dynamic.c - Zephyr's event logger with masks that are set at run time. */
#include "suite.h"

#include <misc/kernel_event_hooks.h>
#include <trace_np.h>

static int take(uint16_t *id)
{
	uint32_t data[8];
	uint8_t words = 8;
	uint8_t dropped;

	return sys_k_event_logger_get(id, &dropped, data, &words);
}

/* ZEP-07: before a mask is set nothing is recorded, and nothing counts as dropped. */
PXT_TEST_FRESH(nothing_is_recorded_until_a_mask_is_set)
{
	const uint32_t word = 1;
	uint32_t data[1];
	uint8_t dropped = 9;
	uint8_t words = 1;
	uint16_t id;

	CU_ASSERT_EQUAL(sys_k_event_logger_get_mask(), 0);
	CU_ASSERT_EQUAL(sys_k_event_logger_get_monitor_mask(), 0);
	CU_ASSERT(!sys_k_must_log_event(8));
	sys_k_event_logger_put(8, &word, 1);
	sys_k_event_logger_put_timed(8);
	kernel_event_interrupt(1);
	CU_ASSERT_EQUAL(take(&id), 0);
	sys_k_event_logger_set_mask(-1);
	sys_k_event_logger_put(8, &word, 1);
	CU_ASSERT_EQUAL(sys_k_event_logger_get(&id, &dropped, data, &words), 1);
	CU_ASSERT_EQUAL(dropped, 0);
}

/* ZEP-23: bit n - 1 is event n, and a bit that is set records; 33 has none. */
PXT_TEST_FRESH(a_bit_that_is_set_records_the_event)
{
	uint16_t id;

	sys_k_event_logger_set_mask((int)(1u | 1u << 31));
	CU_ASSERT_EQUAL(sys_k_event_logger_get_mask(), (int)(1u | 1u << 31));
	CU_ASSERT(sys_k_must_log_event(1));
	CU_ASSERT(!sys_k_must_log_event(2));
	CU_ASSERT(sys_k_must_log_event(32));
	CU_ASSERT(!sys_k_must_log_event(33));
	CU_ASSERT(!sys_k_must_log_event(0));
	for (uint16_t i = 1; i <= 34; i++)
		sys_k_event_logger_put_timed(i);
	CU_ASSERT(take(&id) == 1 && id == 1);
	CU_ASSERT(take(&id) == 1 && id == 32);
	CU_ASSERT_EQUAL(take(&id), 0);
}

/* The standard's filter is the other way round: what is in it is not recorded. */
PXT_TEST_FRESH(the_native_filter_has_the_other_sense)
{
	struct posix_trace_event_info info;
	trace_event_set_t set;
	trace_event_id_t type;
	trace_id_t stream;
	uint32_t data[8];
	size_t bytes;
	uint16_t id;
	int none = 0;

	sys_k_event_logger_set_mask(1);
	sys_k_event_logger_put_timed(1);
	CU_ASSERT(take(&id) == 1 && id == 1);
	CU_ASSERT_EQUAL(posix_trace_eventid_open("zephyr_context_switch", &type), 0);
	CU_ASSERT_EQUAL(posix_trace_eventset_empty(&set), 0);
	CU_ASSERT_EQUAL(posix_trace_eventset_add(type, &set), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_create(0, NULL, &stream), 0);
	CU_ASSERT_EQUAL(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
	CU_ASSERT_EQUAL_FATAL(posix_trace_start(stream), 0);
	sys_k_event_logger_put_timed(1);
	CU_ASSERT(take(&id) == 1 && id == 1);
	CU_ASSERT_EQUAL_FATAL(posix_trace_stop(stream), 0);
	while (
	    posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &bytes, &none) == 0 &&
	    !none)
		CU_ASSERT_NOT_EQUAL(info.posix_event_id, type);
	CU_ASSERT_EQUAL(posix_trace_shutdown(stream), 0);
}

/* ZEP-24: the monitor's mask, below that of events. */
PXT_TEST_FRESH(the_monitor_has_a_mask_of_its_own)
{
	static const int masks[] = { 0, 2, 4, 8, 15 };
	uint16_t id;

	sys_k_event_logger_set_mask(-1);
	for (unsigned i = 0; i < 5; i++) {
		sys_k_event_logger_set_monitor_mask(masks[i]);
		CU_ASSERT_EQUAL(sys_k_event_logger_get_monitor_mask(), masks[i]);
		kernel_event_task_state(1, 2);
		kernel_event_command_packet(1, 3);
		kernel_event_kevent(4);
		CU_ASSERT(!(masks[i] & 2) || (take(&id) == 3 && id == 4));
		CU_ASSERT(!(masks[i] & 4) || (take(&id) == 3 && id == 5));
		CU_ASSERT(!(masks[i] & 8) || (take(&id) == 2 && id == 6));
		CU_ASSERT_EQUAL(take(&id), 0);
	}
	sys_k_event_logger_set_mask(0);
	kernel_event_kevent(4);
	CU_ASSERT_EQUAL(take(&id), 0);
}
