/* SPDX-License-Identifier: MIT */
/* machine.c - of a link of a chain: what page faults, disks, cgroups, interrupts and frequencies did; see chain.h. */
#include "tools/why/chain.h"

#include <string.h>

/*
 * Fewer page faults than one in this time explain nothing: one takes a microsecond or two, and twenty times that
 * in a virtual machine.
 */
#define FAULT_NS 50000

bool pxt_link_has_faults(const struct pxt_link *link)
{
	return link->faults_major ||
	       (int64_t)link->faults > (link->ran_ns > 0 ? link->ran_ns : link->ns) / FAULT_NS;
}

bool pxt_link_has_disk(const struct pxt_link *link)
{
	return link->disk_ns > 0 && link->disk_ns * 2 >= link->ns;
}

/* A request is told when it ends, and what waited for it may end before. */
#define DISK_LATER INT64_C(100000000)

/* A part that is worth a word. */
#define MUCH 10

/* Of the marks of one kind in that time, of @actor or of all: the sum of what they say. */
static int64_t sum_of(const struct pxt_history *history, const struct pxt_actor *actor,
    enum pxt_mark_kind kind, int64_t begin_ns, int64_t end_ns)
{
	int64_t sum = 0;

	for (uint32_t i = pxt_history_mark(history, begin_ns);
	     i < history->mark_count && history->marks[i].ns <= end_ns; i++) {
		const struct pxt_mark *mark = &history->marks[i];

		if (mark->kind == kind && mark->actor == actor->index)
			sum += (int64_t)mark->object;
	}
	return sum;
}

/* Requests end in the order of their marks: one after another from the last one, what none before it has is added. */
static int64_t disk_time(const struct pxt_history *history, const struct pxt_actor *actor, bool own,
    int64_t begin_ns, int64_t end_ns, const struct pxt_actor **peer)
{
	int64_t low = end_ns;
	int64_t sum = 0;
	uint32_t i = pxt_history_mark(history, end_ns + DISK_LATER);

	while (i-- > 0 && history->marks[i].ns > begin_ns) {
		const struct pxt_mark *mark = &history->marks[i];
		int64_t from = mark->ns - (int64_t)mark->object;
		int64_t to = mark->ns < low ? mark->ns : low;

		if (mark->kind != PXT_MARK_DISK || (mark->actor == actor->index) != own)
			continue;
		from = from > begin_ns ? from : begin_ns;
		if (from >= to)
			continue;
		sum += to - from;
		low = from;
		*peer = own ? NULL : history->state->actors[mark->actor];
	}
	return sum;
}

/* It waited so that no signal ends it, while a request of its own was in the disk, or one of the kernel's threads. */
void pxt_machine_disk(
    struct pxt_link *link, const struct pxt_history *history, int64_t begin_ns, int64_t end_ns)
{
	uint32_t count;
	const struct pxt_stretch *slept =
	    pxt_history_of(history, link->actor, PXT_STRETCH_SLEPT, &count);

	for (uint32_t i = pxt_history_after(slept, count, begin_ns);
	     i < count && slept[i].begin_ns < end_ns; i++) {
		const struct pxt_actor *peer = NULL;
		int64_t from = begin_ns;
		int64_t to = end_ns;
		int64_t ns;

		pxt_stretch_clip(&slept[i], &from, &to);
		if (slept[i].object != PXT_STATE_UNINTERRUPTIBLE || to <= from)
			continue;
		ns = disk_time(history, link->actor, true, from, to, &peer);
		if (ns * 2 < to - from)
			ns = disk_time(history, link->actor, false, from, to, &peer);
		link->disk_ns += ns;
		link->disk_peer = ns > 0 ? peer : link->disk_peer;
	}
}

