/* SPDX-License-Identifier: MIT */
/*
 * test_words.c - slots and cursors made of 32-bit words (port/posix/words.h), on any machine.  What
 * another thread could do between two steps is done there by a hook, at every step in turn.
 */
#include "suite.h"

#include <pthread.h>
#include <string.h>

static void step(void);
#define PXT_WORDS_STEP() step()
#include "port/posix/words.h"

/* The hook, its turn, and how many steps there were; in the threads' tests there is none. */
static void (*intruder)(void);
static unsigned intrude_at;
static unsigned steps;

static void step(void)
{
	void (*now)(void) = intruder;

	if (!now || steps++ != intrude_at)
		return;
	intruder = NULL;
	now();
}

/* Calls @what with @other at its step number 0, 1, ... until it has no more steps. */
static void at_every_step(void (*before)(void), void (*what)(void), void (*other)(void))
{
	for (unsigned at = 0;; at++) {
		before();
		steps = 0;
		intrude_at = at;
		intruder = other;
		what();
		if (intruder)
			break;
	}
	intruder = NULL;
}

/* ---- Cells ---- */

static struct pxt_words_cell cell;

/* A slot whose words all tell its number; @lap is where a ring of 32 slots has it. */
static void store(uint32_t lap)
{
	uint64_t low = (uint64_t)lap << 5 | (uint64_t)(lap * 0x10001u) << 32;

	pxt_words_store(&cell, low, (uint64_t)lap * UINT64_C(0x100010001));
}

/* The lap of the slot that is there; 0: none is whole. */
static uint32_t lap_there(void)
{
	struct pxt_slot slot = pxt_words_load(&cell);
	uint32_t lap = slot.word[0] >> 5;

	if (!(slot.word[1] | slot.word[2] | slot.word[3]))
		return 0;
	CU_ASSERT(slot.word[1] == lap * 0x10001u);
	CU_ASSERT((slot.word[2] | (uint64_t)slot.word[3] << 32) == lap * UINT64_C(0x100010001));
	return lap;
}

static uint32_t seen_lap;

static void look(void)
{
	seen_lap = lap_there();
}

static void store_1(void)
{
	store(1);
}

static void store_2(void)
{
	store(2);
}

static void lap_0(void)
{
	memset(&cell, 0, sizeof(cell));
	cell.shift = 5;
	seen_lap = 99;
}

static void lap_1(void)
{
	lap_0();
	store(1);
}

/* Ruling 4: R3 of the ring's notes */
PXT_TEST(a_cell_that_is_being_stored_is_not_there_yet)
{
	at_every_step(lap_1, store_2, look);
	lap_1();
	steps = 0;
	intrude_at = 3;
	intruder = look;
	store_2();
	PXT_EQ(seen_lap, 0);
	PXT_EQ(lap_there(), 2);
}

static void store_2_and_look(void)
{
	store_2();
	CU_ASSERT(lap_there() == 0 || lap_there() == 2);
}

/* Ruling 23: the newer slot may be spoiled, but what is shown was stored by one of the two. */
PXT_TEST(a_writer_that_goes_on_behind_a_newer_one_makes_no_mixture)
{
	for (unsigned at = 0; at < 6; at++) {
		uint32_t lap;

		lap_0();
		steps = 0;
		intrude_at = at;
		intruder = store_2_and_look;
		store(1);
		CU_ASSERT(!intruder);
		lap = lap_there();
		CU_ASSERT(lap == 0 || lap == 1 || lap == 2);
	}
	at_every_step(lap_0, store_1, store_2);
}

PXT_TEST(a_reader_is_interrupted_by_a_whole_store)
{
	at_every_step(lap_1, look, store_2);
	PXT_EQ(lap_there(), 1);
}

/* A reader that waits for any tag takes it for an older one, so it waits on. */
PXT_TEST(what_is_not_whole_is_older_than_anything_waited_for)
{
	static const uint32_t tags[] = { 0, 1, 0x1fffffff, 0x20000000, 0x3fffffff, 0x40000000,
		0x7ffffff0, 0x7fffffff };

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		for (uint32_t near = 0; near < 1u << 27; near += 1u << 20) {
			struct pxt_slot got = pxt_words_not_whole(tags[i] | PXT_SLOT_BEGIN);
			uint32_t want = tags[i] + near - (1u << 26);

			CU_ASSERT((int32_t)((got.word[0] - want) << 1) < 0);
			CU_ASSERT(!(got.word[0] & PXT_SLOT_BEGIN));
		}
	}
}

