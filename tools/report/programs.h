/* SPDX-License-Identifier: MIT */
/*
 * programs.h - which processes of a log `pxtrace run` traced, and what programs they were.  Threads of
 * all other processes are in the log because the scheduler told of them.
 *
 * Bounded: PXT_PROGRAMS_MAX processes; those beyond are taken for others.
 */
#ifndef PXT_PROGRAMS_H
#define PXT_PROGRAMS_H

#include "tools/event/event.h"
#include "tools/output/out.h"

#define PXT_PROGRAMS_MAX 4096u

struct pxt_program {
	pid_t pid;
	char *path; /* as the log has it; of a process that became another program: the last one */
};

struct pxt_programs {
	struct pxt_program *list; /* in the order of their first events */
	uint32_t count;
};

/* Any event, chosen or not: those that tell of a traced process are noted. */
void pxt_programs_take(struct pxt_programs *programs, const struct pxt_event *event);
/* As JSON: [[pid, path], ...]. */
void pxt_programs_put(const struct pxt_programs *programs, struct pxt_out *out);
void pxt_programs_free(struct pxt_programs *programs);

#endif
