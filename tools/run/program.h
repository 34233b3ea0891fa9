/* SPDX-License-Identifier: MIT */
/*
 * program.h - the program that `pxtrace run` starts: where it is, whether a library can be loaded
 * into it, and its life.
 */
#ifndef PXT_PROGRAM_H
#define PXT_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What a shell returns where a program cannot be started. */
#define PXT_PROGRAM_NOT_FOUND   127
#define PXT_PROGRAM_NOT_STARTED 126

struct pxt_program {
	char **argv;
	char path[PATH_MAX];
	pid_t pid;
	int start;  /* a pipe: what is written there lets it begin */
	int failed; /* a pipe: why it could not be started */
};

/*
 * Looks for argv[0] as a shell would.  0, or the exit status with a word to the user.
 */
int pxt_program_find(struct pxt_program *program, char **argv);
/*
 * Whether the preload library will be loaded into it; if not, says why and what helps.  @library: where
 * the preload library is.
 */
bool pxt_program_traceable(const struct pxt_program *program, const char *library);
/* A process that waits to become the program, with @variables ("NAME=value", NULL last) in its environment. */
bool pxt_program_prepare(struct pxt_program *program, char *const *variables);
/* It begins.  0, or the exit status with a word to the user. */
int pxt_program_begin(struct pxt_program *program);
/* Has it ended?  Then its exit status as a shell has it. */
bool pxt_program_ended(struct pxt_program *program, int *status);
/* Processes that lose their parent become children of this one. */
void pxt_program_adopt(void);
/* Whether there are children of this process left; those that have ended are forgotten. */
bool pxt_program_has_children(void);
/* From now on signals to this process go to the program; those of the terminal reach it by themselves. */
void pxt_program_forward(const struct pxt_program *program);
/* Signals mean what they did before. */
void pxt_program_forward_no_more(void);
/* Whether that process is there and has not ended. */
bool pxt_program_is_alive(pid_t pid);

#endif