/* ---- The cursor, beside a number of 64 bits that does the same ---- */

static struct pxt_words_cursor cursor;
static uint64_t model;

#define RECORD(slots) ((uint64_t)(slots) << 32 | 2u)
#define MARK          (UINT64_C(1) << 32)

static uint64_t begin_value;

static void begin(void)
{
	memset(&cursor, 0, sizeof(cursor));
	pxt_words_set(&cursor, begin_value);
	model = begin_value;
}

static void add(uint64_t by)
{
	uint64_t got = pxt_words_add(&cursor, by);

	/* Whatever came between came before: the exchange that counted was the last step. */
	PXT_CHECK(
	    got == model, "got %llx, not %llx", (unsigned long long)got, (unsigned long long)model);
	model += by;
}

static void add_1(void)
{
	add(RECORD(1));
}

static void add_3(void)
{
	add(RECORD(3));
}

static void add_mark(void)
{
	add(MARK);
}

static void add_many(void)
{
	for (int i = 0; i < 5; i++)
		add(i == 2 ? MARK : RECORD(i + 1));
}

static void close_it(void)
{
	pxt_words_close(&cursor);
	model |= 1u;
}

static void open_it(void)
{
	pxt_words_open(&cursor);
	model &= ~UINT64_C(1);
}

/* What came between came before or after the moment of the look. */
static void peek(void)
{
	uint64_t before = model;
	uint64_t got = pxt_words_peek(&cursor);

	CU_ASSERT(got == before || got == model);
}

static void swap(void)
{
	uint64_t seen = pxt_words_peek(&cursor);
	uint64_t expected = seen;
	bool moved = pxt_words_swap(&cursor, &seen, seen + RECORD(2));

	/* It may have been moved between the look and the exchange. */
	CU_ASSERT(moved || seen == model);
	CU_ASSERT(moved == (expected == model));
	model += moved ? RECORD(2) : 0;
}

/* Where halves, turns and both run over, and where nothing does. */
static const uint64_t begins[] = { UINT64_C(32) << 32, UINT64_C(0x1ffffffe) << 32 | 6,
	UINT64_C(0x3fffffff) << 32 | 0xfffffffe, UINT64_C(0x7ffffffd) << 32 | 0xfffffffc,
	UINT64_C(0xfffffffe) << 32 | 0xfffffffa, UINT64_C(0xffffffff) << 32 | 0xffffffff };

/* R1, R4 of the ring's notes: one step decides, also when a thread stands still in the middle. */
PXT_TEST(a_cursor_is_one_number_whatever_comes_between)
{
	static void (*const acts[])(
	    void) = { add_1, add_3, add_mark, swap, add_many, close_it, open_it, peek };
	const size_t count = sizeof(acts) / sizeof(acts[0]);

	for (size_t b = 0; b < sizeof(begins) / sizeof(begins[0]); b++) {
		begin_value = begins[b];
		for (size_t i = 0; i < count * count; i++) {
			at_every_step(begin, acts[i / count], acts[i % count]);
			CU_ASSERT(pxt_words_peek(&cursor) == model);
			add_many();
			CU_ASSERT(pxt_words_peek(&cursor) == model);
		}
	}
}

static void (*inner)(void);

static void add_in_two(void)
{
	unsigned at = intrude_at;

	steps = 0;
	intrude_at = at / 2;
	intruder = inner;
	add_3();
	intruder = NULL;
}

PXT_TEST(a_handler_in_a_handler_changes_nothing)
{
	static void (*const acts[])(void) = { add_1, add_mark, add_many, close_it };

	begin_value = begins[4];
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		inner = acts[i];
		for (unsigned at = 0; at < 40; at++) {
			begin();
			steps = 0;
			intrude_at = at;
			intruder = add_in_two;
			add_1();
			intruder = NULL;
			CU_ASSERT(pxt_words_peek(&cursor) == model);
		}
	}
}

/* ---- Threads ---- */

#define THREADS 4
#define ROUNDS  100000

