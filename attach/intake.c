/* SPDX-License-Identifier: MIT */
/*
 * intake.c - a guest's memory, from its arrival to its end, and the records that come out of it in
 * the order of their stamps; see intake.h.
 */
#include "attach/intake.h"

#include "attach/guestput.h"

#include "core/control/control.h"
#include "core/process/context.h"
#include "core/process/names.h"
#include "port/port_filemap.h"

#include <errno.h>

/* Of the machine, or less: what is mapped of the last page counts. */
#define PAGE 4096u

/* Looks again at unfinished records at the end of a pull: most are finished a moment later. */
#define ROUNDS 16u

/* Rates of one counter that two processes measured differ by far less. */
#define SAME_RATE 1000u

/* ---- What the labels must say ---- */

static bool same_clock(const struct pxt_stream_label *label)
{
	uint64_t apart =
	    label->hz > pxt_clock.hz ? label->hz - pxt_clock.hz : pxt_clock.hz - label->hz;

	return label->clock_source == (uint32_t)pxt_clock.source &&
	       apart <= pxt_clock.hz / SAME_RATE;
}

/* From offset @at up to @end. */
static void copy_between(void *to, const void *from, size_t at, size_t end)
{
	memcpy((unsigned char *)to + at, (const unsigned char *)from + at, end - at);
}

/*
 * The label as this build would have written it for such a stream, but for what differs between
 * processes: then all places in it are this build's.
 */
static bool expected(const struct pxt_stream_label *label, size_t bytes)
{
	struct pxt_block block;
	struct pxt_stream_label *want = &block.label;

	memset(&block, 0, sizeof(block));
	block.lane_mask = label->lanes - 1u;
	block.slot_mask = label->slots - 1u;
	block.max_data = label->max_data;
	block.full_policy = POSIX_TRACE_LOOP;
	pxt_streamlabel_fill(&block, bytes);
	memcpy(want->label.magic, PXT_STREAM_MAGIC, sizeof(want->label.magic));
	copy_between(
	    want, label, offsetof(struct pxt_label, key), offsetof(struct pxt_label, word_bytes));
	/* The clock's error and rate, and all that is said of the creation. */
	copy_between(want, label, offsetof(struct pxt_stream_label, clock_error_ppm),
	    offsetof(struct pxt_stream_label, max_data));
	return memcmp(want, label, sizeof(*want)) == 0;
}

/* The same for the directory: this process' own has the same layout. */
static bool directory_expected(const struct pxt_directory_label *label)
{
	struct pxt_directory_label want = pxt_directory->label;

	copy_between(
	    &want, label, offsetof(struct pxt_label, key), offsetof(struct pxt_label, word_bytes));
	/* The start, and the names. */
	copy_between(
	    &want, label, offsetof(struct pxt_directory_label, started_nsec), sizeof(want));
	return memcmp(&want, label, sizeof(want)) == 0;
}

static int check_labels(struct pxt_guest_memory *guest)
{
	struct pxt_directory_label directory;
	struct pxt_stream_label label;
	size_t bytes;

	if (guest->bytes < sizeof(struct pxt_block))
		return ENOTSUP;
	pxt_guest_read(&label, guest->memory, sizeof(label));
	if (!label.lanes || label.lanes > CONFIG_PTRACE_LANES_MAX ||
	    (label.lanes & (label.lanes - 1u)) || label.slots < 1u << PXT_RING_MIN_SHIFT ||
	    (label.slots & (label.slots - 1u)) || label.max_data > PXT_DATA_MAX ||
	    (uint64_t)label.slots * label.lanes > PXT_GUEST_SLOTS || !same_clock(&label))
		return ENOTSUP;
	bytes = sizeof(struct pxt_block) +
	        label.lanes * (sizeof(struct pxt_lane) + label.slots * sizeof(pxt_cell));
	if (!expected(&label, bytes) || guest->bytes < bytes ||
	    guest->directory_bytes < sizeof(*guest->directory))
		return ENOTSUP;
	pxt_guest_read(&directory, &guest->directory->label, sizeof(directory));
	if (!directory_expected(&directory))
		return ENOTSUP;
	guest->lanes = label.lanes;
	guest->mask = label.slots - 1u;
	guest->max_data = label.max_data;
	return 0;
}

