/* SPDX-License-Identifier: MIT */
/* kit.c - see kit.h. */
#define _GNU_SOURCE
#include "kit.h"
#include "../beside.h"
#include "core/process/process.h"
#include "port_atomic.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

void (*_Atomic pxt_testpoint_hook)(int point);

struct kit_seen kit_seen;
int kit_file = -1;
sigjmp_buf kit_way_out;
static bool times_calls;
static struct posix_trace_clock_np stamp_clock; /* of the stream of kit_open() */
static volatile uint32_t cpu;

/* ---- Streams ---- */

struct pxt_stream *kit_stream(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_handle_find_kind(trid, &pxt_stream_kind);

	CU_ASSERT_FATAL(stream != NULL);
	return stream;
}

struct pxt_block *kit_block(trace_id_t trid)
{
	return kit_stream(trid)->block;
}

uint32_t kit_slots(trace_id_t trid)
{
	return kit_block(trid)->slot_mask + 1u;
}

void kit_lane(unsigned lane)
{
	cpu = lane;
}

trace_event_id_t kit_type(void)
{
	static trace_event_id_t type;

	if (!type)
		PXT_EQ_FATAL(posix_trace_eventid_open("kit", &type), 0);
	return type;
}

trace_id_t kit_open(const struct kit_spec *spec)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamfullpolicy(&attr, spec->policy), 0);
	PXT_EQ_FATAL(posix_trace_attr_setstreamsize(&attr, spec->bytes ? spec->bytes : 512), 0);
	PXT_EQ_FATAL(posix_trace_attr_setmaxdatasize(&attr, spec->data ? spec->data : 64), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlanes_np(&attr, spec->lanes ? spec->lanes : 1), 0);
	PXT_EQ_FATAL(posix_trace_attr_setpolling_np(&attr, spec->polling), 0);
	PXT_EQ_FATAL(posix_trace_attr_setorderedstamps_np(&attr, spec->ordered), 0);
	PXT_EQ_FATAL(posix_trace_attr_setfile_np(&attr, kit_file), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ_FATAL(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ_FATAL(posix_trace_thread_register_np(), 0);
	UNREPORTED();
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	cpu = 0;
	pxt_self.cpu = &cpu;
	memset(&kit_seen, 0, sizeof(kit_seen));
	PXT_EQ_FATAL(posix_trace_getclock_np(trid, &stamp_clock, sizeof(stamp_clock)), 0);
	(void)kit_type();
	return trid;
}

static bool running(trace_id_t trid)
{
	struct posix_trace_status_info status;

	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	return status.posix_stream_status == POSIX_TRACE_RUNNING;
}

void kit_start(trace_id_t trid)
{
	bool before = running(trid);

	PXT_EQ(posix_trace_start(trid), 0);
	kit_seen.due_starts += !before && running(trid);
}

static void put_head(struct pxt_lane *lane, uint64_t pos, uint64_t seq, uint64_t closed)
{
	pxt_cursor_set(&lane->head, pos << 32 | (seq & PXT_SEQ_MASK) << 1 | closed);
	pxt_twins_set(&lane->epoch, pxt_epoch_make((uint32_t)(pos >> 30), (uint32_t)(seq >> 29)));
	atomic_store(&lane->fast_end, (uint32_t)pos);
}

void kit_move(trace_id_t trid, unsigned index, uint64_t pos, uint64_t seq)
{
	struct pxt_block *block = kit_block(trid);
	struct pxt_ring ring = pxt_block_ring(block, index);
	struct pxt_lane *lane = ring.lane;

	block->cleared += seq - lane->seq;
	put_head(lane, pos, seq, pxt_cursor_load(&lane->head) & PXT_HEAD_CLOSED);
	atomic_store(&lane->limit, (uint32_t)pos);
	lane->pos = pos;
	lane->seq = seq;
	for (uint64_t at = pos - ring.mask - 1u; at < pos; at++)
		pxt_slot_store(&ring.slots[(uint32_t)at & ring.mask],
		    pxt_tag(ring.mask, (uint32_t)at, (uint32_t)seq - 1u), 0);
}

void kit_skip(trace_id_t trid, unsigned index, uint64_t slots, uint64_t records)
{
	struct pxt_ring ring = pxt_block_ring(kit_block(trid), index);
	uint64_t pos;
	uint64_t seq;

	pxt_lane_head(ring.lane, &pos, &seq);
	pos += slots;
	seq += records;
	put_head(ring.lane, pos, seq, pxt_cursor_load(&ring.lane->head) & PXT_HEAD_CLOSED);
	for (uint64_t at = pos - ring.mask - 1u; at < pos; at++)
		pxt_slot_store(&ring.slots[(uint32_t)at & ring.mask],
		    pxt_tag(ring.mask, (uint32_t)at, (uint32_t)seq - 1u), 0);
}

/* ---- Writers ---- */

void kit_time_calls(void)
{
	cpu_set_t all;
	cpu_set_t one;

	times_calls = sched_getaffinity(0, sizeof(all), &all) == 0;
	CPU_ZERO(&one);
	for (size_t i = 0; times_calls && i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++) {
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	}
	(void)sched_setaffinity(0, sizeof(one), &one);
}

uint32_t kit_slots_of(size_t len)
{
	return pxt_slots_for(PXT_CTX_BYTES + (uint32_t)len);
}

static unsigned char pattern(unsigned writer, uint32_t number, size_t at)
{
	return (unsigned char)(number * 31u + writer * 17u + at * 7u);
}

void kit_data(unsigned char *data, unsigned writer, uint32_t number, size_t len)
{
	uint32_t word = (uint32_t)writer << 24 | number;

	memcpy(data, &word, 4);
	for (size_t i = 4; i < len; i++)
		data[i] = pattern(writer, number, i);
}

/* The counter before and after each call; 0: the call has not returned. */
static uint64_t entered[KIT_WRITERS][KIT_NUMBERS];
static uint64_t returned[KIT_WRITERS][KIT_NUMBERS];

void kit_write(unsigned writer, size_t len)
{
	unsigned char data[4096];
	uint32_t number = kit_seen.sent[writer] + 1;

	CU_ASSERT_FATAL(number < KIT_NUMBERS);
	kit_seen.sent[writer] = number;
	kit_data(data, writer, number, len);
	returned[writer][number] = 0;
	entered[writer][number] = times_calls ? pxt_port_ticks_ordered() : 0;
	posix_trace_event(kit_type(), data, len);
	returned[writer][number] = times_calls ? pxt_port_ticks_ordered() : 0;
}

/* ---- The reader ---- */

/* By what the public interface says of the clock; no case lasts for long. */
static int64_t to_ns(uint64_t ticks)
{
	int64_t away = (int64_t)(ticks - stamp_clock.posix_anchor_ticks_np);
	int64_t hz = (int64_t)stamp_clock.posix_hz_np;

	return (int64_t)stamp_clock.posix_anchor_np.tv_sec * 1000000000 +
	       stamp_clock.posix_anchor_np.tv_nsec + away / hz * 1000000000 +
	       away % hz * 1000000000 / hz;
}

static void judge_times(unsigned writer, uint32_t number, uint64_t stamp)
{
	struct kit_seen *seen = &kit_seen;
	uint64_t begun = entered[writer][number];
	uint64_t end = returned[writer][number] ? returned[writer][number] : UINT64_MAX;

	if (!times_calls || !begun)
		return;
	seen->untrue += stamp < begun || stamp > end || seen->last_ns < to_ns(begun) ||
	                (end != UINT64_MAX && seen->last_ns > to_ns(end));
	seen->swapped += end < seen->latest_entry;
	if (begun > seen->latest_entry)
		seen->latest_entry = begun;
}

static void judge_user(const unsigned char *data, size_t len, uint64_t stamp)
{
	struct kit_seen *seen = &kit_seen;
	uint32_t word = 0;
	unsigned writer;
	uint32_t number;

	memcpy(&word, data, len < 4 ? len : 4);
	writer = word >> 24;
	number = word & 0xffffffu;
	if (len < 4 || writer >= KIT_WRITERS || number == 0 || number > seen->sent[writer]) {
		seen->strange++;
		return;
	}
	for (size_t i = 4; i < len; i++)
		seen->torn += data[i] != pattern(writer, number, i);
	seen->disordered += number <= seen->last[writer];
	judge_times(writer, number, stamp);
	seen->last[writer] = number;
	seen->times[writer][number]++;
	seen->user++;
}

static void judge_start(void)
{
	struct kit_seen *seen = &kit_seen;

	if (seen->due_starts) {
		seen->due_starts--;
		seen->starts++;
	} else if (seen->behind_auto) {
		seen->auto_starts++;
	} else {
		seen->strange++;
	}
}

static void judge(trace_event_id_t id, const unsigned char *data, size_t len, uint64_t stamp)
{
	struct kit_seen *seen = &kit_seen;
	bool behind = seen->behind_auto;
	int by_itself = 0;

	seen->last_was_stop = id == POSIX_TRACE_STOP;
	switch (id) {
	case POSIX_TRACE_START:
		judge_start();
		behind = false;
		break;
	case POSIX_TRACE_STOP:
		memcpy(&by_itself, data, sizeof(by_itself));
		seen->misplaced += behind;
		behind = by_itself != 0;
		*(behind ? &seen->auto_stops : &seen->stops) += 1;
		break;
	case POSIX_TRACE_OVERFLOW:
		seen->overflows++;
		break;
	case POSIX_TRACE_RESUME:
		seen->resumes++;
		break;
	case POSIX_TRACE_FILTER:
		seen->filters++;
		break;
	default:
		seen->misplaced += behind;
		if (id == kit_type())
			judge_user(data, len, stamp);
		else
			seen->strange++;
	}
	seen->behind_auto = behind;
}

void kit_judge(const struct posix_trace_event_info *info, const void *data, size_t len)
{
	struct posix_trace_eventextra_np extra;
	int64_t ns =
	    (int64_t)info->posix_timestamp.tv_sec * 1000000000 + info->posix_timestamp.tv_nsec;

	PXT_EQ_FATAL(posix_trace_eventinfo_getextra_np(info, &extra, sizeof(extra)), 0);
	kit_seen.back += ns < kit_seen.last_ns;
	kit_seen.last_ns = ns;
	kit_seen.slots += kit_slots_of(len);
	kit_seen.last_lost = extra.posix_lost_before_np;
	judge(info->posix_event_id, data, len, extra.posix_ticks_np);
}

bool kit_read(trace_id_t trid)
{
	static unsigned char data[4096];
	struct posix_trace_event_info info;
	size_t len = 0;
	int unavailable = -1;

	PXT_EQ_FATAL(
	    posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &unavailable), 0);
	if (unavailable)
		return false;
	kit_judge(&info, data, len);
	return true;
}

