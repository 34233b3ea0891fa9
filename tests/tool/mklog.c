/* SPDX-License-Identifier: MIT */
/*
 * mklog.c - writes a log as a recipe on standard input says, to standard output: logs that no
 * program would write in a test's time, and logs that no honest program would write at all.
 *
 * One order a line; \xNN stands for a byte in names and texts.
 *
 *	process PID HOST EXECUTABLE
 *	thread INDEX PTHREAD TID NAME
 *	pid PID           of the threads that follow; before, it is 4711
 *	module BASE LOW HIGH BUILD-ID|- PATH
 *	note NAME TEXT
 *	type ID NAME [DESCRIPTION]
 *	system_types      those of System Events, as FORMAT.md has them; exit status 77 without that unit
 *	event NS ID THREAD-INDEX ADDRESS [u32:5 i64:-3 f64:0.5 text:abc hex:00ff]...
 *	cut               the next event is one that was cut at recording
 *	stranger PTHREAD PID   the next event is of a thread that has no place in the table
 *	loss COUNT        before the next event
 *	lost COUNT        in stream and log, by the trailer alone
 *	held COUNT        in the stream at its end, by the trailer
 *	unlogged COUNT    flushed and not in the log, by the trailer
 *	flusherror NUMBER of the first flush that failed
 *	unfinished        no trailer
 *	step NS           the civil clock is set forward by so much
 *	reading NS        the clocks are read: a block of its own
 *	flush             what follows begins a block of its own
 *
 * The counter is nanoseconds since the creation, which is 2023-11-14T22:13:20Z.  Before all other
 * orders:
 *
 *	uuid N            another stream than N = 1
 *	boot N            a boot id of N in each byte; without it, the log says none
 *	counter           the counter is the processor's, not CLOCK_MONOTONIC
 *	started NS        of the process, since 1970; without it, the log does not say
 *	policies STREAM LOG   by their numbers in <trace.h>; without it, FLUSH and APPEND
 *	system CPUS TEXT  of the machine; without it, the log says none
 *	clock HZ TICKS REALTIME MONOTONIC
 *	                  the counter's rate, and the clocks at the creation, in nanoseconds; NS of
 *	                  events stays the time since then
 */
#include "format/ids.h"
#include "format/logfmt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S    UINT64_C(1000000000)
#define CREATED     UINT64_C(1700000000)
#define BLOCK_BYTES 65536u

/* The clocks at the creation. */
static struct {
	uint64_t hz;
	uint64_t ticks;
	uint64_t realtime;
	uint64_t monotonic;
} clocks = { NS_PER_S, 0, CREATED *NS_PER_S, 1000 * NS_PER_S };
static unsigned char first_of_uuid = 1;
static unsigned char boot_id;
static int32_t pid_of_threads = 4711;
static uint32_t cpus;
static int clock_source = POSIX_TRACE_CLOCK_MONOTONIC_NP;
static uint64_t process_start;
static int stream_policy = POSIX_TRACE_FLUSH;
static int log_policy = POSIX_TRACE_APPEND;
static char system_name[40];

struct maker {
	struct pxt_log_stream stream;
	struct pxt_log_block data;
	struct pxt_log_trailer trailer;
	bool cut;
	bool stranger;
	unsigned char who[PXT_THREAD_EXTRA_BYTES];
	bool unfinished;
	uint64_t last;
};

static unsigned char staging[2][BLOCK_BYTES] PXT_ALIGNED(16);

static void fail(const char *what)
{
	(void)fprintf(stderr, "mklog: %s\n", what);
	exit(1);
}

static void put(const void *bytes, size_t length)
{
	if (fwrite(bytes, 1, length, stdout) != length)
		fail("write");
}

static uint64_t ticks_at(uint64_t ns)
{
	return clocks.ticks + ns / NS_PER_S * clocks.hz + ns % NS_PER_S * clocks.hz / NS_PER_S;
}

static struct timespec time_of(uint64_t ns)
{
	return (
	    struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };
}

static struct pxt_clock_set clocks_at(uint64_t ns)
{
	struct pxt_clock_set set = { .ticks = ticks_at(ns) };

