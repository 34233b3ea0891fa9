/* SPDX-License-Identifier: MIT */
/* fork.c - what is to be done about a fork, before it and after it; and about the end of a thread. */
#include "port/port.h"

#include <limits.h>
#include <pthread.h>

void pxt_port_at_fork(void (*child)(void))
{
	(void)pthread_atfork(NULL, NULL, child);
}

void pxt_port_around_fork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
	(void)pthread_atfork(before, parent, child);
}

/* ---- The end of a thread ---- */

/* The C library keeps a value of the first keys in the thread itself; of others it may allocate. */
#define KEYS_WITHOUT_MEMORY 32u

static pthread_key_t key;
static void (*at_end)(void); /* NULL: nobody wants to know */

/*
 * In the last round but one, so that most destructors of the thread come before.  In the last one sanitizers
 * take down what they know of the thread: after that no code of theirs may run in it.
 */
static void one_round(void *round)
{
	const uintptr_t next = (uintptr_t)round + 1u;

	if (next < PTHREAD_DESTRUCTOR_ITERATIONS)
		(void)pthread_setspecific(
		    key, (void *)next); /* NOLINT(performance-no-int-to-ptr) */
	else
		at_end();
}

bool pxt_port_thread_end_watch(void (*end)(void))
{
	if (pthread_key_create(&key, one_round) != 0)
		return false;
	if (key >= KEYS_WITHOUT_MEMORY) {
		(void)pthread_key_delete(key);
		return false;
	}
	at_end = end;
	return true;
}

/* Threads that end later must not call a library that was unloaded. */
__attribute__((destructor)) static void forget(void)
{
	if (at_end)
		(void)pthread_key_delete(key);
	at_end = NULL;
}

void pxt_port_thread_end_mark(void)
{
	if (at_end)
		(void)pthread_setspecific(key, (void *)1); /* NOLINT(performance-no-int-to-ptr) */
}
