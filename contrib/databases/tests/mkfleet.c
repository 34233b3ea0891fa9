/* SPDX-License-Identifier: MIT */
/*
 * mkfleet.c - writes the logs of a simulated fleet: mkfleet DIRECTORY TARGETS EVENTS [SEED]
 *
 * Target n writes DIRECTORY/target-nnn.ptl, of about EVENTS events, at ten cycles a second around a
 * midnight (UTC).  Each has a counter of its own rate, which runs up to 80 ppm off the rate that the
 * log's head tells, so that only the clock readings in the log bring its stamps into line.  The
 * same arguments give the same bytes.
 *
 * A cycle: "sensor" samples, "control" works from cycle_begin to cycle_end, "logger" or "net" hold a
 * lock meanwhile, and control has to wait for it (lock_wait, lock_held, lock_free).  A deadline is
 * missed where late_ns is above 0.  What is planted, for a test to find:
 *
 *	target 0         a hundred cycles before midnight: their p99 is the 99th of them
 *	target 1         from cycle 118 to 119 lost a lock_free and the next lock_held, which would make
 *	                 one long span of two; and its last records, after which no event is
 *	target 2         was silent for 7 s
 *	each target n    cycle 100: "logger" holds the lock for 61 ms + n us; nothing waits longer
 *	13, 33, 53, ...  work ten times as long as their sisters
 *	1, 4, 7, ...     lose some records in cycle 112, and now and then later; the others none
 */
#include "format/logfmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES 16384u
#define MIDNIGHT    1772409600 /* 2026-03-02T00:00:00Z */
#define NS_PER_S    1000000000u
#define PERIOD_NS   100000000u
#define DEADLINE_NS 4000000u
#define STEPS_MAX   20u

enum {
	SENSOR = 1,
	CONTROL,
	LOGGER,
	NET,
	THREADS = NET
};

enum {
	SAMPLE = 32,
	CYCLE_BEGIN,
	CYCLE_END,
	LOCK_WAIT,
	LOCK_HELD,
	LOCK_FREE,
	FRAME_BEGIN,
	FRAME_END
};

/* One event of a cycle, before the cycle's events are put in order. */
struct step {
	uint64_t ns; /* since the creation */
	uint32_t id;
	uint32_t thread;
	uint32_t bytes;
	unsigned char data[32];
};

struct target {
	unsigned number;
	uint64_t random;
	FILE *file;
	uint64_t hz;      /* as the log says */
	uint64_t true_hz; /* as it is */
	uint64_t first_ticks;
	int64_t created_ns; /* since 1970 */
	uint64_t now_ns;
	uint64_t keep; /* so many events are kept, ... */
	uint64_t drop; /* ... and then so many are lost */
	uint64_t dropped;
	struct step steps[STEPS_MAX];
	unsigned step_count;
	struct pxt_log_stream stream;
	struct pxt_log_block data;
	struct pxt_log_trailer trailer;
};

static unsigned char staging[2][BLOCK_BYTES] PXT_ALIGNED(16);

static void fail(const char *what)
{
	(void)fprintf(stderr, "mkfleet: %s\n", what);
	exit(1);
}

/* ---- Chance ---- */

static uint64_t chance(struct target *t)
{
	uint64_t z = t->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint64_t below(struct target *t, uint64_t limit)
{
	return chance(t) % limit;
}

/* Mostly short, sometimes long. */
static uint64_t lasting(struct target *t, uint64_t usual_ns)
{
	uint64_t ns = usual_ns / 2 + below(t, usual_ns);

	return below(t, 150) == 0 ? ns * 2 : ns;
}

/* ---- Clocks ---- */

static uint64_t ticks_at(const struct target *t, uint64_t ns)
{
	/* No counter is so fast that the product would not fit: at most 10^9 times 2.5 * 10^9. */
	return t->first_ticks + ns / NS_PER_S * t->true_hz + ns % NS_PER_S * t->true_hz / NS_PER_S;
}

static struct timespec time_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / (int64_t)NS_PER_S),
		.tv_nsec = (long)(ns % (int64_t)NS_PER_S) };
}