/* It could run for @ready_ns, half of which that explains.  Others may have run instead, or nobody. */
void pxt_machine_cgroup(struct pxt_link *link, const struct pxt_history *history, int64_t ready_ns,
    int64_t begin_ns, int64_t end_ns)
{
	int64_t from_ns = INT64_MAX;
	int64_t sum = 0;

	for (uint32_t i = pxt_history_mark(history, begin_ns); i < history->mark_count; i++) {
		const struct pxt_mark *mark = &history->marks[i];
		int64_t within = (int64_t)(mark->to > mark->object ? mark->to : mark->object);

		if (mark->kind != PXT_MARK_THROTTLED || mark->ns - within >= end_ns ||
		    history->state->actors[mark->actor]->pid != link->actor->pid)
			continue;
		sum += (int64_t)mark->object;
		from_ns = mark->ns - within < from_ns ? mark->ns - within : from_ns;
		link->cgroup_within_ns = mark->ns - from_ns;
	}
	link->cgroup_ns = ready_ns > 0 && sum * 2 >= ready_ns ? sum : 0;
}

/* The one that it had at the end of that time, and the highest that was told at all. */
static void link_frequency(struct pxt_link *link, const struct pxt_history *history, int64_t end_ns)
{
	for (uint32_t i = 0; i < history->mark_count; i++) {
		const struct pxt_mark *mark = &history->marks[i];

		if (mark->kind != PXT_MARK_FREQUENCY)
			continue;
		link->khz_most = mark->object > link->khz_most ? mark->object : link->khz_most;
		if (mark->ns <= end_ns && mark->actor == link->actor->index)
			link->khz = mark->object;
	}
	if (link->khz * 4 >= link->khz_most * 3)
		link->khz = 0;
}

static bool is_mark(
    const struct pxt_mark *mark, enum pxt_mark_kind kind, const struct pxt_actor *actor)
{
	return mark->kind == kind && mark->actor == actor->index;
}

/* Some of the places of its marks, spread over them. */
static void take_places(struct pxt_link *link, const struct pxt_history *history,
    enum pxt_mark_kind kind, int64_t begin_ns, int64_t end_ns)
{
	uint32_t from = pxt_history_mark(history, begin_ns);
	uint32_t to = pxt_history_mark(history, end_ns + 1);
	uint32_t all = 0;
	uint32_t seen = 0;

	for (uint32_t i = from; i < to; i++)
		all += is_mark(&history->marks[i], kind, link->actor);
	for (uint32_t i = from; i < to && link->place_count < PXT_LINK_PLACES; i++) {
		if (!is_mark(&history->marks[i], kind, link->actor))
			continue;
		if ((uint64_t)seen++ * PXT_LINK_PLACES < (uint64_t)link->place_count * all)
			continue;
		memcpy(link->above[link->place_count], history->marks[i].above,
		    sizeof history->marks[i].above);
		link->places[link->place_count++] = history->marks[i].place;
	}
}

/* What it met while it ran. */
void pxt_machine_ran(
    struct pxt_link *link, const struct pxt_history *history, int64_t begin_ns, int64_t end_ns)
{
	for (uint32_t i = pxt_history_mark(history, begin_ns);
	     i < history->mark_count && history->marks[i].ns <= end_ns; i++) {
		const struct pxt_mark *mark = &history->marks[i];

		if (!is_mark(mark, PXT_MARK_FAULTS, link->actor))
			continue;
		link->faults += mark->object;
		link->faults_major = link->faults_major || mark->major;
		link->faults_ns += (int64_t)mark->wait_ns;
	}
	take_places(link, history, pxt_link_has_faults(link) ? PXT_MARK_FAULTS : PXT_MARK_SAMPLE,
	    begin_ns, end_ns);
	if (link->kind != PXT_LINK_RAN)
		return;
	link->ran_ns = pxt_history_within(history, link->actor, PXT_STRETCH_RAN, begin_ns, end_ns);
	link->ready_ns =
	    pxt_history_within(history, link->actor, PXT_STRETCH_READY, begin_ns, end_ns);
	link->peer = pxt_history_instead(history, link->actor, begin_ns, end_ns);
	link->irq_ns = sum_of(history, link->actor, PXT_MARK_INTERRUPTS, begin_ns, end_ns);
	link->irq_ns = link->irq_ns * MUCH < link->ran_ns ? 0 : link->irq_ns;
	link_frequency(link, history, end_ns);
	pxt_machine_cgroup(link, history, link->ready_ns, begin_ns, end_ns);
}