uint64_t kit_read_all(trace_id_t trid)
{
	uint64_t count = 0;

	while (kit_read(trid))
		count++;
	return count;
}

bool kit_settle(trace_id_t trid)
{
	const struct timespec slice = { .tv_sec = 0, .tv_nsec = 50000 };
	struct posix_trace_counts_np counts;

	for (int i = 0; i < 400; i++) {
		(void)kit_read_all(trid);
		kit_counts(trid, &counts);
		if (!counts.posix_held_np && !kit_read(trid))
			return true;
		(void)nanosleep(&slice, NULL);
	}
	return false;
}

bool kit_clean(void)
{
	const struct kit_seen *seen = &kit_seen;

	return !seen->torn && !seen->strange && !seen->disordered && !seen->back &&
	       !seen->misplaced && !seen->untrue && !seen->swapped;
}

void kit_counts(trace_id_t trid, struct posix_trace_counts_np *counts)
{
	PXT_EQ_FATAL(posix_trace_getcounts_np(trid, counts, sizeof(*counts)), 0);
}

bool kit_law(trace_id_t trid)
{
	struct posix_trace_counts_np now;
	const struct kit_seen *seen = &kit_seen;

	kit_counts(trid, &now);
	return now.posix_stable_np &&
	       now.posix_written_np == now.posix_retrieved_np + now.posix_lost_np +
	                                   now.posix_cleared_np + now.posix_held_np &&
	       now.posix_held_np < UINT64_C(1) << 40 &&
	       now.posix_retrieved_np == seen->user + seen->starts + seen->stops + seen->filters;
}

