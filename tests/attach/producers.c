/* SPDX-License-Identifier: MIT */
/* producers.c - processes that attach to a stream of this one and trace into it. */
#define _GNU_SOURCE
#include "logs.h"

#include "core/process/names.h"
#include "core/process/replica.h"
#include "core/process/threads.h"
#include "format/attr_marks.h"
#include "format/ctlsock.h"
#include "port/port_local.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY 1000u

static struct pxt_got events[4 * MANY];

static uint32_t number_in(const struct pxt_got *event)
{
	uint32_t number = UINT32_MAX;

	if (event->len >= sizeof(number))
		memcpy(&number, event->data, sizeof(number));
	return number;
}

/* A stream of this process, and another process that attaches to it by its name. */
static trace_id_t stream;
static struct producer there;

static void begin(struct owner_spec spec, void (*body)(void *))
{
	stream = owner_open(&spec);
	there = producer_begin(body, NULL);
}

static uint64_t told(void)
{
	return producer_told(&there);
}

static void tell(uint64_t word)
{
	producer_tell(&there, word);
}

static void end(void)
{
	producer_end(&there);
	owner_close(stream);
}

/* In the other process: says that it has come so far, and waits for a word. */
static void pause_here(void)
{
	producer_say(0);
	(void)producer_hear();
}

/* ---- One process ---- */

static void *record_elsewhere(void *argument)
{
	trace_event_id_t id = *(trace_event_id_t *)argument;

	/* As if the process were the first of another pid namespace. */
	(void)posix_trace_thread_register_np();
	atomic_store(&pxt_threads->entry[pxt_self.index].pid, 1);
	pxt_replica_thread(pxt_threads, pxt_self.index);
	producer_say((uint64_t)(uintptr_t)pthread_self());
	posix_trace_event(id, "x", 1);
	return NULL;
}

static void trace_elsewhere(void *argument)
{
	trace_id_t trid = producer_attach(0);
	trace_event_id_t id;
	pthread_t thread;

	if (posix_trace_eventid_open("producers.mine", &id) != 0 ||
	    pthread_create(&thread, NULL, record_elsewhere, &id) != 0 ||
	    pthread_join(thread, NULL) != 0 || posix_trace_shutdown(trid) != 0)
		_exit(1);
}

static int32_t tid_told(pid_t pid, uint64_t thread)
{
	for (unsigned i = 1; i < CONFIG_PTRACE_MAX_THREADS; i++) {
		struct pxt_thread *entry = &pxt_threads->entry[i];

		if (atomic_load(&entry->pid) == pid && pxt_wide_load(&entry->thread) == thread)
			return atomic_load(&entry->tid);
	}
	return -1;
}

/* The kernel's events tell numbers of the owner's namespace: another thread may have that number there. */
PXT_TEST(a_thread_of_another_pid_namespace_has_no_number_of_this_one)
{
	uint64_t thread;

	begin((struct owner_spec){ .stream_bytes = 1 << 16 }, trace_elsewhere);
	thread = told();
	PXT_EQ(owner_collect(stream, events, 1, PATIENCE_MS), 1);
	PXT_EQ(events[0].info.posix_pid, there.pid);
	PXT_EQ(tid_told(there.pid, thread), 0);
	end();
}

static void trace_many(void *argument)
{
	trace_event_id_t id;
	trace_id_t trid;

	(void)prctl(PR_SET_NAME, "elsewhere", 0, 0, 0);
	trid = producer_attach(1 << 20);
	(void)posix_trace_eventid_open("producers.mine", &id);
	(void)posix_trace_thread_register_np();
	producer_say((uint64_t)(uintptr_t)pthread_self());
	for (uint32_t i = 0; i < MANY; i++)
		posix_trace_event(id, &i, sizeof(i));
	if (posix_trace_shutdown(trid) != 0)
		_exit(1);
}

static bool has_thread(pid_t pid, uint64_t thread, const char *name)
{
	for (unsigned i = 1; i < CONFIG_PTRACE_MAX_THREADS; i++) {
		const struct pxt_thread *entry = &pxt_threads->entry[i];

		if (atomic_load(&((struct pxt_thread *)(uintptr_t)entry)->pid) == pid &&
		    pxt_wide_load((pxt_wide *)(uintptr_t)&entry->thread) == thread)
			return strcmp(entry->name, name) == 0;
	}
	return false;
}

static void trace_unregistered(void *argument)
{
	trace_event_id_t id;
	trace_id_t trid;
	uint32_t number = 0;

	(void)prctl(PR_SET_NAME, "of few words", 0, 0, 0);
	trid = producer_attach(1 << 20);
	(void)posix_trace_eventid_open("producers.mine", &id);
	producer_say((uint64_t)(uintptr_t)pthread_self());
	posix_trace_event(id, &number, sizeof(number));
	if (posix_trace_shutdown(trid) != 0)
		_exit(1);
}

/* LPT-31 */
PXT_TEST(the_thread_that_attached_has_its_name_without_being_registered)
{
	uint64_t thread;

	begin((struct owner_spec){ .stream_bytes = 1 << 20 }, trace_unregistered);
	thread = told();
	PXT_EQ(owner_collect(stream, events, 1, PATIENCE_MS), 1);
	CU_ASSERT(has_thread(there.pid, thread, "of few words"));
	producer_end(&there);
	owner_wait_producers(stream, 0);
	owner_close(stream);
}