static struct pxt_clock_set clocks_at(const struct target *t, uint64_t ns)
{
	struct pxt_clock_set set = { .ticks = ticks_at(t, ns) };

	set.realtime = time_of(t->created_ns + (int64_t)ns);
	set.monotonic = time_of((int64_t)(5000 * (uint64_t)NS_PER_S + ns));
	set.boottime = set.monotonic;
	return set;
}

/* ---- Blocks ---- */

static void put(struct target *t, const void *bytes, size_t length)
{
	if (fwrite(bytes, 1, length, t->file) != length)
		fail("a log cannot be written");
}

static void finish(struct target *t, struct pxt_log_block *block, enum pxt_log_type type)
{
	if (block->count == 0 && block->lost == 0)
		return;
	put(t, block->bytes, pxt_logfmt_finish(block, &t->stream, type));
	pxt_logfmt_written(block, &t->stream, type);
	if (type == PXT_LOG_DATA)
		t->trailer.data_blocks++;
	else if (type != PXT_LOG_TRAILER)
		t->trailer.meta_blocks++;
}

static struct pxt_log_block entry_block(void)
{
	struct pxt_log_block block;

	pxt_logfmt_start(&block, staging[1], BLOCK_BYTES);
	return block;
}

static void flush(struct target *t)
{
	struct pxt_log_clock reading = { .moment = PXT_LOG_AT_FLUSH,
		.clock = clocks_at(t, t->now_ns) };
	struct pxt_log_block block = entry_block();

	finish(t, &t->data, PXT_LOG_DATA);
	pxt_logfmt_start(&t->data, staging[0], BLOCK_BYTES);
	if (!pxt_logfmt_put_clock(&block, &reading))
		fail("clock");
	finish(t, &block, PXT_LOG_CLOCKS);
}

static void put_types(struct target *t)
{
	static const struct {
		uint32_t id;
		const char *name;
		const char *format;
	} types[] = {
		{ SAMPLE, "sample", "u32 channel, f64 value" },
		{ CYCLE_BEGIN, "cycle_begin", "u32 cycle" },
		{ CYCLE_END, "cycle_end", "u32 cycle, i64 late_ns" },
		{ LOCK_WAIT, "lock_wait", "u32 lock" },
		{ LOCK_HELD, "lock_held", "u32 lock" },
		{ LOCK_FREE, "lock_free", "u32 lock" },
		{ FRAME_BEGIN, "frame_begin", "u32 frame" },
		{ FRAME_END, "frame_end", "u32 frame, text peer" },
	};
	struct pxt_log_block block = entry_block();

	for (unsigned id = 1; id <= PXT_ID_UNNAMED; id++) {
		const char *name = pxt_system_event_name(id);

		if (name && !pxt_id_is_specific(id) && !pxt_logfmt_put_type(&block, id, name, ""))
			fail("type");
	}
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!pxt_logfmt_put_type(&block, types[i].id, types[i].name, types[i].format))
			fail("type");
	finish(t, &block, PXT_LOG_TYPES);
}

static void put_threads(struct target *t)
{
	static const char *const names[] = { "sensor", "control", "logger", "net" };
	struct pxt_log_process process = { .pid = 1000 + (int32_t)t->number };
	struct pxt_log_block block = entry_block();

	for (unsigned i = 1; i <= THREADS; i++) {
		struct pxt_log_thread thread = { .index = (uint16_t)i, .pid = process.pid };

		thread.tid = process.pid * 10 + (int32_t)i;
		thread.thread = UINT64_C(0x7f0000000000) + i * UINT64_C(0x1000);
		(void)snprintf(thread.name, sizeof thread.name, "%s", names[i - 1]);
		if (!pxt_logfmt_put_thread(&block, &thread))
			fail("thread");
	}
	finish(t, &block, PXT_LOG_THREADS);
	block = entry_block();
	(void)snprintf(process.host, sizeof process.host, "target-%03u", t->number);
	(void)snprintf(process.executable, sizeof process.executable, "/opt/rt/control");
	if (!pxt_logfmt_put_process(&block, &process))
		fail("process");
	finish(t, &block, PXT_LOG_PROCESS);
}

