/* SPDX-License-Identifier: MIT */
/* cold.c - what drives everything out of the caches, and the calls after that. */
#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE        64u
#define CODE_BYTES  (4ul * 1024 * 1024)
#define LEAST_BYTES (64ul * 1024 * 1024)
#define SMOKE_BYTES (4ul * 1024 * 1024)
#define PIECE_BYTES (4ul * 1024 * 1024) /* of memory between two walks through code */
#define SLEEP_NS    10000000u
#define ROUNDS_MAX  200u

/* By what everything is driven out. */
enum chill {
	BY_WALK, /* through much memory and through code, in the thread that is measured */
	BY_SLEEP /* of 10 ms, while another process does that on the same CPU */
};

static unsigned char *memory;
static size_t memory_bytes;
static unsigned char *code; /* NULL: none can be made here */

/* ---- Driving out ---- */

static void *pages(size_t bytes)
{
	void *got = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (got == MAP_FAILED)
		bench_ok("memory", ENOMEM);
	/* Small pages: each needs its own translation. */
	(void)madvise(got, bytes, MADV_NOHUGEPAGE);
	memset(got, 0, bytes);
	return got;
}

/* Of the last level, as far as the C library tells. */
static size_t cache_bytes(void)
{
	long bytes = 0;

#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
	bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
	if (bytes <= 0)
		bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
	return bytes > 0 ? (size_t)bytes : 0;
}

/* Twice that, as far as a quarter of the machine's memory goes. */
static size_t walk_bytes(void)
{
	size_t room = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 4;
	size_t bytes = 2 * cache_bytes();

	if (bench_effort() == BENCH_SMOKE)
		return SMOKE_BYTES;
	if (bytes < LEAST_BYTES)
		bytes = LEAST_BYTES;
	return (bytes < room ? bytes : room) / PIECE_BYTES * PIECE_BYTES;
}

/* An instruction that returns, in each line. */
static void make_code(void)
{
#if defined(__x86_64__)
	static const unsigned char back[] = { 0xc3 };
#elif defined(__aarch64__)
	static const unsigned char back[] = { 0xc0, 0x03, 0x5f, 0xd6 };
#else
	static const unsigned char back[] = { 0 };
	return;
#endif
	code = pages(CODE_BYTES);
	for (size_t at = 0; at < CODE_BYTES; at += LINE)
		memcpy(code + at, back, sizeof(back));
	__builtin___clear_cache((char *)code, (char *)code + CODE_BYTES);
	if (mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC) != 0) {
		(void)munmap(code, CODE_BYTES);
		code = NULL;
	}
}

static void run_code(void)
{
	for (size_t at = 0; code && at < CODE_BYTES; at += LINE) {
		void (*back)(void);
		unsigned char *where = code + at;

		memcpy(&back, &where, sizeof(back));
		back();
	}
}

/* Memory between @from and @to, then the code. */
static void walk(size_t from, size_t to)
{
	const volatile unsigned char *byte = memory;

	for (size_t at = from; at < to; at += LINE)
		(void)byte[at];
	run_code();
}

static void start_driving(void)
{
	if (memory)
		return;
	memory_bytes = walk_bytes();
	memory = pages(memory_bytes);
	make_code();
	bench_remark("walk: %zu MiB%s", memory_bytes / (1024 * 1024),
	    code ? " and 4 MiB of code" : ", no code");
}

/* Another process on this CPU, which gets it while nobody else wants it. */
static pid_t start_thrashing(void)
{
	struct sched_param param = { 0 };
	pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0)
		bench_ok("process", errno);
	if (child > 0)
		return child;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	(void)sched_setscheduler(0, SCHED_IDLE, &param);
	for (size_t at = 0;; at = (at + PIECE_BYTES) % memory_bytes)
		walk(at, at + PIECE_BYTES);
}

static void stop_thrashing(pid_t child)
{
	(void)kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
}

static void chill(enum chill how)
{
	if (how == BY_WALK)
		walk(0, memory_bytes);
	else
		bench_sleep_until(bench_ns() + SLEEP_NS);
}

/* ---- Subjects of its own ---- */