static _Atomic uint32_t taken_slots;
static _Atomic uint32_t taken_seq_sum;

static void *add_on(void *argument)
{
	uint32_t slots = 1u + *(const unsigned *)argument % 3u;
	uint32_t sum = 0;
	uint64_t last = 0;
	unsigned back = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t got = pxt_words_add(&cursor, RECORD(slots));

		back += got < last;
		last = got;
		sum += (uint32_t)got >> 1;
	}
	CU_ASSERT(back == 0);
	atomic_fetch_add(&taken_slots, slots * ROUNDS);
	atomic_fetch_add(&taken_seq_sum, sum);
	return NULL;
}

/* Every number is given out once, every slot too. */
PXT_TEST(threads_get_every_number_once)
{
	pthread_t threads[THREADS];
	unsigned numbers[THREADS];
	uint32_t records = THREADS * ROUNDS;

	begin_value = UINT64_C(32) << 32;
	begin();
	atomic_store(&taken_slots, 0);
	atomic_store(&taken_seq_sum, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CU_ASSERT_FATAL(!pthread_create(&threads[i], NULL, add_on, &numbers[i]));
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	PXT_EQ(pxt_words_peek(&cursor), (uint64_t)(32 + taken_slots) << 32 | records << 1);
	PXT_EQ(taken_seq_sum, (uint32_t)((uint64_t)records * (records - 1) / 2));
}

/* ---- Counters, twins, wide numbers ---- */

static struct pxt_words_counter counter;
static uint32_t count_from;
static uint64_t counted;

static void begin_count(void)
{
	atomic_store(&counter.low, count_from);
	atomic_store(&counter.turns, count_from >> 31);
	counted = count_from;
}

static void count_up(void)
{
	pxt_words_count_up(&counter);
	counted++;
}

static void read_count(void)
{
	uint64_t before = counted;
	uint64_t got = pxt_words_count(&counter);

	/* An interrupted one may have counted already, or not yet. */
	CU_ASSERT(got == before || got == counted || got == counted + 1);
}

PXT_TEST(a_counter_loses_nothing_where_its_word_runs_over)
{
	static const uint32_t from[] = { 0, 0x7ffffffe, 0x7fffffff, 0xfffffffe, 0xffffffff };

	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		count_from = from[i];
		at_every_step(begin_count, count_up, count_up);
		at_every_step(begin_count, count_up, read_count);
		at_every_step(begin_count, read_count, count_up);
		for (int k = 0; k < 3; k++)
			count_up();
		CU_ASSERT(pxt_words_count(&counter) == counted);
	}
}

PXT_TEST(twins_grow_each_for_itself)
{
	struct pxt_words_twins twins;

	pxt_words_twins_set(&twins, UINT64_C(5) << 32 | 7);
	pxt_words_twins_move(&twins, UINT64_C(5) << 32 | 7, UINT64_C(6) << 32 | 7);
	CU_ASSERT(pxt_words_twins(&twins) == (UINT64_C(6) << 32 | 7));
	/* One half is after: only the other moves. */
	pxt_words_twins_move(&twins, UINT64_C(5) << 32 | 7, UINT64_C(6) << 32 | 8);
	CU_ASSERT(pxt_words_twins(&twins) == (UINT64_C(6) << 32 | 8));
}

static struct pxt_words_wide wide;

#define OLD UINT64_C(0x123456789abcdef0)
#define NEW UINT64_C(0x1234567900000001)

static void begin_wide(void)
{
	pxt_words_wide_set(&wide, OLD);
}

static void set_new(void)
{
	pxt_words_wide_set(&wide, NEW);
}

static void set_zero(void)
{
	pxt_words_wide_set(&wide, 0);
}

static void read_wide(void)
{
	uint64_t got = pxt_words_wide(&wide);

	CU_ASSERT(got == OLD || got == NEW || got == 0);
}

PXT_TEST(a_wide_number_is_old_or_new_or_unknown)
{
	at_every_step(begin_wide, set_new, read_wide);
	at_every_step(begin_wide, read_wide, set_new);
	at_every_step(begin_wide, set_new, set_zero);
	read_wide();
	begin_wide();
	CU_ASSERT(pxt_words_wide(&wide) == OLD);
	set_zero();
	CU_ASSERT(pxt_words_wide(&wide) == 0);
}