	set.realtime = time_of(clocks.realtime + ns);
	if (clocks.monotonic)
		set.boottime = set.monotonic = time_of(clocks.monotonic + ns);
	return set;
}

static void finish(struct maker *maker, struct pxt_log_block *block, enum pxt_log_type type)
{
	uint32_t length;

	if (block->count == 0 && block->lost == 0)
		return;
	length = pxt_logfmt_finish(block, &maker->stream, type);
	put(block->bytes, length);
	pxt_logfmt_written(block, &maker->stream, type);
	if (type == PXT_LOG_DATA)
		maker->trailer.data_blocks++;
	else if (type != PXT_LOG_TRAILER)
		maker->trailer.meta_blocks++;
}

static void flush_data(struct maker *maker)
{
	finish(maker, &maker->data, PXT_LOG_DATA);
	pxt_logfmt_start(&maker->data, staging[0], BLOCK_BYTES);
}

/* A block of its own for each entry: the reader must not care. */
static struct pxt_log_block entry_block(void)
{
	struct pxt_log_block block;

	pxt_logfmt_start(&block, staging[1], BLOCK_BYTES);
	return block;
}

/* \xNN in place. */
static char *unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		unsigned byte;

		if (sscanf(from, "\\x%2x", &byte) == 1) {
			*to = (char)byte;
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return text;
}

/* The next word of *rest, or the whole rest. */
static char *word(char **rest)
{
	char *begin = *rest + strspn(*rest, " ");
	char *end = begin + strcspn(begin, " ");

	*rest = *end ? end + 1 : end;
	*end = '\0';
	return begin;
}

static unsigned long long number(char **rest)
{
	return strtoull(word(rest), NULL, 0);
}

static void do_type(struct maker *maker, char *rest)
{
	struct pxt_log_block block = entry_block();
	unsigned id = (unsigned)number(&rest);
	char *name = unescape(word(&rest));

	if (!pxt_logfmt_put_type(&block, id, name, rest))
		fail("type");
	finish(maker, &block, PXT_LOG_TYPES);
}

static void do_system_types(struct maker *maker)
{
	for (unsigned id = PXT_ID_SPECIFIC_FIRST; id <= PXT_ID_SYSTEM_LAST; id++) {
		struct pxt_log_block block = entry_block();
		const char *name = pxt_sysspecific_name(id);

		if (!name) {
			(void)fprintf(stderr, "mklog: no type %u in this build\n", id);
			exit(77);
		}
		if (!pxt_logfmt_put_type(&block, id, name, pxt_sysspecific_format(id)))
			fail("type");
		finish(maker, &block, PXT_LOG_TYPES);
	}
}

static void do_thread(struct maker *maker, char *rest)
{
	struct pxt_log_thread thread = { .index = (uint16_t)number(&rest) };
	struct pxt_log_block block = entry_block();

	thread.thread = number(&rest);
	thread.tid = (int32_t)number(&rest);
	thread.pid = pid_of_threads;
	memcpy(thread.name, unescape(rest), strnlen(rest, sizeof thread.name));
	if (!pxt_logfmt_put_thread(&block, &thread))
		fail("thread");
	finish(maker, &block, PXT_LOG_THREADS);
}

static void do_process(struct maker *maker, char *rest)
{
	struct pxt_log_process process = { .pid = (int32_t)number(&rest) };
	struct pxt_log_block block = entry_block();

	memset(process.boot_id, boot_id, sizeof process.boot_id);
	process.start = time_of(process_start);
	process.cpus = cpus;
	(void)snprintf(process.system, sizeof process.system, "%s", system_name);
	(void)snprintf(process.host, sizeof process.host, "%s", unescape(word(&rest)));
	(void)snprintf(process.executable, sizeof process.executable, "%s", unescape(rest));
	if (!pxt_logfmt_put_process(&block, &process))
		fail("process");
	finish(maker, &block, PXT_LOG_PROCESS);
}