/* LPT-31 */
PXT_TEST(events_of_another_process_come_with_its_pid_thread_and_names)
{
	uint64_t thread;
	char name[TRACE_EVENT_NAME_MAX + 1];
	size_t count;
	unsigned wrong = 0;

	begin((struct owner_spec){ .stream_bytes = 1 << 20 }, trace_many);
	thread = told();
	count = owner_collect(stream, events, MANY, PATIENCE_MS);
	PXT_EQ(count, MANY);
	for (uint32_t i = 0; i < count; i++) {
		const struct posix_trace_event_info *info = &events[i].info;

		wrong += info->posix_pid != there.pid || number_in(&events[i]) != i ||
		         (uint64_t)(uintptr_t)info->posix_thread_id != thread ||
		         info->posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;
	}
	PXT_EQ(wrong, 0);
	PXT_EQ(posix_trace_eventid_get_name(stream, events[0].info.posix_event_id, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "producers.mine");
	CU_ASSERT(has_thread(there.pid, thread, "elsewhere"));
	producer_end(&there);
	owner_wait_producers(stream, 0);
	owner_expect_the_law(stream);
	owner_close(stream);
}

static void name_things(void *argument)
{
	trace_event_id_t mine;
	trace_event_id_t ours;

	(void)posix_trace_eventid_open("producers.before", &mine);
	(void)posix_trace_eventid_setformat_np(mine, "u32 number");
	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.ours", &ours);
	posix_trace_event(mine, "1", 1);
	posix_trace_event(ours, "2", 1);
	(void)posix_trace_eventid_open("producers.later", &mine);
	(void)posix_trace_eventid_setformat_np(mine, "u8 later");
	posix_trace_event(mine, "3", 1);
	pause_here();
}

/* LPT-31, LPT-32 */
PXT_TEST(a_type_is_the_same_where_its_name_is_whoever_defines_it_first)
{
	trace_event_id_t ours = pxt_open_event("producers.ours");
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

	begin((struct owner_spec){ 0 }, name_things);
	(void)told();
	PXT_EQ(owner_collect(stream, events, 3, PATIENCE_MS), 3);
	PXT_EQ(events[0].info.posix_event_id, pxt_open_event("producers.before"));
	PXT_EQ(events[1].info.posix_event_id, ours);
	PXT_EQ(events[2].info.posix_event_id, pxt_open_event("producers.later"));
	PXT_EQ(posix_trace_eventid_getformat_np(
	           stream, events[0].info.posix_event_id, format, sizeof(format)),
	    0);
	CU_ASSERT_STRING_EQUAL(format, "u32 number");
	pxt_sleep_ms(3 * CONFIG_PTRACE_ATTACH_PERIOD_MS);
	PXT_EQ(posix_trace_eventid_getformat_np(
	           stream, events[2].info.posix_event_id, format, sizeof(format)),
	    0);
	CU_ASSERT_STRING_EQUAL(format, "u8 later");
	tell(0);
	end();
}

/* Here, as if a forked process were stopped while it defines something. */
static _Atomic bool refuses;
static _Atomic unsigned refused;

int __real_pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new);
int __wrap_pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new);
int __real_pxt_names_set_format(unsigned id, const char *text);
int __wrap_pxt_names_set_format(unsigned id, const char *text);

static bool is_refused(void)
{
	if (!refuses)
		return false;
	refused++;
	return true;
}

int __wrap_pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new)
{
	return is_refused() ? EAGAIN : __real_pxt_names_open(name, id, is_new);
}

int __wrap_pxt_names_set_format(unsigned id, const char *text)
{
	return is_refused() ? EAGAIN : __real_pxt_names_set_format(id, text);
}

static void wait_for_refusals(unsigned count)
{
	unsigned until = refused + count;

	for (int i = 0; i < 30000 && (int)(refused - until) < 0; i++)
		pxt_sleep_ms(1);
	CU_ASSERT((int)(refused - until) >= 0);
	refuses = false;
}

static void name_when_told(void *argument)
{
	trace_event_id_t id;

	(void)producer_attach(0);
	pause_here();
	(void)posix_trace_eventid_open("producers.refused", &id);
	pause_here();
	(void)posix_trace_eventid_setformat_np(id, "u8 refused");
	pause_here();
	posix_trace_event(id, "1", 1);
	pause_here();
}

/* LPT-31 */
PXT_TEST(a_type_that_the_owner_cannot_define_at_first_is_defined_by_a_later_try)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1] = "";
	char name[TRACE_EVENT_NAME_MAX + 1] = "";

	begin((struct owner_spec){ 0 }, name_when_told);
	(void)told();
	for (unsigned what = 0; what < 2; what++) {
		refuses = true;
		tell(0);
		(void)told();
		wait_for_refusals(2);
	}
	tell(0);
	(void)told();
	PXT_EQ_FATAL(owner_collect(stream, events, 1, 30000), 1);
	PXT_EQ(posix_trace_eventid_get_name(stream, events[0].info.posix_event_id, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "producers.refused");
	for (int i = 0; i < 30000 && !format[0]; i++) {
		pxt_sleep_ms(1);
		PXT_EQ(posix_trace_eventid_getformat_np(
		           stream, events[0].info.posix_event_id, format, sizeof(format)),
		    0);
	}
	CU_ASSERT_STRING_EQUAL(format, "u8 refused");
	tell(0);
	end();
}

