/* SPDX-License-Identifier: MIT */
/*
 * intake.c - a producer's memory at the owner: whether its version, layout and clock rate suit (else it is
 * refused), and the records that come out of it in the order of their stamps, to its end, or stay there while the stream has
 * little room; see intake.h.
 */
#include "attach/intake.h"

#include "attach/producer_put.h"

#include "core/control/control.h"
#include "core/process/context.h"
#include "core/process/names.h"
#include "port/port_file.h"

#include <errno.h>
#include <trace_hooks_np.h>

/* Of the machine, or less: what is mapped of the last page counts. */
#define PAGE 4096u

/* Looks again at unfinished records at the end of a pull: most are finished a moment later. */
#define ROUNDS 16u

/* Rates of one counter that two processes measured differ by far less. */
#define SAME_RATE 1000u

/* ---- What the headers must say ---- */

/* Stamps of both processes are compared: they must come from one counter, at one rate. */
static bool same_clock(const struct pxt_stream_header *header)
{
	uint64_t apart =
	    header->hz > pxt_clock.hz ? header->hz - pxt_clock.hz : pxt_clock.hz - header->hz;

	return header->clock_source == (uint32_t)pxt_clock.source &&
	       apart <= pxt_clock.hz / SAME_RATE;
}

/* From offset @at up to @end. */
static void copy_between(void *to, const void *from, size_t at, size_t end)
{
	memcpy((unsigned char *)to + at, (const unsigned char *)from + at, end - at);
}

/*
 * The header as this build would have written it for such a stream, but for what differs between
 * processes: then all places in it are this build's.
 */
static bool expected(const struct pxt_stream_header *header, size_t bytes, uint64_t directory_at)
{
	struct pxt_block block;
	struct pxt_stream_header *want = &block.header;

	memset(&block, 0, sizeof(block));
	block.lane_mask = header->lanes - (directory_at ? 2u : 1u);
	pxt_share_set_lanes(&block, directory_at ? 1u : 0u, 0u);
	block.slot_mask = header->slots - 1u;
	block.max_data = header->max_data;
	block.full_policy = POSIX_TRACE_LOOP;
	pxt_streamheader_fill(&block, bytes);
	want->directory_at = directory_at;
	memcpy(want->header.magic, PXT_STREAM_MAGIC, sizeof(want->header.magic));
	copy_between(want, header, offsetof(struct pxt_imageheader, key),
	    offsetof(struct pxt_imageheader, word_bytes));
	/* The clock's error and rate, and all that is said of the creation. */
	copy_between(want, header, offsetof(struct pxt_stream_header, clock_error_ppm),
	    offsetof(struct pxt_stream_header, max_data));
	return memcmp(want, header, sizeof(*want)) == 0;
}

