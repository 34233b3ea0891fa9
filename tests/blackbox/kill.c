/* SPDX-License-Identifier: MIT */
/*
 * kill.c - a process with a black box is killed at every test point of what it may be doing; then
 * its file has all that was committed, and says of no event what is not so.
 */
#define _GNU_SOURCE
#include "../beside.h"
#include "core/kit.h"
#include "core/process/process.h"
#include "logs.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAIN 1u
#define SIDE 2u /* another thread */

#define ANY_POINT (~UINT64_C(0))

/* Where it happens. */
struct place {
	int policy;
	unsigned lanes;
	unsigned before; /* events that are in the stream, or went through it */
	size_t len;
};

/* What the process is killed in. */
struct act {
	const char *name;
	void (*run)(void);
	bool creates; /* there was no stream before */
	bool writes;
	bool clears;
	bool ends;
};

/* What outlives the process. */
static struct ledger {
	uint32_t sent[KIT_WRITERS];
	uint32_t committed[KIT_WRITERS]; /* of these the trace point has returned */
	uint32_t names;                  /* eventid_open() has returned for these */
	uint32_t formats;
	uint32_t calls;    /* START and STOP: what the calls that have returned recorded */
	bool traced_aside; /* another thread's event */
	int32_t tid;
	int32_t aside;
	bool created;
	bool reached; /* the point: else the act was over before */
	int point;
} * ledger;

static const struct place *place;
static const struct act *act;
static trace_id_t stream;

/* ---- The process that is killed ---- */

static void note(void)
{
	memcpy(ledger->sent, kit_seen.sent, sizeof(ledger->sent));
}

static void die(void *argument)
{
	note();
	ledger->point = kit_interrupted();
	ledger->reached = true;
	(void)kill(getpid(), SIGKILL);
	for (;;)
		(void)pause();
}

static void write_event(unsigned writer, size_t len)
{
	kit_write(writer, len);
	ledger->committed[writer] = kit_seen.sent[writer];
}

static const char *name_of(uint32_t number)
{
	static char name[32];

	(void)snprintf(name, sizeof(name), "name %u", number);
	return name;
}

static void define_name(void)
{
	trace_event_id_t id;

	(void)posix_trace_eventid_open(name_of(ledger->names + 1), &id);
	ledger->names++;
}

static void describe_name(void)
{
	trace_event_id_t id;

	(void)posix_trace_eventid_open(name_of(1), &id);
	(void)posix_trace_eventid_setformat_np(id, "u32 word, u8 rest");
	ledger->formats = 1;
}

static void create_it(void)
{
	const struct kit_spec spec = {
		.policy = place->policy, .lanes = place->lanes, .bytes = 1024
	};

	stream = kit_open(&spec);
	ledger->created = true;
	ledger->tid = (int32_t)gettid();
}

static void *trace_aside(void *argument)
{
	static volatile uint32_t lane_0;
	unsigned char data[4];

	/* The first event of a thread enters it. */
	(void)lane_0;
	ledger->aside = (int32_t)gettid();
	kit_seen.sent[SIDE] = 1;
	kit_data(data, SIDE, 1, sizeof(data));
	posix_trace_event(kit_type(), data, sizeof(data));
	ledger->committed[SIDE] = 1;
	ledger->traced_aside = true;
	(void)posix_trace_thread_register_np();
	return NULL;
}

static void trace_from_a_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, trace_aside, NULL) == 0)
		(void)pthread_join(thread, NULL);
}

static void register_it(void)
{
	(void)posix_trace_thread_register_np();
}

static void write_it(void)
{
	write_event(MAIN, place->len);
}

static void read_it(void)
{
	(void)kit_read(stream);
	(void)kit_read(stream);
}

static uint64_t written(void)
{
	struct posix_trace_counts_np counts;

	kit_counts(stream, &counts);
	return counts.posix_written_np;
}

static void start_it(void)
{
	uint64_t before = written();

	(void)posix_trace_start(stream);
	ledger->calls += (uint32_t)(written() - before);
}

static void stop_it(void)
{
	uint64_t before = written();

	(void)posix_trace_stop(stream);
	ledger->calls += (uint32_t)(written() - before);
}

static void stop_and_start(void)
{
	stop_it();
	start_it();
}