static void do_module(struct maker *maker, char *rest)
{
	struct pxt_log_module module = { .base = number(&rest) };
	struct pxt_log_block block = entry_block();
	unsigned byte;

	module.low = number(&rest);
	module.high = number(&rest);
	for (const char *hex = word(&rest); sscanf(hex, "%2x", &byte) == 1; hex += 2)
		module.build_id[module.build_id_bytes++] = (unsigned char)byte;
	(void)snprintf(module.path, sizeof module.path, "%s", unescape(rest));
	if (!pxt_logfmt_put_module(&block, &module))
		fail("module");
	finish(maker, &block, PXT_LOG_MODULES);
}

static void do_note(struct maker *maker, char *rest)
{
	struct pxt_log_block block = entry_block();
	const char *name = unescape(word(&rest));

	if (!pxt_logfmt_put_note(&block, name, unescape(rest)))
		fail("note");
	finish(maker, &block, PXT_LOG_NOTES);
}

static size_t append(unsigned char *data, size_t used, const void *from, size_t bytes)
{
	if (used + bytes > PXT_DATA_MAX)
		fail("too much data");
	memcpy(data + used, from, bytes);
	return used + bytes;
}

/* One "kind:value" of an event's data. */
static size_t add_piece(unsigned char *data, size_t used, char *piece)
{
	char *value = strchr(piece, ':');
	unsigned byte;

	if (!value)
		fail("data without kind");
	*value++ = '\0';
	if (strcmp(piece, "text") == 0)
		return append(data, used, value, strlen(unescape(value)));
	if (strcmp(piece, "f64") == 0)
		return append(data, used, (double[]){ strtod(value, NULL) }, 8);
	if (strcmp(piece, "f32") == 0)
		return append(data, used, (float[]){ strtof(value, NULL) }, 4);
	if (strcmp(piece, "hex") == 0) {
		for (; sscanf(value, "%2x", &byte) == 1; value += 2)
			used = append(data, used, (unsigned char[]){ (unsigned char)byte }, 1);
		return used;
	}
	uint64_t u64 = *value == '-' ? (uint64_t)strtoll(value, NULL, 0) : strtoull(value, NULL, 0);
	switch (atoi(piece + 1)) {
	case 8:
		return append(data, used, (uint8_t[]){ (uint8_t)u64 }, 1);
	case 16:
		return append(data, used, (uint16_t[]){ (uint16_t)u64 }, 2);
	case 32:
		return append(data, used, (uint32_t[]){ (uint32_t)u64 }, 4);
	default:
		return append(data, used, &u64, 8);
	}
}

static void do_event(struct maker *maker, char *rest)
{
	struct pxt_slot slots[400] = { 0 };
	unsigned char payload[PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_DATA_MAX] = { 0 };
	uint32_t front = PXT_CTX_BYTES + (maker->stranger ? PXT_THREAD_EXTRA_BYTES : 0u);
	unsigned char *data = payload + front;
	size_t bytes = 0;
	uint64_t ns = number(&rest);
	uint32_t id = (uint32_t)number(&rest);
	uint64_t thread = number(&rest);
	uint64_t context = (maker->stranger ? PXT_THREAD_EXTRA : thread) | number(&rest) << 16;

	while (*rest)
		bytes = add_piece(data, bytes, word(&rest));
	/* The context is little-endian on every machine. */
	for (unsigned i = 0; i < PXT_CTX_BYTES; i++)
		payload[i] = (unsigned char)(context >> 8 * i);
	if (maker->stranger)
		memcpy(payload + PXT_CTX_BYTES, maker->who, sizeof maker->who);
	uint32_t n = pxt_slots_for(front + (uint32_t)bytes);
	slots[0].word[0] = PXT_SLOT_BEGIN;
	slots[0].word[1] = pxt_slot_info(id, (uint32_t)bytes, maker->cut, maker->stranger, 1);
	slots[0].word[2] = (uint32_t)ticks_at(ns);
	slots[0].word[3] = (uint32_t)(ticks_at(ns) >> 32);
	for (uint32_t i = 1; i < n; i++)
		memcpy(&slots[i].word[1], payload + (size_t)(i - 1) * PXT_SLOT_PAYLOAD,
		    PXT_SLOT_PAYLOAD);
	if (!pxt_logfmt_put_record(&maker->data, slots, n)) {
		flush_data(maker);
		if (!pxt_logfmt_put_record(&maker->data, slots, n))
			fail("event");
	}
	maker->cut = maker->stranger = false;
	maker->last = ns;
	maker->trailer.counts.posix_written_np++;
	maker->trailer.counts.posix_retrieved_np++;
}

