/* SPDX-License-Identifier: MIT */
/* fakes.c - memory, clock, files, log output and threads of the port that do as a test says. */
#include "fakes.h"
#include "port/port.h"
#include "port/port_file.h"
#include "port/port_log.h"
#include "port_atomic.h"

#include <limits.h>
#include <string.h>
#include <time.h>
#include <trace_np.h>

/* ---- Allocations that fail, and how much of what was allocated is there ---- */

struct pxt_fault pxt_fault_alloc;
struct pxt_fault pxt_fault_shared;
void (*_Atomic pxt_fault_alloc_meanwhile)(void);
atomic_long pxt_live_blocks;
atomic_long pxt_live_bytes;

static void *counted(void *memory, size_t bytes)
{
	if (memory) {
		atomic_fetch_add(&pxt_live_blocks, 1);
		atomic_fetch_add(&pxt_live_bytes, (long)bytes);
	}
	return memory;
}

PXT_WRAPPED(void *, pxt_port_alloc, (size_t bytes))
{
	void (*meanwhile)(void) = atomic_exchange(&pxt_fault_alloc_meanwhile, NULL);

	if (meanwhile)
		meanwhile();
	return pxt_fault_hit(&pxt_fault_alloc) ? NULL
	                                       : counted(__real_pxt_port_alloc(bytes), bytes);
}

PXT_WRAPPED(void *, pxt_port_alloc_shared, (size_t bytes))
{
	return pxt_fault_hit(&pxt_fault_shared)
	           ? NULL
	           : counted(__real_pxt_port_alloc_shared(bytes), bytes);
}

PXT_WRAPPED(void *, pxt_port_alloc_sparse, (size_t bytes))
{
	return counted(__real_pxt_port_alloc_sparse(bytes), bytes);
}

/* Also of files that were mapped. */
PXT_WRAPPED(void, pxt_port_free, (void *memory, size_t bytes))
{
	if (memory) {
		atomic_fetch_sub(&pxt_live_blocks, 1);
		atomic_fetch_sub(&pxt_live_bytes, (long)bytes);
	}
	__real_pxt_port_free(memory, bytes);
}

/* ---- Which call fails ---- */

static void arm(struct pxt_fault *fault, unsigned first, unsigned last, int error)
{
	fault->first = first;
	fault->last = last;
	fault->error = error;
	fault->accept = 0;
	atomic_store(&fault->calls, 0);
}

void pxt_fault_arm(struct pxt_fault *fault, unsigned n, int error)
{
	arm(fault, n, n, error);
}

void pxt_fault_arm_from(struct pxt_fault *fault, unsigned n, int error)
{
	arm(fault, n, UINT_MAX, error);
}

bool pxt_fault_hit(struct pxt_fault *fault)
{
	unsigned call = atomic_fetch_add(&fault->calls, 1) + 1;

	return fault->first != 0 && call >= fault->first && call <= fault->last;
}

/* ---- Waits that are interrupted, and a system without membarrier ---- */

struct pxt_fault pxt_fault_wait;
struct pxt_fault pxt_fault_fence;

PXT_WRAPPED(int, pxt_port_wait,
    (_Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns))
{
	if (pxt_fault_hit(&pxt_fault_wait))
		return pxt_fault_wait.error;
	return __real_pxt_port_wait(word, expected, until, slice_ns);
}

PXT_WRAPPED(bool, pxt_port_fence_all, (void))
{
	return pxt_fault_hit(&pxt_fault_fence) ? false : __real_pxt_port_fence_all();
}

#if CONFIG_PTRACE_CORE
/* ---- A clock that a test moves ---- */

/*
 * The trace path reads the processor's counter inline, so that is switched off and the slow reading, which is a
 * call, is the one replaced.
 */
#define NS_PER_S 1000000000u

static atomic_bool faked;
static uint64_t counter;
static uint64_t step;
static uint64_t rate_hz;

uint64_t (*pxt_fake_clock_told)(uint64_t ticks);

/* 64-bit words are no single access everywhere; nobody who holds it is interrupted by a reader. */
static atomic_flag busy = ATOMIC_FLAG_INIT;

static void enter(void)
{
	while (atomic_flag_test_and_set(&busy))
		;
}

static void leave(void)
{
	atomic_flag_clear(&busy);
}

