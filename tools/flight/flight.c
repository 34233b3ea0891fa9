/* SPDX-License-Identifier: MIT */
/* flight.c - see flight.h. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/flight/flight.h"

#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/read/source.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LANES     2u
#define TAKE      200000u /* events, until others have their turn */
#define FREE      256u    /* events, until memory is given back */
#define LOOK      8192u   /* events, until it is looked at how much is used */
/* So old an event is at most when it is in a log: writers wait, and lanes are merged. */
#define HOLD_NS   INT64_C(400000000)
#define MOMENT_NS INT64_C(1000000)
#define NOT_LATER INT64_MAX

struct lane {
	const char *name;
	int fd;
	bool is_judged;
	struct pxt_reader front; /* where it is judged */
	struct pxt_judge *judge;
	uint64_t front_number; /* of the event that was judged last */
	int64_t decided_ns;    /* all events up to here were judged */
	bool passes; /* memory is full of events that were not judged: these are passed over */
	struct pxt_reader back; /* behind which memory is given back */
	struct pxt_event *held; /* the next event there */
	struct pxt_standing *standing;
	struct pxt_behind behind;
	uint32_t turn;
};

/* A log that is wanted. */
struct wanted {
	struct pxt_meeting first;
	bool told;
};

struct pxt_flight {
	struct pxt_flight_wish wish;
	char parts[PATH_MAX];
	struct lane lanes[LANES];
	unsigned lane_count;
	struct pxt_flight_sum sum;
	struct wanted wanted[PXT_FLIGHT_LOGS_MAX];
	unsigned begun; /* of these; those before @next are done */
	unsigned next;
	int64_t zero_ns;  /* when the earliest log began */
	int64_t civil_ns; /* the time in the logs when the monotonic clock said 0 */
	bool ended;
	pid_t child; /* that writes; 0: none */
	bool child_saves;
};

/* ---- Meetings ---- */

static int64_t end_of(const struct pxt_flight *flight, const struct wanted *wanted)
{
	return wanted->first.end_ns + flight->wish.keep_ns;
}

/* Before what was met began, if that is not too long ago. */
static int64_t begin_of(const struct pxt_flight *flight, const struct wanted *wanted)
{
	int64_t earliest = wanted->first.end_ns - 2 * flight->wish.keep_ns;
	int64_t begin = wanted->first.begin_ns - flight->wish.keep_ns;

	return begin > earliest ? begin : earliest;
}

/* What is told reaches up to the event that met it: a reader behind may place it a moment later. */
static int64_t told_ns(const struct wanted *wanted)
{
	return wanted->first.end_ns + MOMENT_NS;
}

static void met(void *self, const struct pxt_meeting *meeting)
{
	struct pxt_flight *flight = self;

	flight->sum.met++;
	if (flight->begun == flight->wish.most ||
	    (flight->begun > 0 &&
	        meeting->end_ns <= end_of(flight, &flight->wanted[flight->begun - 1])))
		return;
	flight->wanted[flight->begun++] = (struct wanted){ .first = *meeting };
}

/* ---- In front ---- */

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return pxt_when_ns(&now);
}

/* True: there may be more. */
static bool judge_some(struct pxt_flight *flight, struct lane *lane)
{
	int64_t now = flight->civil_ns + pxt_when_monotonic();
	struct pxt_event *event;

	for (unsigned i = 0; i < TAKE; i++) {
		event = pxt_reader_next(&lane->front);
		if (!event) {
			if (now - HOLD_NS > lane->decided_ns)
				lane->decided_ns = now - HOLD_NS;
			if (!lane->passes)
				pxt_judge_look(lane->judge, lane->decided_ns);
			(void)pxt_reader_again(&lane->front);
			return false;
		}
		lane->front_number = event->extra.posix_number_np;
		if (event->ns > lane->decided_ns)
			lane->decided_ns = event->ns;
		if (lane->passes)
			flight->sum.unjudged++;
		else
			pxt_judge_take(lane->judge, event);
	}
	return true;
}

static int64_t decided_ns(const struct pxt_flight *flight)
{
	int64_t ns = flight->civil_ns + pxt_when_monotonic() - HOLD_NS;

	if (flight->ended)
		return NOT_LATER;
	for (unsigned i = 0; i < flight->lane_count; i++)
		if (flight->lanes[i].is_judged && flight->lanes[i].decided_ns < ns)
			ns = flight->lanes[i].decided_ns;
	return ns;
}

/* ---- Behind ---- */

static uint64_t used_bytes(const struct lane *lane)
{
	struct stat state;

	return fstat(lane->fd, &state) == 0 ? (uint64_t)state.st_blocks * 512u : 0;
}

/* Both lanes share the room, and the fuller one gives; while a child reads, there is twice as much. */
static bool is_full(const struct pxt_flight *flight, const struct lane *lane)
{
	uint64_t mine = used_bytes(lane);
	uint64_t all = 0;

	for (unsigned i = 0; i < flight->lane_count; i++)
		all += used_bytes(&flight->lanes[i]);
	return mine >= all / 2 && all > flight->wish.size * (flight->child > 0 ? 2 : 1);
}

