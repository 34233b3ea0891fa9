/* SPDX-License-Identifier: MIT */
/* units.c - amounts that a caller cannot see: how long calls are patient, how small a ring may be. */
#include "kit.h"

#include "core/control/create.h"
#include "core/process/process.h"
#include "port_atomic.h"
#include "suite.h"

#include <string.h>

/* A process that ends waits so long for locks that nobody gives back, all in all. */
PXT_TEST(a_lock_that_nobody_gives_back_is_waited_for_as_long_as_patience_lasts)
{
	static const uint64_t amounts[] = { 1000000u, 20000000u, 100000000u };
	struct pxt_port_mutex mutex;

	pxt_port_mutex_init(&mutex);
	pxt_port_mutex_lock(&mutex);
	for (unsigned i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		uint64_t before = pxt_port_now_ns();
		struct pxt_patience patience;

		pxt_patience_begin(&patience, amounts[i]);
		CU_ASSERT(!pxt_process_mutex_within(&mutex, &patience));
		/* A slice that is no whole one any more is not slept. */
		CU_ASSERT(pxt_port_now_ns() - before >= amounts[i] / 2u);
		CU_ASSERT(!pxt_process_mutex_within(&mutex, &patience));
	}
	pxt_port_mutex_unlock(&mutex);
}

/* Ruling 15, at every length: also with what a thread without a place adds. */
PXT_TEST(the_smallest_ring_has_room_for_two_of_the_longest_records)
{
	for (uint32_t data = 0; data <= PXT_DATA_MAX; data++) {
		const uint32_t longest =
		    pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + data);
		trace_attr_t attr;
		trace_attr_t used;
		struct pxt_create request = { .attr = &attr };
		size_t slots;

		PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
		PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(&attr, data), 0);
		PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, 1), 0);
		PXT_EQ_FATAL(pxt_create_attr(&request, &used), 0);
		slots = (size_t)(used._pxt_stream_size / PXT_SLOT_BYTES);
		PXT_CHECK(slots >= (size_t)2 * longest, "%u bytes: %zu slots, %u each",
		    (unsigned)data, slots, (unsigned)longest);
		/* A power of two, and no larger than it must be for the longest of any kind. */
		PXT_CHECK((slots & (slots - 1)) == 0, "%zu slots", slots);
		if (longest >= 128u)
			CU_ASSERT(slots < (size_t)4 * longest);
		PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	}
}