static void do_stranger(struct maker *maker, char *rest)
{
	uint64_t thread = number(&rest);
	uint64_t pid = number(&rest);

	maker->stranger = true;
	for (unsigned i = 0; i < PXT_THREAD_EXTRA_BYTES; i++)
		maker->who[i] = (unsigned char)(i < 8 ? thread >> 8 * i : pid >> 8 * (i - 8));
}

static void do_loss(struct maker *maker, uint64_t count, bool told)
{
	if (told && !pxt_logfmt_put_loss(&maker->data, count))
		fail("loss");
	maker->trailer.counts.posix_written_np += count;
	maker->trailer.counts.posix_lost_np += count;
}

static void do_missing(struct maker *maker, const char *order, uint64_t count)
{
	struct posix_trace_counts_np *counts = &maker->trailer.counts;

	counts->posix_written_np += count;
	if (strcmp(order, "held") == 0) {
		counts->posix_held_np += count;
	} else {
		counts->posix_retrieved_np += count;
		maker->trailer.log_lost += count;
	}
}

static void do_reading(struct maker *maker, uint64_t ns)
{
	struct pxt_log_clock clock = { .moment = PXT_LOG_AT_FLUSH, .clock = clocks_at(ns) };
	struct pxt_log_block block = entry_block();

	flush_data(maker);
	if (!pxt_logfmt_put_clock(&block, &clock))
		fail("reading");
	finish(maker, &block, PXT_LOG_CLOCKS);
}

static void obey(struct maker *maker, char *line)
{
	char *rest = line;
	const char *order = word(&rest);

	if (strcmp(order, "event") == 0)
		do_event(maker, rest);
	else if (strcmp(order, "type") == 0)
		do_type(maker, rest);
	else if (strcmp(order, "system_types") == 0)
		do_system_types(maker);
	else if (strcmp(order, "thread") == 0)
		do_thread(maker, rest);
	else if (strcmp(order, "pid") == 0)
		pid_of_threads = (int32_t)number(&rest);
	else if (strcmp(order, "process") == 0)
		do_process(maker, rest);
	else if (strcmp(order, "module") == 0)
		do_module(maker, rest);
	else if (strcmp(order, "note") == 0)
		do_note(maker, rest);
	else if (strcmp(order, "stranger") == 0)
		do_stranger(maker, rest);
	else if (strcmp(order, "cut") == 0)
		maker->cut = true;
	else if (strcmp(order, "loss") == 0)
		do_loss(maker, number(&rest), true);
	else if (strcmp(order, "lost") == 0)
		do_loss(maker, number(&rest), false);
	else if (strcmp(order, "held") == 0 || strcmp(order, "unlogged") == 0)
		do_missing(maker, order, number(&rest));
	else if (strcmp(order, "flusherror") == 0)
		maker->trailer.status.posix_stream_flush_error = (int)number(&rest);
	else if (strcmp(order, "step") == 0)
		clocks.realtime += (uint64_t)strtoll(word(&rest), NULL, 0);
	else if (strcmp(order, "reading") == 0)
		do_reading(maker, number(&rest));
	else if (strcmp(order, "flush") == 0)
		flush_data(maker);
	else if (strcmp(order, "unfinished") == 0)
		maker->unfinished = true;
	else if (*order && *order != '#')
		fail(order);
}