static void describe_later(void *argument)
{
	trace_event_id_t id;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.described", &id);
	posix_trace_event(id, "1", 1);
	pause_here();
	(void)posix_trace_eventid_setformat_np(id, "u8 late");
	pause_here();
}

/* LPT-31: the name has been learnt when its event comes. */
PXT_TEST(a_description_that_comes_after_its_name_is_learnt_as_well)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1] = "";

	begin((struct owner_spec){ 0 }, describe_later);
	(void)told();
	PXT_EQ_FATAL(owner_collect(stream, events, 1, PATIENCE_MS), 1);
	PXT_EQ(posix_trace_eventid_getformat_np(
	           stream, events[0].info.posix_event_id, format, sizeof(format)),
	    0);
	CU_ASSERT_STRING_EQUAL(format, "");
	tell(0);
	(void)told();
	for (int i = 0; i < 1000 && !format[0]; i++) {
		pxt_sleep_ms(1);
		PXT_EQ(posix_trace_eventid_getformat_np(
		           stream, events[0].info.posix_event_id, format, sizeof(format)),
		    0);
	}
	CU_ASSERT_STRING_EQUAL(format, "u8 late");
	tell(0);
	end();
}

static void attach_with_lanes(void *argument)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		unsigned got = 0;
		trace_attr_t attr;
		trace_id_t trid;

		if (posix_trace_attr_init(&attr) != 0 ||
		    posix_trace_attr_setlanes_np(&attr, lanes) != 0 ||
		    posix_trace_attach_np(owner_name, &attr, &trid) != 0 ||
		    posix_trace_get_attr(trid, &attr) != 0 ||
		    posix_trace_attr_getlanes_np(&attr, &got) != 0 ||
		    posix_trace_shutdown(trid) != 0)
			_exit(1);
		producer_say(got);
	}
}

/* LPT-31: one of the two is not the default. */
PXT_TEST(an_attachment_has_as_many_lanes_as_it_was_given)
{
	begin((struct owner_spec){ 0 }, attach_with_lanes);
	PXT_EQ(told(), 1);
	PXT_EQ(told(), 2);
	producer_end(&there);
	owner_wait_producers(stream, 0);
	owner_close(stream);
}

static void trace_a_long_one(void *argument)
{
	trace_event_id_t id;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.long", &id);
	posix_trace_event(id, "0123456789abcdef0123456789abcdef", 32);
}

