/* SPDX-License-Identifier: MIT */
/* threadstate.c - what a thread of the process does, and how it is scheduled: its line in /proc. */
#define _GNU_SOURCE
#include "port/port_sysinfo.h"
#include "port/posix/owncalls.h"

#include <stdio.h>
#include <stdlib.h>

/* Words of the line, counted as proc(5) does; the first one behind the name is the state. */
enum {
	WORD_STATE = 3,
	WORD_PRIORITY = 18,
	WORD_CPU = 39,
	WORD_RT_PRIORITY = 40,
	WORD_POLICY = 41
};

#define LINE_BYTES       1024
#define REAL_TIME_LEVELS 100 /* the kernel's numbers of normal threads begin there */

static const char *state_word(char letter)
{
	static const struct {
		char letters[3];
		char word[9];
	} states[] = { { "R", "runnable" }, { "S", "sleeping" }, { "D", "blocked" },
		{ "Tt", "stopped" }, { "I", "idle" }, { "ZX", "ended" } };

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (strchr(states[i].letters, letter) != NULL)
			return states[i].word;
	return "unknown";
}

static const char *policy_word(long policy)
{
	static const char policies[][9] = { "other", "fifo", "rr", "batch", "unknown", "idle",
		"deadline" };

	if (policy < 0 || policy >= (long)(sizeof(policies) / sizeof(policies[0])))
		return "unknown";
	return policies[policy];
}

/* The line, which ends in NUL; false: there is no such thread any more. */
static bool read_line(int32_t tid, char line[LINE_BYTES])
{
	char path[48];

	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", (long)tid);
	return pxt_descriptor_text(path, line, LINE_BYTES) > 0;
}

/* The word of that number; a name may hold anything, so that the last parenthesis ends it. */
static const char *word_of(const char *line, int number)
{
	const char *at = strrchr(line, ')');

	for (int word = WORD_STATE - 1; at != NULL && word < number; word++) {
		at = strchr(at, ' ');
		if (at != NULL)
			at++;
	}
	return at;
}

static long number_of(const char *line, int number)
{
	const char *word = word_of(line, number);

	return word != NULL ? strtol(word, NULL, 10) : 0;
}

bool pxt_port_thread_state(int32_t tid, struct pxt_port_thread_state *state)
{
	PXT_OWNCALLS();
	char line[LINE_BYTES];
	const char *letter = read_line(tid, line) ? word_of(line, WORD_STATE) : NULL;

	if (letter != NULL) {
		state->state = state_word(*letter);
		state->policy = policy_word(number_of(line, WORD_POLICY));
		state->priority = (int32_t)number_of(line, WORD_PRIORITY) + REAL_TIME_LEVELS;
		state->rt_priority = (int32_t)number_of(line, WORD_RT_PRIORITY);
		state->cpu = (int32_t)number_of(line, WORD_CPU);
	}
	return letter != NULL;
}
