/* SPDX-License-Identifier: MIT */
/* streamheader.c - fills the header of a stream; see format/imageheader.h. */

#include "core/process/directory.h"
#include "core/stream/gate.h"

_Static_assert(offsetof(struct pxt_block, barriers) ==
                   offsetof(struct pxt_block, retrieved) + 4 * sizeof(uint64_t),
    "counts_at tells of five numbers in a row");

static void describe_lanes(struct pxt_stream_header *header, const struct pxt_block *block)
{
	header->lanes_at = sizeof(*block);
	header->lane_stride = sizeof(struct pxt_lane);
	header->lanes = pxt_block_lanes(block);
	header->slots = block->slot_mask + 1u;
	header->form = sizeof(pxt_cell) == sizeof(struct pxt_slot) ? PXT_IMAGEHEADER_WHOLE
	                                                           : PXT_IMAGEHEADER_WORDS;
	header->cell_bytes = sizeof(pxt_cell);
	header->cells_at = (uint32_t)(sizeof(*block) + header->lanes * sizeof(struct pxt_lane));
	header->head_at = offsetof(struct pxt_lane, head);
	header->epoch_at = offsetof(struct pxt_lane, epoch);
	header->refused_at = offsetof(struct pxt_lane, refused);
	header->limit_at = offsetof(struct pxt_lane, limit);
	header->state_at = offsetof(struct pxt_lane, pos);
	header->ctx_bytes = PXT_CTX_BYTES;
	header->has_thread = CONFIG_PTRACE_RECORD_THREAD |
	                     (CONFIG_PTRACE_LARGER_PRIORITY ? PXT_IMAGEHEADER_LARGER : 0u) |
	                     (CONFIG_PTRACE_SYSEV_SHORT_SWITCH ? PXT_IMAGEHEADER_SHORT : 0u);
	header->has_address = CONFIG_PTRACE_RECORD_ADDRESS;
	header->max_data = block->max_data;
}

static void describe_state(struct pxt_stream_header *header, const struct pxt_block *block)
{
	header->gate_at = offsetof(struct pxt_block, gate);
	header->counts_at = offsetof(struct pxt_block, retrieved);
	header->oobs_at = offsetof(struct pxt_block, oob);
	header->oob_bytes = sizeof(struct pxt_oob);
	header->oobs = PXT_OOBS;
	header->oob_pos_at = offsetof(struct pxt_lane, oob_pos);
	header->oob_set_at = PXT_OOB_SET_AT;
	header->full_policy = block->full_policy;
	header->id_count = PXT_START_BYTES * 8u;
	header->generation_at =
	    offsetof(struct pxt_block, attr) + offsetof(struct _pxt_attr, _pxt_genversion);
	header->generation_bytes = sizeof(block->attr._pxt_genversion);
	header->name_at = offsetof(struct pxt_block, attr) + offsetof(struct _pxt_attr, _pxt_name);
	header->name_bytes = sizeof(block->attr._pxt_name);
}

static void describe_clock(struct pxt_stream_header *header, const struct pxt_clock_set *created)
{
	const struct timespec *const clocks[] = { &created->realtime, &created->monotonic,
		&created->boottime };

	header->clock_source = (uint32_t)pxt_clock.source;
	header->clock_error_ppm = pxt_clock.error_ppm;
	header->hz = pxt_clock.hz;
	header->created_ticks = created->ticks;
	for (unsigned i = 0; i < 3; i++) {
		header->created_sec[i] = clocks[i]->tv_sec;
		header->created_nsec[i] = (uint32_t)clocks[i]->tv_nsec;
	}
}

void pxt_streamheader_fill(struct pxt_block *block, size_t bytes)
{
	struct pxt_stream_header *header = &block->header;

	describe_lanes(header, block);
	describe_state(header, block);
	describe_clock(header, &block->created);
	pxt_imageheader_fill(&header->header, bytes, pxt_directory->header.header.key);
}

void pxt_streamheader_make_valid(struct pxt_block *block)
{
	pxt_imageheader_make_valid(&block->header.header, PXT_STREAM_MAGIC);
	PXT_TESTPOINT(PXT_TP_VALID);
}
