/* SPDX-License-Identifier: MIT */
/*
 * test_port.c - what any port must pass.  Nothing here knows how a port does it, except that the
 * host's port answers for descriptors, signals and forked children too (test_port_host.c).
 */
#include "suite.h"

#include "port/port.h"
#include "port_atomic.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <trace_np.h>

#if CONFIG_PTRACE_PORT_POSIX
#include "port/posix/clock.h"

#include <pthread.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define NS_PER_S 1000000000LL
#define MS_NS    1000000LL

/* ---- Clock ---- */

PXT_TEST(the_rate_is_fixed_once)
{
	struct pxt_clock_rate first;
	struct pxt_clock_rate second;

	pxt_port_clock_start(&first);
	pxt_port_pause_ns(5 * MS_NS);
	pxt_port_clock_start(&second);
	CU_ASSERT(first.hz != 0);
	CU_ASSERT(first.hz == second.hz);
	CU_ASSERT(first.error_ppm == second.error_ppm);
	CU_ASSERT(first.source == second.source);
	CU_ASSERT(first.source >= POSIX_TRACE_CLOCK_TSC_NP);
	CU_ASSERT(first.source <= POSIX_TRACE_CLOCK_PORT_NP);
}

/* LPT-02: on boards, too. */
PXT_TEST(ticks_never_go_back)
{
	uint64_t last = pxt_port_ticks();
	bool back = false;

	for (int i = 0; i < 200000; i++) {
		uint64_t now = i % 2 ? pxt_port_ticks() : pxt_port_ticks_ordered();

		back |= now < last;
		last = now;
	}
	CU_ASSERT_FALSE(back);
}

/* LPT-52 */
PXT_TEST(readings_are_whole_steps_apart)
{
	struct pxt_clock_rate rate;
	uint64_t first;

	pxt_port_clock_start(&rate);
	CU_ASSERT_FATAL(rate.step > 0);
	/* Coarser than a microsecond, it would not have been chosen. */
	CU_ASSERT(rate.step <= rate.hz / 1000000u + 1u);
	first = pxt_port_ticks_ordered();
	for (int i = 0; i < 1000; i++)
		CU_ASSERT((pxt_port_ticks_ordered() - first) % rate.step == 0);
}

/*
 * MONOTONIC may be slewed by 500 ppm against what the rate was measured with; the readings' own
 * distance is allowed for by what the clocks say about it.
 */
PXT_TEST(the_rate_agrees_with_the_monotonic_clock)
{
	struct pxt_clock_rate rate;
	struct pxt_clock_set first;
	struct pxt_clock_set second;
	double by_ticks;
	double by_clock;
	double allowed;

	pxt_port_clock_start(&rate);
	pxt_port_clock_read(&first);
	pxt_port_pause_ns(100 * MS_NS);
	pxt_port_clock_read(&second);
	by_ticks = (double)(second.ticks - first.ticks) / (double)rate.hz * 1e9;
	by_clock = (double)(pxt_ns(&second.monotonic) - pxt_ns(&first.monotonic));
	allowed = by_clock * (rate.error_ppm + 1000.0) / 1e6 + 20000.0;
	CU_ASSERT(by_ticks < by_clock + allowed);
	CU_ASSERT(by_ticks > by_clock - allowed);
}

