/* SPDX-License-Identifier: MIT */
/*
 * kill_log.c - a process whose stream is a black box and has a log as well is killed at every test
 * point on the way into the log, and in the middle of each write.  What was committed is in the log
 * or in the box then, and no log without its end is taken for a whole one.
 */
#define _GNU_SOURCE
#include "../beside.h"
#include "core/kit.h"
#include "core/process/process.h"
#include "core/process/threads.h"
#include "logs.h"
#include "tolog/tolog.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APPEND POSIX_TRACE_APPEND
#define MAIN   1u

/* Of a record, in a ring and in a log. */
#define SLOTS(bytes)                                                                               \
	(1u + (PXT_CTX_BYTES + (uint32_t)(bytes) + PXT_SLOT_PAYLOAD - 1u) / PXT_SLOT_PAYLOAD)

#define POINT(name)  (UINT64_C(1) << PXT_TP_##name)
#define ANY_POINT    (~UINT64_C(0))
#define WRITE_POINTS (POINT(LOG_SENDING) | POINT(LOG_SENT) | POINT(LOG_ARRIVED))
/* Not at each of the many slots of large events. */
#define FEW_POINTS   (~(POINT(PIECE_READ) | POINT(COPIED_SLOT) | POINT(FRONT_SEEN) | POINT(CONSUMED)))

/* Where it happens. */
struct place {
	int policy;
	unsigned lanes;
	size_t bytes; /* of the stream */
	int log;
	size_t log_bytes;
	size_t len;
	unsigned rounds; /* of so many events each, and a flush; then as many events once more */
	unsigned events;
	size_t piece; /* no write takes more */
	uint64_t points;
};

/* What the process is killed in. */
struct act {
	const char *name;
	void (*run)(void);
	uint64_t meets; /* these points at least */
	bool creates;   /* there was no stream before */
	bool ends;
};

/* What outlives the process. */
static struct ledger {
	uint32_t sent;
	uint32_t committed; /* of these the trace point has returned */
	uint32_t flushed;   /* of these the flush */
	uint64_t arrived;   /* records in blocks that were out */
	int32_t tid;
	bool created;
	bool reached; /* the point: else the act was over before */
	int point;
	atomic_bool writing; /* beside whoever meets the points */
} * ledger;

static const struct place *place;
static const struct act *act;
static trace_id_t stream;
static struct pxt_stream *own;
static int box_file;
static int log_file;
static int shot_file;
static volatile uint32_t cpu;
static uint32_t in_log; /* the last event that was found there */

/* ---- The process that is killed ---- */

int __real_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);
int __wrap_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done);

/* The system ends a write at any page of it when the process is killed. */
int __wrap_pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done)
{
	return __real_pxt_port_log_write_at(
	    log, offset, data, bytes < place->piece ? bytes : place->piece, done);
}

static void die(void *argument)
{
	if (own && own->log)
		ledger->arrived = pxt_tolog_of(own)->sums.records;
	/* What is killed in the middle of a trace point is kill.c's matter. */
	while (atomic_load(&ledger->writing))
		(void)usleep(100);
	ledger->point = kit_interrupted();
	ledger->reached = true;
	(void)kill(getpid(), SIGKILL);
	for (;;)
		(void)pause();
}

static void must(int error)
{
	if (error)
		_exit(1);
}

static void write_events(void)
{
	for (unsigned i = 0; i < place->events; i++) {
		cpu = i % place->lanes;
		ledger->sent++;
		kit_write(MAIN, place->len);
		ledger->committed = ledger->sent;
	}
	cpu = 0;
}

static void create_it(void)
{
	trace_attr_t attr;

	must(posix_trace_attr_init(&attr));
	must(posix_trace_attr_setstreamfullpolicy(&attr, place->policy));
	must(posix_trace_attr_setlogfullpolicy(&attr, place->log));
	must(posix_trace_attr_setstreamsize(&attr, place->bytes));
	must(posix_trace_attr_setmaxdatasize(&attr, place->len));
	must(posix_trace_attr_setlanes_np(&attr, place->lanes));
	must(posix_trace_attr_setfile_np(&attr, box_file));
	if (place->log_bytes)
		must(posix_trace_attr_setlogsize(&attr, place->log_bytes));
	/* It counts slots. */
	if (place->log == FULL)
		must(posix_trace_attr_setlogform_np(&attr, POSIX_TRACE_LOG_PLAIN_NP));
	must(posix_trace_create_withlog(0, &attr, log_file, &stream));
	ledger->created = true;
	ledger->tid = (int32_t)gettid();
}