/* Where a guest's file has its directory: on the next page. */
static size_t directory_behind(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* The same for the directory: this process' own has the same layout. */
static bool directory_expected(const struct pxt_directory_header *header)
{
	struct pxt_directory_header want = pxt_directory->header;

	copy_between(&want, header, offsetof(struct pxt_imageheader, key),
	    offsetof(struct pxt_imageheader, word_bytes));
	/* The start, and the names. */
	copy_between(
	    &want, header, offsetof(struct pxt_directory_header, started_nsec), sizeof(want));
	return memcmp(&want, header, sizeof(want)) == 0;
}

/* An attached process is not trusted: what its memory says of itself must fit its size. */
static int check_headers(struct pxt_producer_memory *producer)
{
	struct pxt_directory_header directory;
	struct pxt_stream_header header;
	bool guest = !producer->directory;
	size_t bytes;
	size_t behind;
	uint32_t lanes;
	uint32_t last;

	if (producer->bytes < sizeof(struct pxt_block))
		return ENOTSUP;
	pxt_producer_read(&header, producer->memory, sizeof(header));
	/* Trace points choose among a power of two. */
	lanes = header.lanes - (guest ? 1u : 0u);
	if (!header.lanes || !lanes || header.lanes > CONFIG_PTRACE_LANES_MAX ||
	    (lanes & (lanes - 1u)) || header.slots < 1u << PXT_RING_MIN_SHIFT ||
	    (header.slots & (header.slots - 1u)) || header.max_data > PXT_DATA_MAX ||
	    (uint64_t)header.slots * lanes > PXT_PRODUCER_SLOTS || !same_clock(&header))
		return ENOTSUP;
	last = guest && header.slots > PXT_SHARE_DEFINITIONS ? PXT_SHARE_DEFINITIONS : header.slots;
	bytes = sizeof(struct pxt_block) +
	        header.lanes * (sizeof(struct pxt_lane) + header.slots * sizeof(pxt_cell)) -
	        (header.slots - last) * sizeof(pxt_cell);
	behind = directory_behind(bytes);
	if (!expected(&header, bytes, guest ? behind : 0u) ||
	    producer->bytes < (guest ? behind + sizeof(*producer->directory) : bytes))
		return ENOTSUP;
	if (guest)
		producer->directory =
		    (const struct pxt_directory *)(const void *)(producer->memory + behind);
	else if (producer->directory_bytes < sizeof(*producer->directory))
		return ENOTSUP;
	pxt_producer_read(&directory, &producer->directory->header, sizeof(directory));
	if (!directory_expected(&directory))
		return ENOTSUP;
	producer->lanes = header.lanes;
	producer->mask = header.slots - 1u;
	producer->last_mask = last - 1u;
	producer->max_data = header.max_data;
	return 0;
}

/* ---- Beginning and end ---- */

static size_t largest(void)
{
	return sizeof(struct pxt_block) + CONFIG_PTRACE_LANES_MAX * sizeof(struct pxt_lane) +
	       ((size_t)PXT_PRODUCER_SLOTS + PXT_SHARE_DEFINITIONS) * sizeof(pxt_cell) +
	       sizeof(struct pxt_directory) + (size_t)2 * PAGE;
}

/* What is larger than this build makes it is of another build. */
static int view(int fd, size_t limit, bool holes, const void **memory, size_t *bytes)
{
	int error = pxt_port_filemap_view(fd, limit, holes, memory, bytes);

	return error == EFBIG ? ENOTSUP : error;
}

static int map_wish(struct pxt_producer_memory *producer, int fd)
{
	void *memory;
	int error = pxt_port_filemap_share(fd, PXT_WISH_BYTES, &memory);

	if (!error)
		producer->wish = memory;
	return error;
}

static int map(struct pxt_producer_memory *producer, const struct pxt_intake_files *files)
{
	const void *memory;
	bool guest = files->directory < 0;
	int error = view(files->stream, largest(), guest, &memory, &producer->bytes);

	if (error)
		return error;
	producer->memory = memory;
	if (guest)
		return map_wish(producer, files->wish);
	error = view(files->directory, sizeof(*producer->directory) + PAGE, false, &memory,
	    &producer->directory_bytes);
	if (!error)
		producer->directory = memory;
	return error;
}

int pxt_intake_begin(
    const struct pxt_intake_files *files, int32_t pid, struct pxt_producer_memory **made)
{
	struct pxt_producer_memory *producer = pxt_port_alloc(sizeof(*producer));
	int error;

	if (!producer)
		return ENOMEM;
	error = map(producer, files);
	if (!error)
		error = check_headers(producer);
	if (!error && files->tally >= 0)
		error = pxt_intake_tally_begin(producer, files->tally);
	if (error) {
		pxt_intake_end(producer);
		return error;
	}
	producer->pid = pid;
	producer->run_from = pxt_port_ticks();
	for (uint32_t i = 0; i < producer->lanes; i++)
		pxt_intake_lane_begin(&producer->lane[i], producer, i, producer->run_from);
	pxt_intake_types_begin(producer);
	/* What it records is in its memory, where nobody looks before it is taken over. */
	pxt_names_use_specific();
	*made = producer;
	return 0;
}

void pxt_intake_end(struct pxt_producer_memory *producer)
{
	pxt_intake_tally_end(producer);
	if (producer->memory)
		pxt_port_free((void *)(uintptr_t)producer->memory, producer->bytes);
	if (producer->directory_bytes)
		pxt_port_free((void *)(uintptr_t)producer->directory, producer->directory_bytes);
	if (producer->wish)
		pxt_port_free(producer->wish, PXT_WISH_BYTES);
	pxt_port_free(producer, sizeof(*producer));
}

/* Release: who sees that all is wanted again records after the owner's start. */
void pxt_intake_wish(struct pxt_producer_memory *producer, uint32_t unwanted)
{
	if (producer->wish)
		atomic_store_explicit(&producer->wish->unwanted, unwanted, memory_order_release);
}

void pxt_intake_started(struct pxt_producer_memory *producer, uint64_t ticks)
{
	producer->run_from = ticks;
	/* A guest may have lost records before anybody looked. */
	for (uint32_t i = 0; i < producer->lanes; i++) {
		if (ticks < producer->lane[i].counted)
			producer->lane[i].counted = ticks;
	}
}

/* A stamp after its end is a lie. */
void pxt_intake_gone(struct pxt_producer_memory *producer)
{
	uint64_t now = pxt_port_ticks_ordered();

	producer->gone_at = now ? now : 1u;
}

static bool is_drained(const struct pxt_producer_memory *producer)
{
	for (uint32_t i = 0; i < producer->lanes; i++) {
		if (producer->lane[i].pos != producer->lane[i].head)
			return false;
	}
	return true;
}

bool pxt_intake_has_gone(const struct pxt_producer_memory *producer)
{
	return producer->gone_at != 0;
}

bool pxt_intake_empty(struct pxt_producer_memory *producer)
{
	return producer->gone_at && is_drained(producer) && !producer->tally;
}

/* ---- Of the producer's words, this process' ---- */

/*
 * What the system calls a thread, here.  A process of another pid namespace knows numbers of that one: its first
 * thread has the number of the process, as the system told it to the owner, and of others none is known here.  So
 * what the kernel tells of threads of this namespace is never taken for theirs.
 */
static int32_t tid_of(const struct pxt_producer_memory *producer, int32_t own_pid, int32_t own_tid)
{
	if (own_pid == producer->pid)
		return own_tid;
	return own_tid == own_pid ? producer->pid : 0;
}

/* What an entry of the producer's table says, and the stamp that it says it from. */
struct told {
	uint64_t since;
	uint64_t thread;
	int32_t pid;
	int32_t tid;
	char name[PXT_THREAD_NAME];
};

/* False: it became another thread's meanwhile.  @named: with its name. */
static bool ask_entry(const struct pxt_thread *entry, bool named, struct told *told)
{
	told->since = pxt_thread_since(entry);
	told->thread = pxt_wide_load((pxt_wide *)(uintptr_t)&entry->thread);
	told->pid =
	    atomic_load_explicit((_Atomic int32_t *)(uintptr_t)&entry->pid, memory_order_relaxed);
	told->tid =
	    atomic_load_explicit((_Atomic int32_t *)(uintptr_t)&entry->tid, memory_order_relaxed);
	told->name[0] = '\0';
	if (named)
		pxt_producer_read(told->name, entry->name, sizeof(told->name));
	told->name[sizeof(told->name) - 1u] = '\0';
	atomic_thread_fence(memory_order_acquire);
	return pxt_thread_since(entry) == told->since;
}

/* The entry of a thread that had another place in the producer's table, or one before an exec; or PXT_THREAD_EXTRA. */
static uint32_t former_entry(const struct pxt_producer_memory *producer, const struct told *told)
{
	if (told->tid == told->pid && producer->main)
		return producer->main;
	for (uint32_t i = 0; told->tid && i < producer->threads; i++) {
		uint32_t index = producer->thread[i];

		if (index && index != PXT_THREAD_EXTRA && producer->own_tid[i] == told->tid &&
		    pxt_wide_load(&pxt_threads->entry[index].thread) == told->thread)
			return index;
	}
	return PXT_THREAD_EXTRA;
}

static void know(struct pxt_producer_memory *producer, uint32_t at, const struct told *told)
{
	uint32_t index = former_entry(producer, told);

	if (index == PXT_THREAD_EXTRA)
		index = pxt_intake_put_thread(producer->pid, tid_of(producer, told->pid, told->tid),
		    told->thread, told->name);
	producer->thread[at] = (uint16_t)index;
	producer->since[at] = (uint32_t)told->since;
	producer->own_tid[at] = told->tid;
	if (producer->threads <= at)
		producer->threads = at + 1u;
	if (told->tid == told->pid && index != PXT_THREAD_EXTRA)
		producer->main = (uint16_t)index;
}

static bool is_known_since(const struct pxt_producer_memory *producer, uint32_t at, uint64_t since)
{
	return producer->thread[at] && producer->since[at] == (uint32_t)since;
}

/*
 * The entry of the producer's thread @index.  Its pid is what the system says; a thread that says
 * nothing of itself has some number all the same.  False: there is none; *thread and *index are as in
 * the record of a thread without a place.
 */
static bool thread_of(
    struct pxt_producer_memory *producer, uint64_t ticks, uint32_t *index, uint64_t *thread)
{
	struct told told;
	uint32_t at = *index;
	const struct pxt_thread *entry = &producer->directory->threads.entry[at];
	bool there =
	    ask_entry(entry, !is_known_since(producer, at, pxt_thread_since(entry)), &told);

	/* Its thread has ended, and another one has the place: nobody knows who it was. */
	if (!there || told.since > ticks) {
		*index = PXT_THREAD_EXTRA;
		*thread = 0;
		return false;
	}
	if (!told.thread)
		told.thread = at;
	*thread = told.thread;
	if (!is_known_since(producer, at, told.since))
		know(producer, at, &told);
	*index = producer->thread[at];
	if (*index != PXT_THREAD_EXTRA)
		return true;
	*index = pxt_extra_pack(thread, tid_of(producer, told.pid, told.tid));
	return false;
}

/*
 * A record without a place, in a table that has some: its thread gave its own back and records all the same, as the
 * last one of a process does in exit().
 */
static bool former_of(const struct pxt_producer_memory *producer, uint32_t *index, uint64_t thread)
{
	struct told told = { .thread = thread, .pid = -1 };
	uint32_t former;

	told.tid = pxt_extra_unpack(&told.thread, *index);
	if (producer->threads + 1u >= CONFIG_PTRACE_MAX_THREADS)
		return false;
	former = former_entry(producer, &told);
	if (former != PXT_THREAD_EXTRA)
		*index = former;
	return former != PXT_THREAD_EXTRA;
}

uint32_t pxt_intake_main(struct pxt_producer_memory *producer, int32_t pid)
{
	const struct pxt_thread_table *table = &producer->directory->threads;
	uint32_t count = atomic_load_explicit(
	    (_Atomic uint32_t *)(uintptr_t)&table->count, memory_order_relaxed);
	struct told told;

	if (producer->pid != pid)
		return 0;
	/* Bound: the table. */
	for (uint32_t i = 1; !producer->main && i <= count && i < CONFIG_PTRACE_MAX_THREADS; i++) {
		if (ask_entry(&table->entry[i], true, &told) && told.thread && told.tid &&
		    told.tid == told.pid)
			know(producer, i, &told);
	}
	return producer->main;
}

void pxt_intake_goes_on(struct pxt_producer_memory *producer, uint32_t main)
{
	producer->main = (uint16_t)main;
}

static uint64_t number(const unsigned char *bytes, unsigned count)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

/* The front, whose payload is there, as this process' record.  False: no trace point makes such a one. */
static bool translate(const struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    const struct pxt_intake_lane *lane, struct pxt_ring_event *event)
{
	uint32_t info = pxt_intake_lane_info(lane);
	uint32_t max_data = pull->stream->block->max_data;
	uint32_t bytes = pxt_info_bytes(info);
	bool cut = pxt_info_cut(info) || bytes > max_data;
	bool extra = pxt_info_extra(info);
	uint64_t ctx = number(pull->payload, PXT_CTX_BYTES);
	uint32_t index = pxt_context_thread(ctx);

	event->data = pull->payload + PXT_CTX_BYTES;
	if (extra) {
		event->thread = number(event->data, 8);
		event->data += PXT_THREAD_EXTRA_BYTES;
		extra = !former_of(producer, &index, event->thread);
	} else if (index == PXT_THREAD_NONE || index >= CONFIG_PTRACE_MAX_THREADS) {
		return false;
	} else {
		extra = !thread_of(producer, lane->ticks, &index, &event->thread);
	}
	event->pid = (uint32_t)producer->pid;
	event->bytes = bytes < max_data ? bytes : max_data;
	event->ctx = (ctx & ~UINT64_C(0xffff)) | index;
	event->info = pxt_slot_info(
	    atomic_load_explicit(&producer->type[pxt_info_id(info)], memory_order_relaxed),
	    event->bytes, cut, extra, pxt_info_cpu(info));
	event->ticks = lane->ticks;
	return true;
}

/* ---- Pull ---- */

/* The records are nobody's while the stream does not run. */
static void tell_lost(struct pxt_producer_pull *pull)
{
	/* Where in the order they were missing nobody knows; 0 says that. */
	if (pull->lost && pxt_block_state(pull->stream->block) != PXT_GATE_OFF)
		pxt_intake_put_lost(pull->stream, pull->lost, 0);
	pull->lost = 0;
}

static bool is_known(const struct pxt_producer_memory *producer, const struct pxt_intake_lane *lane)
{
	return atomic_load_explicit(&producer->type[pxt_info_id(pxt_intake_lane_info(lane))],
	           memory_order_acquire) != 0;
}

/*
 * A type that is not learnt yet: the helper is asked for it.  A process that records a type has named it
 * before, so when the helper has looked again and found nothing, it is none.  True: that is so, or the owner
 * itself could not define it for a second: then later ones are waited for all the same.
 */
static bool hopeless(struct pxt_producer_memory *producer)
{
	uint32_t learnt = atomic_load_explicit(&producer->learnt, memory_order_acquire);
	bool refused = atomic_load_explicit(&producer->refused, memory_order_relaxed);
	uint64_t now = pxt_port_ticks();
	bool late;

	atomic_store_explicit(&producer->wanted, 1u, memory_order_relaxed);
	if (!producer->asked_at) {
		producer->asked_at = now ? now : 1u;
		producer->asked_learnt = learnt;
	}
	/* One may have looked already when it was asked; the helper may be busy, but not for ever. */
	late = (int64_t)(now - producer->asked_at) > (int64_t)pxt_clock.hz;
	if (!refused && (late || learnt - producer->asked_learnt >= 2u))
		producer->liar = true;
	return producer->liar || late;
}

/* What a log that is written over needs of a process whose beginning it has no more. */
static bool is_told_again(const struct pxt_ring_event *event)
{
	return pxt_info_id(event->info) == POSIX_TRACE_PROCESS_NP && event->bytes &&
	       (event->data[0] == POSIX_TRACE_PROCESS_IMAGE_NP ||
	           event->data[0] == POSIX_TRACE_PROCESS_IMAGE_BUILD_NP ||
	           event->data[0] == POSIX_TRACE_PROCESS_THREAD_NAME_NP);
}

/* A log that is written over, or whose oldest files are removed. */
static bool forgets(const struct _pxt_attr *attr)
{
	return attr->_pxt_log_policy == POSIX_TRACE_LOOP || attr->_pxt_flags & PXT_ATTR_AGES;
}

/*
 * A guest has gone, and all its records were taken.  Its last lane still has its images and names,
 * unless they were overwritten.  Stamps rise in the stream, so they are recorded as of the last pull's
 * end.
 */
static void tell_again(struct pxt_stream *stream, struct pxt_producer_memory *producer)
{
	struct pxt_intake_lane *last = &producer->lane[producer->lanes - 1u];

	if (producer->again || producer->directory_bytes || !forgets(&stream->block->attr) ||
	    last->head - (last->mask + UINT64_C(1)) > last->mask)
		return;
	producer->again = true;
	last->pos = last->mask + UINT64_C(1);
	last->seq = 0;
	last->front = PXT_PRODUCER_EMPTY;
}

enum taken {
	TAKEN,
	NO_ROOM, /* nor for any later record of any producer */
	UNKNOWN,
};

static enum taken take(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane)
{
	struct pxt_ring_event event;

	if (lane->ticks < producer->run_from) {
		pxt_intake_lane_advance(lane);
		return TAKEN;
	}
	if (!is_known(producer, lane) && !hopeless(producer))
		return UNKNOWN;
	/* A thread without a place makes it a slot longer, a number that runs over another one. */
	if (!pull->all && pxt_intake_put_room(pull->stream->block) <
	                      pxt_info_slots(pxt_intake_lane_info(lane), PXT_CTX_BYTES) + 2u)
		return NO_ROOM;
	if (!is_known(producer, lane) || !pxt_intake_lane_copy(pull, lane) ||
	    !translate(pull, producer, lane, &event)) {
		pull->lost++;
	} else {
		producer->asked_at = 0;
		lane->slack = 0;
		tell_lost(pull);
		if (producer->again)
			event.ticks = producer->bound;
		pull->latest = event.ticks > pull->latest ? event.ticks : pull->latest;
		pxt_intake_tally_note(producer, &event);
		if (!producer->again || is_told_again(&event))
			(void)pxt_intake_put_record(pull->stream, &event);
	}
	pxt_intake_lane_advance(lane);
	return TAKEN;
}

/* What all producers have in common in one pull. */
struct crowd {
	struct pxt_producer_memory *const *producers;
	unsigned count;
	uint64_t limit; /* smaller stamps than this may be taken */
	bool stuck;     /* somebody has an unfinished record */
	bool full;
};

/* An empty lane brings what was reserved after the clock's reading; a front, what is no older. */
static void fill_lane(struct pxt_producer_pull *pull, struct crowd *crowd,
    struct pxt_producer_memory *producer, struct pxt_intake_lane *lane)
{
	pxt_intake_lane_fill(pull, producer, lane);
	if (lane->front != PXT_PRODUCER_STUCK)
		return;
	crowd->stuck = true;
	if (lane->floor < crowd->limit)
		crowd->limit = lane->floor;
}

static void fill_all(struct pxt_producer_pull *pull, struct crowd *crowd)
{
	crowd->limit = pull->clock;
	crowd->stuck = false;
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_producer_memory *producer = crowd->producers[i];

		for (uint32_t lane = 0; producer && lane < producer->lanes; lane++)
			fill_lane(pull, crowd, producer, &producer->lane[lane]);
	}
}