PXT_TEST(a_clock_set_was_read_between_before_and_after)
{
	struct pxt_clock_rate rate;
	struct pxt_clock_set set;
	struct timespec real[2];
	struct timespec mono[2];
	uint64_t ticks[2];

	pxt_port_clock_start(&rate);
	clock_gettime(CLOCK_REALTIME, &real[0]);
	clock_gettime(CLOCK_MONOTONIC, &mono[0]);
	ticks[0] = pxt_port_ticks_ordered();
	pxt_port_clock_read(&set);
	ticks[1] = pxt_port_ticks_ordered();
	clock_gettime(CLOCK_MONOTONIC, &mono[1]);
	clock_gettime(CLOCK_REALTIME, &real[1]);
	CU_ASSERT(ticks[0] <= set.ticks && set.ticks <= ticks[1]);
	CU_ASSERT(pxt_ns(&real[0]) <= pxt_ns(&set.realtime));
	CU_ASSERT(pxt_ns(&set.realtime) <= pxt_ns(&real[1]));
	CU_ASSERT(pxt_ns(&mono[0]) <= pxt_ns(&set.monotonic));
	CU_ASSERT(pxt_ns(&set.monotonic) <= pxt_ns(&mono[1]));
	CU_ASSERT(pxt_ns(&set.boottime) >= pxt_ns(&set.monotonic) - 1000 * MS_NS);
}

/* ---- Memory ---- */

PXT_TEST(memory_is_zeroed_and_aligned)
{
	enum {
		BYTES = CONFIG_PTRACE_PORT_BARE ? 10000 : 100000,
		ALIGNED = CONFIG_PTRACE_PORT_BARE ? 64 : 4096
	};
	unsigned char *memory = pxt_port_alloc(BYTES);
	unsigned sum = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	CU_ASSERT_EQUAL((uintptr_t)memory % ALIGNED, 0);
	for (int i = 0; i < BYTES; i++)
		sum |= memory[i];
	CU_ASSERT_EQUAL(sum, 0);
	memset(memory, 0xff, BYTES);
	pxt_port_free(memory, BYTES);
	pxt_port_free(NULL, BYTES);
}

PXT_TEST(impossible_sizes_give_no_memory)
{
	errno = 0;
	CU_ASSERT_PTR_NULL(pxt_port_alloc(0));
	CU_ASSERT_PTR_NULL(pxt_port_alloc(SIZE_MAX));
	CU_ASSERT_PTR_NULL(pxt_port_alloc(SIZE_MAX - 65536));
	CU_ASSERT_EQUAL(errno, 0);
}

/* ---- Identity ---- */

/* DEC-20 */
PXT_TEST(only_the_own_process_may_be_traced)
{
	errno = 0;
	CU_ASSERT_EQUAL(pxt_port_may_trace(pxt_port_pid()), 0);
	CU_ASSERT_EQUAL(pxt_port_may_trace(-1), ESRCH);
	CU_ASSERT_EQUAL(pxt_port_may_trace(INT32_MIN), ESRCH);
	CU_ASSERT_EQUAL(pxt_port_may_trace(INT32_MAX), ESRCH);
	CU_ASSERT_EQUAL(errno, 0);
}

PXT_TEST(there_is_a_cpu)
{
	CU_ASSERT(pxt_port_cpus() >= 1);
}

/* ---- Waiting ---- */

PXT_TEST(a_wait_on_a_changed_word_returns_at_once)
{
	_Atomic uint32_t word = 1;
	struct timespec past = { 1, 0 };

	errno = 0;
	CU_ASSERT_EQUAL(pxt_port_wait(&word, 0, NULL, 0), 0);
	CU_ASSERT_EQUAL(pxt_port_wait(&word, 1, &past, 0), ETIMEDOUT);
	CU_ASSERT_EQUAL(pxt_port_wait(&word, 1, &past, 1000 * MS_NS), ETIMEDOUT);
	CU_ASSERT_EQUAL(errno, 0);
}

PXT_TEST(a_wait_ends_when_the_clock_reaches_its_limit)
{
	_Atomic uint32_t word = 0;
	struct timespec until = pxt_in_ms(30);
	struct timespec now;
	int result;

	do
		result = pxt_port_wait(&word, 0, &until, 0);
	while (result == 0);
	clock_gettime(CLOCK_REALTIME, &now);
	CU_ASSERT_EQUAL(result, ETIMEDOUT);
	CU_ASSERT(pxt_ns(&now) >= pxt_ns(&until));
}