static void flush_it(void)
{
	must(posix_trace_flush(stream));
	ledger->flushed = ledger->committed;
}

static void save_it(void)
{
	must(posix_trace_snapshot_np(stream, shot_file));
}

/* Up to the event that wakes the helper of policy FLUSH; and until it has flushed. */
static void let_the_helper_flush(void)
{
	struct pxt_tolog *log = pxt_tolog_of(own);
	uint32_t unlocks = atomic_load(&log->unlocks);
	uint32_t mark =
	    (uint32_t)(place->bytes / PXT_SLOT_BYTES) * CONFIG_PTRACE_FLUSH_MARK_PCT / 100u;

	atomic_store(&ledger->writing, true);
	for (uint32_t unread = SLOTS(place->len); unread < mark; unread += SLOTS(place->len))
		write_events();
	atomic_store(&ledger->writing, false);
	for (int i = 0; i < 10000 && atomic_load(&log->unlocks) == unlocks; i++)
		(void)usleep(1000);
}

static void shut_it_down(void)
{
	must(posix_trace_shutdown(stream));
}

static void prepare(void)
{
	create_it();
	must(posix_trace_thread_register_np());
	own = kit_stream(stream);
	pxt_self.cpu = &cpu;
	(void)kit_type();
	must(posix_trace_start(stream));
	for (unsigned i = 0; i < place->rounds; i++) {
		write_events();
		flush_it();
	}
	write_events();
}

static void be_killed(uint32_t nth)
{
	(void)alarm(120); /* a hang ends otherwise than the kill */
	if (!act->creates)
		prepare();
	kit_interrupt(nth, place->points, die, NULL);
	act->run();
	_exit(0);
}

/* ---- What its parent finds ---- */

struct found {
	uint8_t times[KIT_NUMBERS];
	uint32_t first; /* 0: none */
	uint32_t last;
	uint32_t events;
};

static void judge_user(const struct box_event *event, struct found *found)
{
	unsigned char wanted[4096];
	uint32_t number;
	uint32_t word;

	CU_ASSERT_FATAL(event->bytes == place->len);
	memcpy(&word, event->data, sizeof(word));
	number = word & 0xffffffu;
	CU_ASSERT_FATAL(word >> 24 == MAIN && number > 0 && number <= ledger->committed);
	kit_data(wanted, MAIN, number, event->bytes);
	CU_ASSERT(!memcmp(wanted, event->data, event->bytes));
	/* None twice, and nothing between them: this thread was killed in no write. */
	PXT_CHECK(!found->last || number == found->last + 1, "%s at %d: %u behind %u", act->name,
	    ledger->point, number, found->last);
	PXT_EQ(event->pid, ledger->tid);
	if (!found->first)
		found->first = number;
	found->last = number;
	found->times[number]++;
	found->events++;
}

static void collect(struct box *box, struct found *found)
{
	struct box_event event;

	memset(found, 0, sizeof(*found));
	while (box_next(box, &event)) {
		const char *name;

		if (event.id < PXT_ID_USER_FIRST)
			continue;
		name = box_name(box, event.id);
		CU_ASSERT_FATAL(name != NULL);
		CU_ASSERT_STRING_EQUAL(name, "kit");
		judge_user(&event, found);
	}
}

static void collect_log(trace_id_t log, struct found *found)
{
	struct box reader = { .log = log };

	collect(&reader, found);
	PXT_EQ(posix_trace_close(log), 0);
}

/* False: there is none. */
static bool collect_box(struct found *found)
{
	struct posix_trace_counts_np counts;
	struct box box;

	memset(found, 0, sizeof(*found));
	if (!box_open(&box, box_file)) {
		PXT_CHECK(act->creates && !ledger->created && ledger->point != PXT_TP_VALID,
		    "%s at %d: no black box", act->name, ledger->point);
		return false;
	}
	box_counts(&box, &counts);
	PXT_EQ(counts.posix_written_np, counts.posix_retrieved_np + counts.posix_lost_np +
	                                    counts.posix_cleared_np + counts.posix_held_np);
	PXT_EQ(counts.posix_lost_np, 0);
	PXT_EQ(counts.posix_cleared_np, 0);
	collect(&box, found);
	box_counts(&box, &counts);
	PXT_EQ(counts.posix_held_np, 0);
	/* The STOP of shutdown, which is written like an event. */
	CU_ASSERT(counts.posix_lost_np <= act->ends);
	box_close(&box);
	return true;
}