/* The smallest stamp of all, and the next one of another lane: until that, nobody else is asked. */
struct choice {
	struct pxt_producer_memory *producer;
	struct pxt_intake_lane *lane;
	uint64_t ticks;
	uint64_t next;
};

/* The oldest event of all lanes of all attached processes is next. */
static void choose(const struct crowd *crowd, struct choice *choice)
{
	*choice = (struct choice){ .ticks = UINT64_MAX, .next = UINT64_MAX };
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_producer_memory *producer = crowd->producers[i];

		for (uint32_t at = 0; producer && at < producer->lanes; at++) {
			struct pxt_intake_lane *lane = &producer->lane[at];
			uint64_t ticks = pxt_intake_lane_ready(lane) ? lane->ticks : UINT64_MAX;

			if (ticks < choice->ticks) {
				choice->next = choice->ticks;
				choice->producer = producer;
				choice->lane = lane;
				choice->ticks = ticks;
			} else if (ticks < choice->next) {
				choice->next = ticks;
			}
		}
	}
}

/* Takes what has smaller stamps than the limit, which sinks when somebody gets stuck. */
static void take_all(struct pxt_producer_pull *pull, struct crowd *crowd)
{
	struct choice choice;

	/* Bound: each round takes a record from among those before the heads, or is the last. */
	for (choose(crowd, &choice); choice.ticks < crowd->limit; choose(crowd, &choice)) {
		do {
			if (take(pull, choice.producer, choice.lane) != TAKEN) {
				crowd->limit = choice.ticks;
				crowd->full = true;
				return;
			}
			fill_lane(pull, crowd, choice.producer, choice.lane);
			if (!pxt_intake_lane_ready(choice.lane))
				break;
			choice.ticks = choice.lane->ticks;
		} while (choice.ticks < crowd->limit && choice.ticks <= choice.next);
	}
}