PXT_TEST(a_wait_ends_with_its_slice)
{
	_Atomic uint32_t word = 0;
	struct timespec far = pxt_in_ms(3600000);
	long long begin = pxt_monotonic_ns();
	int result;

	do
		result = pxt_port_wait(&word, 0, NULL, 20 * MS_NS);
	while (result == 0);
	CU_ASSERT_EQUAL(result, ETIMEDOUT);
	CU_ASSERT(pxt_monotonic_ns() - begin >= 20 * MS_NS);
	do
		result = pxt_port_wait(&word, 0, &far, 20 * MS_NS);
	while (result == 0);
	CU_ASSERT_EQUAL(result, ETIMEDOUT);
}

PXT_TEST(the_earlier_of_limit_and_slice_counts)
{
	_Atomic uint32_t word = 0;
	struct timespec until = pxt_in_ms(20);
	struct timespec now;
	int result;

	do
		result = pxt_port_wait(&word, 0, &until, (uint64_t)3600 * NS_PER_S);
	while (result == 0);
	clock_gettime(CLOCK_REALTIME, &now);
	CU_ASSERT_EQUAL(result, ETIMEDOUT);
	CU_ASSERT(pxt_ns(&now) >= pxt_ns(&until));
}

/* ---- Slots ---- */

static pxt_cell shared_slot;
PXT_TEST(a_slot_gives_back_what_was_stored)
{
	struct pxt_slot slot;

	pxt_slot_store(&shared_slot, 0x8000000112345678u, 0xfedcba9876543210u);
	slot = pxt_slot_load(&shared_slot);
	CU_ASSERT_EQUAL(slot.word[0], 0x12345678u);
	CU_ASSERT_EQUAL(slot.word[1], 0x80000001u);
	CU_ASSERT_EQUAL(slot.word[2], 0x76543210u);
	CU_ASSERT_EQUAL(slot.word[3], 0xfedcba98u);
	CU_ASSERT_EQUAL(pxt_slot_peek(&shared_slot), 0x12345678u);
}

/* ---- Beside other threads: where the port has some ---- */

#if CONFIG_PTRACE_PORT_POSIX

struct sleeper {
	_Atomic uint32_t word;
	atomic_int awake;
};

static void *sleep_until_changed(void *argument)
{
	struct sleeper *sleeper = argument;

	while (atomic_load(&sleeper->word) == 0)
		(void)pxt_port_wait(&sleeper->word, 0, NULL, 0);
	atomic_fetch_add(&sleeper->awake, 1);
	return NULL;
}