/* The next event there, without taking it. */
static struct pxt_event *look_back(struct lane *lane)
{
	if (!lane->held) {
		lane->held = pxt_reader_next(&lane->back);
		if (!lane->held)
			(void)pxt_reader_again(&lane->back);
	}
	return lane->held;
}

static void pass(struct lane *lane)
{
	pxt_standing_take(lane->standing, lane->held);
	if (++lane->turn % FREE == 0)
		pxt_behind_read(&lane->behind, lane->held->extra.posix_number_np);
	lane->held = NULL;
}

/* Nobody wants what came up to @limit_ns any more, and what is beyond the room is not to be had. */
static void give_back(struct pxt_flight *flight, struct lane *lane, int64_t limit_ns)
{
	bool full = is_full(flight, lane);
	const struct pxt_event *event;

	/* It reads on from where this reader was when it began. */
	if (flight->child > 0 && !full)
		return;
	for (unsigned i = 1; (event = look_back(lane)) != NULL; i++) {
		/* What was not judged yet is still read in front. */
		bool may = !lane->is_judged || event->extra.posix_number_np < lane->front_number;

		if (event->ns > limit_ns && !(full && may))
			return;
		pass(lane);
		if (i % LOOK == 0)
			full = is_full(flight, lane);
	}
}

/*
 * Where memory is full after all that was judged has gone, the front is too slow: it passes over the rest, and
 * judges again from the end on.
 */
static void keep_up(struct pxt_flight *flight, struct lane *lane, bool is_behind)
{
	if (is_behind && !lane->passes && is_full(flight, lane)) {
		lane->passes = true;
		pxt_judge_forget(lane->judge);
	} else if (!is_behind) {
		lane->passes = false;
	}
}

/* ---- Logs ---- */

static struct pxt_cut cut_of(const struct pxt_flight *flight, const struct wanted *wanted)
{
	struct pxt_cut cut = { .wish = &flight->wish,
		.parts = flight->parts,
		.lane_count = flight->lane_count,
		.begin_ns = begin_of(flight, wanted),
		.end_ns = end_of(flight, wanted),
		.zero_ns = flight->zero_ns,
		.first = wanted->first };

	for (unsigned i = 0; i < flight->lane_count; i++)
		cut.lanes[i] = (struct pxt_cut_lane){
			.reader = (struct pxt_reader *)(uintptr_t)&flight->lanes[i].back,
			.held = flight->lanes[i].held,
			.standing = flight->lanes[i].standing
		};
	return cut;
}

/* Beside this process, and behind others where there are few CPUs. */
static void fork_child(struct pxt_flight *flight, const struct wanted *wanted, bool saves)
{
	struct pxt_cut cut = cut_of(flight, wanted);

	flight->child_saves = saves;
	flight->child = fork();
	if (flight->child == 0) {
		(void)!nice(5);
		/* Later events are not part of the answer. */
		if (!saves)
			cut.end_ns = told_ns(wanted);
		_exit(saves ? !pxt_cut_save(&cut) : !pxt_cut_tell(&cut));
	}
	if (flight->child < 0)
		pxt_complain("%s: no process that writes the log: %s", flight->wish.command,
		    strerror(errno));
}

/* Whether it is done; a log without a sentence is still a log. */
static bool reap(struct pxt_flight *flight, bool waits)
{
	int status = 0;
	pid_t got = flight->child > 0 ? waitpid(flight->child, &status, waits ? 0 : WNOHANG) : 0;

	if (flight->child == 0)
		return true;
	if (flight->child > 0 && (got == 0 || (got < 0 && errno == EINTR)))
		return false;
	if (!flight->child_saves)
		flight->wanted[flight->next].told = true;
	else
		flight->next++;
	if (flight->child_saves && flight->child > 0 && (got < 0 || status == 0))
		flight->sum.written++;
	else if (flight->child_saves)
		flight->sum.failed++;
	flight->child = 0;
	return true;
}

/* One after the other: the sentence as soon as it can be said, the log when its time is over. */
static bool write_next(struct pxt_flight *flight, int64_t decided)
{
	const struct wanted *wanted;

	if (!reap(flight, false) || flight->next == flight->begun)
		return false;
	wanted = &flight->wanted[flight->next];
	if (!wanted->told && decided >= told_ns(wanted))
		fork_child(flight, wanted, false);
	else if (wanted->told && decided >= end_of(flight, wanted))
		fork_child(flight, wanted, true);
	else
		return false;
	return true;
}

/* ---- Life ---- */

struct pxt_flight *pxt_flight_new(const struct pxt_flight_wish *wish)
{
	struct pxt_flight *flight = pxt_must(calloc(1, sizeof *flight));

	flight->wish = *wish;
	(void)snprintf(flight->parts, sizeof flight->parts, "%s.XXXXXX", wish->output);
	if (mkdtemp(flight->parts))
		return flight;
	pxt_complain("%s: %s: %s", wish->command, flight->parts, strerror(errno));
	free(flight);
	return NULL;
}

/*
 * By the log's own two clocks at its beginning, from which its times count: the civil clock may have been set
 * since, and now says nothing of them.
 */