/* Of a producer that is gone: stamps that never come. */
static void drop_lies(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer)
{
	for (uint32_t i = 0; producer->gone_at && i < producer->lanes; i++) {
		struct pxt_intake_lane *lane = &producer->lane[i];

		/* Bound: each round moves the position forward, at most to head. */
		while (pxt_intake_lane_ready(lane) && lane->ticks > producer->gone_at) {
			pull->lost++;
			pxt_intake_lane_advance(lane);
			pxt_intake_lane_fill(pull, producer, lane);
		}
	}
}

/*
 * LOOP: whether more room is due than there is.  What stays with this producer would soon be overwritten there,
 * newer than what it spares here; or the producer has gone, and its memory is to go, too.  A stream that
 * is flushed overwrites nothing, so there a record is safest where it is.
 */
static bool is_pressed(struct pxt_producer_memory *producer)
{
	for (uint32_t i = 0; i < producer->lanes; i++) {
		const struct pxt_intake_lane *lane = &producer->lane[i];

		if (lane->head - lane->pos > (producer->gone_at ? 0u : lane->mask / 2u))
			return true;
	}
	return false;
}

/*
 * Of those that have gone, after all that they recorded, and at the last look of all.  With the stamp of what was taken
 * last.
 */
static void tell_counts(struct pxt_producer_pull *pull, const struct crowd *crowd, bool stops)
{
	uint64_t ticks = pull->latest;

	for (unsigned i = 0; i < crowd->count; i++)
		if (crowd->producers[i] && crowd->producers[i]->bound > ticks)
			ticks = crowd->producers[i]->bound;
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_producer_memory *producer = crowd->producers[i];

		if (!producer || !(stops || (producer->gone_at && is_drained(producer))))
			continue;
		if (pxt_intake_tally_tell(pull, producer, ticks) && producer->gone_at)
			pxt_intake_tally_end(producer);
	}
}

