/* SPDX-License-Identifier: MIT */
/*
 * standing.c - what events said once and holds since: images, descriptors, semaphores, names of threads; see
 * flight.h.
 */
#include "tools/flight/flight.h"

#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define BUCKETS    4096u
#define AT_NUMBER  1u /* of posix_trace_process: what, number, address, size, name */
#define AT_ADDRESS 5u
#define LEAST      13u

struct kept {
	struct kept *next; /* in its bucket, ... */
	struct kept *older;
	struct kept *newer; /* ... and of all */
	uint8_t what;
	uint64_t key;
	struct pxt_event event;
	unsigned char data[];
};

struct pxt_standing {
	struct kept *buckets[BUCKETS];
	struct kept *oldest;
	struct kept *newest;
	uint32_t count;
};

struct pxt_standing *pxt_standing_new(void)
{
	return pxt_must(calloc(1, sizeof(struct pxt_standing)));
}

static struct kept **bucket(struct pxt_standing *standing, pid_t pid, uint8_t what, uint64_t key)
{
	uint64_t mixed =
	    (key ^ (uint64_t)pid << 40 ^ (uint64_t)what << 32) * UINT64_C(0x9e3779b97f4a7c15);

	return &standing->buckets[(mixed >> 40) % BUCKETS];
}

static void drop(struct pxt_standing *standing, struct kept **at)
{
	struct kept *kept = *at;

	*at = kept->next;
	*(kept->older ? &kept->older->newer : &standing->oldest) = kept->newer;
	*(kept->newer ? &kept->newer->older : &standing->newest) = kept->older;
	standing->count--;
	free(kept);
}

static void drop_one(struct pxt_standing *standing, pid_t pid, uint8_t what, uint64_t key)
{
	struct kept **at = bucket(standing, pid, what, key);

	for (; *at; at = &(*at)->next) {
		if ((*at)->what != what || (*at)->key != key || (*at)->event.info.posix_pid != pid)
			continue;
		drop(standing, at);
		return;
	}
}

static void drop_process(struct pxt_standing *standing, pid_t pid)
{
	for (uint32_t i = 0; i < BUCKETS; i++) {
		struct kept **at = &standing->buckets[i];

		while (*at) {
			if ((*at)->event.info.posix_pid == pid)
				drop(standing, at);
			else
				at = &(*at)->next;
		}
	}
}

static void keep(
    struct pxt_standing *standing, const struct pxt_event *event, uint8_t what, uint64_t key)
{
	pid_t pid = event->info.posix_pid;
	struct kept **at = bucket(standing, pid, what, key);
	struct kept *kept;

	drop_one(standing, pid, what, key);
	if (standing->count == PXT_STANDING_MAX)
		return;
	kept = pxt_must(malloc(sizeof *kept + event->bytes));
	*kept = (struct kept){
		.next = *at, .older = standing->newest, .what = what, .key = key, .event = *event
	};
	memcpy(kept->data, event->data, event->bytes);
	kept->event.data = kept->data;
	*at = kept;
	*(kept->older ? &kept->older->newer : &standing->oldest) = kept;
	standing->newest = kept;
	standing->count++;
}

void pxt_standing_take(struct pxt_standing *standing, const struct pxt_event *event)
{
	uint32_t number;
	uint64_t address;

	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || event->bytes < LEAST)
		return;
	memcpy(&number, event->data + AT_NUMBER, sizeof number);
	memcpy(&address, event->data + AT_ADDRESS, sizeof address);
	switch (event->data[0]) {
	case POSIX_TRACE_PROCESS_TRACED_NP:
		drop_process(standing, event->info.posix_pid);
		keep(standing, event, event->data[0], 0);
		break;
	case POSIX_TRACE_PROCESS_IMAGE_NP:
	case POSIX_TRACE_PROCESS_SEMAPHORE_NP:
		keep(standing, event, event->data[0], address);
		break;
	case POSIX_TRACE_PROCESS_IMAGE_GONE_NP:
		drop_one(standing, event->info.posix_pid, POSIX_TRACE_PROCESS_IMAGE_NP, address);
		break;
	case POSIX_TRACE_PROCESS_DESCRIPTOR_NP:
	case POSIX_TRACE_PROCESS_THREAD_NAME_NP:
		keep(standing, event, event->data[0], number);
		break;
	case POSIX_TRACE_PROCESS_THREAD_END_NP:
		drop_one(
		    standing, event->info.posix_pid, POSIX_TRACE_PROCESS_THREAD_NAME_NP, number);
		break;
	case POSIX_TRACE_PROCESS_EXIT_NP:
		drop_process(standing, event->info.posix_pid);
		break;
	default:
		break;
	}
}

void pxt_standing_each(const struct pxt_standing *standing,
    void (*take)(void *self, const struct pxt_event *event), void *self)
{
	for (const struct kept *kept = standing->oldest; kept; kept = kept->newer)
		take(self, &kept->event);
}

void pxt_standing_free(struct pxt_standing *standing)
{
	while (standing && standing->oldest) {
		struct kept *kept = standing->oldest;

		standing->oldest = kept->newer;
		free(kept);
	}
	free(standing);
}
