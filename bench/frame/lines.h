/* SPDX-License-Identifier: MIT */
/*
 * lines.h - calls between two stores to a marker, for scripts/lines.py to find in what valgrind's
 * lackey prints: every access to memory.
 *
 * Standard output says where the marker is, then each row after its stores.
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stdint.h>

typedef volatile uint32_t lines_word;

/* Runs @passes calls, each between two stores to @marker. */
typedef void lines_calls(lines_word *marker, unsigned passes);

/*
 * Such a function: @setup, then calls of the rest.  A pass begins on a line of instructions, and a
 * simple call with its arguments ends on it, wherever it is linked to.
 */
#define LINES_CALLS(name, setup, ...)                                                              \
	static __attribute__((noinline)) void name(lines_word *marker, unsigned passes)            \
	{                                                                                          \
		setup;                                                                             \
                                                                                                   \
		for (unsigned i = 0; i < passes; i++) {                                            \
			__asm__ volatile(".p2align 6");                                            \
			*marker = i;                                                               \
			__VA_ARGS__;                                                               \
			*marker = i;                                                               \
		}                                                                                  \
	}

/* First of all: what stores to the marker can be told from others. */
void lines_begin(void);
/* Warms up, then lets @calls be counted. */
void lines_row(const char *name, lines_calls *calls);

#endif