/* What the box has besides: what had been taken out of it and is not overwritten. */
static void collect_taken(struct found *found)
{
	trace_id_t log = 0;

	PXT_EQ_FATAL(box_salvage(box_file, true, &log), 0);
	collect_log(log, found);
}

/* ---- The log ---- */

/* With its end it has everything; only shutdown writes one. */
static void judge_end(void)
{
	static struct found found;
	bool over = ledger->point == PXT_TP_LOG_ENDED || ledger->point == PXT_TP_FILE_ENDED;
	trace_id_t log = 0;
	bool whole = posix_trace_open(log_file, &log) == 0;

	if (act->ends && (!ledger->reached || over))
		CU_ASSERT(whole);
	if (!whole)
		return;
	PXT_CHECK(
	    act->ends, "%s at %d: the log is taken for a whole one", act->name, ledger->point);
	collect_log(log, &found);
	PXT_EQ(found.last, ledger->committed);
	PXT_CHECK(place->log == LOOP || found.first == 1, "%s at %d: begins with %u", act->name,
	    ledger->point, found.first);
}

/*
 * What was given to the log is in whole blocks, or lost, or in a block that was being written.  Of that one recover
 * takes the records that are whole: @taken events, and the marks of flushes.
 */
static void judge_counts(uint64_t given, uint64_t told, uint64_t taken)
{
	const uint64_t marks = 2;

	PXT_CHECK(given >= told && given - told <= taken + marks,
	    "%s at %d: %llu records are %llu and %llu taken", act->name, ledger->point,
	    (unsigned long long)given, (unsigned long long)told, (unsigned long long)taken);
}

/* The events of blocks that are whole, and of one that was being written; false: not even the log's head is out, or there is no pxtrace. */
static bool collect_salvaged(struct found *found)
{
	struct posix_trace_logcheck_np sum = { 0 };
	const struct posix_trace_counts_np *counts;
	struct posix_trace_loginfo_np about;
	static struct found grown;
	trace_id_t growing = 0;
	trace_id_t log = 0;
	int status;

	memset(found, 0, sizeof(*found));
	if (posix_trace_log_open_np(&log_file, 1, POSIX_TRACE_OPEN_GROWING_NP, &growing, NULL, 0) !=
	    0) {
		CU_ASSERT(!ledger->created);
		return false;
	}
	collect_log(growing, &grown);
	in_log = grown.last;
	status = box_salvage(log_file, false, &log);
	if (status < 0)
		return false;
	PXT_EQ_FATAL(status, 0);
	PXT_EQ(posix_trace_log_check_np(log_file, &sum, sizeof(sum), NULL, 0, 0, NULL, NULL), 0);
	PXT_EQ(posix_trace_log_getinfo_np(log, &about, sizeof(about)), 0);
	counts = &about.posix_counts_np;
	/* A trailer does not count the marks of flushes. */
	PXT_CHECK(place->log == LOOP || sum.posix_records_np >= ledger->arrived,
	    "%s at %d: %llu of %llu records", act->name, ledger->point,
	    (unsigned long long)sum.posix_records_np, (unsigned long long)ledger->arrived);
	collect_log(log, found);
	/* A trailer does not count the marks of flushes. */
	if (!sum.posix_complete_np)
		judge_counts(counts->posix_retrieved_np,
		    sum.posix_records_np + about.posix_lost_np - counts->posix_lost_np,
		    found->events - grown.events);
	/* Who reads it while it grows, and does not know that the writer is dead, has no others. */
	CU_ASSERT(grown.last <= found->last);
	PXT_EQ(found->last - grown.last, found->events - grown.events);
	for (uint32_t i = 1; i <= grown.last; i++)
		CU_ASSERT(grown.times[i] == found->times[i]);
	return true;
}

/* Whoever has both has everything; nothing is in the log that the box still has to give. */
static void judge_both(
    const struct found *logged, const struct found *held, const struct found *taken)
{
	/* A log that loops has overwritten what is older than its first event. */
	uint32_t overwritten = place->log == LOOP && logged->first ? logged->first - 1 : 0;

	PXT_CHECK(place->log == LOOP || logged->first <= 1, "%s at %d: the log begins with %u",
	    act->name, ledger->point, logged->first);
	PXT_CHECK(place->log == FULL || logged->last >= ledger->flushed,
	    "%s at %d: %u of %u flushed events are in the log", act->name, ledger->point,
	    logged->last, ledger->flushed);
	for (uint32_t i = 1; i <= ledger->committed; i++) {
		PXT_CHECK(!logged->times[i] || !held->times[i], "%s at %d: %u is in both",
		    act->name, ledger->point, i);
		PXT_CHECK(!held->times[i] || taken->times[i], "%s at %d: %u was not recovered",
		    act->name, ledger->point, i);
		PXT_CHECK(logged->times[i] || taken->times[i] || i <= overwritten,
		    "%s at %d: %u is nowhere", act->name, ledger->point, i);
	}
}