PXT_TEST(a_wake_releases_all_sleepers)
{
	struct sleeper sleeper = { 0, 0 };
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CU_ASSERT_FATAL(!pthread_create(&threads[i], NULL, sleep_until_changed, &sleeper));
	pxt_port_pause_ns(20 * MS_NS);
	CU_ASSERT_EQUAL(atomic_load(&sleeper.awake), 0);
	atomic_store(&sleeper.word, 1);
	errno = 0;
	pxt_port_wake(&sleeper.word);
	CU_ASSERT_EQUAL(errno, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT_EQUAL(atomic_load(&sleeper.awake), 4);
}

/*
 * Dekker's handshake with a fence on one side only.  Were fence_all() no fence for the others,
 * now and then both would miss the other's flag.  (Where it says false, nothing was promised.)
 */
static _Atomic uint32_t handshake_round, flag_light, flag_heavy, saw_light, light_done;

static void *light_oob(void *argument)
{
	uint32_t rounds = *(const uint32_t *)argument;

	for (uint32_t i = 1; i <= rounds; i++) {
		while (atomic_load_explicit(&handshake_round, memory_order_acquire) != i)
			pxt_port_pause_ns(0);
		atomic_store_explicit(&flag_light, 1, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		atomic_store_explicit(&saw_light,
		    atomic_load_explicit(&flag_heavy, memory_order_relaxed), memory_order_relaxed);
		atomic_store_explicit(&light_done, i, memory_order_release);
	}
	return NULL;
}

PXT_TEST(a_fence_for_all_is_a_fence_for_the_others)
{
	uint32_t rounds = 3000;
	unsigned both_missed = 0;
	pthread_t thread;

	if (!pxt_port_fence_all()) {
		pxt_skip("the system has no such fence");
		return;
	}
	CU_ASSERT_FATAL(!pthread_create(&thread, NULL, light_oob, &rounds));
	for (uint32_t i = 1; i <= rounds; i++) {
		uint32_t saw;

		atomic_store(&flag_light, 0);
		atomic_store(&flag_heavy, 0);
		atomic_store_explicit(&handshake_round, i, memory_order_release);
		atomic_store_explicit(&flag_heavy, 1, memory_order_relaxed);
		CU_ASSERT_FATAL(pxt_port_fence_all());
		saw = atomic_load_explicit(&flag_light, memory_order_relaxed);
		while (atomic_load_explicit(&light_done, memory_order_acquire) != i)
			pxt_port_pause_ns(0);
		both_missed += saw == 0 && atomic_load(&saw_light) == 0;
	}
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(both_missed, 0);
}

static struct pxt_port_mutex mutex;
static unsigned long guarded;

static void *count_up(void *argument)
{
	for (int i = 0; i < 20000; i++) {
		pxt_port_mutex_lock(&mutex);
		guarded++;
		pxt_port_mutex_unlock(&mutex);
	}
	return NULL;
}

PXT_TEST(a_mutex_excludes)
{
	pthread_t threads[4];

	guarded = 0;
	pxt_port_mutex_init(&mutex);
	for (int i = 0; i < 4; i++)
		CU_ASSERT_FATAL(!pthread_create(&threads[i], NULL, count_up, NULL));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CU_ASSERT_EQUAL(guarded, 80000);
}

static atomic_bool stop_storing;

static void *store_slots(void *argument)
{
	uint64_t value = *(const uint64_t *)argument;

	while (!atomic_load_explicit(&stop_storing, memory_order_relaxed)) {
		pxt_slot_store(&shared_slot, value, value);
		value += 2;
	}
	return NULL;
}

static unsigned torn_slots(void)
{
	uint64_t seeds[2] = { 1, 0x123456789abcdef0u };
	pthread_t threads[2];
	unsigned torn = 0;

	pxt_slot_store(&shared_slot, 0, 0);
	atomic_store(&stop_storing, false);
	for (int i = 0; i < 2; i++)
		CU_ASSERT_FATAL(!pthread_create(&threads[i], NULL, store_slots, &seeds[i]));
	for (int i = 0; i < 300000; i++) {
		struct pxt_slot slot = pxt_slot_load(&shared_slot);

		/* Zeros: it was just being written. */
		if (slot.word[1] | slot.word[2] | slot.word[3])
			torn += slot.word[0] != slot.word[2] || slot.word[1] != slot.word[3];
	}
	atomic_store(&stop_storing, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return torn;
}

PXT_TEST(a_slot_is_never_seen_torn)
{
	CU_ASSERT_EQUAL(torn_slots(), 0);
}

static int handed_over;

static void *hand_over(void *unused)
{
	handed_over = 1;
	pxt_slot_store(&shared_slot, 7, 7);
	return unused;
}

/* A plain word: under ThreadSanitizer this fails as soon as either side tells less than it does. */
PXT_TEST(who_loads_a_slot_sees_what_was_written_before_it)
{
	struct pxt_slot slot;
	pthread_t thread;

	for (int i = 0; i < 100; i++) {
		handed_over = 0;
		pxt_slot_store(&shared_slot, 0, 0);
		CU_ASSERT_FATAL(!pthread_create(&thread, NULL, hand_over, NULL));
		do
			slot = pxt_slot_load(&shared_slot);
		while (slot.word[0] != 7);
		CU_ASSERT_EQUAL(handed_over, 1);
		pthread_join(thread, NULL);
	}
}

#if defined(__x86_64__) || defined(__aarch64__)
/* An emulator may do plain 16-byte accesses in two halves, as the processor does that it plays. */
static bool plain_access_is_whole(void)
{
#if defined(__x86_64__)
	return true;
#else
	return !pxt_port_slot_by_cas;
#endif
}

static void use_other_slot_access(void)
{
	pxt_port_slot_by_cas = !pxt_port_slot_by_cas;
}

#if defined(__x86_64__)
/* By each event's price: it is four times that of the fast path where slots are stored by exchange. */
PXT_TEST(slots_are_stored_plainly_on_a_processor_that_has_avx)
{
	unsigned a;
	unsigned b;
	unsigned c = 0;
	unsigned d;

	CU_ASSERT(__get_cpuid(1, &a, &b, &c, &d));
	CU_ASSERT_EQUAL(pxt_port_slot_by_cas, (c & bit_AVX) == 0);
}

#endif

/* The access of processors that do not promise whole plain accesses, or else that of those. */
PXT_TEST(the_other_access_tears_no_slot_either)
{
	struct pxt_slot slot;
	bool whole = plain_access_is_whole();

	use_other_slot_access();
	if (whole)
		CU_ASSERT_EQUAL(torn_slots(), 0);
	pxt_slot_store(&shared_slot, 0x8000000112345678u, 0xfedcba9876543210u);
	slot = pxt_slot_load(&shared_slot);
	use_other_slot_access();
	CU_ASSERT_EQUAL(slot.word[0], 0x12345678u);
	CU_ASSERT_EQUAL(slot.word[1], 0x80000001u);
	CU_ASSERT_EQUAL(slot.word[2], 0x76543210u);
	CU_ASSERT_EQUAL(slot.word[3], 0xfedcba98u);
}

/* DEC-18 */
PXT_TEST_FRESH(without_a_counter_stamps_are_monotonic_nanoseconds)
{
	struct pxt_clock_rate rate;
	struct pxt_clock_set set;
	long long before;

	pxt_port_use_counter = false;
	pxt_port_clock_start(&rate);
	CU_ASSERT_EQUAL(rate.source, POSIX_TRACE_CLOCK_MONOTONIC_NP);
	CU_ASSERT_EQUAL(rate.hz, 1000000000);
	CU_ASSERT_EQUAL(rate.error_ppm, 0);
	before = pxt_monotonic_ns();
	CU_ASSERT((long long)pxt_port_ticks() >= before);
	CU_ASSERT((long long)pxt_port_ticks_ordered() <= pxt_monotonic_ns());
	pxt_port_clock_read(&set);
	CU_ASSERT_EQUAL((long long)set.ticks, pxt_ns(&set.monotonic));
}

#if defined(__aarch64__)
/* DEC-18: also where the system's clock is taken instead, as under an emulator. */
PXT_TEST(the_counter_runs_at_the_rate_that_it_tells)
{
	struct pxt_clock_rate rate = { 0 };
	uint64_t first;
	double by_ticks;
	double by_clock;
	long long begin;

	(void)pxt_ticksource_rate(&rate);
	begin = pxt_monotonic_ns();
	first = pxt_port_ticks_plain();
	pxt_port_pause_ns(100 * MS_NS);
	by_ticks = (double)(pxt_port_ticks_plain() - first) / (double)rate.hz * 1e9;
	by_clock = (double)(pxt_monotonic_ns() - begin);
	CU_ASSERT(by_ticks > 0 && by_ticks < by_clock * 1.01);
	begin = pxt_monotonic_ns();
	first = pxt_port_ticks_plain();
	pxt_port_pause_ns(100 * MS_NS);
	by_clock = (double)(pxt_monotonic_ns() - begin);
	by_ticks = (double)(pxt_port_ticks_plain() - first) / (double)rate.hz * 1e9;
	CU_ASSERT(by_ticks > by_clock * 0.99);
}
#endif

#endif

#endif
