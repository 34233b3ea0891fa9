/* SPDX-License-Identifier: MIT */
/*
 * preload.h - the library that is loaded into the program, and what tells it what to record: variables of
 * the program's environment (sysevents/wrap/start.c reads them).
 */
#ifndef PXT_PRELOAD_H
#define PXT_PRELOAD_H

#include "tools/event/groups.h"

#include <stdbool.h>
#include <stdint.h>

#define PXT_PRELOAD_PATH     4096u
#define PXT_PRELOAD_VARIABLE 16384u
#define PXT_PRELOAD_COUNT    12u
/* Bytes of a ring at least (sysevents/wrap/start.c). */
#define PXT_PRELOAD_RING     65536u

struct pxt_preload {
	char library[PXT_PRELOAD_PATH];
	char text[PXT_PRELOAD_COUNT][PXT_PRELOAD_VARIABLE];
	char *list[PXT_PRELOAD_COUNT + 1]; /* "NAME=value", NULL last */
	unsigned count;
};

/* What is to be recorded. */
struct pxt_preload_wish {
	const char *stream; /* its name */
	struct pxt_groups groups;
	uint64_t buffer;   /* bytes of all rings of a process; 0: as the library has it */
	uint64_t stack_us; /* waits that long tell who called; 0: none does */
	bool all;          /* locks that were free are events, too */
};

/* Finds the library: beside this program, or where PXTRACE_PRELOAD says.  False with a word to the user. */
bool pxt_preload_find(struct pxt_preload *preload);
void pxt_preload_set(struct pxt_preload *preload, const struct pxt_preload_wish *wish);

#endif
