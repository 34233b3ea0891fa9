/* SPDX-License-Identifier: MIT */
/* part.c - reading a part of the logs: what the heads of blocks say of the rest; see source.h. */
#include "tools/read/source.h"

#include "format/mul64.h"
#include "tools/output/out.h"
#include "tools/select/select.h"

#include <stdlib.h>

/* ---- What the heads say ---- */

/* Neighbours become one where there are more blocks than room. */
static void halve(struct pxt_source *source)
{
	for (size_t i = 0; i < PXT_STRETCHES_MAX / 2; i++) {
		const struct pxt_log_stretch *second = &source->stretches[2 * i + 1];

		source->stretches[i] = source->stretches[2 * i];
		source->stretches[i].events += second->events;
		if (second->begin_ns < source->stretches[i].begin_ns)
			source->stretches[i].begin_ns = second->begin_ns;
	}
	source->stretch_count = PXT_STRETCHES_MAX / 2;
	source->stretch_blocks *= 2;
}

static void note_block(struct pxt_source *source, const struct posix_trace_logblock_np *block)
{
	struct pxt_log_stretch *last;
	struct timespec time = { 0 };
	int64_t begin_ns;

	(void)posix_trace_log_gettime_np(source->trid, block->posix_begin_ticks_np, &time);
	begin_ns = pxt_source_placed(source, pxt_when_ns(&time));
	if (source->blocks_noted++ % source->stretch_blocks == 0) {
		if (source->stretch_count == PXT_STRETCHES_MAX)
			halve(source);
		source->stretches[source->stretch_count++] =
		    (struct pxt_log_stretch){ .begin_ns = begin_ns };
	}
	last = &source->stretches[source->stretch_count - 1];
	last->events += block->posix_records_np;
	if (begin_ns < last->begin_ns)
		last->begin_ns = begin_ns;
}

static void forget_blocks(struct pxt_source *source)
{
	if (!source->stretches)
		source->stretches = pxt_must(calloc(PXT_STRETCHES_MAX, sizeof *source->stretches));
	source->stretch_count = 0;
	source->stretch_blocks = 1;
	source->blocks_noted = 0;
	source->all_events = source->all_lost = 0;
}

/* All heads: what is in the blocks, and when the stretches of the log begin. */
static bool survey(struct pxt_source *source)
{
	struct posix_trace_logblock_np block;
	int unavailable = 0;
	int error;

	forget_blocks(source);
	while ((error = posix_trace_log_nextblock_np(
	            source->trid, &block, sizeof block, &unavailable)) == 0 &&
	       !unavailable) {
		source->all_events += block.posix_records_np;
		pxt_sum_add(&source->all_lost, block.posix_lost_np);
		if (block.posix_records_np > 0)
			note_block(source, &block);
	}
	(void)posix_trace_rewind(source->trid);
	return error == 0;
}

/* What is in the blocks alone: opening has read their heads. */
static bool measure(struct pxt_source *source)
{
	struct posix_trace_logpassed_np all;

	/* The last block may be damaged. */
	if (posix_trace_seek_np(source->trid, INT64_MAX, &all, sizeof all) != 0) {
		(void)posix_trace_rewind(source->trid);
		return survey(source);
	}
	(void)posix_trace_rewind(source->trid);
	source->all_events = all.posix_records_np;
	source->all_lost = all.posix_lost_np;
	return true;
}

static bool each(struct pxt_reader *reader, bool (*look)(struct pxt_source *source))
{
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];

		if (!source->info.posix_complete_np || !look(source))
			return false;
	}
	return true;
}

bool pxt_reader_has_stretches(struct pxt_reader *reader)
{
	return each(reader, survey);
}

/* ---- To a place ---- */

static void skip_to(struct pxt_source *source, int64_t ns)
{
	struct posix_trace_logpassed_np passed;

	/* Reading meets what is wrong, and says so; that nothing is so late is told with the last event's time. */
	if (posix_trace_seek_np(source->trid, ns, &passed, sizeof passed) != 0 ||
	    passed.posix_records_np == source->all_events) {
		(void)posix_trace_rewind(source->trid);
		return;
	}
	source->events = passed.posix_records_np;
	source->lost = passed.posix_lost_np;
}

/* Whether events of a log tell names of threads, and images. */
static bool may_rename(const struct pxt_reader *reader)
{
	for (unsigned i = 0; i < reader->count; i++)
		if (reader->sources[i]->may_rename)
			return true;
	return false;
}

