/* SPDX-License-Identifier: MIT */
/* rival.c - measures any tracer: payloads, one and two threads, on and off, what was lost. */
#define _GNU_SOURCE
#include "rival.h"

#include "bench/frame/frame.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OFF_PASSES 50000
#define LOSSES_MAX 64
#define CHUNK      5000 /* events between pauses, for --events */

static const char *const columns[RIVAL_PAYLOADS] = { "4 B", "32 B", "256 B" };
static const char *const bytes[RIVAL_PAYLOADS] = { "4", "32", "256" };
static const char *const tables[] = { "one thread", "two threads" };

static const char *only_row;
static const char *only_bytes;
static const char *only_threads;
static const char *only_state;
static const char *events;
static const char *pace;
static const char *lines;

struct singles {
	bench_loop *loop;
	unsigned long count;
	double *ticks;
};

static bench_loop *loop; /* being measured */
static atomic_ulong traced;

static void counted_loop(unsigned thread, unsigned long count)
{
	loop(thread, count);
	(void)atomic_fetch_add_explicit(&traced, count, memory_order_relaxed);
}

static bool chosen(const char *choice, const char *what)
{
	return !choice || strcmp(choice, what) == 0;
}

static unsigned long sized(unsigned long passes)
{
	return bench_pick(passes, passes, passes / 50 + 1);
}

/* Kept until all is measured. */
static struct loss {
	const char *row;
	char column[32];
	unsigned long traced;
	bool known;
	struct rival_loss loss;
} losses[LOSSES_MAX];
static unsigned loss_count;

static void keep_loss(
    const struct rival *rival, const char *row, unsigned payload, unsigned threads)
{
	struct loss *loss = &losses[loss_count];

	if (loss_count == LOSSES_MAX)
		return;
	loss_count++;
	loss->row = row;
	(void)snprintf(
	    loss->column, sizeof(loss->column), "%s %s", columns[payload], tables[threads - 1]);
	loss->traced = atomic_load(&traced);
	loss->known = rival->loss != NULL;
	if (rival->loss)
		rival->loss(&loss->loss);
}

static void say_losses(void)
{
	bench_table("lost", loss_count ? "Events that were lost, as each says" : "");
	for (unsigned i = 0; i < loss_count; i++) {
		const struct loss *loss = &losses[i];

		bench_value(loss->row, loss->column, "traced", (double)loss->traced);
		if (loss->known && loss->loss.reported)
			bench_value(loss->row, loss->column, "lost", (double)loss->loss.lost);
		else if (loss->known)
			bench_mark(loss->row, loss->column, loss->loss.why_not);
	}
}

/* One event between two plain readings of the counter, again and again on one CPU. */
static void *singles_on(void *argument)
{
	struct singles *singles = argument;

	bench_pin(0);
	for (unsigned long i = 0; i < singles->count; i++) {
		uint64_t begin = bench_counter();

		singles->loop(0, 1);
		singles->ticks[i] = (double)(bench_counter() - begin);
	}
	return NULL;
}

static void measure_singles(const struct rival *rival, const char *row)
{
	static const struct {
		const char *column;
		unsigned of_10000;
	} columns_of[] = { { "p50", 5000 }, { "p99", 9900 }, { "p99.9", 9990 }, { "p99.99", 9999 },
		{ "worst", 10000 } };
	struct singles singles = { rival->loop[RIVAL_4], bench_pick(500000, 100000, 1000), NULL };
	double rate = bench_counter_per_ns();
	pthread_t thread;

	if (rival->start && rival->start(RIVAL_4))
		return;
	singles.ticks = calloc(singles.count, sizeof(*singles.ticks));
	if (!singles.ticks)
		bench_ok("values", ENOMEM);
	bench_ok("thread", pthread_create(&thread, NULL, singles_on, &singles));
	bench_ok("thread", pthread_join(thread, NULL));
	(void)bench_median(singles.ticks, singles.count); /* sorts */
	for (size_t i = 0; i < sizeof(columns_of) / sizeof(columns_of[0]); i++)
		bench_value(row, columns_of[i].column, "ns",
		    singles.ticks[(singles.count * columns_of[i].of_10000 + 9999) / 10000 - 1] /
		        rate);
	free(singles.ticks);
	if (rival->stop)
		rival->stop();
}

