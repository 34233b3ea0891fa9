/* SPDX-License-Identifier: MIT */
/* units.c - amounts that a caller cannot see: how long calls are patient, how small a ring may be. */
#include "kit.h"

#include "core/process.h"
#include "port_atomic.h"
#include "suite.h"

#include <string.h>

/* A process that ends waits so long for locks that nobody gives back. */
static void patience_ends_after_its_nanoseconds_in_ticks_of_the_counter(void)
{
	static const uint64_t amounts[] = { 1000000u, 20000000u, 1000000000u, 10000000000u };
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 4096 };
	trace_id_t trid = kit_open(&spec);
	uint64_t usual = pxt_patience_ns;

	for (unsigned i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++) {
		uint64_t want = amounts[i] / 1000000u * (pxt_clock.hz / 1000u);
		uint64_t before;
		uint64_t after;
		uint64_t end;

		pxt_patience_ns = amounts[i];
		before = pxt_port_ticks();
		end = pxt_patience_end();
		after = pxt_port_ticks();
		/* Parts of a thousandth of the rate may be cut off. */
		CU_ASSERT(end - before >= want - want / 500u);
		CU_ASSERT(end - after <= want + want / 500u || end < after);
	}
	pxt_patience_ns = usual;
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Ruling 15, at every length: also with what a thread without a place adds. */
static void the_smallest_ring_has_room_for_two_of_the_longest_records(void)
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
		slots = used._pxt_stream_size / PXT_SLOT_BYTES;
		PXT_CHECK(slots >= (size_t)2 * longest, "%u bytes: %zu slots, %u each",
		    (unsigned)data, slots, (unsigned)longest);
		/* A power of two, and no larger than it must be for the longest of any kind. */
		PXT_CHECK((slots & (slots - 1)) == 0, "%zu slots", slots);
		if (longest >= 128u)
			CU_ASSERT(slots < (size_t)4 * longest);
		PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	}
}

static const struct pxt_case cases[] = {
	PXT_CASE(patience_ends_after_its_nanoseconds_in_ticks_of_the_counter),
	PXT_CASE(the_smallest_ring_has_room_for_two_of_the_longest_records),
};
PXT_SUITE("core: amounts", cases)
