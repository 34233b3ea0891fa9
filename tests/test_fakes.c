/* SPDX-License-Identifier: MIT */
/* test_fakes.c - the fake port does what its tests rely on. */
#include "suite.h"

#include "fakes/fakes.h"
#include "port/port.h"
#include "port/port_log.h"
#include "port/port_sysinfo.h"
#include "port/port_thread.h"
#include "port_atomic.h"

#include <errno.h>
#include <stdio.h>
#include <trace_np.h>

PXT_TEST(armed_calls_fail_and_others_do_not)
{
	void *memory[4];

	pxt_fault_arm(&pxt_fault_alloc, 2, 0);
	for (int i = 0; i < 4; i++)
		memory[i] = pxt_port_alloc(4096);
	CU_ASSERT_EQUAL(atomic_load(&pxt_fault_alloc.calls), 4);
	pxt_fault_arm(&pxt_fault_alloc, 0, 0);
	for (int i = 0; i < 4; i++) {
		CU_ASSERT((memory[i] == NULL) == (i == 1));
		pxt_port_free(memory[i], 4096);
	}
	pxt_fault_arm_from(&pxt_fault_fence, 2, 0);
	(void)pxt_port_fence_all();
	CU_ASSERT_FALSE(pxt_port_fence_all());
	CU_ASSERT_FALSE(pxt_port_fence_all());
	pxt_fault_arm(&pxt_fault_fence, 0, 0);
}

PXT_TEST(waits_and_threads_fail_as_told)
{
	_Atomic uint32_t word = 0;
	struct pxt_port_thread thread;

	pxt_fault_arm(&pxt_fault_wait, 1, EINTR);
	CU_ASSERT_EQUAL(pxt_port_wait(&word, 0, NULL, 0), EINTR);
	pxt_fault_arm(&pxt_fault_thread, 1, EAGAIN);
	CU_ASSERT_EQUAL(pxt_port_thread_start(&thread, NULL, NULL, 0), EAGAIN);
	pxt_fault_arm(&pxt_fault_thread, 0, 0);
}

PXT_TEST(a_failing_write_lets_out_what_it_was_told)
{
	FILE *file = tmpfile();
	struct pxt_port_log log;
	size_t done = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_FATAL(pxt_port_log_open(&log, fileno(file)) == 0);
	pxt_fault_arm(&pxt_fault_write, 1, ENOSPC);
	pxt_fault_write.accept = 3;
	CU_ASSERT_EQUAL(pxt_port_log_write(&log, "abcdef", 6, &done), ENOSPC);
	CU_ASSERT_EQUAL(done, 3);
	CU_ASSERT_EQUAL(pxt_port_log_write(&log, "def", 3, &done), 0);
	CU_ASSERT_EQUAL(done, 3);
	pxt_fault_arm(&pxt_fault_truncate, 1, EIO);
	CU_ASSERT_EQUAL(pxt_port_log_truncate(&log, 0), EIO);
	CU_ASSERT_EQUAL(pxt_port_log_truncate(&log, 6), 0);
	pxt_port_log_close(&log);
	(void)fclose(file);
}

PXT_TEST_FRESH(the_fake_clock_moves_only_when_told)
{
	struct pxt_clock_rate rate;
	struct pxt_clock_set set;

	pxt_fake_clock_start(1000);
	pxt_port_clock_start(&rate);
	CU_ASSERT_EQUAL(rate.hz, 1000);
	CU_ASSERT_EQUAL(rate.source, POSIX_TRACE_CLOCK_PORT_NP);
	CU_ASSERT_EQUAL(pxt_port_ticks(), 0);
	CU_ASSERT_EQUAL(pxt_port_ticks_ordered(), 0);
	pxt_fake_clock_advance(2500);
	pxt_port_clock_read(&set);
	CU_ASSERT_EQUAL(set.ticks, 2500);
	CU_ASSERT_EQUAL(set.realtime.tv_sec, PXT_FAKE_EPOCH + 2);
	CU_ASSERT_EQUAL(set.realtime.tv_nsec, 500000000);
	CU_ASSERT_EQUAL(set.monotonic.tv_sec, PXT_FAKE_UPTIME + 2);
	pxt_fake_clock_step(1);
	CU_ASSERT_EQUAL(pxt_port_ticks(), 2500);
	CU_ASSERT_EQUAL(pxt_port_ticks(), 2501);
}

PXT_TEST(fixed_random_bytes_are_all_alike)
{
	unsigned char bytes[4] = { 0 };

	pxt_fake_random(0x5a);
	pxt_port_random(bytes, sizeof(bytes));
	CU_ASSERT(bytes[0] == 0x5a && bytes[3] == 0x5a);
}