static void measure(const struct rival *rival, const char *row, unsigned payload, unsigned threads)
{
	const char *trouble;
	struct bench_row got;

	if (threads > bench_cpus()) {
		bench_missing(row, columns[payload], "this machine has fewer CPUs");
		return;
	}
	trouble = rival->start ? rival->start(payload) : NULL;
	if (trouble) {
		bench_missing(row, columns[payload], trouble);
		return;
	}
	loop = rival->loop[payload];
	atomic_store(&traced, 0);
	got = bench_run(counted_loop, threads, sized(rival->passes[payload]), BENCH_WALL);
	bench_cost(row, columns[payload], &got);
	keep_loss(rival, row, payload, threads);
	if (losses[loss_count - 1].loss.why_not)
		bench_mark(row, columns[payload], losses[loss_count - 1].loss.why_not);
	if (rival->stop)
		rival->stop();
}

static void measure_off(const struct rival *rival, const char *row)
{
	const char *trouble;
	struct bench_row got;

	if (!rival->off)
		return;
	trouble = rival->start ? rival->start(RIVAL_4) : NULL;
	if (trouble) {
		bench_missing(row, "off", trouble);
		return;
	}
	if (rival->stop)
		rival->stop();
	got = bench_run(rival->off, 1, sized(OFF_PASSES), BENCH_WALL);
	bench_cost(row, "off", &got);
}

/* So many events at a pace that no buffer of any tracer should overflow at. */
static void just_trace(bench_loop *traces, unsigned long count)
{
	static const struct timespec pause = { 0, 2000000 };

	for (unsigned long i = 0; i < count; i += CHUNK) {
		traces(0, count - i < CHUNK ? count - i : CHUNK);
		(void)nanosleep(&pause, NULL);
	}
}

static void measure_one(const struct rival *rival, unsigned threads)
{
	const char *row = only_row ? only_row : rival->name;

	for (unsigned p = 0; p < RIVAL_PAYLOADS; p++) {
		if (chosen(only_bytes, bytes[p]) && chosen(only_state, "on"))
			measure(rival, row, p, threads);
	}
	if (threads == 1 && chosen(only_state, "off"))
		measure_off(rival, row);
}

static void measure_cold(const struct rival *rival, const char *row)
{
	const struct bench_cold subject = { row, rival->loop[RIVAL_4] };

	if (!rival->cold || (rival->start && rival->start(RIVAL_4)))
		return;
	bench_cold_tables(&subject, 1, false);
	if (rival->stop)
		rival->stop();
}

static void measure_all(void)
{
	static const char *const threads[] = { "1", "2" };

	for (unsigned t = 0; t < 2; t++) {
		if (!chosen(only_threads, threads[t]))
			continue;
		bench_table(tables[t], t ? "Two threads" : "One thread");
		for (const struct rival *rival = rivals; rival->name; rival++)
			measure_one(rival, t + 1);
	}
	if (chosen(only_threads, "1") && chosen(only_bytes, "4") && chosen(only_state, "on")) {
		bench_table("one event at a time", "One event at a time, 4 B, one thread");
		for (const struct rival *rival = rivals; rival->name; rival++)
			measure_singles(rival, only_row ? only_row : rival->name);
		for (const struct rival *rival = rivals; rival->name; rival++)
			measure_cold(rival, only_row ? only_row : rival->name);
	}
	say_losses();
}

static void count_lines(const struct rival *rival)
{
	char name[64];

	for (unsigned p = 0; p < RIVAL_PAYLOADS; p++) {
		const char *trouble = rival->start ? rival->start(p) : NULL;

		if (trouble)
			(void)printf("missing %s: %s\n", rival->name, trouble);
		if (trouble || !rival->lines[p])
			continue;
		(void)snprintf(name, sizeof(name), "%s, %s bytes", rival->name, bytes[p]);
		lines_row(name, rival->lines[p]);
	}
}

int main(int argc, char **argv)
{
	const struct bench_extra extra[] = { { "--row", &only_row }, { "--bytes", &only_bytes },
		{ "--threads", &only_threads }, { "--state", &only_state }, { "--events", &events },
		{ "--rate", &pace }, { "--lines", &lines }, { NULL, NULL } };

	bench_begin(argc, argv, "rivals", extra);
	if (events) {
		for (unsigned p = 0; p < RIVAL_PAYLOADS; p++) {
			if (!chosen(only_bytes, bytes[p]))
				continue;
			if (pace)
				(void)printf("%.3f\n",
				    pace_events(rivals[0].loop[p], strtoul(events, NULL, 10),
				        strtoul(pace, NULL, 10)));
			else
				just_trace(rivals[0].loop[p], strtoul(events, NULL, 10));
		}
		return 0;
	}
	if (lines) {
		lines_begin();
		count_lines(&rivals[0]);
		return 0;
	}
	measure_all();
	return 0;
}