static void begin(struct maker *maker)
{
	static unsigned char head[PXT_LOG_HEADER_BYTES];
	struct pxt_log_header header = { .word_bytes = sizeof(void *), .ctx_bytes = PXT_CTX_BYTES };
	trace_attr_t defaults;

	for (unsigned i = 0; i < PXT_LOG_UUID_BYTES; i++)
		header.uuid[i] = maker->stream.uuid[i] = (unsigned char)(i + 1);
	header.layout = PXT_LAYOUT_SEQUENTIAL;
	header.contents = PXT_LOG_HAS_THREAD | PXT_LOG_HAS_ADDRESS | PXT_LOG_HAS_CPU;
	header.uuid[0] = maker->stream.uuid[0] = first_of_uuid;
	header.rate.hz = clocks.hz;
	header.rate.source = clock_source;
	header.created = clocks_at(0);
	header.largest_block = BLOCK_BYTES;
	header.set_bytes = _PXT_EVENT_IDS / 8;
	(void)posix_trace_attr_init(&defaults);
	header.attr = defaults._pxt_kept;
	header.attr._pxt_stream_policy = stream_policy;
	header.attr._pxt_log_policy = log_policy;
	header.attr._pxt_create_sec = (int64_t)(clocks.realtime / NS_PER_S);
	header.attr._pxt_clockres_nsec = 1;
	(void)strcpy(header.attr._pxt_name, "made");
	maker->trailer.attr = header.attr;
	pxt_logfmt_put_header(head, &header);
	put(head, sizeof head);
	pxt_logfmt_start(&maker->data, staging[0], BLOCK_BYTES);
	for (unsigned id = 1; id <= PXT_ID_UNNAMED; id++) {
		struct pxt_log_block block = entry_block();
		const char *name = pxt_system_event_name(id);

		if (name && !pxt_id_is_specific(id) && pxt_logfmt_put_type(&block, id, name, ""))
			finish(maker, &block, PXT_LOG_TYPES);
	}
}

static void end(struct maker *maker)
{
	struct pxt_log_block block = entry_block();

	flush_data(maker);
	if (maker->unfinished)
		return;
	maker->trailer.end = clocks_at(maker->last + 1000);
	maker->trailer.status.posix_stream_status = POSIX_TRACE_SUSPENDED;
	if (!pxt_logfmt_put_trailer(&block, &maker->trailer))
		fail("trailer");
	finish(maker, &block, PXT_LOG_TRAILER);
}

/* Orders that are before all others; false: it is none. */
static bool prepare(char *line)
{
	char *rest = line;

	if (strncmp(line, "uuid ", 5) == 0) {
		(void)word(&rest);
		first_of_uuid = (unsigned char)number(&rest);
	} else if (strncmp(line, "boot ", 5) == 0) {
		(void)word(&rest);
		boot_id = (unsigned char)number(&rest);
	} else if (strcmp(line, "counter") == 0) {
		clock_source = POSIX_TRACE_CLOCK_TSC_NP;
	} else if (strncmp(line, "started ", 8) == 0) {
		(void)word(&rest);
		process_start = number(&rest);
	} else if (strncmp(line, "policies ", 9) == 0) {
		(void)word(&rest);
		stream_policy = (int)number(&rest);
		log_policy = (int)number(&rest);
	} else if (strncmp(line, "system ", 7) == 0) {
		(void)word(&rest);
		cpus = (uint32_t)number(&rest);
		(void)snprintf(system_name, sizeof system_name, "%s", unescape(rest));
	} else if (strncmp(line, "clock ", 6) == 0) {
		(void)word(&rest);
		clocks.hz = number(&rest);
		clocks.ticks = number(&rest);
		clocks.realtime = number(&rest);
		clocks.monotonic = number(&rest);
	} else {
		return false;
	}
	return true;
}

int main(void)
{
	static struct maker maker;
	bool begun = false;
	char line[8192];

	while (fgets(line, sizeof line, stdin)) {
		char *order = line + strspn(line, "\t ");

		line[strcspn(line, "\n")] = '\0';
		if (!begun && prepare(order))
			continue;
		if (!begun)
			begin(&maker);
		begun = true;
		obey(&maker, order);
	}
	if (!begun)
		begin(&maker);
	end(&maker);
	return fflush(stdout) == 0 ? 0 : 1;
}
