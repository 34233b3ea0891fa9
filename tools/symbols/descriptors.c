/* SPDX-License-Identifier: MIT */
/*
 * descriptors.c - what the descriptors of each process are, as system events tell it (posix_trace_process,
 * posix_trace_call_exit): files by their paths, sockets by the address at their other end; see images.h.
 */
#include "tools/symbols/images.h"

#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

/* Where the packed data of these events has what, in this machine's order. */
#define NUMBER_AT  1u
#define ADDRESS_AT 5u
#define SIZE_AT    13u
#define NAME_AT    21u
#define OBJECT_AT  2u
#define RESULT_AT  10u
#define EXIT_BYTES 18u

#define NAME_BYTES      255u
#define SLOTS           (2u * PXT_DESCRIPTORS_MAX)
#define GENERATIONS_MAX 16u
/* In place of a number: the process began, as a child of @parent. */
#define BIRTH           UINT32_MAX

/* What a descriptor is from a moment on; of a birth, the parent. */
struct entry {
	pid_t pid;
	uint32_t fd;
	int64_t from_ns;
	uint32_t older; /* of the same descriptor, + 1; 0: none */
	pid_t parent;
	const char *name; /* NULL: it is closed, or nobody knows */
	char *owned;      /* @name, but for a copy's */
};

struct pxt_descriptors {
	struct entry entries[PXT_DESCRIPTORS_MAX];
	uint32_t count;
	uint32_t newest[SLOTS]; /* hash table by process and descriptor: the entry, + 1 */
	char escaped[4 * NAME_BYTES + 1];
};

static uint32_t *slot_of(struct pxt_descriptors *all, pid_t pid, uint32_t fd)
{
	uint64_t key = (uint64_t)(uint32_t)pid << 32 | fd;
	uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);

	for (;; at++) {
		uint32_t *slot = &all->newest[at % SLOTS];

		if (*slot == 0 ||
		    (all->entries[*slot - 1].pid == pid && all->entries[*slot - 1].fd == fd))
			return slot;
	}
}

static struct entry *add(struct pxt_descriptors **all, pid_t pid, uint32_t fd, int64_t ns)
{
	uint32_t *slot;
	struct entry *entry;

	if (!*all)
		*all = pxt_must(calloc(1, sizeof **all));
	if ((*all)->count == PXT_DESCRIPTORS_MAX)
		return NULL;
	slot = slot_of(*all, pid, fd);
	entry = &(*all)->entries[(*all)->count++];
	*entry = (struct entry){ .pid = pid, .fd = fd, .from_ns = ns, .older = *slot };
	*slot = (*all)->count;
	return entry;
}

/* ---- Events ---- */

static const struct entry *find(struct pxt_descriptors *all, pid_t pid, uint32_t fd, int64_t ns)
{
	for (uint32_t at = *slot_of(all, pid, fd); at != 0; at = all->entries[at - 1].older)
		if (all->entries[at - 1].from_ns <= ns)
			return &all->entries[at - 1];
	return NULL;
}

/* Of the process, or of its parent when it was forked, and so on. */
static const char *name_at(struct pxt_descriptors *all, pid_t pid, uint32_t fd, int64_t ns)
{
	for (unsigned i = 0; i < GENERATIONS_MAX; i++) {
		const struct entry *entry = find(all, pid, fd, ns);
		const struct entry *birth = find(all, pid, BIRTH, INT64_MAX);

		if (entry)
			return entry->name;
		if (!birth)
			return NULL;
		pid = birth->parent;
		ns = birth->from_ns;
	}
	return NULL;
}

static void take_name(struct pxt_descriptors **all, const struct pxt_event *event)
{
	const char *name = (const char *)event->data + NAME_AT;
	size_t bytes = strnlen(name, event->bytes - NAME_AT);
	const char *copied = NULL;
	struct entry *entry;
	uint64_t from;
	uint32_t fd;

	memcpy(&fd, event->data + NUMBER_AT, sizeof fd);
	memcpy(&from, event->data + ADDRESS_AT, sizeof from);
	if (fd == BIRTH)
		return;
	if (bytes == 0 && *all)
		copied = name_at(*all, event->info.posix_pid, (uint32_t)from, event->ns);
	entry = add(all, event->info.posix_pid, fd, event->ns);
	if (!entry)
		return;
	if (bytes > 0)
		entry->owned = pxt_must(strndup(name, bytes < NAME_BYTES ? bytes : NAME_BYTES));
	entry->name = bytes > 0 ? entry->owned : copied;
}

/*
 * Only the first time: both tell it, and the child again as another program.  The first that does comes
 * before the parent has closed what is its child's alone.
 */
static void take_birth(struct pxt_descriptors **all, pid_t child, pid_t parent, int64_t ns)
{
	struct entry *entry;

	if (*all && *slot_of(*all, child, BIRTH) != 0)
		return;
	entry = add(all, child, BIRTH, ns);
	if (entry)
		entry->parent = parent;
}

static void take_process(struct pxt_descriptors **all, const struct pxt_event *event)
{
	uint64_t parent;
	uint32_t child;

	memcpy(&child, event->data + NUMBER_AT, sizeof child);
	memcpy(&parent, event->data + SIZE_AT, sizeof parent);
	if (event->data[0] == POSIX_TRACE_PROCESS_DESCRIPTOR_NP)
		take_name(all, event);
	else if (event->data[0] == POSIX_TRACE_PROCESS_FORK_NP)
		take_birth(all, (pid_t)child, event->info.posix_pid, event->ns);
	else if (event->data[0] == POSIX_TRACE_PROCESS_TRACED_NP)
		take_birth(all, event->info.posix_pid, (pid_t)parent, event->ns);
}

static void take_close(struct pxt_descriptors **all, const struct pxt_event *event)
{
	uint16_t call;
	uint64_t fd;
	int64_t result;

	memcpy(&call, event->data, sizeof call);
	memcpy(&fd, event->data + OBJECT_AT, sizeof fd);
	memcpy(&result, event->data + RESULT_AT, sizeof result);
	if (call == POSIX_TRACE_CALL_CLOSE_NP && result == 0 && fd < BIRTH && *all &&
	    name_at(*all, event->info.posix_pid, (uint32_t)fd, event->ns))
		(void)add(all, event->info.posix_pid, (uint32_t)fd, event->ns);
}

void pxt_descriptors_take(struct pxt_descriptors **all, const struct pxt_event *event)
{
	if (event->info.posix_event_id == POSIX_TRACE_CALL_EXIT_NP && event->bytes >= EXIT_BYTES)
		take_close(all, event);
	else if (event->info.posix_event_id == POSIX_TRACE_PROCESS_NP && event->bytes >= NAME_AT)
		take_process(all, event);
}

/* ---- Questions ---- */

const char *pxt_descriptors_name(struct pxt_descriptors *all, pid_t pid, uint32_t fd, int64_t ns)
{
	const char *name = all && fd != BIRTH ? name_at(all, pid, fd, ns) : NULL;

	if (!name)
		return NULL;
	(void)pxt_escape(name, strlen(name), all->escaped, sizeof all->escaped, NULL);
	return all->escaped;
}

void pxt_descriptors_free(struct pxt_descriptors *all)
{
	if (!all)
		return;
	for (uint32_t i = 0; i < all->count; i++)
		free(all->entries[i].owned);
	free(all);
}