static void judge_events(void)
{
	static struct found logged;
	static struct found held;
	static struct found taken;
	bool is_log = collect_salvaged(&logged);

	if (collect_box(&held) && is_log) {
		collect_taken(&taken);
		judge_both(&logged, &held, &taken);
	}
}

/* ---- The snapshot ---- */

static void judge_shot(void)
{
	struct posix_trace_logcheck_np sum;
	static struct found found;
	trace_id_t log = 0;
	bool whole = posix_trace_open(shot_file, &log) == 0;

	if (act->run != save_it)
		return;
	if (!ledger->reached || ledger->point == PXT_TP_LOG_ENDED)
		CU_ASSERT(whole);
	if (!whole)
		return;
	collect_log(log, &found);
	PXT_EQ(found.first, ledger->flushed + 1);
	PXT_EQ(found.last, ledger->committed);
	PXT_EQ(posix_trace_log_check_np(shot_file, &sum, sizeof(sum), NULL, 0, 0, NULL, NULL), 0);
	PXT_EQ(sum.posix_complete_np, 1);
	PXT_EQ(sum.posix_findings_np, 0);
}

/* ---- Cases ---- */

static int a_file(void)
{
	int fd = memfd_create("kill", 0);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

/*
 * What log and box hold is looked at in one case of so many: a snapshot leaves both as they are; and with a
 * sanitizer the commands that are run for it take most of the time.
 */
static uint32_t judged_each(void)
{
	if (act->run == save_it)
		return 9;
	return PXT_SANITIZED ? 7 : 1;
}

/* False: the act has no such point, and the process has ended by itself. */
static bool one_case(uint32_t nth)
{
	int status = 0;
	pid_t child;

	box_file = a_file();
	log_file = a_file();
	shot_file = a_file();
	memset(ledger, 0, sizeof(*ledger));
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0)
		be_killed(nth);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	PXT_CHECK(ledger->reached || (WIFEXITED(status) && WEXITSTATUS(status) == 0),
	    "%s: status %x", act->name, (unsigned)status);
	judge_end();
	if (!ledger->reached || nth % judged_each() == 0)
		judge_events();
	judge_shot();
	(void)close(box_file);
	(void)close(log_file);
	(void)close(shot_file);
	return ledger->reached;
}

static const struct place small = {
	.policy = LOOP,
	.lanes = 1,
	.bytes = 1024,
	.log = APPEND,
	.len = 30,
	.rounds = 1,
	.events = 3,
	.piece = 200,
	.points = ANY_POINT,
};
/* Gone round more than once, as frames and as a stream; a flush is several frames. */
static const struct place frames = {
	.policy = FULL,
	.lanes = 2,
	.bytes = 2048,
	.log = LOOP,
	.log_bytes = 1200,
	.len = 30,
	.rounds = 4,
	.events = 9,
	.piece = 100,
	.points = FEW_POINTS,
};
/* A flush is several blocks, and so is a snapshot, whose blocks are 64 KiB. */
static const struct place blocks = {
	.policy = FULL,
	.lanes = 2,
	.bytes = 131072,
	.log = APPEND,
	.len = 1500,
	.rounds = 1,
	.events = 48,
	.piece = 6000,
	.points = FEW_POINTS,
};

/* The flush finds no room for its last events, and stops the stream. */
static const struct place until_full = {
	.policy = LOOP,
	.lanes = 1,
	.bytes = 2048,
	.log = FULL,
	.log_bytes = PXT_SLOT_BYTES * (SLOTS(PXT_START_BYTES) + 6 * SLOTS(30) + 2 * SLOTS(0)) +
	             PXT_TOLOG_STOP_BYTES,
	.len = 30,
	.rounds = 1,
	.events = 4,
	.piece = 200,
	.points = ANY_POINT,
};
/* The stream's helper flushes, beside a thread that goes on. */
static const struct place by_helper = {
	.policy = POSIX_TRACE_FLUSH,
	.lanes = 1,
	.bytes = 65536,
	.log = APPEND,
	.len = 1500,
	.rounds = 1,
	.events = 1,
	.piece = 6000,
	.points = POINT(FLUSH_BEGUN) | POINT(LOG_TAKEN) | WRITE_POINTS | POINT(FLUSH_ENDED),
};