/* TRU-01, LPT-31 */
PXT_TEST(what_is_longer_than_the_owners_data_size_is_cut_there)
{
	begin((struct owner_spec){ .data_bytes = 16 }, trace_a_long_one);
	PXT_EQ(owner_collect(stream, events, 1, PATIENCE_MS), 1);
	PXT_EQ(events[0].len, 16);
	PXT_EQ(events[0].info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	CU_ASSERT(memcmp(events[0].data, "0123456789abcdef", 16) == 0);
	end();
}

static void trace_with_a_smaller_size(void *argument)
{
	trace_event_id_t id;
	trace_attr_t attr;
	trace_id_t trid;

	(void)posix_trace_eventid_open("producers.long", &id);
	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setmaxdatasize(&attr, 12);
	if (posix_trace_attach_np(owner_name, &attr, &trid) != 0)
		_exit(1);
	posix_trace_event(id, "0123456789ab", 12);
	posix_trace_event(id, "0123456789abc", 13);
}

/* TRU-01, LPT-31 */
PXT_TEST(what_is_longer_than_the_attachment_s_data_size_is_told_as_cut)
{
	begin((struct owner_spec){ 0 }, trace_with_a_smaller_size);
	PXT_EQ(owner_collect(stream, events, 2, PATIENCE_MS), 2);
	PXT_EQ(events[0].len, 12);
	PXT_EQ(events[0].info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	PXT_EQ(events[1].len, 12);
	PXT_EQ(events[1].info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	end();
}

/* ---- Control ---- */

static void follow_the_owner(void *argument)
{
	trace_event_id_t id;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.follow", &id);
	producer_wait(id, false);
	posix_trace_event(id, "stopped", 7);
	producer_say(1);
	producer_wait(id, true);
	posix_trace_event(id, "running", 7);
	producer_say(2);
	producer_wait(id, false);
	posix_trace_event(id, "stopped", 7);
	producer_say(3);
	producer_wait(id, true);
	posix_trace_event(id, "again", 5);
	producer_say(4);
}

/* LPT-31; ruling 11 */
PXT_TEST(a_process_traces_while_the_owners_stream_runs)
{
	begin((struct owner_spec){ .stopped = true }, follow_the_owner);
	PXT_EQ(told(), 1);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ(told(), 2);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(told(), 3);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ(told(), 4);
	PXT_EQ(owner_collect(stream, events, 3, 100), 2);
	CU_ASSERT(memcmp(events[0].data, "running", 7) == 0);
	CU_ASSERT(memcmp(events[1].data, "again", 5) == 0);
	producer_end(&there);
	owner_expect_the_law(stream);
	owner_close(stream);
}

#if _PXT_UNIT_FILTER
static void trace_two_types(void *argument)
{
	trace_event_id_t wanted;
	trace_event_id_t unwanted;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.wanted", &wanted);
	(void)posix_trace_eventid_open("producers.unwanted", &unwanted);
	for (int i = 0; i < 10; i++) {
		posix_trace_event(unwanted, "x", 1);
		posix_trace_event(wanted, "x", 1);
	}
	pause_here();
}

/* LPT-31 */
PXT_TEST(the_owners_filter_holds_for_others)
{
	trace_event_id_t unwanted = pxt_open_event("producers.unwanted");
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	trace_event_set_t set;
	struct producer producer;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(unwanted, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	producer = producer_begin(trace_two_types, NULL);
	(void)producer_told(&producer);
	PXT_EQ(owner_collect(trid, events, 20, 50), 10);
	for (int i = 0; i < 10; i++)
		PXT_EQ(events[i].info.posix_event_id, pxt_open_event("producers.wanted"));
	producer_tell(&producer, 0);
	producer_end(&producer);
	owner_expect_the_law(trid);
	owner_close(trid);
}

static bool same_counts(
    const struct posix_trace_counts_np *one, const struct posix_trace_counts_np *other)
{
	return one->posix_written_np == other->posix_written_np &&
	       one->posix_cleared_np == other->posix_cleared_np &&
	       one->posix_held_np == other->posix_held_np &&
	       one->posix_lost_np == other->posix_lost_np;
}

static void clear_as_a_producer(void *argument)
{
	trace_event_id_t wanted;
	trace_event_id_t unwanted;
	trace_event_set_t set;
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;
	trace_id_t trid;
	int member = 0;

	trid = producer_attach(0);
	(void)posix_trace_eventid_open("producers.wanted", &wanted);
	(void)posix_trace_eventid_open("producers.unwanted", &unwanted);
	if (posix_trace_eventset_empty(&set) != 0 ||
	    posix_trace_eventset_add(unwanted, &set) != 0 ||
	    posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET) != 0)
		_exit(1);
	for (int i = 0; i < 10; i++)
		posix_trace_event(wanted, "x", 1);
	if (posix_trace_getcounts_np(trid, &before, sizeof(before)) != 0)
		_exit(1);
	producer_say((uint64_t)posix_trace_clear(trid));
	if (posix_trace_getcounts_np(trid, &after, sizeof(after)) != 0 ||
	    posix_trace_get_filter(trid, &set) != 0 ||
	    posix_trace_eventset_ismember(unwanted, &set, &member) != 0)
		_exit(1);
	producer_say(same_counts(&before, &after));
	producer_say((uint64_t)member);
	posix_trace_event(unwanted, "x", 1);
	pause_here();
}

/* LPT-31 */
PXT_TEST(a_clear_of_an_attachment_is_refused_and_changes_nothing)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ 0 });
	trace_event_id_t wanted = pxt_open_event("producers.wanted");
	struct producer producer = producer_begin(clear_as_a_producer, NULL);

	PXT_EQ(producer_told(&producer), EINVAL);
	PXT_EQ(producer_told(&producer), true);
	PXT_EQ(producer_told(&producer), true);
	PXT_EQ(producer_told(&producer), 0);
	PXT_EQ(owner_collect(trid, events, 11, 50), 10);
	for (int i = 0; i < 10; i++)
		PXT_EQ(events[i].info.posix_event_id, wanted);
	producer_tell(&producer, 0);
	producer_end(&producer);
	owner_expect_the_law(trid);
	owner_close(trid);
}
#endif

/* ---- Losses ---- */

#define FLOOD 100000u

static void flood(void *argument)
{
	trace_event_id_t id;
	size_t bytes = *(const size_t *)argument;
	trace_id_t trid = producer_attach(bytes);

	(void)posix_trace_eventid_open("producers.flood", &id);
	for (uint32_t i = 0; i < FLOOD; i++)
		posix_trace_event(id, &i, sizeof(i));
	(void)posix_trace_shutdown(trid);
}

/* Numbers never come twice or out of order; what does not come is counted. */
static void flood_of(size_t producers_bytes, size_t owners_bytes, bool read_meanwhile)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ .stream_bytes = owners_bytes });
	trace_event_id_t id = pxt_open_event("producers.flood");
	struct producer producer = producer_begin(flood, &producers_bytes);
	struct posix_trace_counts_np counts;
	struct pxt_got event;
	uint64_t got = 0;
	uint32_t last = UINT32_MAX;
	unsigned wrong = 0;

	if (!read_meanwhile) {
		producer_end(&producer);
		owner_wait_producers(trid, 0);
	}
	/* A producer that records meanwhile may have no processor for long. */
	while (owner_collect(trid, &event, 1, read_meanwhile && last != FLOOD - 1 ? 30000 : 200)) {
		if (event.info.posix_event_id != id)
			continue;
		wrong += last != UINT32_MAX && number_in(&event) <= last;
		last = number_in(&event);
		got++;
	}
	if (read_meanwhile)
		producer_end(&producer);
	PXT_EQ(last, FLOOD - 1);
	PXT_EQ(wrong, 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(counts.posix_held_np, 0);
	/*
	 * START is this process' own, and may be lost as well; so is the error event of a producer that was off
	 * its processor for longer than the hold-back time.
	 */
	CU_ASSERT(counts.posix_written_np > FLOOD && counts.posix_written_np <= FLOOD + 3);
	PXT_EQ(counts.posix_retrieved_np + counts.posix_lost_np, counts.posix_written_np);
	CU_ASSERT(counts.posix_retrieved_np - got <= counts.posix_written_np - FLOOD);
	owner_expect_the_law(trid);
	owner_close(trid);
}

