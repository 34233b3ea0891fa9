/* SPDX-License-Identifier: MIT */
/* schedthreads.c - threads by number, and what /proc says of them; see schedlog.h. */
#include "tools/sched/schedlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 256u
#define PRIO_FIELD 18
#define PRIO_ABOVE 100 /* of the kernel's priorities, those below are of real-time threads */

static size_t place_of(const struct pxt_schedthreads *threads, int32_t tid)
{
	size_t mask = threads->room - 1;
	uint32_t mixed = (uint32_t)tid * UINT32_C(0x9e3779b1);
	size_t at = mixed & mask;

	while (threads->table[at] && threads->table[at]->tid != tid)
		at = (at + 1) & mask;
	return at;
}

/* At most half of it is used, so that each search ends soon. */
static bool make_room(struct pxt_schedthreads *threads)
{
	struct pxt_schedthreads larger = { .room = threads->room ? threads->room * 2 : ROOM_FIRST };

	if (threads->room && threads->count < threads->room / 2)
		return true;
	larger.table = calloc(larger.room, sizeof(struct pxt_schedthread *));
	if (!larger.table)
		return false;
	larger.count = threads->count;
	for (size_t i = 0; i < threads->room; i++)
		if (threads->table[i])
			larger.table[place_of(&larger, threads->table[i]->tid)] = threads->table[i];
	free(threads->table);
	*threads = larger;
	return true;
}

struct pxt_schedthread *pxt_schedthreads_find(const struct pxt_schedthreads *threads, int32_t tid)
{
	return threads->room == 0 || tid <= 0 ? NULL : threads->table[place_of(threads, tid)];
}

struct pxt_schedthread *pxt_schedthreads_of(struct pxt_schedthreads *threads, int32_t tid)
{
	struct pxt_schedthread *thread = pxt_schedthreads_find(threads, tid);

	if (thread || tid <= 0 || !make_room(threads))
		return thread;
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->waits_on = -1;
	threads->table[place_of(threads, tid)] = thread;
	threads->count++;
	return thread;
}

void pxt_schedthreads_free(struct pxt_schedthreads *threads)
{
	for (size_t i = 0; i < threads->room; i++)
		free(threads->table[i]);
	free(threads->table);
	*threads = (struct pxt_schedthreads){ 0 };
}

/* Field 18 is the priority, as far above that of the last real-time thread as the kernel has it. */
bool pxt_schedthreads_parse(const char *line, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio)
{
	const char *begin = strchr(line, '(');
	const char *end = strrchr(line, ')');
	char *behind;

	if (!begin || !end || end < begin)
		return false;
	const char *at = end;
	for (unsigned field = 2; at && field < PRIO_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	long value = strtol(at, &behind, 10);
	if (behind == at || value < -PRIO_ABOVE - 1 || value > PRIO_ABOVE)
		return false;
	*prio = (int32_t)value + PRIO_ABOVE;
	size_t bytes = (size_t)(end - begin - 1);
	bytes = bytes < PXT_SCHEDTHREAD_NAME ? bytes : PXT_SCHEDTHREAD_NAME - 1;
	memcpy(name, begin + 1, bytes);
	name[bytes] = '\0';
	return true;
}

bool pxt_schedthreads_ask(int32_t tid, char name[PXT_SCHEDTHREAD_NAME], int32_t *prio)
{
	char path[40];
	char line[1024];

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	size_t got = fread(line, 1, sizeof line - 1, file);
	(void)fclose(file);
	line[got] = '\0';
	return pxt_schedthreads_parse(line, name, prio);
}

bool pxt_schedthreads_ask_parents(int32_t tid, int32_t *pid, int32_t *parent)
{
	char path[40];
	char line[256];

	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	FILE *file = fopen(path, "re");
	if (!file)
		return false;
	*pid = *parent = 0;
	while (fgets(line, sizeof line, file)) {
		if (strncmp(line, "Tgid:", 5) == 0)
			*pid = (int32_t)strtol(line + 5, NULL, 10);
		if (strncmp(line, "PPid:", 5) == 0)
			*parent = (int32_t)strtol(line + 5, NULL, 10);
	}
	(void)fclose(file);
	return *pid > 0;
}
