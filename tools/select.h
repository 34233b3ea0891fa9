/* SPDX-License-Identifier: MIT */
/* select.h - the options by which all subcommands choose events: --event, --thread, --from, --to. */
#ifndef PXT_SELECT_H
#define PXT_SELECT_H

#include "source.h"
#include "when.h"

#include <getopt.h>

#define PXT_SELECT_MAX 64u

struct pxt_select {
	const char *events[PXT_SELECT_MAX];
	const char *threads[PXT_SELECT_MAX];
	unsigned event_count;
	unsigned thread_count;
	struct pxt_when from;
	struct pxt_when to;
};

/* Codes of these options for struct option.val; above every character. */
enum {
	PXT_OPT_EVENT = 'e',
	PXT_OPT_THREAD = 't',
	PXT_OPT_FROM = 300,
	PXT_OPT_TO
};

#define PXT_SELECT_OPTIONS                                                                         \
	{ "event", required_argument, NULL, PXT_OPT_EVENT },                                       \
	    { "thread", required_argument, NULL, PXT_OPT_THREAD },                                 \
	    { "from", required_argument, NULL, PXT_OPT_FROM },                                     \
	{                                                                                          \
		"to", required_argument, NULL, PXT_OPT_TO                                          \
	}

/* Takes an option.  False, with a word to the user, when its value makes no sense. */
bool pxt_select_option(struct pxt_select *select, int code, const char *value);
/* False, with a word to the user, when nothing could ever be selected. */
bool pxt_select_check(const struct pxt_select *select);

/* By the name and number alone; asked once for each type and thread. */
bool pxt_select_type(const struct pxt_select *select, const char *name);
bool pxt_select_thread(const struct pxt_select *select, const struct pxt_thread *thread);

/* -1: before the window, 0: inside, 1: behind it. */
static inline int pxt_select_time(const struct pxt_select *select, int64_t ns, int64_t start_ns)
{
	if (select->from.set && ns - (select->from.absolute ? 0 : start_ns) < select->from.ns)
		return -1;
	return select->to.set && ns - (select->to.absolute ? 0 : start_ns) > select->to.ns;
}

/* Says so when a pattern matches no type of any log, and what there would be. */
void pxt_select_review(const struct pxt_select *select, const struct pxt_reader *reader);

#endif
