/* SPDX-License-Identifier: MIT */
/*
 * forks.c - twenty processes with eight threads each trace into one inherited stream while their
 * parent reads.
 */
#include "conformance/story.h"
#include "port/port.h"
#include "suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILDREN 20u
#define THREADS  8u
#define SOURCES  (CHILDREN * THREADS)

_Static_assert(SOURCES <= EV_SOURCES, "each thread is a source");

/* In memory of all processes: the number of the last event that each source set out to write. */
static _Atomic uint32_t *numbers;
static uint32_t events_each;
static trace_id_t stream;
static pid_t children[CHILDREN];
static struct ev_witness witness;

/* ---- Children ---- */

static void *be_a_thread(void *argument)
{
	uint32_t source = *(const uint32_t *)argument;

	ev_go_on(source, &numbers[source], events_each);
	return NULL;
}

static void be_a_child(uint32_t child)
{
	static uint32_t sources[THREADS];
	pthread_t threads[THREADS];

	for (uint32_t i = 0; i < THREADS; i++) {
		sources[i] = child * THREADS + i;
		if (i && pthread_create(&threads[i], NULL, be_a_thread, &sources[i]) != 0)
			_exit(1);
	}
	(void)be_a_thread(&sources[0]);
	for (uint32_t i = 1; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	_exit(0);
}

static void begin_child(uint32_t child)
{
	(void)fflush(stdout);
	children[child] = fork();
	CU_ASSERT_FATAL(children[child] >= 0);
	if (children[child] == 0)
		be_a_child(child);
}

/* ---- Parent ---- */

static void begin(unsigned lanes)
{
	const struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .size = 1 << 20, .lanes = lanes };
	trace_attr_t attr;

	memset(&witness, 0, sizeof(witness));
	for (uint32_t i = 0; i < SOURCES; i++)
		atomic_store(&numbers[i], 0u);
	st_attr(&spec, &attr);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_start(stream), 0);
}

/* Stops the stream and takes the rest; what was written by whom is added up. */
static void end(unsigned lanes)
{
	struct posix_trace_counts_np counts;
	uint64_t tried = ev_sum(numbers, SOURCES);

	ev_take_rest(stream, &witness, &counts);
	printf("\n    lanes %u: traced %llu, read %llu, lost %llu ", lanes,
	    (unsigned long long)tried, (unsigned long long)witness.user,
	    (unsigned long long)counts.posix_lost_np);
	ev_expect_all(&witness, &counts);
	PXT_EQ(counts.posix_cleared_np, 0);
	/* Several lanes: what waited after a record that was given up may have lost its place. */
	CU_ASSERT(witness.disordered <= (lanes == 1 ? 0 : counts.posix_lost_np));
	CU_ASSERT(witness.user > 0);
	/* START and STOP are counted, too. */
	PXT_EQ(counts.posix_written_np - 2u - witness.passed_over, tried);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static void read_until_they_end(void)
{
	uint64_t got = 1;

	for (uint32_t child = 0; child < CHILDREN;) {
		int status = -1;

		if (!got)
			pxt_sleep_us(200);
		got = ev_drain(stream, &witness, 5000);
		if (waitpid(children[child], &status, WNOHANG) != children[child])
			continue;
		PXT_EQ(status, 0);
		child++;
	}
}

/* One block of memory that outlives children; it goes with the process. */
static void begin_shared(void)
{
	numbers = pxt_port_alloc_shared(SOURCES * sizeof(*numbers));
	CU_ASSERT_FATAL(numbers != NULL);
	(void)ev_type();
}

/* DEC-43, DEC-42, SAFE-03; ruling 7 */
PXT_TEST_FRESH(twenty_processes_of_eight_threads_share_a_stream)
{
	begin_shared();
	events_each = pxt_in_full() ? 20000 : 200;
	for (unsigned lanes = 0; lanes <= 1; lanes++) {
		begin(lanes);
		for (uint32_t child = 0; child < CHILDREN; child++)
			begin_child(child);
		read_until_they_end();
		end(lanes);
	}
}
