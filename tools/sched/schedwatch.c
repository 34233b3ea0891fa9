/* SPDX-License-Identifier: MIT */
/*
 * schedwatch.c - rings of all CPUs in the order of time, into the log, and at the end what was lost
 * without a record of it; see sched.h.
 */
#include "tools/sched/sched.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/*
 * A record gets its time before it is seen here, by as long as its CPU was taken from it between the
 * two.  So the last moments are left for the next time; with less patience where a ring fills up.
 */
#define HOLD_NS       UINT64_C(50000000)
#define HOLD_SHORT_NS UINT64_C(1000000)

struct pxt_schedwatch {
	struct pxt_schedrings rings;
	struct pxt_schedlog log;
	int epoll;
	struct pxt_throttles *throttles; /* NULL: none */
	uint64_t looked_ns;
	/* What looks at these found up to @found_ns, 0: nothing, since @from_ns.  Older records come before it. */
	uint64_t found_ns;
	uint64_t from_ns;
	uint64_t foretold; /* losses that records told of */
	struct front {
		bool there;
		struct pxt_perfrec rec;
		size_t bytes;
	} * fronts; /* the next record of each ring */
};

/* ---- Begin ---- */

static int read_paranoid(void)
{
	char text[16] = "";
	char *end = text;
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");

	if (!file)
		return PXT_SCHEDTOLD_UNKNOWN;
	(void)!fgets(text, sizeof text, file);
	(void)fclose(file);
	long level = strtol(text, &end, 10);
	return end == text ? PXT_SCHEDTOLD_UNKNOWN : (int)level;
}

static void tell(const struct pxt_schedwatch *watch, struct pxt_schedtold *told)
{
	const struct pxt_schedrings *rings = &watch->rings;

	*told = (struct pxt_schedtold){ .level = rings->level,
		.all_error = rings->all_error,
		.points_error = rings->points_error,
		.other_space = rings->other_space,
		.paranoid = read_paranoid(),
		.cpus = rings->count,
		.ring_bytes = rings->ring_bytes };
}

/* One descriptor for all rings. */
static int watch_all(const struct pxt_schedrings *rings)
{
	int all = epoll_create1(EPOLL_CLOEXEC);

	for (unsigned i = 0; all >= 0 && i < rings->count; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		if (epoll_ctl(all, EPOLL_CTL_ADD, rings->cpus[i].fds[0], &event) != 0) {
			(void)close(all);
			return -1;
		}
	}
	return all;
}

static int begin_log(
    struct pxt_schedwatch *watch, pid_t child, const struct pxt_schedwatch_file *file)
{
	const struct pxt_schedrings *rings = &watch->rings;
	const struct pxt_schedlog_wish wish = { .path = file->path,
		.other = file->other,
		.limit = file->limit,
		.child = child,
		.wide = rings->level >= PXT_SCHEDLEVEL_ALL,
		.ask = true,
		.hidden = rings->other_space,
		.points = rings->level == PXT_SCHEDLEVEL_POINTS ? rings->points : NULL };

	watch->fronts = calloc(rings->count, sizeof *watch->fronts);
	if (!watch->fronts)
		return ENOMEM;
	watch->epoll = watch_all(rings);
	if (watch->epoll < 0)
		return errno;
	return pxt_schedlog_begin(&watch->log, &wish) ? 0 : ENOMEM;
}

static void free_watch(struct pxt_schedwatch *watch)
{
	pxt_schedopen_close(&watch->rings);
	if (watch->epoll >= 0)
		(void)close(watch->epoll);
	free(watch->fronts);
	free(watch);
}

struct pxt_schedwatch *pxt_schedwatch_open(pid_t child, const struct pxt_schedwatch_file *file,
    enum pxt_schedlevel most, struct pxt_schedtold *told)
{
	struct pxt_schedwatch *watch = calloc(1, sizeof *watch);

	*told = (struct pxt_schedtold){ .error = ENOMEM };
	if (!watch)
		return NULL;
	watch->epoll = -1;
	int error = pxt_schedopen(&watch->rings, child, most, file->groups);
	tell(watch, told);
	if (error == 0)
		error = begin_log(watch, child, file);
	watch->from_ns = pxt_schedhead_now();
	if (error == 0)
		return watch;
	told->level = PXT_SCHEDLEVEL_NONE;
	told->error = error;
	free_watch(watch);
	return NULL;
}

int pxt_schedwatch_fd(const struct pxt_schedwatch *watch)
{
	return watch->epoll;
}

int pxt_schedwatch_memory(const struct pxt_schedwatch *watch)
{
	return watch->log.log && !watch->log.wish.path ? pxt_logwrite_memory(watch->log.log) : -1;
}

