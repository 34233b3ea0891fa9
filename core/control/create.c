/* SPDX-License-Identifier: MIT */
/*
 * create.c - making a stream: its policy, sizes (rounded up to a power of two), clock and time of creation
 * as they will be in force, memory taken and touched, all before it runs.
 */
#include "core/control/control.h"

#include "core/control/filestream.h"
#include "core/process/forks.h"
#include "core/stream/gate.h"
#include "core/stream/share.h"
#include "core/stream/wanted.h"

/* ---- Attributes as they will be in force ---- */

static uint32_t power_of_two(uint64_t at_least, uint32_t limit)
{
	uint32_t power = 1;

	while (power < at_least && power < limit)
		power *= 2;
	return power;
}

/* Slots of the largest record of each kind; each must fit into half the ring (ruling 15). */
static uint64_t slots_needed(const struct _pxt_attr *attr)
{
	uint64_t user =
	    pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + (uint32_t)attr->_pxt_max_data);
	uint64_t system = pxt_system_slots() + 2u;
	uint64_t largest = user > system ? user : system;
	uint64_t asked = attr->_pxt_stream_size / PXT_SLOT_BYTES +
	                 (attr->_pxt_stream_size % PXT_SLOT_BYTES != 0);

	return asked > 2 * largest ? asked : 2 * largest;
}

/* Lanes of a stream: what was asked for; one where it is small; else one for each CPU. */
static uint32_t lanes_of(const struct _pxt_attr *attr)
{
	uint32_t lanes = attr->_pxt_lanes;

	if (!lanes)
		lanes = attr->_pxt_stream_size < PXT_STREAM_SIZE_SMALL ? 1 : pxt_port_cpus();
	return power_of_two(lanes, PXT_LANES_MAX(attr));
}

/*
 * A stream that a thread writes into a log has room for as long as that thread is kept from running,
 * unless somebody has set its size.  One that lives in a file has a quarter: each of its pages costs create a
 * fault of the file system, and room on the disk.
 */
static void make_room_for_flusher(struct _pxt_attr *attr)
{
	const uint64_t all = CONFIG_PTRACE_FLUSH_STREAM_SIZE / (attr->_pxt_file ? 4u : 1u);

	if (attr->_pxt_stream_policy == POSIX_TRACE_FLUSH && !(attr->_pxt_flags & PXT_ATTR_SIZED) &&
	    attr->_pxt_stream_size < all / attr->_pxt_lanes)
		attr->_pxt_stream_size = all / attr->_pxt_lanes;
}

int pxt_create_attr(const struct pxt_create *request, struct _pxt_attr *attr)
{
	uint64_t slots;

	if (!request->attr)
		pxt_attr_defaults(attr);
	else if (!pxt_attr_check(request->attr, request->attr))
		*attr = request->attr->_pxt_kept;
	else
		return EINVAL;
	if (!attr->_pxt_stream_policy)
		attr->_pxt_stream_policy = pxt_attr_default_stream_policy(request->with_log);
	if (!pxt_attr_stream_policy_built(attr->_pxt_stream_policy) ||
	    (attr->_pxt_stream_policy == POSIX_TRACE_FLUSH && !request->with_log) ||
	    attr->_pxt_max_data > PXT_DATA_MAX || !pxt_forks_known(attr->_pxt_inherit) ||
	    !pxt_share_known(attr, request->attr))
		return EINVAL;
	attr->_pxt_lanes = lanes_of(attr);
	make_room_for_flusher(attr);
	slots = slots_needed(attr);
	if (slots > UINT64_C(1) << PXT_RING_MAX_SHIFT)
		return ENOMEM;
	slots = power_of_two(slots, 1u << PXT_RING_MAX_SHIFT);
	if (slots < 1u << PXT_RING_MIN_SHIFT)
		slots = 1u << PXT_RING_MIN_SHIFT;
	attr->_pxt_stream_size = slots * PXT_SLOT_BYTES;
	attr->_pxt_flags |= PXT_ATTR_SIZED;
	attr->_pxt_ctx_bytes = PXT_CTX_BYTES;
	return 0;
}

/* ---- Memory ---- */

/*
 * 1 where the first start puts an odd number of slots into the lane: its mark, and in lane 0 START.
 * A lane that begins with one slot unused has records of two slots, which are those of up to 4
 * bytes, after that where none lies across two cache lines, or across the ring's end.
 */
static uint32_t lead(const struct pxt_block *block, const struct _pxt_attr *attr, uint32_t index)
{
	uint32_t slots = pxt_block_merges(block) ? 1u : 0u;

	if (!CONFIG_PTRACE_SYSEV_START_STOP || pxt_attr_producer(attr))
		return 0;
	if (index == 0)
		slots += pxt_slots_for(PXT_CTX_BYTES + PXT_START_BYTES);
	return slots % 2u;
}