static void clear_it(void)
{
	(void)posix_trace_clear(stream);
}

static void shut_it_down(void)
{
	(void)posix_trace_shutdown(stream);
}

static void prepare(void)
{
	create_it();
	define_name();
	start_it();
	/* The START does not count as anybody's. */
	for (unsigned i = 0; i < place->before; i++) {
		kit_lane(i % place->lanes);
		write_event(MAIN, place->len);
	}
	kit_lane(0);
}

static void be_killed(int fd, uint32_t nth)
{
	kit_file = fd;
	if (!act->creates)
		prepare();
	kit_interrupt(nth, ANY_POINT, die, NULL);
	act->run();
	note();
	_exit(0);
}

/* ---- What its parent finds ---- */

static struct {
	uint8_t times[KIT_WRITERS][KIT_NUMBERS];
	uint32_t last[KIT_WRITERS];
	uint64_t user;
	uint64_t calls; /* START and STOP by call */
} found;

static void judge_user(const struct box_event *event)
{
	unsigned char wanted[256];
	uint32_t word;
	unsigned writer;
	uint32_t number;

	memcpy(&word, event->data, sizeof(word));
	writer = word >> 24;
	number = word & 0xffffffu;
	CU_ASSERT_FATAL(writer < KIT_WRITERS && number > 0 && number <= ledger->sent[writer]);
	kit_data(wanted, writer, number, event->bytes);
	CU_ASSERT(!memcmp(wanted, event->data, event->bytes));
	/* After an unfinished record that is given up, lanes may change places (DESIGN.md, section 5). */
	PXT_CHECK(number > found.last[writer] || place->lanes > 1,
	    "%s at %d, %d lanes: %u behind %u", act->name, ledger->point, (int)place->lanes, number,
	    found.last[writer]);
	PXT_EQ(event->pid, ledger->tid);
	CU_ASSERT(event->thread != 0);
	found.last[writer] = number;
	found.times[writer][number]++;
	found.user++;
}

static void judge_event(struct box *box, const struct box_event *event)
{
	int automatic = 0;

	if (event->id == POSIX_TRACE_START || event->id == POSIX_TRACE_STOP) {
		if (event->id == POSIX_TRACE_STOP)
			memcpy(&automatic, event->data, sizeof(automatic));
		found.calls += !automatic;
	} else if (event->id != POSIX_TRACE_OVERFLOW && event->id != POSIX_TRACE_RESUME) {
		const char *name = box_name(box, event->id);

		CU_ASSERT_FATAL(name != NULL);
		CU_ASSERT_STRING_EQUAL(name, "kit");
		judge_user(event);
	}
}

/* Events that were committed, but are not there. */
static uint64_t missing(void)
{
	uint64_t count = 0;

	for (unsigned writer = 0; writer < KIT_WRITERS; writer++) {
		for (uint32_t i = 1; i <= ledger->committed[writer]; i++)
			count += !found.times[writer][i];
	}
	return count;
}

static uint64_t in_flight(void)
{
	uint64_t count = 0;

	for (unsigned writer = 0; writer < KIT_WRITERS; writer++)
		count += ledger->sent[writer] - ledger->committed[writer];
	return count;
}

/* The one that was being written may be there, lost, or not have come so far as to be counted. */
static void judge_losses(const struct posix_trace_counts_np *before, uint64_t lost)
{
	uint64_t calls = found.calls < ledger->calls ? ledger->calls - found.calls : 0;
	uint64_t gone = missing();

	if (act->clears)
		return;
	PXT_EQ(before->posix_cleared_np, 0);
	if (act->run == read_it)
		return;
	PXT_CHECK(lost >= gone + calls && lost <= gone + calls + in_flight() + !act->writes,
	    "%s at %d, %d lanes: %llu lost, %llu + %llu missing", act->name, ledger->point,
	    (int)place->lanes, (unsigned long long)lost, (unsigned long long)gone,
	    (unsigned long long)calls);
	/* What overwrites nothing, or has not gone round, loses nothing. */
	if (place->before * 3 < 32)
		PXT_CHECK(gone == 0, "%s at %d: %llu missing", act->name, ledger->point,
		    (unsigned long long)gone);
}