static void put_head(struct target *t)
{
	static unsigned char head[PXT_LOG_HEADER_BYTES];
	struct pxt_log_header header = { .word_bytes = sizeof(void *), .ctx_bytes = PXT_CTX_BYTES };
	trace_attr_t defaults;

	for (unsigned i = 0; i < PXT_LOG_UUID_BYTES; i++)
		t->stream.uuid[i] = (unsigned char)chance(t);
	t->stream.uuid[6] = (unsigned char)((t->stream.uuid[6] & 0x0f) | 0x40);
	t->stream.uuid[8] = (unsigned char)((t->stream.uuid[8] & 0x3f) | 0x80);
	memcpy(header.uuid, t->stream.uuid, sizeof header.uuid);
	header.layout = PXT_LAYOUT_SEQUENTIAL;
	header.contents = PXT_LOG_HAS_THREAD | PXT_LOG_HAS_ADDRESS | PXT_LOG_HAS_CPU;
	header.rate.hz = t->hz;
	header.rate.error_ppm = 100;
	header.rate.source = POSIX_TRACE_CLOCK_PORT_NP;
	header.created = clocks_at(t, 0);
	header.largest_block = BLOCK_BYTES;
	header.set_bytes = _PXT_EVENT_IDS / 8;
	(void)posix_trace_attr_init(&defaults);
	header.attr = defaults._pxt_kept;
	header.attr._pxt_stream_policy = POSIX_TRACE_FLUSH;
	header.attr._pxt_log_policy = POSIX_TRACE_APPEND;
	header.attr._pxt_create_sec = header.created.realtime.tv_sec;
	header.attr._pxt_clockres_nsec = (int32_t)(NS_PER_S / t->hz + 1);
	(void)strcpy(header.attr._pxt_name, "fleet");
	t->trailer.attr = header.attr;
	pxt_logfmt_put_header(head, &header);
	put(t, head, sizeof head);
	pxt_logfmt_start(&t->data, staging[0], BLOCK_BYTES);
	put_types(t);
	put_threads(t);
}

static void put_trailer(struct target *t)
{
	struct pxt_log_block block;

	t->now_ns += 1000;
	flush(t);
	block = entry_block();
	t->trailer.end = clocks_at(t, t->now_ns + 1000);
	t->trailer.status.posix_stream_status = POSIX_TRACE_SUSPENDED;
	if (!pxt_logfmt_put_trailer(&block, &t->trailer))
		fail("trailer");
	finish(t, &block, PXT_LOG_TRAILER);
}

/* ---- Records ---- */

static void put_loss(struct target *t)
{
	if (t->dropped == 0)
		return;
	if (!pxt_logfmt_put_loss(&t->data, t->dropped)) {
		flush(t);
		(void)pxt_logfmt_put_loss(&t->data, t->dropped);
	}
	t->trailer.counts.posix_lost_np += t->dropped;
	t->dropped = 0;
}

