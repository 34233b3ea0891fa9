/* SPDX-License-Identifier: MIT */
/*
 * clock.c - reading the clocks: the stamp clock where it is not the processor's counter (the system's monotonic
 * clock, or the program's own), and all clocks at once, for logs; the kernel's clocks, by the library that it maps.
 * Whether the counter is trusted: counter.c.
 */
#define _GNU_SOURCE
#include "port/posix/clock.h"

#include "port/posix/owncalls.h"

#include <trace_np.h>

#define NS_PER_S      1000000000u
#define SET_TRIES     5
/* By chance all of so many go on by a multiple of two once in 2^64. */
#define STEP_READINGS 64

static struct pxt_clock_rate fixed_rate;
static bool rate_is_fixed;
static bool uses_counter; /* and not a clock of the program's */

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static uint64_t monotonic(PXT_UNUSED void *context)
{
	struct timespec now;

	(void)pxt_vdso_gettime(CLOCK_MONOTONIC, &now);
	return ns_of(&now);
}

/* Changes while nobody traces. */
static uint64_t (*slow_clock)(void *context) = monotonic;
static void *slow_context;

uint64_t pxt_port_ticks_slow(void)
{
	return slow_clock(slow_context);
}

/* Of what it went on by from reading to reading, the greatest common divisor. */
static uint32_t counter_step(void)
{
	uint64_t last = pxt_ticksource_fenced();
	uint64_t step = 0;

	for (int i = 0; i < STEP_READINGS; i++) {
		uint64_t now = pxt_ticksource_fenced();
		uint64_t more = now - last;

		last = now;
		/* Bound: the digits of the smaller one. */
		while (more) {
			uint64_t rest = step % more;

			step = more;
			more = rest;
		}
	}
	return step <= UINT32_MAX ? (uint32_t)step : 0;
}

/* The processor's counter where it can be trusted, else CLOCK_MONOTONIC. */
static void fix_rate(void)
{
	uses_counter = pxt_ticksource_rate(&fixed_rate);
	if (uses_counter) {
		fixed_rate.step = counter_step();
		return;
	}
	fixed_rate.hz = NS_PER_S;
	fixed_rate.step = 1;
	fixed_rate.error_ppm = 0;
	fixed_rate.source = POSIX_TRACE_CLOCK_MONOTONIC_NP;
}

/* Not pthread_once(): a child forked meanwhile might wait for ever. */
void pxt_port_clock_start(struct pxt_clock_rate *rate)
{
	PXT_OWNCALLS();

	pxt_vdso_find();
	if (!rate_is_fixed)
		fix_rate();
	rate_is_fixed = true;
	*rate = fixed_rate;
}

void pxt_port_clock_choose(uint64_t (*clock)(void *context), void *context, uint64_t hz)
{
	pxt_ticksource_use(uses_counter && !clock);
	slow_clock = clock ? clock : monotonic;
	slow_context = context;
	rate_is_fixed = clock != NULL;
	fixed_rate =
	    (struct pxt_clock_rate){ .hz = hz, .step = 1, .source = POSIX_TRACE_CLOCK_PORT_NP };
}

static uint64_t reading(void)
{
	return slow_clock == monotonic ? pxt_ticksource_fenced() : slow_clock(slow_context);
}

/*
 * The counter belongs to the middle of its bracket, and so do the clocks: what is left between
 * them is a few tens of nanoseconds, unless every try was interrupted.
 */
void pxt_port_clock_read(struct pxt_clock_set *set)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < SET_TRIES; i++) {
		struct pxt_clock_set now;
		uint64_t before = reading();

		(void)pxt_vdso_gettime(CLOCK_BOOTTIME, &now.boottime);
		(void)pxt_vdso_gettime(CLOCK_REALTIME, &now.realtime);
		(void)pxt_vdso_gettime(CLOCK_MONOTONIC, &now.monotonic);
		now.ticks = reading() - before;
		if (now.ticks >= best)
			continue;
		best = now.ticks;
		*set = now;
		set->ticks = before + best / 2;
	}
	if (fixed_rate.source == POSIX_TRACE_CLOCK_MONOTONIC_NP)
		set->ticks = ns_of(&set->monotonic);
}

/*
 * ---- The kernel's clock_gettime() in the image that it maps into each process; see clock.h ----
 *
 * Where there is no such image, or none of this form, the C library's function is called.
 */

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__)
#include <elf.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#if defined(__x86_64__)
#define NAME "__vdso_clock_gettime"
#else
#define NAME "__kernel_clock_gettime"
#endif

typedef int (*gettime)(clockid_t clock, struct timespec *now);

/* The kernel's, after pxt_vdso_find().  Several threads may look at once; they find the same.  Relaxed: it is all. */
static _Atomic(gettime) vdso_clock = clock_gettime;

struct image {
	uintptr_t base; /* where it lies less where it was linked */
	const Elf64_Sym *symbols;
	const char *names;
};

static const void *at(uintptr_t address)
{
	return (const void *)address; /* NOLINT(performance-no-int-to-ptr) */
}

static bool read_dynamic(struct image *image, const Elf64_Dyn *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_SYMTAB)
			image->symbols = at(image->base + dynamic->d_un.d_ptr);
		else if (dynamic->d_tag == DT_STRTAB)
			image->names = at(image->base + dynamic->d_un.d_ptr);
	}
	return image->symbols && image->names;
}

static bool read_image(struct image *image, uintptr_t start)
{
	const Elf64_Ehdr *head = at(start);
	const Elf64_Phdr *parts = at(start + head->e_phoff);
	const Elf64_Phdr *dynamic = NULL;
	bool has_base = false;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		if (parts[i].p_type == PT_DYNAMIC)
			dynamic = &parts[i];
		if (parts[i].p_type != PT_LOAD || has_base)
			continue;
		image->base = start + parts[i].p_offset - parts[i].p_vaddr;
		has_base = true;
	}
	return has_base && dynamic && read_dynamic(image, at(image->base + dynamic->p_vaddr));
}

/* Names come after symbols: every kernel's image has this order, and none gives the number of symbols. */
static gettime look_up(void)
{
	uintptr_t start = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct image image = { 0 };

	if (!start || !read_image(&image, start) ||
	    (uintptr_t)image.names < (uintptr_t)image.symbols)
		return clock_gettime;
	for (const Elf64_Sym *symbol = image.symbols; (const char *)(symbol + 1) <= image.names;
	     symbol++)
		if (symbol->st_shndx != SHN_UNDEF &&
		    strcmp(image.names + symbol->st_name, NAME) == 0)
			return (gettime)(image.base + symbol->st_value);
	return clock_gettime;
}

void pxt_vdso_find(void)
{
	atomic_store_explicit(&vdso_clock, look_up(), memory_order_relaxed);
}

int pxt_vdso_gettime(clockid_t clock, struct timespec *now)
{
	gettime vdso_gettime = atomic_load_explicit(&vdso_clock, memory_order_relaxed);

	return vdso_gettime(clock, now);
}

#else

void pxt_vdso_find(void)
{
}

int pxt_vdso_gettime(clockid_t clock, struct timespec *now)
{
	return clock_gettime(clock, now);
}

#endif