static void begin(void)
{
	if (ledger)
		return;
	ledger =
	    mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(ledger != MAP_FAILED);
	/* The clock of those who are looked at is this process'. */
	pxt_process_lock();
	pxt_process_unlock();
	UNREPORTED();
	pxt_holdback_ns = KIT_HOLDBACK_NS;
}

static void at_all_points(const struct act *what, const struct place *where)
{
	uint64_t met = 0;

	begin();
	act = what;
	place = where;
	/* A busy machine changes how many points come before one, which is then passed by between two runs. */
	for (unsigned round = 0; round < 3 && (met & act->meets) != act->meets; round++) {
		for (uint32_t nth = 0; one_case(nth); nth++)
			met |= UINT64_C(1) << ledger->point;
	}
	PXT_CHECK((met & act->meets) == act->meets, "%s: %llx was not met", act->name,
	    (unsigned long long)(act->meets & ~met));
}

/* DEC-29, DEC-42 */
PXT_TEST(killed_in_create_withlog_it_leaves_no_log_that_is_taken_for_a_whole_one)
{
	const struct act create = { .name = "create",
		.run = create_it,
		.meets = POINT(FILE_FILLED) | POINT(LOG_EMPTIED) | WRITE_POINTS | POINT(LOG_BEGUN) |
		         POINT(VALID),
		.creates = true };

	at_all_points(&create, &small);
	at_all_points(&create, &frames);
}

#define FLUSH_POINTS (POINT(FLUSH_BEGUN) | POINT(LOG_TAKEN) | WRITE_POINTS | POINT(FLUSH_ENDED))

/* DEC-29, DEC-42; rulings 7, 20 */
PXT_TEST(killed_in_a_flush_log_and_black_box_have_every_event_between_them)
{
	at_all_points(
	    &(const struct act){
	        .name = "flush", .run = flush_it, .meets = FLUSH_POINTS | POINT(CONSUMED) },
	    &small);
}

PXT_TEST(killed_between_two_frames_of_a_log_that_loops_both_have_every_event)
{
	at_all_points(&(const struct act){ .name = "flush into frames",
	                  .run = flush_it,
	                  .meets = FLUSH_POINTS | POINT(LOG_FRAME) },
	    &frames);
}

PXT_TEST(killed_between_two_blocks_of_a_log_that_grows_both_have_every_event)
{
	at_all_points(
	    &(const struct act){
	        .name = "flush into blocks", .run = flush_it, .meets = FLUSH_POINTS },
	    &blocks);
}

/* DEC-14, DEC-29, DEC-42 */
PXT_TEST(killed_while_the_log_gets_full_log_and_black_box_have_every_event)
{
	at_all_points(&(const struct act){ .name = "flush until full",
	                  .run = flush_it,
	                  .meets = FLUSH_POINTS | POINT(CONSUMED) },
	    &until_full);
	CU_ASSERT(in_log > until_full.events && in_log < ledger->committed);
}

/* DEC-29, DEC-42, POL-11 */
PXT_TEST(killed_in_the_helpers_flush_log_and_black_box_have_every_event)
{
	at_all_points(
	    &(const struct act){
	        .name = "the helper's flush", .run = let_the_helper_flush, .meets = FLUSH_POINTS },
	    &by_helper);
}

/* DEC-29, DEC-42, SHUT-06 */
PXT_TEST(killed_in_shutdown_the_log_is_whole_or_says_that_it_is_not)
{
	const struct act shut = { .name = "shutdown",
		.run = shut_it_down,
		.meets = FLUSH_POINTS | POINT(LOG_LAST) | POINT(LOG_ENDED) | POINT(FILE_ENDED),
		.ends = true };

	at_all_points(&shut, &small);
	at_all_points(&shut, &frames);
	at_all_points(&shut, &blocks);
}

/* DEC-29, DEC-42 */
PXT_TEST(killed_in_a_snapshot_its_file_is_refused_or_whole)
{
	const struct act save = { .name = "snapshot",
		.run = save_it,
		.meets = POINT(COPIED_HEAD) | POINT(COPY_MADE) | POINT(LOG_EMPTIED) |
		         POINT(LOG_TAKEN) | WRITE_POINTS | POINT(LOG_LAST) | POINT(LOG_ENDED) };

	at_all_points(&save, &small);
	at_all_points(&save, &blocks);
}