/* ---- Beginning and end ---- */

static size_t largest(void)
{
	return sizeof(struct pxt_block) + CONFIG_PTRACE_LANES_MAX * sizeof(struct pxt_lane) +
	       (size_t)PXT_GUEST_SLOTS * sizeof(pxt_cell) + PAGE;
}

/* What is larger than this build makes it is of another build. */
static int view(int fd, size_t limit, const void **memory, size_t *bytes)
{
	int error = pxt_port_filemap_view(fd, limit, memory, bytes);

	return error == EFBIG ? ENOTSUP : error;
}

static int map(struct pxt_guest_memory *guest, int stream, int directory)
{
	const void *memory;
	int error = view(stream, largest(), &memory, &guest->bytes);

	if (error)
		return error;
	guest->memory = memory;
	error = view(directory, sizeof(*guest->directory) + PAGE, &memory, &guest->directory_bytes);
	if (!error)
		guest->directory = memory;
	return error;
}

int pxt_intake_begin(int stream, int directory, int32_t pid, struct pxt_guest_memory **made)
{
	struct pxt_guest_memory *guest = pxt_port_alloc(sizeof(*guest));
	int error;

	if (!guest)
		return ENOMEM;
	error = map(guest, stream, directory);
	if (!error)
		error = check_labels(guest);
	if (error) {
		pxt_intake_end(guest);
		return error;
	}
	guest->pid = pid;
	guest->run_from = pxt_port_ticks();
	for (uint32_t i = 0; i < guest->lanes; i++)
		pxt_guest_lane_begin(&guest->lane[i], guest, i, guest->run_from);
	pxt_guest_types_begin(guest);
	*made = guest;
	return 0;
}

void pxt_intake_end(struct pxt_guest_memory *guest)
{
	if (guest->memory)
		pxt_port_free((void *)(uintptr_t)guest->memory, guest->bytes);
	if (guest->directory)
		pxt_port_free((void *)(uintptr_t)guest->directory, guest->directory_bytes);
	pxt_port_free(guest, sizeof(*guest));
}

void pxt_intake_started(struct pxt_guest_memory *guest, uint64_t ticks)
{
	guest->run_from = ticks;
}

/* A stamp behind its end is a lie. */
void pxt_intake_gone(struct pxt_guest_memory *guest)
{
	uint64_t now = pxt_port_ticks_ordered();

	guest->gone_at = now ? now : 1u;
}

bool pxt_intake_empty(struct pxt_guest_memory *guest)
{
	if (!guest->gone_at)
		return false;
	for (uint32_t i = 0; i < guest->lanes; i++) {
		if (guest->lane[i].pos != guest->lane[i].head)
			return false;
	}
	return true;
}

/* ---- Of the guest's words, this process' ---- */

/*
 * The entry of the guest's thread @index.  Its pid is what the system says; a thread that says
 * nothing of itself has some number all the same.
 */
static uint32_t thread_of(struct pxt_guest_memory *guest, uint32_t index, uint64_t *thread)
{
	const struct pxt_thread *entry = &guest->directory->threads.entry[index];
	char name[PXT_THREAD_NAME];
	int32_t tid;

	*thread = pxt_wide_load((pxt_wide *)(uintptr_t)&entry->thread);
	if (!*thread)
		*thread = index;
	if (guest->thread[index])
		return guest->thread[index];
	tid = atomic_load_explicit((_Atomic int32_t *)(uintptr_t)&entry->tid, memory_order_acquire);
	pxt_guest_read(name, entry->name, sizeof(name));
	name[sizeof(name) - 1u] = '\0';
	guest->thread[index] =
	    (uint16_t)pxt_guestput_thread(guest->pid, tid, *thread, tid ? name : "");
	return guest->thread[index];
}

static uint64_t number(const unsigned char *bytes, unsigned count)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