void pxt_part_begin(struct pxt_reader *reader)
{
	const struct pxt_select *select = reader->part;
	int64_t from = pxt_within_range(select->from.ns);
	bool renames = may_rename(reader);

	if (!select->from.set)
		return;
	if (!select->from.absolute)
		from = pxt_when_sum(from, reader->start_ns);
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];
		int64_t ns = from - pxt_within_range(source->shift_ns);

		/* A thread may be named by an event of any log. */
		source->passing = renames;
		source->passing_ns = ns;
		if (!renames)
			skip_to(source, ns);
	}
}

/* Whether the block is before the part. */
static bool is_early(const struct pxt_source *source, const struct posix_trace_logblock_np *block)
{
	struct timespec time = { 0 };

	if (block->posix_records_np == 0)
		return true;
	/* Of a counter that has wrapped: times need not grow with stamps. */
	if (block->posix_begin_ticks_np < source->info.posix_clock_np.posix_anchor_ticks_np)
		return false;
	(void)posix_trace_log_gettime_np(source->trid, block->posix_end_ticks_np, &time);
	return pxt_when_ns(&time) < source->passing_ns;
}

void pxt_part_pass(struct pxt_source *source)
{
	struct posix_trace_logblock_np block;
	int unavailable = 0;

	while (source->passing && source->passing_left == 0) {
		source->passing = posix_trace_log_nextblock_np(
		                      source->trid, &block, sizeof block, &unavailable) == 0 &&
		                  !unavailable && is_early(source, &block);
		if (!source->passing)
			return;
		if (block.posix_names_np && block.posix_records_np > 0) {
			source->passing_left = block.posix_records_np;
			continue;
		}
		source->events += block.posix_records_np;
		pxt_sum_add(&source->lost, block.posix_lost_np);
	}
}

void pxt_part_end(struct pxt_reader *reader)
{
	for (unsigned i = 0; i < reader->count; i++) {
		reader->sources[i]->events = reader->sources[i]->all_events;
		reader->sources[i]->lost = reader->sources[i]->all_lost;
	}
}

void pxt_reader_read_part(struct pxt_reader *reader, const struct pxt_select *select, bool images)
{
	if ((!select->from.set && !select->to.set) || select->thread_count > 0 ||
	    select->pid_count > 0 || !each(reader, measure))
		return;
	reader->part = select;
	reader->part_ends = !images || !may_rename(reader);
	pxt_part_begin(reader);
}

int64_t pxt_reader_last(const struct pxt_reader *reader, uint64_t events)
{
	uint32_t *left = pxt_must(calloc(reader->count + 1u, sizeof *left));
	int64_t from_ns = INT64_MAX;
	uint64_t sum = 0;

	for (unsigned i = 0; i < reader->count; i++)
		left[i] = reader->sources[i]->stretch_count;
	while (sum < events && from_ns != INT64_MIN) {
		unsigned at = reader->count;

		for (unsigned i = 0; i < reader->count; i++) {
			const struct pxt_log_stretch *of = reader->sources[i]->stretches;

			if (left[i] > 0 &&
			    (at == reader->count ||
			        of[left[i] - 1].begin_ns >
			            reader->sources[at]->stretches[left[at] - 1].begin_ns))
				at = i;
		}
		if (at == reader->count) {
			from_ns = INT64_MIN;
		} else {
			const struct pxt_log_stretch *stretch =
			    &reader->sources[at]->stretches[--left[at]];

			from_ns = stretch->begin_ns < from_ns ? stretch->begin_ns : from_ns;
			pxt_sum_add(&sum, stretch->events);
		}
	}
	free(left);
	return from_ns;
}

bool pxt_reader_go_to(struct pxt_reader *reader, int64_t ns)
{
	pxt_reader_rewind(reader);
	for (unsigned i = 0; ns != INT64_MIN && i < reader->count; i++) {
		struct pxt_source *source = reader->sources[i];
		struct posix_trace_logpassed_np passed;

		if (posix_trace_seek_np(source->trid, ns - pxt_within_range(source->shift_ns),
		        &passed, sizeof passed) != 0) {
			pxt_reader_rewind(reader);
			return false;
		}
		source->events = passed.posix_records_np;
		source->lost = passed.posix_lost_np;
	}
	return true;
}
