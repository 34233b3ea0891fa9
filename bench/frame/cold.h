/* SPDX-License-Identifier: MIT */
/*
 * cold.h - one call after everything it needs has left the processor's caches: data, instructions,
 * translations of addresses, predictions.  The call after it finds all of them.
 */
#ifndef BENCH_COLD_H
#define BENCH_COLD_H

#include "frame.h"

#include <stdbool.h>
#include <stddef.h>

#define BENCH_COLD_MAX 4u /* subjects */

/* What is measured: one pass of a loop. */
struct bench_cold {
	const char *name;
	bench_loop *loop;
};

/*
 * Two tables, one for each way: medians of the first and of the second call, over rounds in which the
 * subjects take turns; and the first one's multiple of the floor's in its round, with an empty pass
 * taken off both.  Subjects have no data in common: who comes after another would find it.
 * @own: with the empty pass, a load of one line and the floor as rows.
 */
void bench_cold_tables(const struct bench_cold *subjects, size_t count, bool own);

#endif
