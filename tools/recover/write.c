/* SPDX-License-Identifier: MIT */
/* write.c - the log: what its events mean, records and losses in their order, its end. */
#include "tools/recover/recover.h"

#include "tools/receive/run.h"
#include "tools/write/logwrite.h"

#include "tools/output/out.h"

#include "format/logfmt_fields.h"
#include "format/ticks.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define RECORD_SLOTS 350u /* of the longest: context, a thread without index, 4,095 bytes */

struct writer {
	struct pxt_streamimage *streamimage;
	const struct pxt_who *who;
	const struct pxt_procinfo *procinfo;
	struct pxt_written *written;
	struct pxt_logblocks blocks;
	struct pxt_log_header header;
	struct pxt_order order;
	uint64_t unreported; /* losses before the next record */
	uint64_t last;       /* the largest stamp so far */
	unsigned char record[RECORD_SLOTS * PXT_SLOT_BYTES];
};

static void put32(const struct writer *writer, unsigned char *at, uint32_t value)
{
	value = writer->streamimage->swapped ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof value);
}

/* ---- What events mean ---- */

static void put_system_types(struct writer *writer)
{
	for (uint32_t id = 1; id <= PXT_ID_UNNAMED; id++) {
		const char *name = pxt_system_event_name(id);

		if (name && !pxt_id_is_specific(id))
			pxt_logblocks_type(&writer->blocks, id, name, "");
	}
	if (writer->streamimage->header->has_thread & PXT_IMAGEHEADER_SHORT)
		pxt_logblocks_type(&writer->blocks, POSIX_TRACE_CONTEXT_SWITCH_NP,
		    pxt_system_event_name(POSIX_TRACE_CONTEXT_SWITCH_NP), PXT_SHORT_SWITCH_FORMAT);
}

/* Those that were not told yet: from the @told-th on. */
static void put_types(struct writer *writer, uint32_t *told)
{
	struct pxt_log_typename type;

	if (!*told)
		put_system_types(writer);
	for (; *told < writer->who->names; ++*told)
		if (pxt_who_type(writer->who, *told, &type) && type.id < PXT_LOG_IDS)
			pxt_logblocks_type(&writer->blocks, type.id, type.name, type.format);
}

static void put_threads(struct writer *writer)
{
	struct pxt_log_thread thread;

	for (uint32_t i = 1; i <= writer->who->threads; i++)
		if (pxt_who_thread(writer->who, i, &thread))
			pxt_logblocks_thread(&writer->blocks, &thread);
}

static void put_process(struct writer *writer)
{
	struct pxt_log_process process = writer->procinfo->process;

	if (!process.executable[0])
		pxt_who_process(writer->who, &process);
	process.pid = writer->streamimage->header->header.pid;
	pxt_logblocks_process(&writer->blocks, &process);
}

static void put_modules(struct writer *writer)
{
	for (uint32_t i = 0; i < writer->procinfo->count; i++)
		pxt_logblocks_module(&writer->blocks, &writer->procinfo->modules[i]);
}

/* ---- Records ---- */

static void put_record(struct writer *writer, uint32_t slots, uint64_t ticks)
{
	if (writer->unreported)
		pxt_logblocks_loss(&writer->blocks, writer->unreported);
	writer->unreported = 0;
	(void)pxt_logblocks_record(&writer->blocks, writer->record, slots, ticks);
	if (writer->last < ticks)
		writer->last = ticks;
}

static void put_begin(struct writer *writer, uint32_t info, uint64_t ticks)
{
	put32(writer, writer->record, PXT_SLOT_BEGIN);
	put32(writer, writer->record + 4, info);
	put32(writer, writer->record + 8, (uint32_t)ticks);
	put32(writer, writer->record + 12, (uint32_t)(ticks >> 32));
}

/* The front of @lane, which the walk has seen whole. */
static void copy_record(struct writer *writer, const struct pxt_streamimage_lane *lane)
{
	const struct pxt_streamimage *streamimage = writer->streamimage;
	uint64_t pos = pxt_streamimage_pos(lane, &lane->list[lane->front]);
	struct pxt_slot slot;
	uint32_t info;
	uint32_t slots;
	uint64_t ticks;

	if (!pxt_streamimage_slot(streamimage, lane, pos, &slot))
		return;
	info = slot.word[1];
	ticks = pxt_slot_ticks(&slot);
	slots = pxt_info_slots(info, streamimage->header->ctx_bytes);
	put_begin(writer, info, ticks);
	for (uint32_t i = 1; i < slots; i++) {
		unsigned char *at = writer->record + (size_t)i * PXT_SLOT_BYTES;

		if (!pxt_streamimage_slot(streamimage, lane, pos + i, &slot))
			return;
		put32(writer, at, 0);
		for (unsigned word = 1; word < 4; word++)
			put32(writer, at + (size_t)4 * word, slot.word[word]);
	}
	put_record(writer, slots, ticks);
}