static void init_lane(struct pxt_block *block, const struct _pxt_attr *attr, uint32_t index)
{
	struct pxt_lane *lane = pxt_block_lane(block, index);
	/* Lap 1: zeroed memory is lap 0, never valid. */
	uint32_t size = pxt_block_mask(block, index) + 1u;
	uint32_t first = size + lead(block, attr, index);

	pxt_cursor_set(&lane->head, (uint64_t)first << 32 | PXT_HEAD_CLOSED);
	pxt_twins_set(&lane->epoch, pxt_epoch_make(first >> 30, 0));
	pxt_cells_init(pxt_lane_slots(lane), size);
	atomic_store_explicit(&lane->limit, first, memory_order_relaxed);
	atomic_store_explicit(&lane->fast_end, first, memory_order_relaxed);
	lane->pos = first;
}

/* Zeroed; *whole: bytes to give back. */
static int alloc_block(
    const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block, size_t *whole)
{
	if (attr->_pxt_file)
		return pxt_filestream_make(attr, bytes, block, whole);
	*whole = bytes;
	/* Who takes guests has room for a long pause of the disk, which a short program never touches. */
	*block = attr->_pxt_flags & PXT_ATTR_GUEST
	             ? pxt_port_alloc_sparse(bytes)
	             : pxt_forks_alloc(bytes, attr->_pxt_inherit == POSIX_TRACE_INHERITED);
	return *block ? 0 : ENOMEM;
}

/* *bytes: of the block with its lanes; *whole: of the memory that is given back for it. */
static int make_block(
    const struct _pxt_attr *attr, size_t *bytes, size_t *whole, struct pxt_block **made)
{
	uint32_t lanes = attr->_pxt_lanes + pxt_share_lanes(attr);
	size_t lanes_at = sizeof(struct pxt_block);
	uint32_t slots = (uint32_t)(attr->_pxt_stream_size / PXT_SLOT_BYTES);
	size_t ring = (size_t)slots * sizeof(pxt_cell);
	struct pxt_block *block;
	int error;

	if (ring > (SIZE_MAX - lanes_at) / lanes - sizeof(struct pxt_lane))
		return ENOMEM;
	*bytes = lanes_at + lanes * (sizeof(struct pxt_lane) + ring) -
	         (slots - pxt_share_last_slots(attr, slots)) * sizeof(pxt_cell);
	error = alloc_block(attr, *bytes, &block, whole);
	if (error)
		return error;
	*made = block;
	block->turn = 1;
	block->lane_mask = attr->_pxt_lanes - 1u;
	pxt_share_set_lanes(
	    block, lanes - attr->_pxt_lanes, pxt_share_last_slots(attr, slots) - 1u);
	block->slot_mask = slots - 1u;
	block->max_data = (uint32_t)attr->_pxt_max_data;
	block->short_step = pxt_head_step(2);
	block->pid = pxt_process_pid();
	block->full_policy = (uint8_t)attr->_pxt_stream_policy;
	block->limit_step = block->full_policy == POSIX_TRACE_LOOP ? block->slot_mask / 8u : 0u;
	/* The set that is not in force yet: the first one. */
	pxt_admit_empty(block, PXT_GATE_FILTER);
	atomic_store_explicit(&block->gate,
	    PXT_GATE_FIRST | (attr->_pxt_stream_policy == POSIX_TRACE_LOOP ? 0u : PXT_GATE_KEEPS) |
	        (attr->_pxt_stream_policy == POSIX_TRACE_DISCARD_NP ? PXT_GATE_DISCARDS : 0u) |
	        (attr->_pxt_flags & PXT_ATTR_ORDERED || !pxt_port_plain() ? PXT_GATE_CAREFUL : 0u),
	    memory_order_relaxed);
	pxt_block_lay_out(block);
	for (uint32_t i = 0; i < lanes; i++)
		init_lane(block, attr, i);
	return 0;
}

/* ---- The stream ---- */

/* A place for one more stream; NULL: there are as many as the configuration allows. */
static struct pxt_stream *free_stream(uint32_t *index)
{
	for (uint32_t i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (!pxt_streams[i].block && !pxt_streams[i].closing && !pxt_streams[i].theirs) {
			*index = i;
			return &pxt_streams[i];
		}
	}
	return NULL;
}