/* LPT-31, POL-12 */
PXT_TEST(what_is_overwritten_in_either_process_is_counted_to_the_last_event)
{
	flood_of(1024, 1 << 20, false);
	flood_of(4096, 1 << 20, true);
	flood_of(65536, 4096, false);
	flood_of(65536, 65536, true);
	flood_of(8 << 20, 8 << 20, true);
}

/* ---- Comings and goings ---- */

/* Descriptors, threads, mappings of this process. */
struct belongings {
	unsigned descriptors;
	unsigned threads;
	unsigned mappings;
};

/* A sanitizer maps memory of its own now and then; what was left behind each time would be more. */

static void say_with_descriptors(int connection, uint32_t what, int passed)
{
	const struct pxt_ctlsock_reply reply = {
		.magic = PXT_CTLSOCK_MAGIC, .version = PXT_CTLSOCK_VERSION, .what = what
	};
	const int two[] = { passed, passed };
	union {
		struct cmsghdr align;
		unsigned char bytes[CMSG_SPACE(sizeof(two))];
	} room = { .bytes = { 0 } };
	struct iovec part = { .iov_base = (void *)(uintptr_t)&reply, .iov_len = sizeof(reply) };
	struct msghdr whole = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = room.bytes,
		.msg_controllen = sizeof(room.bytes) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&whole);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(two));
	memcpy(CMSG_DATA(head), two, sizeof(two));
	PXT_EQ(sendmsg(connection, &whole, MSG_NOSIGNAL), sizeof(reply));
}

static void attach_and_count_descriptors(void *argument)
{
	for (int i = 0; i < 2; i++) {
		if (posix_trace_shutdown(producer_attach(0)) != 0)
			_exit(1);
		producer_say(party_entries("/proc/self/fd"));
	}
}