uint64_t pxt_intake_pull(struct pxt_stream *stream, struct pxt_producer_memory *const *producers,
    unsigned count, struct pxt_producer_payload *payload, uint64_t clock, bool all)
{
	struct pxt_producer_pull pull = {
		.stream = stream, .payload = payload->bytes, .clock = clock, .all = all
	};
	struct crowd crowd = { .producers = producers, .limit = clock };
	/* The last look: what lives will be told no more. */
	bool stops = all && stream->block->full_policy == POSIX_TRACE_FLUSH;

	/* The first free place is taken: what is empty is behind. */
	while (count && !producers[count - 1u])
		count--;
	crowd.count = count;
	for (unsigned i = 0; i < count; i++) {
		for (uint32_t at = 0; producers[i] && at < producers[i]->lanes; at++)
			pxt_intake_lane_look(&pull, &producers[i]->lane[at]);
		pull.all |= stream->block->full_policy == POSIX_TRACE_LOOP && producers[i] &&
		            is_pressed(producers[i]);
	}
	/* Bound: rounds, beside what take_all() takes. */
	for (unsigned round = 0; round < ROUNDS; round++) {
		pull.last = round == ROUNDS - 1u;
		fill_all(&pull, &crowd);
		take_all(&pull, &crowd);
		if (!crowd.stuck || crowd.full)
			break;
	}
	for (unsigned i = 0; i < count; i++) {
		if (producers[i])
			drop_lies(&pull, producers[i]);
	}
	tell_lost(&pull);
	tell_counts(&pull, &crowd, stops);
	for (unsigned i = 0; i < count; i++) {
		if (!producers[i])
			continue;
		if (pxt_intake_empty(producers[i]))
			tell_again(stream, producers[i]);
		producers[i]->bound = crowd.limit;
	}
	return crowd.limit;
}