uint32_t kit_missing(unsigned writer, uint32_t first, uint32_t last)
{
	uint32_t missing = 0;

	for (uint32_t i = first; i <= last; i++)
		missing += kit_seen.times[writer][i] == 0;
	return missing;
}

/* ---- Interrupts ---- */

static struct {
	uint64_t mask;
	uint32_t left;
	int at;
	void (*run)(void *);
	void *argument;
} interrupt;

static void hook(int point)
{
	if (!(interrupt.mask >> point & 1u) || interrupt.left--)
		return;
	interrupt.mask = 0;
	interrupt.at = point;
	pxt_testpoint_hook_set(NULL);
	interrupt.run(interrupt.argument);
}

void kit_interrupt(uint32_t nth, uint64_t mask, void (*run)(void *), void *argument)
{
	interrupt.mask = mask;
	interrupt.left = nth;
	interrupt.at = -1;
	interrupt.run = run;
	interrupt.argument = argument;
	pxt_testpoint_hook_set(hook);
}

int kit_interrupted(void)
{
	pxt_testpoint_hook_set(NULL);
	return interrupt.at;
}

void kit_heal(void)
{
	uint32_t passes = atomic_load(&pxt_self.entry->passes);

	if (pxt_self.entry == &pxt_no_entry) {
		for (unsigned i = 0; i < 2; i++) {
			atomic_store(&pxt_threads->outside.inside[i], 0u);
			atomic_store(&pxt_unregistered.inside[i], 0u);
		}
		pxt_self.depth = 0;
	} else {
		atomic_store(&pxt_self.entry->passes, passes + (passes & 1u));
	}
}