static void nothing(unsigned thread, unsigned long count)
{
	(void)thread;
	__asm__ volatile("" : : "r"(count) : "memory");
}

/* Of a line that nothing else uses; what is after the loop waits for it (bench_after()). */
static void one_load(unsigned thread, unsigned long count)
{
	static volatile unsigned char lines[2][4096] __attribute__((aligned(4096)));

	(void)count;
	(void)lines[thread][2048];
}

enum {
	EMPTY,
	LOAD,
	FLOOR,
	OWN
};

static const struct bench_cold own[OWN] = {
	[EMPTY] = { "empty measurement", nothing },
	[LOAD] = { "a load of one line", one_load },
	[FLOOR] = { "floor: counter + locked add + 2 slots", bench_floor_record },
};

/* ---- Calls ---- */

struct values {
	double first[ROUNDS_MAX];
	double second[ROUNDS_MAX];
};

static __attribute__((noinline, aligned(64))) uint64_t once(bench_loop *loop)
{
	uint64_t begin = bench_before();

	loop(0, 1);
	return bench_after() - begin;
}

/* The median of the rounds' multiples of the floor, what an empty pass takes off from both. */
static double multiple(const double *first, const double *floor, double empty, unsigned rounds)
{
	double ratio[ROUNDS_MAX];

	for (unsigned i = 0; i < rounds; i++)
		ratio[i] = (first[i] - empty) / (floor[i] - empty);
	return bench_median(ratio, rounds);
}

static void say(const char *name, struct values *got, unsigned rounds, double of_floor)
{
	bench_value(name, "first", "ns", bench_median(got->first, rounds));
	if (isfinite(of_floor))
		bench_value(name, "first", "x floor", of_floor);
	bench_value(name, "first p90", "ns", got->first[rounds * 9 / 10]);
	bench_value(name, "second", "ns", bench_median(got->second, rounds));
}

/* @all: our own, then others. */
static void say_all(
    const struct bench_cold *all, struct values *got, size_t count, unsigned rounds, bool own_too)
{
	double of_floor[OWN + BENCH_COLD_MAX];
	double empty[ROUNDS_MAX];

	memcpy(empty, got[EMPTY].first, sizeof(empty));
	/* All before the first is said, which sorts it. */
	for (size_t i = 0; i < count; i++)
		of_floor[i] = i < FLOOR ? (double)NAN
		                        : multiple(got[i].first, got[FLOOR].first,
		                              bench_median(empty, rounds), rounds);
	for (size_t i = own_too ? 0 : OWN; i < count; i++)
		say(all[i].name, &got[i], rounds, of_floor[i]);
}

static void measure(
    const struct bench_cold *all, struct values *got, size_t count, enum chill how, unsigned rounds)
{
	double rate = bench_counter_per_ns();

	for (unsigned round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++) {
			chill(how);
			got[i].first[round] = (double)once(all[i].loop) / rate;
			got[i].second[round] = (double)once(all[i].loop) / rate;
		}
	}
}

void bench_cold_tables(const struct bench_cold *subjects, size_t count, bool own_too)
{
	static struct values got[OWN + BENCH_COLD_MAX];
	struct bench_cold all[OWN + BENCH_COLD_MAX];
	unsigned rounds = (unsigned)bench_pick(60, 15, 2);
	pid_t child;

	memcpy(all, own, sizeof(own));
	memcpy(all + OWN, subjects, count * sizeof(*subjects));
	count += OWN;
	start_driving();
	bench_pin(0);
	for (size_t i = 0; i < count; i++)
		all[i].loop(0, 100);

	bench_table("after a walk", "One call after a walk through memory and code");
	measure(all, got, count, BY_WALK, rounds);
	say_all(all, got, count, rounds, own_too);

	rounds = (unsigned)bench_pick(200, 50, 2);
	bench_table("after a sleep", "One call after a sleep of 10 ms, another process on the CPU");
	child = start_thrashing();
	measure(all, got, count, BY_SLEEP, rounds);
	stop_thrashing(child);
	say_all(all, got, count, rounds, own_too);
}