static void judge_events(struct box *box)
{
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;
	struct box_event event;

	memset(&found, 0, sizeof(found));
	box_counts(box, &before);
	while (box_next(box, &event))
		judge_event(box, &event);
	box_counts(box, &after);
	PXT_EQ(after.posix_held_np, 0);
	judge_losses(&before, after.posix_lost_np);
}

static void judge_names(struct box *box)
{
	uint32_t first = PXT_ID_USER_FIRST;
	const char *name = box_name(box, first);

	/* kit_open() has opened its own before anything else. */
	if (ledger->created || act->creates) {
		if (name)
			CU_ASSERT_STRING_EQUAL(name, "kit");
	}
	for (uint32_t i = 1; i <= ledger->names; i++) {
		CU_ASSERT_FATAL(box_name(box, first + i) != NULL);
		CU_ASSERT_STRING_EQUAL(box_name(box, first + i), name_of(i));
	}
	/* One more may be there, whole. */
	name = box_name(box, first + ledger->names + 1);
	if (name)
		CU_ASSERT_STRING_EQUAL(name, name_of(ledger->names + 1));
	CU_ASSERT(box_name(box, first + ledger->names + 2) == NULL);
	name = box_format(box, first + 1);
	if (ledger->formats || (name && *name != '\0'))
		CU_ASSERT_STRING_EQUAL(name, "u32 word, u8 rest");
}

static void judge_threads(const struct box *box)
{
	uint32_t threads = box_threads(box);

	if (ledger->created || !act->creates) {
		CU_ASSERT_FATAL(threads >= 1);
		PXT_EQ(box_thread(box, 1)->pid, ledger->tid);
	}
	if (ledger->traced_aside)
		PXT_EQ(threads, 2);
	for (uint32_t i = 1; i <= threads; i++) {
		const struct pxt_thread *thread = box_thread(box, i);

		PXT_EQ(thread->pid, box->header->header.pid);
		CU_ASSERT(pxt_wide_load((pxt_wide *)(uintptr_t)&thread->thread) != 0);
		CU_ASSERT(thread->tid > 0);
	}
}

static void judge_state(const struct box *box)
{
	if (act->ends && ledger->point == PXT_TP_FILE_ENDED)
		PXT_EQ(box->header->ended, 1);
	if (!act->ends)
		PXT_EQ(box->header->ended, 0);
	if (act->writes && place->policy == LOOP)
		CU_ASSERT(box_runs(box));
}

/* Every ninth file is given to pxtrace recover as well; every one in the long form. */
static bool is_turn(void)
{
	static unsigned turn;

	return turn++ % 9 == 0 || pxt_in_full();
}

static void judge(int fd)
{
	struct box box;

	if (!box_open(&box, fd)) {
		PXT_CHECK(act->creates && !ledger->created && ledger->point != PXT_TP_VALID,
		    "%s at %d: no black box", act->name, ledger->point);
		return;
	}
	/* Before the last step it is none, however much is there. */
	CU_ASSERT(ledger->point < PXT_TP_FILE_TAKEN || ledger->point > PXT_TP_FILE_FILLED);
	PXT_EQ(box.header->header.pid, ledger->tid ? ledger->tid : box.header->header.pid);
	judge_state(&box);
	judge_threads(&box);
	judge_names(&box);
	judge_events(&box);
	if (ledger->created && is_turn() && box_recover(&box, fd)) {
		judge_names(&box);
		judge_events(&box);
	}
	box_close(&box);
}

/* ---- Ends of a process ---- */

static void run_something_else(void)
{
	/* What it runs matters to nobody: it ends. */
	(void)execl("/bin/true", "true", (char *)NULL);
	_exit(0);
}

static void end_at_once(void)
{
	_exit(0);
}

static void end_in_order(void)
{
	exit(0);
}

static void be_refused(void)
{
	(void)raise(SIGSEGV);
}

/* ---- Cases ---- */

/* False: the act has no such point, and the process has ended by itself. */
static bool one_case(uint32_t nth)
{
	int fd = memfd_create("box", 0);
	int status = 0;
	pid_t child;

	CU_ASSERT_FATAL(fd >= 0);
	memset(ledger, 0, sizeof(*ledger));
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0)
		be_killed(fd, nth);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!ledger->reached)
		PXT_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status %x", act->name,
		    (unsigned)status);
	judge(fd);
	(void)close(fd);
	return ledger->reached;
}