static int64_t civil_of(const struct pxt_source *source)
{
	int64_t monotonic_ns = pxt_when_ns(&source->info.posix_start_monotonic_np);

	return monotonic_ns > 0 ? source->start_ns - monotonic_ns
	                        : clock_ns(CLOCK_REALTIME) - pxt_when_monotonic();
}

/* Each reader closes its own. */
static bool open_reader(struct pxt_reader *reader, const char *name, int fd)
{
	int own = dup(fd);

	if (own < 0 || pxt_reader_open_growing(reader, name, own, NULL) != PXT_EXIT_OK)
		return false;
	reader->sources[0]->let_go = true;
	return true;
}

bool pxt_flight_watch(struct pxt_flight *flight, const char *name, int fd)
{
	struct lane *lane = &flight->lanes[flight->lane_count++];
	bool of_wakeups = flight->wish.condition.kind == PXT_CONDITION_WAKEUP;

	lane->name = name;
	lane->fd = lane->behind.fd = fd;
	lane->standing = pxt_standing_new();
	if (!open_reader(&lane->back, name, fd))
		return false;
	/* As the log will have it, of which the earliest one is a part. */
	if (flight->lane_count == 1 || lane->back.start_ns < flight->zero_ns)
		flight->zero_ns = lane->back.start_ns;
	if (flight->lane_count == 1)
		flight->civil_ns = civil_of(lane->back.sources[0]);
	if (flight->lane_count > 1 && !of_wakeups)
		return true;
	if (!open_reader(&lane->front, name, fd))
		return false;
	lane->is_judged = true;
	lane->judge = pxt_judge_new(&flight->wish.condition, &lane->front, met, flight);
	return true;
}

/* What nobody wants any more lies before this. */
static int64_t limit_ns(const struct pxt_flight *flight, int64_t decided)
{
	int64_t limit = decided - 2 * flight->wish.keep_ns;
	int64_t begin = flight->next < flight->begun
	                    ? begin_of(flight, &flight->wanted[flight->next])
	                    : INT64_MAX;

	return begin <= limit ? begin - 1 : limit;
}

void pxt_flight_step(struct pxt_flight *flight)
{
	bool more;

	do {
		more = false;
		for (unsigned i = 0; i < flight->lane_count; i++) {
			struct lane *lane = &flight->lanes[i];
			bool is_behind = lane->is_judged && judge_some(flight, lane);
			int64_t decided = decided_ns(flight);

			(void)write_next(flight, decided);
			give_back(flight, lane, limit_ns(flight, decided));
			if (lane->is_judged)
				keep_up(flight, lane, is_behind);
			more = more || is_behind;
		}
	} while (more);
}

static void free_lane(struct lane *lane)
{
	pxt_judge_free(lane->judge);
	pxt_standing_free(lane->standing);
	if (lane->front.count > 0)
		pxt_reader_close(&lane->front);
	pxt_reader_close(&lane->back);
	(void)close(lane->fd);
}

void pxt_flight_end(struct pxt_flight *flight, struct pxt_flight_sum *sum)
{
	/* What was behind the end that was read last. */
	for (unsigned i = 0; i < flight->lane_count; i++)
		if (flight->lanes[i].is_judged)
			(void)pxt_reader_again(&flight->lanes[i].front);
	pxt_flight_step(flight);
	flight->ended = true;
	while (flight->next < flight->begun) {
		if (flight->child != 0)
			(void)reap(flight, true);
		else
			(void)write_next(flight, NOT_LATER);
	}
	flight->sum.unknown = true;
	for (unsigned i = 0; i < flight->lane_count; i++) {
		if (flight->lanes[i].judge && pxt_judge_knows(flight->lanes[i].judge))
			flight->sum.unknown = false;
		free_lane(&flight->lanes[i]);
	}
	(void)rmdir(flight->parts);
	*sum = flight->sum;
	free(flight);
}

static const char *thing(enum pxt_condition_kind kind)
{
	if (kind == PXT_CONDITION_SPAN)
		return "span";
	if (kind == PXT_CONDITION_LOCK)
		return "lock";
	return kind == PXT_CONDITION_EVENT ? "type of events" : "thread";
}

void pxt_flight_summary(const struct pxt_flight_wish *wish, const struct pxt_flight_sum *sum)
{
	pxt_complain("%s: '%s' was met %" PRIu64 " time%s, %u log%s written%s", wish->command,
	    wish->condition.text, sum->met, sum->met == 1 ? "" : "s", sum->written,
	    sum->written == 1 ? "" : "s",
	    sum->written == wish->most && sum->written > 0 ? " (--most allows no more)" : "");
	if (sum->unknown)
		pxt_complain("%s: no %s was called \"%s\"", wish->command,
		    thing(wish->condition.kind), wish->condition.name);
	if (sum->failed > 0)
		pxt_complain("%s: %u more could not be written; the program itself was not touched",
		    wish->command, sum->failed);
	if (sum->unjudged > 0)
		pxt_complain("%s: %" PRIu64
		             " events came too fast to be judged (a larger --size helps, or less "
		             "of them: --only)",
		    wish->command, sum->unjudged);
}
