/* SPDX-License-Identifier: MIT */
/* storm.c - control calls from several threads while others trace. */
#include "conformance/story.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define WRITERS     4
#define CONTROLLERS 4

static atomic_int keep_on;
static atomic_ulong traced;

static void *write_on(void *argument)
{
	uint32_t source = *(const uint32_t *)argument;
	uint32_t number = 0;

	while (atomic_load(&keep_on)) {
		ev_say(source, ++number);
		if (number % 512 == 0)
			(void)sched_yield();
	}
	atomic_fetch_add(&traced, number);
	return NULL;
}

static pthread_t writers[WRITERS];

static void start_writers(void)
{
	static uint32_t sources[WRITERS];

	atomic_store(&keep_on, 1);
	atomic_store(&traced, 0);
	ev_give_nobody_up();
	(void)ev_type();
	for (uint32_t i = 0; i < WRITERS; i++) {
		sources[i] = i;
		PXT_EQ_FATAL(pthread_create(&writers[i], NULL, write_on, &sources[i]), 0);
	}
}

static void end_writers(void)
{
	atomic_store(&keep_on, 0);
	for (int i = 0; i < WRITERS; i++)
		(void)pthread_join(writers[i], NULL);
}

static unsigned rounds(void)
{
	return ev_total() / 500;
}

/* ---- One controller a stream: what it reads after its stop is exact ---- */

struct controller {
	pthread_t thread;
	int policy;
	unsigned lanes;
	trace_id_t trid;
	struct ev_witness witness;
	unsigned stops;
	unsigned failed_at; /* line of the first thing that went wrong, 0: none */
	unsigned long long seen;
	unsigned long long wanted;
};

#define EXPECT_EQ(controller, got, want)                                                           \
	expect_equal(controller, __LINE__, (unsigned long long)(got), (unsigned long long)(want))

static void expect_equal(
    struct controller *controller, unsigned line, unsigned long long got, unsigned long long want)
{
	if (got == want || controller->failed_at != 0)
		return;
	controller->failed_at = line;
	controller->seen = got;
	controller->wanted = want;
}

static void create_stream(struct controller *controller)
{
	trace_attr_t attr;
	int errors = posix_trace_attr_init(&attr);

	errors += posix_trace_attr_setstreamfullpolicy(&attr, controller->policy);
	errors += posix_trace_attr_setstreamsize(&attr, 1 << 13);
	errors += posix_trace_attr_setlanes_np(&attr, controller->lanes);
	errors += posix_trace_create(0, &attr, &controller->trid);
	EXPECT_EQ(controller, errors, 0);
	memset(&controller->witness, 0, sizeof(controller->witness));
}

/* After stop there is STOP, by call or (UNTIL_FULL) automatic, and then nothing. */
static void stop_and_look(struct controller *controller, bool was_running)
{
	struct posix_trace_counts_np counts;
	uint64_t read;

	EXPECT_EQ(controller, posix_trace_stop(controller->trid), 0);
	read = ev_drain(controller->trid, &controller->witness, (uint64_t)-1);
	EXPECT_EQ(
	    controller, posix_trace_getcounts_np(controller->trid, &counts, sizeof(counts)), 0);
	EXPECT_EQ(controller, counts.posix_held_np, 0);
	EXPECT_EQ(controller, ev_lawful(&counts), 1);
	EXPECT_EQ(controller, counts.posix_retrieved_np, ev_counted(&controller->witness));
	if (was_running) {
		controller->stops++;
		EXPECT_EQ(controller, read > 0, 1);
		EXPECT_EQ(controller,
		    controller->witness.last_was_stop ||
		        (controller->policy != POSIX_TRACE_LOOP &&
		            controller->witness.last_was_auto_stop),
		    1);
	}
	EXPECT_EQ(controller, ev_drain(controller->trid, &controller->witness, 1), 0);
}

#if _PXT_UNIT_FILTER
static void change_filter(struct controller *controller)
{
	trace_event_set_t set;
	int how = ev_random() & 1 ? POSIX_TRACE_ADD_EVENTSET : POSIX_TRACE_SUB_EVENTSET;

	(void)posix_trace_eventset_empty(&set);
	(void)posix_trace_eventset_add(
	    ev_random() & 3 ? POSIX_TRACE_UNNAMED_USEREVENT : ev_type(), &set);
	EXPECT_EQ(controller, posix_trace_set_filter(controller->trid, &set, how), 0);
}
#else
static void change_filter(struct controller *controller)
{
}
#endif

static void look_at_counts(struct controller *controller)
{
	struct posix_trace_counts_np counts;
	struct posix_trace_status_info status;

	EXPECT_EQ(
	    controller, posix_trace_getcounts_np(controller->trid, &counts, sizeof(counts)), 0);
	EXPECT_EQ(controller, !counts.posix_stable_np || ev_lawful(&counts), 1);
	EXPECT_EQ(controller, posix_trace_get_status(controller->trid, &status), 0);
	if (controller->policy != POSIX_TRACE_LOOP)
		EXPECT_EQ(controller,
		    status.posix_stream_status == POSIX_TRACE_RUNNING &&
		        status.posix_stream_full_status == POSIX_TRACE_FULL,
		    0);
}