static void note_clock(struct pxt_block *block, struct pxt_stream *stream)
{
	uint32_t ns = pxt_ticks_resolution_ns(pxt_clock.hz, pxt_clock.step);

	pxt_port_clock_read(&block->created);
	/* An OVERFLOW before the first event read has no earlier time. */
	block->last_ticks = block->created.ticks;
	block->attr._pxt_create_sec = block->created.realtime.tv_sec;
	block->attr._pxt_create_nsec = (int32_t)block->created.realtime.tv_nsec;
	atomic_store_explicit(&pxt_attr_clockres_ns, ns, memory_order_relaxed);
	block->attr._pxt_clockres_sec = ns / PXT_NS_PER_S;
	block->attr._pxt_clockres_nsec = (int32_t)(ns % PXT_NS_PER_S);
	pxt_ticks_init(
	    &stream->ticks, pxt_clock.hz, block->created.ticks, &block->created.realtime);
	stream->second = (struct pxt_second){ 0 };
	stream->last_thread = PXT_THREAD_EXTRA;
}

/* Everything but mutex and place, as in a stream that never was.  The block comes last. */
static void reset(struct pxt_stream *stream, const struct pxt_create *request,
    const struct _pxt_attr *attr, uint32_t index)
{
	stream->ops = request->ops;
	stream->trid = 0;
	stream->index = index;
	stream->type_at = 0;
	stream->polling = (attr->_pxt_flags & PXT_ATTR_POLLING) != 0;
	stream->closing = 0;
	stream->inherited = attr->_pxt_inherit == POSIX_TRACE_INHERITED;
	stream->lent = 0;
	stream->dead_log = 0;
	stream->log = NULL;
	stream->views = NULL;
	stream->at_shutdown = NULL;
	stream->at_exit = NULL;
	stream->at_clear = NULL;
	stream->before_clear = NULL;
	atomic_store_explicit(&stream->users, 0u, memory_order_relaxed);
	atomic_store_explicit(&stream->epoch, (uint32_t)pxt_fork_epoch(), memory_order_relaxed);
}

static int create_locked(
    const struct pxt_create *request, const struct _pxt_attr *attr, struct pxt_stream **made)
{
	struct pxt_stream *stream;
	struct pxt_block *block;
	size_t bytes = 0;
	size_t whole = 0;
	uint32_t index = 0;
	int error = pxt_directory_start();

	if (error)
		return error;
	pxt_process_child_part(PXT_CHILD_STREAMS, &pxt_shutdown_child);
	pxt_names_on_coming(pxt_wanted_type_comes);
	pxt_directory_introduce();
	pxt_threads_kept_give_back();
	stream = free_stream(&index);
	if (!stream)
		return EAGAIN;
	error = make_block(attr, &bytes, &whole, &block);
	if (error)
		return error;
	if (!stream->has_mutex)
		pxt_port_mutex_init(&stream->mutex);
	stream->has_mutex = 1;
	pxt_port_mutex_lock(&stream->mutex);
	reset(stream, request, attr, index);
	block->index = index;
	block->with_log = request->with_log;
	block->attr = *attr;
	/* Children may come before the first start. */
	atomic_store_explicit(
	    &block->no_short, pxt_stream_is_inherited(block), memory_order_relaxed);
	stream->block = block;
	stream->block_bytes = whole;
	note_clock(block, stream);
	if (CONFIG_PTRACE_LABELS)
		pxt_streamheader_fill(block, bytes);
	if (pxt_stream_is_inherited(block))
		pxt_forks_begin();
	pxt_port_mutex_unlock(&stream->mutex);
	pxt_places_begin();
	/* Release: a writer that finds the block finds it complete. */
	atomic_store_explicit(&pxt_blocks[index], block, memory_order_release);
	if (attr->_pxt_file)
		pxt_filestream_fill(block, index, whole);
	*made = stream;
	return 0;
}

int pxt_create_stream(
    const struct pxt_create *request, const struct _pxt_attr *attr, struct pxt_stream **stream)
{
	int error = request->pid ? pxt_port_may_trace(request->pid) : 0;

	if (error)
		return error;
	pxt_process_lock();
	error = create_locked(request, attr, stream);
	pxt_process_unlock();
	return error;
}

int pxt_create_publish(struct pxt_stream *stream, const char *name, trace_id_t *trid)
{
	int error;

	pxt_port_mutex_lock(&stream->mutex);
	error = pxt_handle_add(stream->ops, stream, &stream->trid);
	if (!error)
		error = pxt_share_name(stream, name);
	if (!error) {
		if (stream->block->attr._pxt_file)
			pxt_filestream_publish(stream->block);
		if (CONFIG_PTRACE_LABELS)
			pxt_streamheader_make_valid(stream->block);
		*trid = stream->trid;
	}
	pxt_port_mutex_unlock(&stream->mutex);
	return error;
}