static void put_payload(struct writer *writer, uint32_t *used, unsigned char byte)
{
	uint32_t slot = 1u + *used / PXT_SLOT_PAYLOAD;

	writer->record[(size_t)slot * PXT_SLOT_BYTES + 4u + *used % PXT_SLOT_PAYLOAD] = byte;
	++*used;
}

/* A record that is in no lane. */
static void make_record(
    struct writer *writer, uint32_t info, uint64_t ticks, uint64_t ctx, const unsigned char *data)
{
	uint32_t ctx_bytes = writer->streamimage->header->ctx_bytes;
	uint32_t pid = (uint32_t)writer->streamimage->header->header.pid;
	uint32_t slots = pxt_info_slots(info, ctx_bytes);
	uint32_t used = 0;

	if (pxt_info_extra(info))
		ctx |= PXT_THREAD_EXTRA;
	memset(writer->record, 0, (size_t)slots * PXT_SLOT_BYTES);
	put_begin(writer, info, ticks);
	for (uint32_t i = 0; i < ctx_bytes; i++)
		put_payload(writer, &used, (unsigned char)(ctx >> 8 * i));
	/* Its thread has no place in the table, and is not told here, nor is its number; its process is. */
	for (uint32_t i = 0; pxt_info_extra(info) && i < PXT_THREAD_EXTRA_BYTES; i++) {
		uint32_t byte = i < 8 ? 0u : pid >> 8 * (i - 8);

		put_payload(writer, &used, (unsigned char)byte);
	}
	for (uint32_t i = 0; i < pxt_info_bytes(info); i++)
		put_payload(writer, &used, data[i]);
	put_record(writer, slots, ticks);
}

/* ---- Losses ---- */

/* Records were overwritten before this one: what a reader would have told of it. */
static void tell_gap(struct writer *writer, struct pxt_streamimage_lane *lane, uint64_t ticks)
{
	lane->gap_told = true;
	if (!lane->overwritten)
		return;
	writer->unreported += lane->overwritten;
	if (writer->streamimage->header->full_policy != POSIX_TRACE_LOOP)
		return;
	make_record(writer, pxt_slot_info(PXT_ID_OVERFLOW, 0, false, false, PXT_CPU_UNKNOWN),
	    writer->last, 0, NULL);
	make_record(
	    writer, pxt_slot_info(PXT_ID_RESUME, 0, false, false, PXT_CPU_UNKNOWN), ticks, 0, NULL);
}

/* What is missing in the lane up to the @end-th of its list. */
static void tell_lane(struct writer *writer, struct pxt_streamimage_lane *lane, size_t end)
{
	for (; lane->told < end; lane->told++)
		writer->unreported += lane->list[lane->told].lost;
}

static void put_front(struct writer *writer, struct pxt_streamimage_lane *lane)
{
	struct pxt_slot slot;

	if (!lane->gap_told && lane->front >= lane->first_unread &&
	    pxt_streamimage_slot(writer->streamimage, lane,
	        pxt_streamimage_pos(lane, &lane->list[lane->front]), &slot))
		tell_gap(writer, lane, pxt_slot_ticks(&slot));
	tell_lane(writer, lane, lane->front + 1);
	copy_record(writer, lane);
}

static bool stopped_itself(const struct pxt_streamimage *streamimage)
{
	return (streamimage->gate & PXT_STREAMIMAGE_STATE) == PXT_STREAMIMAGE_AUTO;
}

/* ---- All of it ---- */

static void put_all(struct writer *writer)
{
	struct pxt_streamimage *streamimage = writer->streamimage;
	struct pxt_progress progress;
	enum pxt_order_next next;
	uint32_t lane = 0;

	pxt_progress_begin(&progress, "recover", "events", writer->written->events, false);
	pxt_order_begin(&writer->order, streamimage);
	while ((next = pxt_order_next(&writer->order, &lane)) != PXT_ORDER_END) {
		if (next == PXT_ORDER_RECORD) {
			put_front(writer, &streamimage->lanes[lane]);
		} else {
			const struct pxt_streamimage_oob *oob =
			    &streamimage->oobs[writer->order.oob];

			make_record(writer, oob->info, oob->ticks, oob->ctx, oob->data);
		}
		pxt_order_done(&writer->order, next, lane);
		pxt_progress_step(&progress);
	}
	pxt_progress_end(&progress);
}