/* The event, or its loss. */
static void record(struct target *t, const struct step *step)
{
	struct pxt_slot slots[8] = { 0 };
	unsigned char payload[PXT_CTX_BYTES + sizeof step->data + PXT_SLOT_PAYLOAD] = { 0 };
	uint64_t ticks = ticks_at(t, step->ns);
	uint64_t context = step->thread | (uint64_t)(0x400000 + step->id * 64) << 16;
	uint32_t n = pxt_slots_for(PXT_CTX_BYTES + step->bytes);

	t->now_ns = step->ns;
	t->trailer.counts.posix_written_np++;
	if (t->keep > 0) {
		t->keep--;
	} else if (t->drop > 0) {
		t->drop--;
		t->dropped++;
		return;
	}
	put_loss(t);
	for (unsigned i = 0; i < PXT_CTX_BYTES; i++)
		payload[i] = (unsigned char)(context >> 8 * i);
	memcpy(payload + PXT_CTX_BYTES, step->data, step->bytes);
	slots[0].word[0] = PXT_SLOT_BEGIN;
	slots[0].word[1] = pxt_slot_info(step->id, step->bytes, false, false, step->thread & 3);
	slots[0].word[2] = (uint32_t)ticks;
	slots[0].word[3] = (uint32_t)(ticks >> 32);
	for (uint32_t i = 1; i < n; i++)
		memcpy(&slots[i].word[1], payload + (size_t)(i - 1) * PXT_SLOT_PAYLOAD,
		    PXT_SLOT_PAYLOAD);
	if (!pxt_logfmt_put_record(&t->data, slots, n)) {
		flush(t);
		if (!pxt_logfmt_put_record(&t->data, slots, n))
			fail("event");
	}
	t->trailer.counts.posix_retrieved_np++;
}

/* ---- A cycle ---- */

/* Data: a number, then @bytes more. */
static void step(struct target *t, uint64_t ns, uint32_t id, uint32_t thread, uint32_t number,
    const void *more, uint32_t bytes)
{
	struct step *at = &t->steps[t->step_count];
	unsigned place = t->step_count++;

	/* Insertion: in order of time, what comes at once in order of the calls. */
	for (; place > 0 && t->steps[place - 1].ns > ns; place--)
		t->steps[place] = t->steps[place - 1];
	at = &t->steps[place];
	*at = (struct step){ .ns = ns, .id = id, .thread = thread, .bytes = 4 + bytes };
	memcpy(at->data, &number, 4);
	if (bytes > 0)
		memcpy(at->data + 4, more, bytes);
}

/* Somebody holds the lock, control comes, waits, gets it; returns when control has let it go. */
static uint64_t contend(struct target *t, uint64_t ns, uint32_t lock, uint64_t held_ns)
{
	uint32_t holder = lock == 16 ? LOGGER : NET;
	uint64_t begin = ns + below(t, 200000);
	uint64_t asked = begin + 20000 + below(t, 2 * held_ns);
	uint64_t freed = begin + 3000 + held_ns;

	if (held_ns > 50000000)
		asked = begin + 10000;
	step(t, begin, LOCK_WAIT, holder, lock, NULL, 0);
	step(t, begin + 3000, LOCK_HELD, holder, lock, NULL, 0);
	step(t, asked, LOCK_WAIT, CONTROL, lock, NULL, 0);
	step(t, freed, LOCK_FREE, holder, lock, NULL, 0);
	uint64_t got = (freed > asked ? freed : asked) + 2000 + below(t, 3000);
	step(t, got, LOCK_HELD, CONTROL, lock, NULL, 0);
	uint64_t done = got + lasting(t, 40000);
	step(t, done, LOCK_FREE, CONTROL, lock, NULL, 0);
	return done;
}

static void cycle(struct target *t, uint32_t number, uint64_t begin)
{
	double value = (double)below(t, 4096) / 16;
	uint64_t held = number == 100 ? 61000000 + 1000 * (uint64_t)t->number
	                              : lasting(t, 300000 + 100000 * (t->number % 7));

	t->step_count = 0;
	begin += below(t, 50000);
	step(t, begin, SAMPLE, SENSOR, number & 3, &value, sizeof value);
	step(t, begin + 10000, CYCLE_BEGIN, CONTROL, number, NULL, 0);
	uint64_t end = contend(t, begin + 20000, number % 3 && number != 100 ? 32 : 16, held);
	end += lasting(t, t->number % 20 == 13 && number != 100 ? 20000000 : 2000000);
	int64_t late = (int64_t)end - (int64_t)(begin + DEADLINE_NS);
	step(t, end, CYCLE_END, CONTROL, number, &late, sizeof late);
	if (number % 4 == 0) {
		uint64_t frame = begin + 5000 + below(t, 1000000);
		step(t, frame, FRAME_BEGIN, NET, number / 4, NULL, 0);
		step(t, frame + lasting(t, 700000), FRAME_END, NET, number / 4, "=cell, \"7\"", 10);
	}
	for (unsigned i = 0; i < t->step_count; i++)
		record(t, &t->steps[i]);
}