/* The front, whose payload is there, as this process' record.  False: no thread makes such. */
static bool translate(const struct pxt_guest_pull *pull, struct pxt_guest_memory *guest,
    const struct pxt_guest_lane *lane, struct pxt_event *event)
{
	uint32_t info = pxt_guest_lane_info(lane);
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
		index = PXT_THREAD_EXTRA;
	} else if (index == PXT_THREAD_NONE || index >= CONFIG_PTRACE_MAX_THREADS) {
		return false;
	} else {
		index = thread_of(guest, index, &event->thread);
	}
	event->pid = (uint32_t)guest->pid;
	event->bytes = bytes < max_data ? bytes : max_data;
	event->ctx = (ctx & ~UINT64_C(0xffff)) | index;
	event->info = pxt_slot_info(
	    atomic_load_explicit(&guest->type[pxt_info_id(info)], memory_order_relaxed),
	    event->bytes, cut, pxt_context_extra(index), pxt_info_cpu(info));
	event->ticks = lane->ticks;
	return true;
}

/* ---- Pull ---- */

/* The records are nobody's while the stream does not run. */
static void tell_lost(struct pxt_guest_pull *pull)
{
	/* Where in the order they were missing nobody knows; 0 says that. */
	if (pull->lost && pxt_block_state(pull->stream->block) != PXT_GATE_OFF)
		pxt_guestput_lost(pull->stream, pull->lost, 0);
	pull->lost = 0;
}

static bool is_known(const struct pxt_guest_memory *guest, const struct pxt_guest_lane *lane)
{
	return atomic_load_explicit(
	           &guest->type[pxt_info_id(pxt_guest_lane_info(lane))], memory_order_acquire) != 0;
}

/*
 * A type that is not learnt yet: the helper is asked for it.  Whoever records a type has named it
 * before, so when the helper has looked again and found nothing, it is none.  True: that is so.
 */
static bool hopeless(struct pxt_guest_memory *guest)
{
	uint32_t learnt = atomic_load_explicit(&guest->learnt, memory_order_acquire);
	uint64_t now = pxt_port_ticks();

	atomic_store_explicit(&guest->wanted, 1u, memory_order_relaxed);
	if (!guest->asked_at) {
		guest->asked_at = now ? now : 1u;
		guest->asked_learnt = learnt;
	}
	/* One may have looked already when it was asked; the helper may be busy, but not for ever. */
	if (learnt - guest->asked_learnt >= 2u ||
	    (int64_t)(now - guest->asked_at) > (int64_t)pxt_clock.hz)
		guest->liar = true;
	return guest->liar;
}

enum taken {
	TAKEN,
	NO_ROOM, /* nor for any later record of any guest */
	UNKNOWN,
};

static enum taken take(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	struct pxt_event event;

	if (lane->ticks < guest->run_from) {
		pxt_guest_lane_advance(lane);
		return TAKEN;
	}
	if (!is_known(guest, lane) && !hopeless(guest))
		return UNKNOWN;
	/* A thread without a place makes it a slot longer, a number that runs over another one. */
	if (!pull->all && pxt_guestput_room(pull->stream->block) <
	                      pxt_info_slots(pxt_guest_lane_info(lane), PXT_CTX_BYTES) + 2u)
		return NO_ROOM;
	if (!is_known(guest, lane) || !pxt_guest_lane_copy(pull, guest, lane) ||
	    !translate(pull, guest, lane, &event)) {
		pull->lost++;
	} else {
		guest->asked_at = 0;
		lane->slack = 0;
		tell_lost(pull);
		(void)pxt_guestput_record(pull->stream, &event);
	}
	pxt_guest_lane_advance(lane);
	return TAKEN;
}

/* What all guests have in common in one pull. */
struct crowd {
	struct pxt_guest_memory *const *guests;
	unsigned count;
	uint64_t limit; /* smaller stamps than this may be taken */
	bool stuck;     /* somebody has an unfinished record */
	bool full;
};

/* An empty lane brings what was reserved behind the clock's reading; a front, what is no older. */
static void fill_lane(struct pxt_guest_pull *pull, struct crowd *crowd,
    struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	pxt_guest_lane_fill(pull, guest, lane);
	if (lane->front != PXT_GUEST_STUCK)
		return;
	crowd->stuck = true;
	if (lane->floor < crowd->limit)
		crowd->limit = lane->floor;
}