/* ---- Records ---- */

/* The next record of a ring that is whole, into its front. */
static void look_at(struct pxt_schedwatch *watch, unsigned cpu)
{
	struct front *front = &watch->fronts[cpu];
	struct pxt_perfring *ring = &watch->rings.cpus[cpu].ring;
	const unsigned char *bytes;

	front->there = false;
	while (!front->there && (bytes = pxt_perfring_next(ring, &front->bytes)) != NULL) {
		front->there = pxt_perfrec_parse(&front->rec, bytes, front->bytes);
		if (front->there)
			break;
		ring->broken += front->bytes;
		pxt_perfring_skip(ring, front->bytes);
	}
}

/* The ring whose next record is the earliest, of those up to @limit; -1: none. */
static int earliest(const struct pxt_schedwatch *watch, uint64_t limit)
{
	int found = -1;
	uint64_t ns = limit;

	for (unsigned i = 0; i < watch->rings.count; i++) {
		const struct front *front = &watch->fronts[i];

		if (front->there && front->rec.ns <= ns) {
			found = (int)i;
			ns = front->rec.ns;
		}
	}
	return found;
}

/* Up to @limit, of what is there now; ends because the rings are looked up once. */
static void take_until(struct pxt_schedwatch *watch, uint64_t limit)
{
	int cpu;

	for (unsigned i = 0; i < watch->rings.count; i++)
		look_at(watch, i);
	while ((cpu = earliest(watch, limit)) >= 0) {
		struct front *front = &watch->fronts[cpu];

		if (front->rec.kind == PXT_PERFREC_LOST)
			watch->foretold += front->rec.lost;
		pxt_schedlog_take(&watch->log, &front->rec);
		pxt_perfring_skip(&watch->rings.cpus[cpu].ring, front->bytes);
		look_at(watch, (unsigned)cpu);
	}
	for (unsigned i = 0; i < watch->rings.count; i++)
		pxt_perfring_free(&watch->rings.cpus[i].ring);
}

void pxt_schedwatch_throttles(struct pxt_schedwatch *watch, struct pxt_throttles *throttles)
{
	watch->throttles = throttles;
}

/* Not more often than somebody polls who is not woken, and not while what was found waits for its place. */
static void look_at_throttles(struct pxt_schedwatch *watch, uint64_t now)
{
	struct pxt_throttle all;

	if (!watch->throttles || watch->found_ns != 0 ||
	    now - watch->looked_ns < PXT_SCHEDWATCH_MS * UINT64_C(900000))
		return;
	watch->looked_ns = now;
	pxt_throttles_ask(watch->throttles, &watch->log);
	if (pxt_throttles_look(watch->throttles, &all))
		watch->found_ns = now;
	else
		watch->from_ns = now;
}

/* The same, with what was read of cgroups in its place. */
static void take_all_until(struct pxt_schedwatch *watch, uint64_t limit)
{
	uint64_t found = watch->found_ns;

	if (found != 0 && found <= limit) {
		take_until(watch, found);
		pxt_throttles_tell(watch->throttles, &watch->log, watch->from_ns, found);
		watch->from_ns = found;
		watch->found_ns = 0;
	}
	take_until(watch, limit);
}

/* The largest share of a ring that is full, in per cent. */
static unsigned look_all(struct pxt_schedwatch *watch)
{
	unsigned fullest = 0;

	for (unsigned i = 0; i < watch->rings.count; i++) {
		uint64_t there = pxt_perfring_look(&watch->rings.cpus[i].ring);
		unsigned share = (unsigned)(there * 100 / watch->rings.ring_bytes);

		fullest = share > fullest ? share : fullest;
	}
	return fullest;
}

int pxt_schedwatch_poll(struct pxt_schedwatch *watch)
{
	struct epoll_event events[16];

	/* What is read now is not to be told again; each look takes the wake-up back. */
	(void)epoll_wait(watch->epoll, events, 16, 0);
	uint64_t now = pxt_schedhead_now();
	unsigned fullest = look_all(watch);
	take_all_until(watch, now - (fullest > 50 ? HOLD_SHORT_NS : HOLD_NS));
	look_at_throttles(watch, now);
	if (!watch->log.log)
		return ENOMEM;
	/* Somebody reads it as it grows. */
	if (!watch->log.wish.path)
		pxt_logwrite_flush(watch->log.log);
	return pxt_logwrite_error(watch->log.log);
}

/* ---- End ---- */