/* ---- A target ---- */

static void set_up(struct target *t, uint64_t span_ns)
{
	static const uint64_t rates[] = { 1000000, 19200000, 24000000, 32768, 54000000, 62500000,
		100000000, 1000000000, 2400000000u, 2495000000u };

	t->hz = rates[t->number % 10] + 3 * (uint64_t)t->number;
	int64_t ppm = (int64_t)below(t, 161) - 80;
	t->true_hz = (uint64_t)((int64_t)t->hz + (int64_t)t->hz * ppm / 1000000);
	t->first_ticks = below(t, UINT64_C(1) << 44);
	/*
	 * About half of the span before midnight, which falls between two cycles: `pxtrace stat --from`
	 * and --to see the same spans then as a table that is divided by days.
	 */
	uint64_t cycles = span_ns / PERIOD_NS;
	uint64_t before = t->number == 0 ? 100 : cycles * 3 / 8 + below(t, cycles / 4 + 1);
	t->created_ns = (int64_t)MIDNIGHT * NS_PER_S -
	                (int64_t)(before * PERIOD_NS - 20000000 + below(t, 19000000));
}

static void live(struct target *t, uint64_t cycles)
{
	uint64_t silence = 0;

	record(t, &(struct step){ .ns = 1000, .id = POSIX_TRACE_START });
	for (uint64_t i = 0; i < cycles; i++) {
		if (t->number == 2 && i == cycles / 2)
			silence = 7 * (uint64_t)NS_PER_S;
		if (t->number % 3 == 1 && (i == 112 || (i > 120 && below(t, 120) == 0)))
			t->drop = 1 + below(t, 40);
		/* Those have nine events, of which the last three are control's: held, free, end. */
		if (t->number == 1 && i == 118) {
			t->keep = 7;
			t->drop = 9;
		}
		if (t->number == 1 && i == cycles - 1)
			t->drop = 1000;
		cycle(t, (uint32_t)i, 1000000 + i * PERIOD_NS + silence);
		if (i % 100 == 99)
			flush(t);
	}
	if (t->number != 1)
		t->drop = 0;
	uint64_t stop = 1000000 + cycles * PERIOD_NS + silence;
	record(t, &(struct step){ .ns = stop, .id = POSIX_TRACE_STOP, .bytes = 4 });
	put_loss(t);
}

int main(int argc, char **argv)
{
	unsigned long targets = argc >= 4 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long events = argc >= 4 ? strtoul(argv[3], NULL, 10) : 0;
	uint64_t seed = argc >= 5 ? strtoull(argv[4], NULL, 10) : 1;
	/* Nine and a half events a cycle: the sample, the cycle, two locks, a frame now and then. */
	uint64_t cycles = events * 2 / 19;

	if (targets < 1 || targets > 1000 || cycles < 120)
		fail("usage: mkfleet DIRECTORY TARGETS EVENTS [SEED]; 1 to 1000 targets, at least "
		     "1200 events each");
	for (unsigned n = 0; n < targets; n++) {
		struct target t = { .number = n, .random = seed * 1000003 + n };
		char path[4096];

		(void)snprintf(path, sizeof path, "%s/target-%03u.ptl", argv[1], n);
		t.file = fopen(path, "wb");
		if (!t.file)
			fail("a log cannot be created: is the directory there?");
		set_up(&t, cycles * PERIOD_NS);
		put_head(&t);
		live(&t, cycles);
		put_trailer(&t);
		if (fclose(t.file) != 0)
			fail("a log cannot be written");
	}
	return 0;
}