/* ---- Without a place ---- */

static _Thread_local struct pxt_who placed;

void kit_lose_place(void)
{
	placed = pxt_self;
	pxt_self.entry = &pxt_no_entry;
	pxt_self.index = PXT_THREAD_EXTRA;
}

void kit_regain_place(void)
{
	pxt_self.entry = placed.entry;
	pxt_self.index = placed.index;
}

/* ---- Memory that nobody may touch once it was given back (only where --wrap puts it in place) ---- */

#define REMEMBERED 256u

static struct {
	void *memory;
	size_t bytes;
} given_back[REMEMBERED];
static unsigned next_given;

/* Weak: where the fakes are linked, theirs is meant. */
__attribute__((weak)) void __wrap_pxt_port_free(void *memory, size_t bytes);

static size_t whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) & ~(page - 1);
}

void __wrap_pxt_port_free(void *memory, size_t bytes)
{
	if (!memory)
		return;
	if (given_back[next_given].memory)
		(void)munmap(given_back[next_given].memory, given_back[next_given].bytes);
	given_back[next_given].memory = memory;
	given_back[next_given].bytes = whole_pages(bytes);
	(void)mprotect(memory, whole_pages(bytes), PROT_NONE);
	next_given = (next_given + 1) % REMEMBERED;
}

unsigned guard_times_freed(const void *memory)
{
	unsigned times = 0;

	for (unsigned i = 0; i < REMEMBERED; i++)
		times += given_back[i].memory == memory;
	return times;
}

bool guard_freed(const void *memory)
{
	return guard_times_freed(memory) != 0;
}