static uint64_t next_ticks(void)
{
	uint64_t (*told)(uint64_t) = pxt_fake_clock_told;
	uint64_t ticks;

	enter();
	ticks = counter;
	counter += step;
	leave();
	return told ? told(ticks) : ticks;
}

static struct timespec after(int64_t seconds, uint64_t ticks)
{
	struct timespec time;

	time.tv_sec = (time_t)(seconds + (int64_t)(ticks / rate_hz));
	time.tv_nsec = (long)(ticks % rate_hz * NS_PER_S / rate_hz);
	return time;
}

PXT_WRAPPED(uint64_t, pxt_port_ticks_slow, (void))
{
	return atomic_load(&faked) ? next_ticks() : __real_pxt_port_ticks_slow();
}

PXT_WRAPPED(void, pxt_port_clock_start, (struct pxt_clock_rate * rate))
{
	if (!atomic_load(&faked)) {
		__real_pxt_port_clock_start(rate);
		return;
	}
	rate->hz = rate_hz;
	rate->error_ppm = 0;
	rate->source = POSIX_TRACE_CLOCK_PORT_NP;
}

PXT_WRAPPED(void, pxt_port_clock_read, (struct pxt_clock_set * set))
{
	if (!atomic_load(&faked)) {
		__real_pxt_port_clock_read(set);
		return;
	}
	set->ticks = next_ticks();
	set->realtime = after(PXT_FAKE_EPOCH, set->ticks);
	set->monotonic = after(PXT_FAKE_UPTIME, set->ticks);
	set->boottime = set->monotonic;
}

void pxt_fake_clock_start(uint64_t hz)
{
#if defined(__x86_64__) || defined(__aarch64__)
	pxt_port_use_counter = false;
#endif
	rate_hz = hz;
	counter = 0;
	step = 0;
	atomic_store(&faked, true);
}

void pxt_fake_clock_set(uint64_t ticks)
{
	enter();
	counter = ticks;
	leave();
}

void pxt_fake_clock_advance(uint64_t ticks)
{
	enter();
	counter += ticks;
	leave();
}

void pxt_fake_clock_step(uint64_t ticks)
{
	enter();
	step = ticks;
	leave();
}
#endif

#if CONFIG_PTRACE_FILE_STREAMS
/* ---- Files that do not become memory ---- */

struct pxt_fault pxt_fault_extend;
struct pxt_fault pxt_fault_filemap;

/* The room is taken and then found to be too little, as on a disk that fills up meanwhile. */
PXT_WRAPPED(int, pxt_port_filemap_extend, (int fd, uint64_t bytes))
{
	int error = __real_pxt_port_filemap_extend(fd, bytes);

	return pxt_fault_hit(&pxt_fault_extend) ? pxt_fault_extend.error : error;
}

PXT_WRAPPED(int, pxt_port_filemap, (int fd, size_t bytes, bool inherited, void **memory))
{
	int error = pxt_fault_hit(&pxt_fault_filemap)
	                ? pxt_fault_filemap.error
	                : __real_pxt_port_filemap(fd, bytes, inherited, memory);

	if (!error) {
		atomic_fetch_add(&pxt_live_blocks, 1);
		atomic_fetch_add(&pxt_live_bytes, (long)bytes);
	}
	return error;
}
#endif

#if CONFIG_PTRACE_ATTACH
/* ---- Other processes' files in memory are counted as memory ---- */

PXT_WRAPPED(int, pxt_port_filemap_view,
    (int fd, size_t limit, bool holes, const void **memory, size_t *bytes))
{
	int error = __real_pxt_port_filemap_view(fd, limit, holes, memory, bytes);

	if (!error) {
		atomic_fetch_add(&pxt_live_blocks, 1);
		atomic_fetch_add(&pxt_live_bytes, (long)*bytes);
	}
	return error;
}
#endif

#if CONFIG_PTRACE_LOGRETRIEVAL
/* ---- Logs that cannot be read, and tables for which there is no memory ---- */

struct pxt_fault pxt_fault_heap;
struct pxt_fault pxt_fault_read;
atomic_long pxt_live_heap;