static void *control_own_stream(void *argument)
{
	struct controller *controller = (struct controller *)argument;
	bool running = false;

	create_stream(controller);
	for (unsigned i = 0; i < rounds() && controller->failed_at == 0; i++) {
		switch (ev_random() % 8) {
		case 0:
		case 1:
			EXPECT_EQ(controller, posix_trace_start(controller->trid), 0);
			running = true;
			break;
		case 2:
			stop_and_look(controller, running);
			running = false;
			break;
		case 3:
			change_filter(controller);
			break;
		case 4:
			EXPECT_EQ(controller, posix_trace_clear(controller->trid), 0);
			/* An automatic stop may have become one by call. */
			running = running && controller->policy == POSIX_TRACE_LOOP;
			break;
		case 5:
			if (ev_random() % 16 != 0)
				break;
			EXPECT_EQ(controller, posix_trace_shutdown(controller->trid), 0);
			create_stream(controller);
			running = false;
			break;
		case 6:
			look_at_counts(controller);
			break;
		default:
			(void)ev_drain(controller->trid, &controller->witness, ev_random() % 500);
			break;
		}
	}
	stop_and_look(controller, false);
	EXPECT_EQ(controller, posix_trace_shutdown(controller->trid), 0);
	return NULL;
}

/* STOP-01, STOP-04, CLEAR-01, SHUT-07, SFILT-07, POL-03, DEC-42 */
PXT_TEST(nothing_comes_behind_stop_whatever_the_controllers_do)
{
	static struct controller controllers[CONTROLLERS];

	start_writers();
	for (int i = 0; i < CONTROLLERS; i++) {
		memset(&controllers[i], 0, sizeof(controllers[i]));
		controllers[i].policy = i & 1 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP;
		controllers[i].lanes = i < 2 ? 1 : 0;
		PXT_EQ_FATAL(pthread_create(
		                 &controllers[i].thread, NULL, control_own_stream, &controllers[i]),
		    0);
	}
	for (int i = 0; i < CONTROLLERS; i++) {
		struct controller *controller = &controllers[i];

		(void)pthread_join(controller->thread, NULL);
		PXT_CHECK(controller->failed_at == 0,
		    "line %u: %llu, not %llu (policy %d, lanes %u)", controller->failed_at,
		    controller->seen, controller->wanted, controller->policy, controller->lanes);
		CU_ASSERT(controller->stops > 0);
		PXT_EQ(controller->witness.torn, 0);
		PXT_EQ(controller->witness.disordered, 0);
		PXT_EQ(controller->witness.back, 0);
	}
	end_writers();
}

/* ---- Several controllers on one stream ---- */

static trace_id_t shared;
static atomic_uint trouble;

static void *control_shared_stream(void *argument)
{
	struct controller *controller = (struct controller *)argument;
	int error = 0;

	for (unsigned i = 0; i < rounds(); i++) {
		struct posix_trace_counts_np counts;

		switch (ev_random() % 6) {
		case 0:
		case 1:
			error = posix_trace_start(shared);
			break;
		case 2:
			error = posix_trace_stop(shared);
			break;
		case 3:
			if (ev_random() % 8 == 0)
				error = posix_trace_clear(shared);
			break;
		case 4:
			controller->trid = shared;
			change_filter(controller);
			break;
		default:
			error = posix_trace_getcounts_np(shared, &counts, sizeof(counts));
			if (counts.posix_stable_np && !ev_lawful(&counts))
				atomic_fetch_add(&trouble, 1);
			break;
		}
		atomic_fetch_add(&trouble, (unsigned)error);
	}
	return NULL;
}

static void *read_shared_stream(void *argument)
{
	struct ev_witness *witness = (struct ev_witness *)argument;

	while (atomic_load(&keep_on)) {
		if (ev_drain(shared, witness, 1000) == 0)
			pxt_sleep_us(50);
	}
	return NULL;
}

static void storm_over_one_stream(const struct st_spec *spec)
{
	static struct controller controllers[CONTROLLERS];
	static struct ev_witness witness;
	struct posix_trace_counts_np counts;
	pthread_t reader;

	memset(&witness, 0, sizeof(witness));
	shared = st_create(spec);
	start_writers();
	PXT_EQ_FATAL(pthread_create(&reader, NULL, read_shared_stream, &witness), 0);
	for (int i = 0; i < CONTROLLERS; i++) {
		memset(&controllers[i], 0, sizeof(controllers[i]));
		PXT_EQ_FATAL(pthread_create(&controllers[i].thread, NULL, control_shared_stream,
		                 &controllers[i]),
		    0);
	}
	for (int i = 0; i < CONTROLLERS; i++) {
		(void)pthread_join(controllers[i].thread, NULL);
		PXT_EQ(controllers[i].failed_at, 0);
	}
	end_writers();
	(void)pthread_join(reader, NULL);
	PXT_EQ(posix_trace_stop(shared), 0);
	(void)ev_drain(shared, &witness, (uint64_t)-1);
	PXT_EQ(posix_trace_getcounts_np(shared, &counts, sizeof(counts)), 0);
	printf(
	    "\n    policy %d, lanes %u: read %llu, starts %llu + %llu, stops %llu + %llu, filters "
	    "%llu; retrieved %llu, lost %llu, cleared %llu ",
	    spec->policy, spec->lanes, (unsigned long long)witness.user,
	    (unsigned long long)witness.starts, (unsigned long long)witness.auto_starts,
	    (unsigned long long)witness.stops, (unsigned long long)witness.auto_stops,
	    (unsigned long long)witness.filters, (unsigned long long)counts.posix_retrieved_np,
	    (unsigned long long)counts.posix_lost_np, (unsigned long long)counts.posix_cleared_np);
	PXT_EQ(atomic_load(&trouble), 0);
	CU_ASSERT(ev_lawful(&counts));
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(counts.posix_retrieved_np, ev_counted(&witness));
	CU_ASSERT(counts.posix_cleared_np > 0);
	PXT_EQ(witness.torn, 0);
	PXT_EQ(witness.disordered, 0);
	PXT_EQ(witness.back, 0);
	PXT_EQ(posix_trace_shutdown(shared), 0);
}

