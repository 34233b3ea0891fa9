/* SPDX-License-Identifier: MIT */
/* discards.c - writers of a stream that discards new events, one beside the other, in one thread. */
#include "core/read/consumer.h"
#include "kit.h"

static trace_id_t stream;

static uint64_t refused(void)
{
	struct posix_trace_counts_np counts;

	PXT_EQ_FATAL(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
	return counts.posix_lost_np;
}

static void fill(void)
{
	uint64_t before = refused();

	while (refused() == before)
		kit_write(1, 4);
}

/* Takes what there is; returns what was lost before any of it. */
static uint64_t lost_before_all(void)
{
	struct pxt_item item;
	uint64_t lost = 0;

	while (pxt_consumer_next(kit_stream(stream), &item) == PXT_NEXT_READY) {
		lost += item.lost_before;
		pxt_consumer_done(kit_stream(stream), &item);
	}
	return lost;
}

static uint64_t told;

/* A writer has seen how many were refused: one more is, room is made, another writer is faster. */
static void overtake(int point)
{
	if (point != PXT_TP_LIMIT_SEEN)
		return;
	pxt_testpoint_hook_set(NULL);
	kit_write(2, 4);
	told += lost_before_all();
	kit_write(2, 4);
}

/* ZEP-17 */
PXT_TEST(a_mark_that_comes_late_says_nothing_new)
{
	const struct kit_spec spec = {
		.policy = POSIX_TRACE_DISCARD_NP, .lanes = 1, .bytes = 1024
	};

	stream = kit_open(&spec);
	kit_start(stream);
	fill();
	pxt_testpoint_hook_set(overtake);
	kit_write(1, 4);
	PXT_EQ(refused(), 2);
	told += lost_before_all();
	PXT_EQ(told, 2);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