int pxt_schedwatch_end(struct pxt_schedwatch *watch, struct pxt_schedtold *told)
{
	struct pxt_schedtold ignored;

	pxt_schedopen_stop(&watch->rings);
	(void)look_all(watch);
	/* What the caller's last look found. */
	if (watch->throttles && watch->found_ns == 0)
		watch->found_ns = pxt_schedhead_now();
	take_all_until(watch, UINT64_MAX);
	/* Records tell of losses before them; after the last one there is none that could. */
	uint64_t lost = pxt_schedopen_lost(&watch->rings);
	if (lost > watch->foretold)
		pxt_schedlog_loss(&watch->log, lost - watch->foretold);
	told = told ? told : &ignored;
	tell(watch, told);
	told->events = pxt_schedlog_events(&watch->log);
	told->switches = watch->log.switches;
	told->wakes = watch->log.wakes;
	told->lost = watch->log.lost;
	told->beyond = watch->log.beyond;
	pxt_schedmachine_forget(&watch->log);
	told->unended = watch->log.unended;
	told->segments = watch->log.segments > 0 ? 2 : 1;
	told->late = watch->log.late;
	for (unsigned i = 0; i < watch->rings.count; i++)
		told->broken += watch->rings.cpus[i].ring.broken;
	int error = pxt_schedlog_end(&watch->log);
	free_watch(watch);
	return error;
}

void pxt_schedwatch_abandon(struct pxt_schedwatch *watch)
{
	pxt_schedlog_abandon(&watch->log);
	free_watch(watch);
}

/*
 * ---- In a sentence, what the kernel does not let us record, and the line that would allow it ----
 */

#define OWN_PARANOID 2 /* with more than this not even one's own threads are told of */

static void nothing(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	bool refused = told->error == EACCES || told->error == EPERM;

	(void)snprintf(say->what, sizeof say->what,
	    "the scheduler is not recorded: perf_event_open: %s", strerror(told->error));
	if (refused && told->paranoid > OWN_PARANOID && told->paranoid != PXT_SCHEDTOLD_UNKNOWN)
		(void)snprintf(say->how, sizeof say->how,
		    "kernel.perf_event_paranoid is %d; as root: sysctl "
		    "kernel.perf_event_paranoid=2",
		    told->paranoid);
	else if (refused)
		(void)snprintf(say->how, sizeof say->how,
		    "a container allows it with --cap-add PERFMON, or a seccomp profile that "
		    "has perf_event_open");
	else if (told->error == ENOSYS)
		(void)snprintf(
		    say->how, sizeof say->how, "this kernel has no perf events (PERF_EVENTS)");
	else if (told->error == EMFILE)
		(void)snprintf(say->how, sizeof say->how,
		    "each CPU wants descriptors; more of them: ulimit -n 4096");
}

static void own_only(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	(void)snprintf(say->what, sizeof say->what,
	    "of the scheduler it is recorded when threads of the program run, not who runs "
	    "instead, nor who wakes them");
	if (told->all_error == EMFILE)
		(void)snprintf(say->how, sizeof say->how,
		    "each CPU wants descriptors; more of them: ulimit -n 4096");
	else
		(void)snprintf(
		    say->how, sizeof say->how, "as root: sysctl kernel.perf_event_paranoid=-1");
}

static void no_points(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	(void)snprintf(say->what, sizeof say->what,
	    "of the scheduler it is recorded who runs, not who wakes whom, nor priorities");
	if (told->other_space)
		(void)snprintf(say->how, sizeof say->how,
		    "a container has its own numbers of threads; outside of it, or with "
		    "--pid=host, they are recorded");
	else if (told->points_error == ENOENT || told->points_error == ENODEV)
		(void)snprintf(say->how, sizeof say->how,
		    "as root: mount -t tracefs tracefs /sys/kernel/tracing");
	else if (told->paranoid > -1 && told->paranoid != PXT_SCHEDTOLD_UNKNOWN)
		(void)snprintf(say->how, sizeof say->how,
		    "as root: sysctl kernel.perf_event_paranoid=-1, and mount -o "
		    "remount,mode=755 /sys/kernel/tracing");
	else if (told->points_error == EACCES || told->points_error == EPERM)
		(void)snprintf(say->how, sizeof say->how,
		    "as root: mount -o remount,mode=755 /sys/kernel/tracing");
	else
		(void)snprintf(
		    say->how, sizeof say->how, "tracefs: %s", strerror(told->points_error));
}

bool pxt_schedsay_missing(struct pxt_schedsay *say, const struct pxt_schedtold *told)
{
	*say->what = *say->how = '\0';
	if (told->level == PXT_SCHEDLEVEL_NONE)
		nothing(say, told);
	else if (told->level == PXT_SCHEDLEVEL_OWN && told->all_error != 0)
		own_only(say, told);
	else if (told->level == PXT_SCHEDLEVEL_ALL && told->points_error != 0)
		no_points(say, told);
	return *say->what != '\0';
}