/* SAFE-03, CON-04, CLEAR-02, SFILT-07, STA-01 */
PXT_TEST(several_controllers_of_one_stream_break_no_law)
{
	const struct st_spec specs[] = {
		{ .policy = POSIX_TRACE_LOOP, .size = 1 << 13 },
		{ .policy = POSIX_TRACE_LOOP, .size = 1 << 13, .lanes = 1 },
		{ .policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 13 },
		{ .policy = POSIX_TRACE_UNTIL_FULL, .size = 1 << 13, .lanes = 1 },
		{ .policy = POSIX_TRACE_DISCARD_NP, .size = 1 << 13 },
		{ .policy = POSIX_TRACE_DISCARD_NP, .size = 1 << 13, .lanes = 1 },
	};

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
		storm_over_one_stream(&specs[i]);
}

/* ---- Streams that come and go ---- */

struct visitor {
	pthread_t thread;
	unsigned created;
	unsigned refused;
	unsigned wrong;
};

static void *wait_for_events(void *argument)
{
	trace_id_t trid = *(const trace_id_t *)argument;
	int error = 0;

	while (error == 0) {
		struct posix_trace_event_info info;
		unsigned char data[64];
		size_t len = 0;
		int unavailable = 0;

		error =
		    posix_trace_getnext_event(trid, &info, data, sizeof(data), &len, &unavailable);
	}
	return error == EINVAL ? NULL : argument;
}

static void *come_and_go(void *argument)
{
	struct visitor *visitor = (struct visitor *)argument;

	for (unsigned i = 0; i < rounds() / 4; i++) {
		trace_id_t trids[3] = { 0, 0, 0 };

		for (int k = 0; k < 3; k++) {
			int error = posix_trace_create(0, NULL, &trids[k]);

			visitor->created += error == 0;
			visitor->refused += error == EAGAIN;
			visitor->wrong += error != 0 && error != EAGAIN;
			if (error != 0)
				trids[k] = 0;
			else
				visitor->wrong += posix_trace_start(trids[k]) != 0;
		}
		pthread_t reader;
		bool reads = trids[0] != 0 && i % 8 == 0 &&
		             pthread_create(&reader, NULL, wait_for_events, &trids[0]) == 0;
		for (int k = 0; k < 3; k++) {
			if (trids[k] != 0)
				visitor->wrong += posix_trace_shutdown(trids[k]) != 0;
		}
		if (reads) {
			void *result = NULL;

			(void)pthread_join(reader, &result);
			visitor->wrong += result != NULL;
		}
	}
	return NULL;
}

/* CREATE-07, CREATE-E1, SHUT-04, SHUT-07, SHUT-08, SAFE-03, SAFE-07, DEC-42 */
PXT_TEST(streams_come_and_go_beside_writers_and_waiting_readers)
{
	static struct visitor visitors[CONTROLLERS];
	unsigned refused = 0;
	unsigned created = 0;

	start_writers();
	for (int i = 0; i < CONTROLLERS; i++) {
		memset(&visitors[i], 0, sizeof(visitors[i]));
		PXT_EQ_FATAL(
		    pthread_create(&visitors[i].thread, NULL, come_and_go, &visitors[i]), 0);
	}
	for (int i = 0; i < CONTROLLERS; i++) {
		(void)pthread_join(visitors[i].thread, NULL);
		PXT_EQ(visitors[i].wrong, 0);
		created += visitors[i].created;
		refused += visitors[i].refused;
	}
	/* On a busy machine one of them may find every place taken, each time. */
	CU_ASSERT(created > 0);
	end_writers();
	printf("\n    %u refused for want of a place ", refused);
	trace_id_t trids[TRACE_SYS_MAX];
	for (size_t i = 0; i < TRACE_SYS_MAX; i++)
		trids[i] = st_create(&(const struct st_spec){ 0 });
	for (size_t i = 0; i < TRACE_SYS_MAX; i++)
		PXT_EQ(posix_trace_shutdown(trids[i]), 0);
}