PXT_WRAPPED(void *, pxt_port_heap_resize, (void *old, size_t bytes))
{
	void *memory =
	    pxt_fault_hit(&pxt_fault_heap) ? NULL : __real_pxt_port_heap_resize(old, bytes);

	if (memory && !old)
		atomic_fetch_add(&pxt_live_heap, 1);
	return memory;
}

PXT_WRAPPED(void, pxt_port_heap_free, (void *memory))
{
	if (memory)
		atomic_fetch_sub(&pxt_live_heap, 1);
	__real_pxt_port_heap_free(memory);
}

atomic_ulong pxt_bytes_read;

PXT_WRAPPED(int, pxt_port_file_read,
    (const struct pxt_port_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done))
{
	if (!pxt_fault_hit(&pxt_fault_read)) {
		int error = __real_pxt_port_file_read(file, offset, buffer, bytes, done);

		atomic_fetch_add(&pxt_bytes_read, *done);
		return error;
	}
	/* It may have stored something before it failed. */
	memset(buffer, 0xee, bytes);
	*done = 0;
	return pxt_fault_read.error;
}
#endif

#if CONFIG_PTRACE_TOLOG
/* ---- Log output that stops in the middle ---- */

struct pxt_fault pxt_fault_write;
struct pxt_fault pxt_fault_truncate;

static size_t accepted(size_t bytes)
{
	return pxt_fault_write.accept < bytes ? pxt_fault_write.accept : bytes;
}

PXT_WRAPPED(int, pxt_port_log_write,
    (struct pxt_port_log * log, const void *data, size_t bytes, size_t *done))
{
	int error;

	if (!pxt_fault_hit(&pxt_fault_write))
		return __real_pxt_port_log_write(log, data, bytes, done);
	error = __real_pxt_port_log_write(log, data, accepted(bytes), done);
	return error != 0 ? error : pxt_fault_write.error;
}

PXT_WRAPPED(int, pxt_port_log_write_at,
    (struct pxt_port_log * log, uint64_t offset, const void *data, size_t bytes, size_t *done))
{
	int error;

	if (!pxt_fault_hit(&pxt_fault_write))
		return __real_pxt_port_log_write_at(log, offset, data, bytes, done);
	error = __real_pxt_port_log_write_at(log, offset, data, accepted(bytes), done);
	return error != 0 ? error : pxt_fault_write.error;
}

PXT_WRAPPED(int, pxt_port_log_truncate, (struct pxt_port_log * log, uint64_t size))
{
	if (pxt_fault_hit(&pxt_fault_truncate))
		return pxt_fault_truncate.error;
	return __real_pxt_port_log_truncate(log, size);
}

#if CONFIG_PTRACE_LOG_ROTATE
struct pxt_fault pxt_fault_next;
struct pxt_fault pxt_fault_remove;

PXT_WRAPPED(int, pxt_port_log_next, (struct pxt_port_log * next, struct pxt_port_log *log))
{
	if (pxt_fault_hit(&pxt_fault_next))
		return pxt_fault_next.error;
	return __real_pxt_port_log_next(next, log);
}

PXT_WRAPPED(int, pxt_port_log_remove,
    (struct pxt_port_log * log, uint32_t number, const struct pxt_port_place *place))
{
	if (pxt_fault_hit(&pxt_fault_remove))
		return pxt_fault_remove.error;
	return __real_pxt_port_log_remove(log, number, place);
}
#endif

/* ---- Bytes that are not random ---- */

static bool fixed;
static unsigned char fixed_byte;

PXT_WRAPPED(void, pxt_port_random, (void *bytes, size_t count))
{
	if (fixed)
		memset(bytes, fixed_byte, count);
	else
		__real_pxt_port_random(bytes, count);
}

void pxt_fake_random(unsigned char byte)
{
	fixed_byte = byte;
	fixed = true;
}
#endif

#if CONFIG_PTRACE_POLICY_FLUSH
/* ---- Helper threads that cannot be had ---- */

struct pxt_fault pxt_fault_thread;

PXT_WRAPPED(int, pxt_port_thread_start,
    (struct pxt_port_thread * thread, void (*run)(void *), void *argument, int priority))
{
	if (pxt_fault_hit(&pxt_fault_thread))
		return pxt_fault_thread.error;
	return __real_pxt_port_thread_start(thread, run, argument, priority);
}
#endif