static void begin(void)
{
	const struct rlimit no_core = { 0, 0 };

	if (ledger)
		return;
	(void)setrlimit(RLIMIT_CORE, &no_core);
	ledger =
	    mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(ledger != MAP_FAILED);
	/* The clock of those who are looked at is this process'. */
	pxt_process_lock();
	pxt_process_unlock();
	UNREPORTED();
	pxt_holdback_ns = KIT_HOLDBACK_NS;
}

static void at_all_points(const struct act *what, unsigned at_least)
{
	static const struct place places[] = {
		{ LOOP, 1, 3, 4 },                      /* nothing was overwritten */
		{ LOOP, 2, 60, 30 },                    /* more than once around */
		{ FULL, 2, 3, 30 }, { FULL, 1, 40, 4 }, /* full, stopped */
	};

	begin();
	act = what;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		uint32_t nth = 0;

		place = &places[i];
		while (one_case(nth))
			nth++;
		PXT_CHECK(
		    nth >= at_least || (what->writes && i == 3), "%s: %u points", what->name, nth);
	}
}

/* DEC-42; rulings 7, 20, 23 */
PXT_TEST(killed_in_a_write_it_has_every_event_written_before)
{
	at_all_points(&(const struct act){ .name = "write", .run = write_it, .writes = true }, 5);
}

PXT_TEST(killed_in_create_it_is_no_black_box_or_a_whole_one)
{
	at_all_points(
	    &(const struct act){ .name = "create", .run = create_it, .creates = true }, 5);
}

PXT_TEST(killed_while_a_name_is_defined_it_has_all_that_were)
{
	at_all_points(&(const struct act){ .name = "define", .run = define_name }, 3);
	at_all_points(&(const struct act){ .name = "describe", .run = describe_name }, 2);
}

PXT_TEST(killed_while_a_thread_enters_itself_it_has_all_that_traced)
{
	at_all_points(
	    &(const struct act){ .name = "thread", .run = trace_from_a_thread, .writes = true }, 6);
	at_all_points(&(const struct act){ .name = "register", .run = register_it }, 0);
}

/* DEC-42; rulings 7, 14 */
PXT_TEST(killed_in_start_or_stop_it_has_every_event)
{
	at_all_points(&(const struct act){ .name = "stop", .run = stop_it }, 2);
	at_all_points(&(const struct act){ .name = "restart", .run = stop_and_start }, 2);
}

PXT_TEST(killed_in_clear_it_shows_nothing_that_never_was)
{
	at_all_points(&(const struct act){ .name = "clear", .run = clear_it, .clears = true }, 2);
}

PXT_TEST(killed_while_its_events_are_read_it_has_those_that_were_not)
{
	at_all_points(&(const struct act){ .name = "read", .run = read_it }, 2);
}

PXT_TEST(killed_in_shutdown_it_has_every_event)
{
	at_all_points(
	    &(const struct act){ .name = "shutdown", .run = shut_it_down, .ends = true }, 2);
}

static void ended(const char *name, void (*how)(void), bool in_order)
{
	static const struct place somewhere = { LOOP, 2, 20, 30 };
	const struct act end = { .name = name, .run = how, .ends = in_order };
	int fd = memfd_create("box", 0);
	struct box box;
	pid_t child;
	int status;

	begin();
	act = &end;
	place = &somewhere;
	memset(ledger, 0, sizeof(*ledger));
	child = fork();
	CU_ASSERT_FATAL(fd >= 0 && child >= 0);
	if (child == 0)
		be_killed(fd, UINT32_MAX);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	/* It noted what it had sent before the end, not after it. */
	memcpy(ledger->sent, ledger->committed, sizeof(ledger->sent));
	judge(fd);
	CU_ASSERT_FATAL(box_open(&box, fd));
	PXT_EQ(box.header->ended, in_order);
	box_close(&box);
	(void)close(fd);
}

/* DEC-23, DEC-42 */
PXT_TEST(however_the_process_ends_its_events_are_there)
{
	ended("abort", abort, false);
	ended("_exit", end_at_once, false);
	ended("exec", run_something_else, false);
	ended("a fault", be_refused, false);
	ended("exit", end_in_order, true);
}
