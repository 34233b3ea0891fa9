/* SPDX-License-Identifier: MIT */
/*
 * select.h - the options by which all subcommands choose events: --event, --thread, --pid, --from,
 * --to, --where.
 */
#ifndef PXT_SELECT_H
#define PXT_SELECT_H

#include "tools/event/event.h"
#include "tools/output/when.h"
#include "tools/select/where.h"

#include <getopt.h>

#define PXT_SELECT_MAX 64u

struct pxt_select {
	const char *events[PXT_SELECT_MAX];
	const char *threads[PXT_SELECT_MAX];
	unsigned event_count;
	unsigned thread_count;
	unsigned pid_count;
	pid_t pids[PXT_SELECT_MAX];
	struct pxt_when from;
	struct pxt_when to;
	struct pxt_where *where; /* NULL: any */
};

/* Codes of these options for struct option.val; above every character. */
enum {
	PXT_OPT_EVENT = 'e',
	PXT_OPT_THREAD = 't',
	PXT_OPT_FROM = 300,
	PXT_OPT_TO,
	PXT_OPT_PID,
	PXT_OPT_WHERE
};

#define PXT_SELECT_OPTIONS                                                                         \
	{ "event", required_argument, NULL, PXT_OPT_EVENT },                                       \
	    { "thread", required_argument, NULL, PXT_OPT_THREAD },                                 \
	    { "pid", required_argument, NULL, PXT_OPT_PID },                                       \
	    { "where", required_argument, NULL, PXT_OPT_WHERE },                                   \
	    { "from", required_argument, NULL, PXT_OPT_FROM },                                     \
	{                                                                                          \
		"to", required_argument, NULL, PXT_OPT_TO                                          \
	}

/* What --help says of them, in every command. */
#define PXT_SELECT_HELP                                                                            \
	"which events:\n"                                                                          \
	"  -e, --event GLOB      types with such a name; may be given several times\n"             \
	"  -t, --thread NAME|TID threads with such a name (a GLOB) or number; several times\n"     \
	"      --pid PID         of this process; several times\n"                                 \
	"      --from TIME       not before: 1.5 (seconds), 200ms, 7us (since the start), or\n"    \
	"      --to TIME         not after:  2026-01-31T12:00:00.25Z (local without Z)\n"          \
	"      --where CONDITION of which this is true: 'late_ns > 1ms and thread ~ \"ctl*\"';\n"  \
	"                        time is as with --from: 'time > 1.5', 'time > 200ms'\n"

/* Whether @code is one of these options. */
static inline bool pxt_select_is(int code)
{
	return code == PXT_OPT_EVENT || code == PXT_OPT_THREAD ||
	       (code >= PXT_OPT_FROM && code <= PXT_OPT_WHERE);
}
/* Takes an option.  False, with a word to the user, when its value makes no sense. */
bool pxt_select_option(struct pxt_select *select, int code, const char *value);
/* False, with a word to the user, when nothing could ever be selected. */
bool pxt_select_check(const struct pxt_select *select);

/* By the name and number alone; asked once for each type and thread. */
bool pxt_select_type(const struct pxt_select *select, const char *name);
bool pxt_select_thread(const struct pxt_select *select, const struct pxt_thread *thread);
/* By which --thread, a bit each. */
uint64_t pxt_select_threads(const struct pxt_select *select, const struct pxt_thread *thread);
/* Whether one --thread means it. */
bool pxt_select_means(const char *wanted, const struct pxt_thread *thread);

/* -1: before the window, 0: inside, 1: after it. */
static inline int pxt_select_time(const struct pxt_select *select, int64_t ns, int64_t start_ns)
{
	if (select->from.set && ns - (select->from.absolute ? 0 : start_ns) < select->from.ns)
		return -1;
	return select->to.set && ns - (select->to.absolute ? 0 : start_ns) > select->to.ns;
}

/* Which of --pid it is: a bit each. */
uint64_t pxt_select_pids(const struct pxt_select *select, pid_t pid);
_Static_assert(PXT_SELECT_MAX <= 64, "a bit each");

/* Everything; what costs least, and turns most away, first. (QNX-46) */
static inline bool pxt_select_event(
    const struct pxt_select *select, const struct pxt_event *event, int64_t start_ns)
{
	return event->type->selected && event->thread->selected &&
	       (select->pid_count == 0 || pxt_select_pids(select, event->info.posix_pid) != 0) &&
	       pxt_select_time(select, event->ns, start_ns) == 0 &&
	       (!select->where || pxt_where_true(select->where, event, start_ns));
}

/*
 * ---- Which numeric fields are shown as curves, or join events ----
 *
 * --counter FIELD, --counter EVENT.FIELD; --flow likewise.
 */

#define PXT_COUNTERS_MAX 32u

struct pxt_counters {
	const char *patterns[PXT_COUNTERS_MAX];
	unsigned count;
};

/* Takes one of @option, such as "--counter".  False, with a word to the user, when there are too many. */
bool pxt_counters_option(struct pxt_counters *counters, const char *option, const char *pattern);
bool pxt_counters_want(const struct pxt_counters *counters, const struct pxt_type *type,
    const struct pxt_layout *field);

#endif