/* In the owner's place.  Who does not come within a minute does not come. */
static int listen_as_owner(void)
{
	const struct timeval patience = { .tv_sec = 60 };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	owner_place();
	CU_ASSERT_FATAL(snprintf(at.sun_path, sizeof(at.sun_path), "%s", owner_name) <
	                (int)sizeof(at.sun_path));
	CU_ASSERT_FATAL(listener >= 0);
	PXT_EQ(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	PXT_EQ_FATAL(bind(listener, (const struct sockaddr *)&at, sizeof(at)), 0);
	PXT_EQ_FATAL(listen(listener, 1), 0);
	return listener;
}

/* LPT-31, SAFE-01 */
PXT_TEST(descriptors_that_come_with_an_owners_answer_are_closed)
{
	int listener = listen_as_owner();
	struct producer producer = producer_begin(attach_and_count_descriptors, NULL);
	int passed = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uint64_t left[2];

	for (int i = 0; i < 2; i++) {
		int connection = accept(listener, NULL, NULL);

		CU_ASSERT_FATAL(connection >= 0);
		say_with_descriptors(connection, PXT_CTLSOCK_ATTACH, passed);
		left[i] = producer_told(&producer);
		(void)close(connection);
	}
	PXT_EQ(left[0], left[1]);
	producer_end(&producer);
	(void)close(passed);
	(void)close(listener);
	owner_clear_away();
}

/* Descriptors 0 to 2 are never the library's: it moves up. */
static void attach_without_standard_input(void *argument)
{
	trace_event_id_t id;

	(void)close(0);
	(void)producer_attach(0);
	if (fcntl(0, F_GETFD) >= 0)
		_exit(1);
	(void)posix_trace_eventid_open("producers.low", &id);
	posix_trace_event(id, "low", 3);
	pause_here();
}

/* LPT-31 */
PXT_TEST(a_program_without_standard_input_can_attach)
{
	begin((struct owner_spec){ 0 }, attach_without_standard_input);
	(void)told();
	PXT_EQ(owner_count(stream, pxt_open_event("producers.low"), 1, PATIENCE_MS), 1);
	tell(0);
	end();
}

static int attach_below(rlim_t bytes)
{
	struct rlimit limit;
	trace_id_t trid;
	int error;

	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		_exit(8);
	error = posix_trace_attach_np(owner_name, NULL, &trid);
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
	return error;
}

/* The second time the names are there already, and the memory for events is not. */
static void attach_below_a_limit(void *argument)
{
	unsigned before;

	(void)signal(SIGXFSZ, SIG_DFL);
	producer_say((uint64_t)attach_below(4096));
	if (posix_trace_shutdown(producer_attach(0)) != 0)
		_exit(1);
	before = party_entries("/proc/self/fd");
	producer_say((uint64_t)attach_below(4096));
	producer_say(party_entries("/proc/self/fd") - before);
}

/* LPT-31, SAFE-01 */
PXT_TEST(beyond_the_limit_of_file_size_there_is_no_memory_and_no_signal)
{
	begin((struct owner_spec){ 0 }, attach_below_a_limit);
	PXT_EQ(told(), ENOMEM);
	PXT_EQ(told(), ENOMEM);
	PXT_EQ(told(), 0);
	producer_end(&there);
	owner_wait_producers(stream, 0);
	owner_close(stream);
}

static void attach_twice(void *argument)
{
	trace_id_t first = producer_attach(0);
	trace_event_id_t id;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.both", &id);
	posix_trace_event(id, NULL, 0);
	if (posix_trace_shutdown(first) != 0)
		_exit(1);
	(void)posix_trace_eventid_open("producers.second", &id);
	posix_trace_event(id, NULL, 0);
	pause_here();
}

/* LPT-31 */
PXT_TEST(names_reach_all_attachments_of_a_process_and_outlive_the_first)
{
	trace_event_id_t both;
	trace_event_id_t second;
	unsigned of_both = 0;
	unsigned of_second = 0;

	begin((struct owner_spec){ 0 }, attach_twice);
	(void)told();
	/* Not sooner: a child begins with the names that there are by its first call. */
	both = pxt_open_event("producers.both");
	second = pxt_open_event("producers.second");
	for (size_t left = owner_collect(stream, events, 4, 200); left; left--) {
		of_both += events[left - 1].info.posix_event_id == both;
		of_second += events[left - 1].info.posix_event_id == second;
	}
	PXT_EQ(of_both, 2);
	PXT_EQ(of_second, 1);
	tell(0);
	end();
}

static void fork_and_attach(void *argument)
{
	trace_event_id_t id;
	pid_t child;
	int status;

	(void)producer_attach(0);
	child = fork();
	if (child == 0)
		(void)producer_attach(0);
	(void)posix_trace_eventid_open(child ? "producers.parent" : "producers.child", &id);
	posix_trace_event(id, NULL, 0);
	if (child == 0)
		_exit(0);
	if (waitpid(child, &status, 0) != child || status != 0)
		_exit(1);
	producer_say((uint64_t)child);
	(void)producer_hear();
}

/* LPT-31 */
PXT_TEST(a_child_that_attaches_itself_has_names_of_its_own)
{
	trace_event_id_t by_child;
	pid_t child;

	begin((struct owner_spec){ 0 }, fork_and_attach);
	by_child = pxt_open_event("producers.child");
	child = (pid_t)told();
	PXT_EQ(owner_collect(stream, events, 2, PATIENCE_MS), 2);
	for (unsigned i = 0; i < 2; i++)
		PXT_EQ(events[i].info.posix_pid,
		    events[i].info.posix_event_id == by_child ? child : there.pid);
	CU_ASSERT(events[0].info.posix_event_id != events[1].info.posix_event_id);
	tell(0);
	end();
}

static void own_until_killed(void *argument)
{
	(void)owner_open(&(const struct owner_spec){ .placed = true });
	pause_here();
}

/* LPT-31, SAFE-01 */
PXT_TEST(a_process_goes_on_without_effect_when_the_owner_is_killed)
{
	trace_event_id_t id = pxt_open_event("producers.orphan");
	struct posix_trace_status_info status;
	trace_id_t trid = 0;
	trace_id_t other = 0;
	struct producer owner;
	int i;

	owner_place();
	owner = producer_begin(own_until_killed, NULL);
	PXT_EQ(producer_told(&owner), 0);
	PXT_EQ_FATAL(posix_trace_attach_np(owner_name, NULL, &trid), 0);
	CU_ASSERT(posix_trace_wanted_np(id));
	posix_trace_event(id, "heard", 5);
	producer_kill(&owner);
	for (i = 0; i < 2000 && posix_trace_wanted_np(id); i++)
		pxt_sleep_ms(1);
	PXT_CHECK(i < 2000, "trace points have their effect still");
	posix_trace_event(id, "unheard", 7);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	PXT_EQ(posix_trace_attach_np(owner_name, NULL, &other), ENOENT);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	owner_clear_away();
}

static void fork_and_end(void *argument)
{
	trace_event_id_t id;
	pid_t child;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.forks", &id);
	posix_trace_event(id, "parent", 6);
	child = fork();
	if (child == 0) {
		posix_trace_event(id, "child", 5);
		producer_say(posix_trace_wanted_np(id) != 0);
		(void)producer_hear();
		_exit(0);
	}
}

/* DEC-34 */
PXT_TEST(a_forked_child_of_an_attached_process_is_not_attached)
{
	begin((struct owner_spec){ 0 }, fork_and_end);
	PXT_EQ(told(), 0);
	/* Its parent has ended; that it lives itself is no attachment. */
	owner_wait_producers(stream, 0);
	PXT_EQ(owner_collect(stream, events, 2, 50), 1);
	CU_ASSERT(memcmp(events[0].data, "parent", 6) == 0);
	tell(0);
	end();
}

#if _PXT_UNIT_TOLOG && CONFIG_PTRACE_POLICY_FLUSH
#define BURST 20000u

static void record_a_burst(void *argument)
{
	trace_event_id_t id;
	trace_id_t trid;

	(void)producer_hear();
	trid = producer_attach(1 << 20);
	(void)posix_trace_eventid_open("producers.burst", &id);
	producer_wait(id, true);
	for (uint32_t i = 0; i < BURST; i++)
		posix_trace_event(id, &i, sizeof(i));
	if (posix_trace_shutdown(trid) != 0)
		_exit(1);
}

static uint64_t written_once_flushed(trace_id_t trid)
{
	struct posix_trace_counts_np counts = { 0 };

	for (int i = 0; i < 2000 && counts.posix_written_np < BURST; i++) {
		PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
		pxt_sleep_ms(1);
	}
	PXT_EQ(counts.posix_lost_np, 0);
	return counts.posix_written_np;
}

/* Ten times as much as the stream holds; the process' own memory holds it all. */
PXT_TEST(what_a_flushed_stream_has_no_room_for_waits_with_its_process)
{
	struct producer producer;
	trace_attr_t attr;
	trace_id_t trid = 0;
	int file = pxt_temp_file();

	owner_place();
	/* Before the log has a thread, which a sanitizer's memory may be locked by at a fork. */
	producer = producer_begin(record_a_burst, NULL);
	pxt_attr(&attr, 65536, 0, POSIX_TRACE_FLUSH);
	PXT_EQ_FATAL(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ_FATAL(posix_trace_attr_setlanes_np(&attr, 1), 0);
	PXT_EQ_FATAL(posix_trace_attr_setsharename_np(&attr, owner_name), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, file, &trid), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	producer_tell(&producer, 0);
	producer_end(&producer);
	CU_ASSERT(written_once_flushed(trid) >= BURST);
	owner_close(trid);
	(void)close(file);
}
#endif

/* ---- Guests: programs that did not ask for it ---- */

#define GUESTS (CONFIG_PTRACE_ATTACH_MAX + 20u)

static trace_id_t guest_attach(void)
{
	trace_attr_t attr;
	trace_id_t trid;
	int error = posix_trace_attr_init(&attr);

	attr._pxt_kept._pxt_flags |= PXT_ATTR_GUEST;
	if (!error)
		error = posix_trace_attach_np(owner_name, &attr, &trid);
	if (error)
		_exit(10 + error);
	return trid;
}

static void attach_as_guest(void *argument)
{
	unsigned threads = party_entries("/proc/self/task");
	unsigned descriptors = party_entries("/proc/self/fd");

	(void)guest_attach();
	if (party_entries("/proc/self/task") != threads)
		_exit(1);
	if (party_entries("/proc/self/fd") != descriptors)
		_exit(2);
	producer_say(1);
	(void)producer_hear();
}

PXT_TEST(a_guest_gets_no_thread_and_keeps_no_descriptor)
{
	begin((struct owner_spec){ .guests = true }, attach_as_guest);
	PXT_EQ(told(), 1);
	owner_wait_producers(stream, 1);
	tell(1);
	producer_end(&there);
	owner_wait_producers(stream, 0);
	owner_close(stream);
}

static void record_as_guest(void *argument)
{
	trace_event_id_t id;
	uint32_t number = *(const uint32_t *)argument;

	(void)guest_attach();
	if (posix_trace_eventid_open("producers.guest", &id) != 0)
		_exit(1);
	posix_trace_event(id, &number, sizeof(number));
	/* No end that anybody could see to. */
	_exit(0);
}

/* More than there are places, each gone before the owner may have looked at it. */
PXT_TEST(what_guests_record_at_once_comes_in_its_order_however_soon_they_end)
{
	trace_id_t trid =
	    owner_open(&(struct owner_spec){ .stream_bytes = 1 << 20, .guests = true });
	struct timespec last = { 0 };

	for (uint32_t i = 0; i < GUESTS; i++) {
		struct producer producer = producer_begin(record_as_guest, &i);

		producer_end(&producer);
	}
	PXT_EQ_FATAL(owner_collect(trid, events, GUESTS, PATIENCE_MS), GUESTS);
	for (uint32_t i = 0; i < GUESTS; i++) {
		const struct timespec *at = &events[i].info.posix_timestamp;

		PXT_EQ(number_in(&events[i]), i);
		CU_ASSERT(at->tv_sec > last.tv_sec ||
		          (at->tv_sec == last.tv_sec && at->tv_nsec > last.tv_nsec));
		last = *at;
	}
	owner_wait_producers(trid, 0);
	owner_expect_the_law(trid);
	owner_close(trid);
}

static void attach_as_guest_twice(void *argument)
{
	trace_event_id_t id;
	trace_id_t trid;
	uint32_t number = 1;

	trid = guest_attach();
	if (posix_trace_eventid_open("producers.guest", &id) != 0)
		_exit(1);
	posix_trace_event(id, &number, sizeof(number));
	/* As an exec does it, which tells nobody. */
	if (posix_trace_shutdown(trid) != 0)
		_exit(2);
	number++;
	(void)guest_attach();
	posix_trace_event(id, &number, sizeof(number));
	producer_say(1);
	(void)producer_hear();
}

PXT_TEST(a_guest_that_comes_again_after_an_exec_has_one_place)
{
	begin((struct owner_spec){ .guests = true }, attach_as_guest_twice);
	(void)told();
	PXT_EQ_FATAL(owner_collect(stream, events, 2, PATIENCE_MS), 2);
	PXT_EQ(number_in(&events[0]), 1);
	PXT_EQ(number_in(&events[1]), 2);
	owner_wait_producers(stream, 1);
	tell(1);
	end();
}

/* How many its own memory has of what it was told to record: as many unnamed events as named ones. */
static uint64_t guest_records(trace_id_t trid, trace_event_id_t id, uint64_t pairs)
{
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;

	if (posix_trace_getcounts_np(trid, &before, sizeof(before)) != 0)
		_exit(1);
	for (uint64_t i = 0; i < pairs; i++) {
		posix_trace_event(id, "name", 4);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "none", 4);
	}
	if (posix_trace_getcounts_np(trid, &after, sizeof(after)) != 0)
		_exit(2);
	return after.posix_written_np - before.posix_written_np;
}

static void obey_as_guest(void *argument)
{
	trace_id_t trid = guest_attach();
	trace_event_id_t id;

	if (posix_trace_eventid_open("producers.guest", &id) != 0)
		_exit(3);
	for (uint64_t pairs = producer_hear(); pairs; pairs = producer_hear())
		producer_say(guest_records(trid, id, pairs));
}

static uint64_t told_to_record(uint64_t pairs)
{
	tell(pairs);
	return told();
}

/* More than a lap of its lanes, in which it looks what is wanted. */
#define LAP 100000u

PXT_TEST(a_guest_records_nothing_while_its_owner_is_stopped)
{
	begin((struct owner_spec){ .guests = true }, obey_as_guest);
	owner_wait_producers(stream, 1);
	PXT_EQ(told_to_record(5), 10);
	PXT_EQ(posix_trace_stop(stream), 0);
	CU_ASSERT(told_to_record(LAP) < 2 * LAP);
	PXT_EQ(told_to_record(1000), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ(told_to_record(5), 10);
	tell(0);
	end();
}

PXT_TEST(a_guest_that_comes_to_a_stopped_owner_records_from_its_start_on)
{
	begin((struct owner_spec){ .guests = true, .stopped = true }, obey_as_guest);
	owner_wait_producers(stream, 1);
	(void)told_to_record(LAP);
	PXT_EQ(told_to_record(1000), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ(told_to_record(5), 10);
	tell(0);
	end();
}

PXT_TEST(a_guest_does_not_record_what_its_owner_filters)
{
	trace_event_set_t set;

	begin((struct owner_spec){ .guests = true }, obey_as_guest);
	owner_wait_producers(stream, 1);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
	(void)told_to_record(LAP);
	PXT_EQ(told_to_record(1000), 1000);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(told_to_record(1000), 2000);
	tell(0);
	end();
}

/* ---- A stream that is inherited as well ---- */

static void attach_when_told(void *argument)
{
	trace_event_id_t id;

	(void)producer_hear();
	(void)producer_attach(0);
	(void)posix_trace_eventid_open("producers.both", &id);
	producer_wait(id, true);
	posix_trace_event(id, NULL, 0);
	pause_here();
}

static void inherit_and_attach(void *argument)
{
	trace_event_id_t id;
	trace_id_t trid;

	(void)posix_trace_eventid_open("producers.both", &id);
	posix_trace_event(id, NULL, 0);
	producer_say((uint64_t)posix_trace_attach_np(owner_name, NULL, &trid));
	posix_trace_event(id, NULL, 0);
	producer_say(0);
}

/* LPT-31: what it records would come twice. */
PXT_TEST(who_inherited_a_stream_is_not_attached_to_it_and_others_are_beside_it)
{
	struct producer outsider;
	struct producer heir;
	trace_event_id_t both;
	trace_id_t trid;
	unsigned of_heir = 0;
	unsigned of_outsider = 0;

	owner_place();
	/* Before there is a stream to inherit. */
	outsider = producer_begin(attach_when_told, NULL);
	trid = owner_open(&(const struct owner_spec){ .inherited = true, .placed = true });
	heir = producer_begin(inherit_and_attach, NULL);
	PXT_EQ(producer_told(&heir), EEXIST);
	PXT_EQ(producer_told(&heir), 0);
	producer_tell(&outsider, 0);
	PXT_EQ(producer_told(&outsider), 0);
	both = pxt_open_event("producers.both");
	for (size_t left = owner_collect(trid, events, 4, 200); left; left--) {
		const struct posix_trace_event_info *info = &events[left - 1].info;

		PXT_EQ(info->posix_event_id, both);
		of_heir += info->posix_pid == heir.pid;
		of_outsider += info->posix_pid == outsider.pid;
	}
	PXT_EQ(of_heir, 2);
	PXT_EQ(of_outsider, 1);
	producer_tell(&outsider, 0);
	producer_end(&outsider);
	producer_end(&heir);
	owner_expect_the_law(trid);
	owner_close(trid);
}