static void fill_all(struct pxt_guest_pull *pull, struct crowd *crowd)
{
	crowd->limit = pull->clock;
	crowd->stuck = false;
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_guest_memory *guest = crowd->guests[i];

		for (uint32_t lane = 0; guest && lane < guest->lanes; lane++)
			fill_lane(pull, crowd, guest, &guest->lane[lane]);
	}
}

/* The smallest stamp of all, and the next one of another lane: until that, nobody else is asked. */
struct choice {
	struct pxt_guest_memory *guest;
	struct pxt_guest_lane *lane;
	uint64_t ticks;
	uint64_t next;
};

static void choose(const struct crowd *crowd, struct choice *choice)
{
	*choice = (struct choice){ .ticks = UINT64_MAX, .next = UINT64_MAX };
	for (unsigned i = 0; i < crowd->count; i++) {
		struct pxt_guest_memory *guest = crowd->guests[i];

		for (uint32_t at = 0; guest && at < guest->lanes; at++) {
			struct pxt_guest_lane *lane = &guest->lane[at];
			uint64_t ticks = pxt_guest_lane_ready(lane) ? lane->ticks : UINT64_MAX;

			if (ticks < choice->ticks) {
				choice->next = choice->ticks;
				choice->guest = guest;
				choice->lane = lane;
				choice->ticks = ticks;
			} else if (ticks < choice->next) {
				choice->next = ticks;
			}
		}
	}
}

/* Takes what has smaller stamps than the limit, which sinks when somebody gets stuck. */
static void take_all(struct pxt_guest_pull *pull, struct crowd *crowd)
{
	struct choice choice;

	/* Bound: each round takes a record from among those before the heads, or is the last. */
	for (choose(crowd, &choice); choice.ticks < crowd->limit; choose(crowd, &choice)) {
		do {
			if (take(pull, choice.guest, choice.lane) != TAKEN) {
				crowd->limit = choice.ticks;
				crowd->full = true;
				return;
			}
			fill_lane(pull, crowd, choice.guest, choice.lane);
			if (!pxt_guest_lane_ready(choice.lane))
				break;
			choice.ticks = choice.lane->ticks;
		} while (choice.ticks < crowd->limit && choice.ticks <= choice.next);
	}
}

/* Of a guest that is gone: stamps that never come. */
static void drop_lies(struct pxt_guest_pull *pull, struct pxt_guest_memory *guest)
{
	for (uint32_t i = 0; guest->gone_at && i < guest->lanes; i++) {
		struct pxt_guest_lane *lane = &guest->lane[i];

		/* Bound: each round moves the position forward, at most to head. */
		while (pxt_guest_lane_ready(lane) && lane->ticks > guest->gone_at) {
			pull->lost++;
			pxt_guest_lane_advance(lane);
			pxt_guest_lane_fill(pull, guest, lane);
		}
	}
}

/*
 * Whether more room is due than there is: what stays with this guest would soon be overwritten there,
 * newer than what it spares here; or the guest has gone, and its memory is to go, too.
 */
static bool is_pressed(struct pxt_guest_memory *guest)
{
	for (uint32_t i = 0; i < guest->lanes; i++) {
		const struct pxt_guest_lane *lane = &guest->lane[i];

		if (lane->head - lane->pos > (guest->gone_at ? 0u : guest->mask / 2u))
			return true;
	}
	return false;
}

uint64_t pxt_intake_pull(struct pxt_stream *stream, struct pxt_guest_memory *const *guests,
    unsigned count, struct pxt_guest_payload *payload, uint64_t clock, bool all)
{
	struct pxt_guest_pull pull = {
		.stream = stream, .payload = payload->bytes, .clock = clock, .all = all
	};
	struct crowd crowd = { .guests = guests, .count = count, .limit = clock };

	for (unsigned i = 0; i < count; i++) {
		for (uint32_t at = 0; guests[i] && at < guests[i]->lanes; at++)
			pxt_guest_lane_look(&pull, guests[i], &guests[i]->lane[at]);
		pull.all |= guests[i] && is_pressed(guests[i]);
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
		if (guests[i])
			drop_lies(&pull, guests[i]);
	}
	tell_lost(&pull);
	return crowd.limit;
}
