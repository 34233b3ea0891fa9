/* SPDX-License-Identifier: MIT */
/* streamlabel.c - fills the label of a stream; see format/label.h. */
#include "core/stream/streamlabel.h"

#include "core/process/clock.h"
#include "core/process/directory.h"
#include "core/process/label.h"
#include "core/stream/startset.h"

#include <string.h>

_Static_assert(offsetof(struct pxt_block, barriers) ==
                   offsetof(struct pxt_block, retrieved) + 4 * sizeof(uint64_t),
    "counts_at tells of five numbers in a row");

static void describe_lanes(struct pxt_stream_label *label, const struct pxt_block *block)
{
	label->lanes_at = sizeof(*block);
	label->lane_stride = sizeof(struct pxt_lane);
	label->lanes = pxt_block_lanes(block);
	label->slots = block->slot_mask + 1u;
	label->form =
	    sizeof(pxt_cell) == sizeof(struct pxt_slot) ? PXT_LABEL_WHOLE : PXT_LABEL_WORDS;
	label->cell_bytes = sizeof(pxt_cell);
	label->cells_at = (uint32_t)(sizeof(*block) + label->lanes * sizeof(struct pxt_lane));
	label->head_at = offsetof(struct pxt_lane, head);
	label->epoch_at = offsetof(struct pxt_lane, epoch);
	label->refused_at = offsetof(struct pxt_lane, refused);
	label->limit_at = offsetof(struct pxt_lane, limit);
	label->state_at = offsetof(struct pxt_lane, pos);
	label->ctx_bytes = PXT_CTX_BYTES;
	label->has_thread = CONFIG_PTRACE_RECORD_THREAD;
	label->has_address = CONFIG_PTRACE_RECORD_ADDRESS;
	label->max_data = block->max_data;
}

static void describe_state(struct pxt_stream_label *label, const struct pxt_block *block)
{
	label->gate_at = offsetof(struct pxt_block, gate);
	label->counts_at = offsetof(struct pxt_block, retrieved);
	label->oobs_at = offsetof(struct pxt_block, oob);
	label->oob_bytes = sizeof(struct pxt_oob);
	label->oobs = PXT_OOBS;
	label->oob_pos_at = offsetof(struct pxt_lane, oob_pos);
	label->oob_set_at = PXT_OOB_SET_AT;
	label->full_policy = block->full_policy;
	label->id_count = PXT_START_BYTES * 8u;
	label->generation_at =
	    offsetof(struct pxt_block, attr) + offsetof(trace_attr_t, _pxt_genversion);
	label->generation_bytes = sizeof(block->attr._pxt_genversion);
	label->name_at = offsetof(struct pxt_block, attr) + offsetof(trace_attr_t, _pxt_name);
	label->name_bytes = sizeof(block->attr._pxt_name);
}

static void describe_clock(struct pxt_stream_label *label, const struct pxt_clock_set *created)
{
	const struct timespec *const clocks[] = { &created->realtime, &created->monotonic,
		&created->boottime };

	label->clock_source = (uint32_t)pxt_clock.source;
	label->clock_error_ppm = pxt_clock.error_ppm;
	label->hz = pxt_clock.hz;
	label->created_ticks = created->ticks;
	for (unsigned i = 0; i < 3; i++) {
		label->created_sec[i] = clocks[i]->tv_sec;
		label->created_nsec[i] = (uint32_t)clocks[i]->tv_nsec;
	}
}

void pxt_streamlabel_fill(struct pxt_block *block, size_t bytes)
{
	struct pxt_stream_label *label = &block->label;

	describe_lanes(label, block);
	describe_state(label, block);
	describe_clock(label, &block->created);
	pxt_label_fill(&label->label, bytes, pxt_directory->label.label.key);
}

void pxt_streamlabel_make_valid(struct pxt_block *block)
{
	pxt_label_make_valid(&block->label.label, PXT_STREAM_MAGIC);
	PXT_TESTPOINT(PXT_TP_VALID);
}