/* The automatic STOP comes after the last record; what found no room, after that. */
static void put_end(struct writer *writer)
{
	struct pxt_streamimage *streamimage = writer->streamimage;
	unsigned char automatic[4];

	for (uint32_t i = 0; i < streamimage->header->lanes; i++) {
		struct pxt_streamimage_lane *lane = &streamimage->lanes[i];

		if (!lane->gap_told)
			writer->unreported += lane->overwritten;
		tell_lane(writer, lane, lane->count);
		writer->unreported += lane->lost_behind;
	}
	if (stopped_itself(streamimage)) {
		put32(writer, automatic, 1);
		make_record(writer,
		    pxt_slot_info(PXT_ID_STOP, sizeof automatic, false, false, PXT_CPU_UNKNOWN),
		    writer->last, 0, automatic);
		writer->unreported += streamimage->refused;
	}
	if (writer->unreported)
		pxt_logblocks_loss(&writer->blocks, writer->unreported);
}

static void set_trailer(const struct writer *writer, struct pxt_log_trailer *trailer)
{
	const struct pxt_written *written = writer->written;

	memset(trailer, 0, sizeof *trailer);
	/* What a lane that is not there held is in no count. */
	trailer->status.posix_stream_status =
	    writer->streamimage->lanes_missing ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	trailer->status.posix_stream_full_status =
	    stopped_itself(writer->streamimage) ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	trailer->status.posix_stream_overrun_status =
	    written->lost ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	trailer->status.posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	trailer->status.posix_log_overrun_status = POSIX_TRACE_NO_OVERRUN;
	trailer->status.posix_log_full_status = POSIX_TRACE_NOT_FULL;
	trailer->counts.posix_written_np =
	    written->events + written->lost + writer->streamimage->cleared;
	trailer->counts.posix_retrieved_np = written->events;
	trailer->counts.posix_lost_np = written->lost;
	trailer->counts.posix_cleared_np = writer->streamimage->cleared;
	trailer->end = pxt_streamimage_clock(&writer->header, writer->last);
	trailer->attr = writer->header.attr;
}

/* What the next image is of. */
static void turn_to(struct writer *writer, struct pxt_recovered *recovered)
{
	writer->streamimage = &recovered->streamimage;
	writer->who = &recovered->who;
	writer->procinfo = &recovered->procinfo;
}

/* False: there is no memory. */
static bool begin(struct writer *writer, struct pxt_recovered *recovered, const char *path,
    enum pxt_logmode mode, struct pxt_written *written)
{
	unsigned char head[PXT_LOG_HEADER_BYTES];
	const struct pxt_streamimage *streamimage = &recovered->streamimage;

	memset(writer, 0, sizeof *writer);
	turn_to(writer, recovered);
	writer->written = written;
	writer->last = streamimage->header->created_ticks;
	pxt_streamimage_head(streamimage, &writer->header);
	pxt_logfmt_put_header(head, &writer->header);
	if (streamimage->swapped)
		pxt_logblocks_swap_head(head);
	return pxt_logblocks_open(&writer->blocks, path, mode, head, &writer->header);
}

/* What comes before the first record. */
static void put_front_matter(struct writer *writer)
{
	put_process(writer);
	put_modules(writer);
	writer->unreported = writer->streamimage->lost;
	if (!stopped_itself(writer->streamimage))
		writer->unreported += writer->streamimage->refused;
}

static int end(struct writer *writer)
{
	struct pxt_log_trailer trailer;

	/* Types that were recorded, but whose names are not there. */
	writer->written->unnamed = pxt_logblocks_name_rest(&writer->blocks);
	set_trailer(writer, &trailer);
	return pxt_logblocks_close(&writer->blocks, &trailer);
}

const char *pxt_recover_write(
    struct pxt_recovered *recovered, const char *path, struct pxt_written *written, int *error)
{
	static struct writer writer;
	uint32_t told = 0;

	*error = 0;
	pxt_recover_sum(recovered, written);
	if (!begin(&writer, recovered, path, PXT_LOG_WHOLE, written))
		return "out of memory";
	put_types(&writer, &told);
	put_threads(&writer);
	put_front_matter(&writer);
	put_all(&writer);
	put_end(&writer);
	*error = end(&writer);
	return NULL;
}

/* ---- A log that grows by images ---- */

