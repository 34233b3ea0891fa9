/* SPDX-License-Identifier: MIT */
/*
 * schedthreads.h - the threads that the scheduler told of: who is watched, what they are called.
 *
 * An entry stays where it is as long as the table lives; a number that the system uses again gets a
 * new life in the same entry.  So there are never more than the system has numbers.
 */
#ifndef PXT_SCHEDTHREADS_H
#define PXT_SCHEDTHREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_SCHEDTHREAD_NAME 16u

struct pxt_schedthread {
	int32_t tid;
	int32_t pid; /* 0: not known yet */
	bool watched;
	bool named;
	bool has_prio;
	bool running; /* as far as it was told */
	bool ended;
	int waits_on;   /* the CPU that it could run on and does not have; -1: none */
	uint32_t epoch; /* of @running and @waits_on; an older one: not known */
	int32_t prio;   /* with @has_prio: the kernel's, smaller is more urgent */
	uint64_t asked; /* when /proc was asked for it last; 0: never */
	uint32_t index; /* in the log's table; 0: not told yet */
	char name[PXT_SCHEDTHREAD_NAME];
};

struct pxt_schedthreads {
	struct pxt_schedthread **table; /* open addressing; a power of two */
	size_t room;
	size_t count;
};

/* The entry of @tid, made where there is none; NULL: @tid is no thread's number, or there is no memory. */
struct pxt_schedthread *pxt_schedthreads_of(struct pxt_schedthreads *threads, int32_t tid);
/* NULL: there is none. */
struct pxt_schedthread *pxt_schedthreads_find(const struct pxt_schedthreads *threads, int32_t tid);
void pxt_schedthreads_free(struct pxt_schedthreads *threads);

/* What /proc says: false where it says nothing. */
bool pxt_schedthreads_ask(int32_t tid, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio);
/* The same from the line that /proc/TID/stat is: "TID (NAME) ...", where the name may hold anything. */
bool pxt_schedthreads_parse(const char *line, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio);
bool pxt_schedthreads_ask_parents(int32_t tid, int32_t *pid, int32_t *parent);

#endif
