/* SPDX-License-Identifier: MIT */
/*
 * plain.c - the floor, the clock, text by hand, and libptrace, under the same frame as the other
 * tracers.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "bench/frame/frame.h"
#include "rival.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STREAM_BYTES (1024ul * 1024)
#define BYTES_MAX    256
#define TEXT_MAX     (BYTES_MAX + 64)
#define FILE_BYTES   (16l * 1024 * 1024) /* then it begins again, to keep memory for others */

/* A buffer for each thread. */
struct text {
	char line[TEXT_MAX];
	int file;
	long written;
	char apart[128];
};

static unsigned char payload[BYTES_MAX];
static char words[BYTES_MAX + 1];
static struct text texts[BENCH_THREADS_MAX];

/* ---- Text ---- */

/* A stamp and the payload: 4 bytes as a number, more of them as that many characters. */
static inline __attribute__((always_inline)) int format(struct text *text, int bytes)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (bytes == 4)
		return snprintf(text->line, sizeof(text->line), "%lld.%09ld sample %u\n",
		    (long long)now.tv_sec, now.tv_nsec, (unsigned)payload[0]);
	return snprintf(text->line, sizeof(text->line), "%lld.%09ld sample %.*s\n",
	    (long long)now.tv_sec, now.tv_nsec, bytes, words);
}

static inline __attribute__((always_inline)) void format_and_write(struct text *text, int bytes)
{
	ssize_t done = write(text->file, text->line, (size_t)format(text, bytes));

	text->written += done;
	if (text->written > FILE_BYTES)
		text->written = lseek(text->file, 0, SEEK_SET);
}

#define TEXT_LOOPS(bytes)                                                                          \
	static void text_##bytes(unsigned thread, unsigned long count)                             \
	{                                                                                          \
		for (unsigned long i = 0; i < count; i++)                                          \
			(void)format(&texts[thread], bytes);                                       \
	}                                                                                          \
	static void write_##bytes(unsigned thread, unsigned long count)                            \
	{                                                                                          \
		for (unsigned long i = 0; i < count; i++)                                          \
			format_and_write(&texts[thread], bytes);                                   \
	}

TEXT_LOOPS(4)
TEXT_LOOPS(32)
TEXT_LOOPS(256)

static const char *open_files(enum rival_payload bytes)
{
	(void)bytes;
	memset(words, 'x', BYTES_MAX);
	for (unsigned i = 0; i < BENCH_THREADS_MAX; i++) {
		texts[i].file = bench_memory_file();
		texts[i].written = 0;
	}
	return NULL;
}

static void close_files(void)
{
	for (unsigned i = 0; i < BENCH_THREADS_MAX; i++)
		(void)close(texts[i].file);
}

/* The writing thread waits until it is written; what is only formatted is there for its thread. */
static void nothing_lost(struct rival_loss *loss)
{
	loss->reported = true;
}

/* ---- libptrace ---- */

static trace_id_t trid;
static trace_event_id_t sample;

#define EVENT_LOOP(bytes)                                                                          \
	static void event_##bytes(unsigned thread, unsigned long count)                            \
	{                                                                                          \
		(void)thread;                                                                      \
		for (unsigned long i = 0; i < count; i++)                                          \
			posix_trace_event_np(sample, payload, bytes);                              \
	}

EVENT_LOOP(4)
EVENT_LOOP(32)
EVENT_LOOP(256)

static const char *open_stream(enum rival_payload bytes)
{
	trace_attr_t attr;

	(void)bytes;
	bench_ok("event", posix_trace_eventid_open("sample", &sample));
	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
	return NULL;
}

static void close_stream(void)
{
	bench_ok("shutdown", posix_trace_shutdown(trid));
}

static void stream_loss(struct rival_loss *loss)
{
	struct posix_trace_counts_np counts;

	bench_ok("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	loss->reported = true;
	loss->lost = counts.posix_lost_np;
}

/* ---- Table ---- */

const struct rival rivals[] = {
	{ .name = "floor",
	    .loop = { bench_floor_4, bench_floor_32, bench_floor_256 },
	    .passes = { 50000, 50000, 40000 } },
	{ .name = "libptrace",
	    .loop = { event_4, event_32, event_256 },
	    .passes = { 50000, 20000, 10000 },
	    .cold = true,
	    .off = event_4,
	    .start = open_stream,
	    .stop = close_stream,
	    .loss = stream_loss },
	{ .name = "clock_gettime alone",
	    .loop = { bench_clock_loop, bench_clock_loop, bench_clock_loop },
	    .passes = { 20000, 20000, 20000 } },
	{ .name = "clock and snprintf",
	    .loop = { text_4, text_32, text_256 },
	    .passes = { 4000, 4000, 4000 },
	    .start = open_files,
	    .stop = close_files,
	    .loss = nothing_lost },
	{ .name = "clock and snprintf and write",
	    .loop = { write_4, write_32, write_256 },
	    .passes = { 500, 500, 500 },
	    .start = open_files,
	    .stop = close_files,
	    .loss = nothing_lost },
	{ .name = NULL },
};