static struct {
	struct writer writer;
	uint32_t names;    /* of types, told */
	uint64_t *threads; /* sums of what was told of each, by index */
	uint32_t threads_told;
	uint64_t refused;
	uint64_t side_ticks; /* of the last one beside the lanes */
} grows;

const char *pxt_recover_begin(
    struct pxt_recovered *recovered, const char *path, struct pxt_written *written)
{
	free(grows.threads);
	memset(&grows, 0, sizeof grows);
	*written = (struct pxt_written){ 0 };
	if (!begin(&grows.writer, recovered, path, PXT_LOG_GROWING, written))
		return "out of memory";
	put_front_matter(&grows.writer);
	written->lost = grows.writer.unreported;
	grows.refused = recovered->streamimage.refused;
	return NULL;
}

static uint64_t sum_of(const struct pxt_log_thread *thread)
{
	const uint64_t words[] = { thread->thread ^ (uint32_t)thread->tid, thread->since };

	return pxt_receive_known_hash(
	    pxt_receive_known_hash(0, words, sizeof words), thread->name, sizeof thread->name);
}

/* Those that are new, or have another name. */
static void put_new_threads(struct writer *writer)
{
	struct pxt_log_thread thread;

	if (writer->who->threads >= grows.threads_told) {
		uint32_t count = writer->who->threads + 1u;
		uint64_t *larger = realloc(grows.threads, count * sizeof *larger);

		if (!larger)
			return;
		grows.threads = larger;
		memset(
		    larger + grows.threads_told, 0, (count - grows.threads_told) * sizeof *larger);
		grows.threads_told = count;
	}
	for (uint32_t i = 1; i <= writer->who->threads; i++) {
		if (!pxt_who_thread(writer->who, i, &thread) || grows.threads[i] == sum_of(&thread))
			continue;
		grows.threads[i] = sum_of(&thread);
		pxt_logblocks_thread(&writer->blocks, &thread);
	}
}

/* How many of the list may be taken: none behind a record that may still be finished. */
static size_t settled(const struct pxt_streamimage *streamimage,
    const struct pxt_streamimage_place *place, struct pxt_streamimage_place *stuck)
{
	const struct pxt_streamimage_lane *lane = &streamimage->lanes[0];

	for (size_t i = 0; i < lane->count; i++) {
		struct pxt_streamimage_place at = *place;

		if (!lane->list[i].lost)
			continue;
		if (i > 0)
			at = pxt_streamimage_after(streamimage, lane, i - 1);
		if (at.pos == stuck->pos)
			continue;
		*stuck = at;
		return i;
	}
	return lane->count;
}

static void put_sides(struct writer *writer)
{
	const struct pxt_streamimage *streamimage = writer->streamimage;

	for (uint32_t i = 0; i < streamimage->oob_count; i++) {
		const struct pxt_streamimage_oob *oob = &streamimage->oobs[i];

		if (oob->ticks <= grows.side_ticks)
			continue;
		grows.side_ticks = oob->ticks;
		make_record(writer, oob->info, oob->ticks, oob->ctx, oob->data);
		writer->written->events += !oob->automatic;
	}
}

void pxt_recover_add(struct pxt_recovered *recovered, struct pxt_streamimage_place *place,
    struct pxt_streamimage_place *stuck)
{
	struct writer *writer = &grows.writer;
	struct pxt_streamimage_lane *lane = &recovered->streamimage.lanes[0];
	const size_t count = settled(&recovered->streamimage, place, stuck);
	uint64_t before;

	turn_to(writer, recovered);
	put_types(writer, &grows.names);
	put_new_threads(writer);
	put_sides(writer);
	before = writer->unreported;
	if (recovered->streamimage.refused > grows.refused)
		writer->unreported += recovered->streamimage.refused - grows.refused;
	grows.refused = recovered->streamimage.refused;
	writer->written->lost += writer->unreported - before;
	for (; lane->front < count; lane->front++) {
		if (lane->list[lane->front].mark)
			continue;
		if (!lane->gap_told)
			writer->written->lost += lane->overwritten;
		put_front(writer, lane);
		writer->written->events++;
	}
	for (size_t i = 0; i < count; i++)
		writer->written->lost += lane->list[i].lost;
	if (count > 0)
		*place = pxt_streamimage_after(&recovered->streamimage, lane, count - 1);
	pxt_logblocks_flush(&writer->blocks);
}

int pxt_recover_end(struct pxt_recovered *recovered)
{
	turn_to(&grows.writer, recovered);
	if (grows.writer.unreported)
		pxt_logblocks_loss(&grows.writer.blocks, grows.writer.unreported);
	return end(&grows.writer);
}
