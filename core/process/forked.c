/* SPDX-License-Identifier: MIT */
/* forked.c - a child of fork(), not vfork(), that comes back into a trace point of its parent's; see forked.h. */
#include "core/process/forked.h"

#include "core/process/forks.h"

/* A child of such a child may have several; more are not waited for. */
#define BEHIND 4u

static struct pxt_thread *behind[BEHIND];
static uint32_t behind_count;
/* Of those without a place, who are known by their number alone. */
static uint32_t behind_outside;
/* Who the thread is in this process, while it has not been back. */
static struct pxt_who own;

/*
 * Before the fork, because the entry may lie in memory that the parent goes on writing into.  An entry
 * of another process' epoch may lie nowhere.
 */
void pxt_forked_note(void)
{
	uint32_t inside = 0;

	if (pxt_fork_epoch() && pxt_self.epoch == pxt_fork_epoch()) {
		if (pxt_self.entry == &pxt_no_entry)
			inside = pxt_self.depth;
		else
			inside =
			    atomic_load_explicit(&pxt_self.entry->passes, memory_order_relaxed) &
			    1u;
	}
	pxt_self.at_fork = inside;
}

/* Who is inside in other threads of the parent does not come back here. */
void pxt_forked_begin(uint32_t inside)
{
	if (!inside && !pxt_self.behind) {
		behind_count = 0;
		behind_outside = 0;
	}
	/* Its parent's, so far. */
	for (uint32_t i = 0; i < behind_count; i++)
		pxt_forks_sign(behind[i], pxt_process_pid());
	own.epoch = PXT_EPOCH_NONE;
	if (inside)
		pxt_self.behind = inside;
	if (inside && pxt_self.entry == &pxt_no_entry)
		behind_outside += inside;
	atomic_store_explicit(&pxt_unregistered.inside[0], behind_outside, memory_order_relaxed);
}

void pxt_forked_leave_behind(void)
{
	struct pxt_thread *entry = pxt_self.entry;

	if (entry == &pxt_no_entry)
		return;
	pxt_forks_sign(entry, pxt_process_pid());
	atomic_store_explicit(&entry->passes, 1u, memory_order_relaxed);
	if (behind_count < BEHIND)
		behind[behind_count++] = entry;
}

struct pxt_thread *pxt_forked_entry(uint32_t nth)
{
	return nth < behind_count ? behind[nth] : NULL;
}

bool pxt_forked_inside(void)
{
	if (!pxt_self.behind)
		return false;
	if (pxt_self.entry == &pxt_no_entry ||
	    (atomic_load_explicit(&pxt_self.entry->passes, memory_order_relaxed) & 1u))
		return true;
	pxt_self.behind = 0;
	return false;
}

/* All but the epoch, which comes last: a handler that sees it sees the rest. */
static void become(const struct pxt_who *other)
{
	struct pxt_who made = *other;

	made.epoch = pxt_self.epoch;
	pxt_self = made;
	atomic_signal_fence(memory_order_release);
	pxt_self.epoch = other->epoch;
}

bool pxt_forked_keep(void)
{
	if (own.epoch != pxt_fork_epoch())
		return false;
	become(&own);
	return true;
}

bool pxt_forked_borrow(struct pxt_who *interrupted)
{
	if (!pxt_self.behind || !pxt_fork_epoch())
		return false;
	*interrupted = pxt_self;
	pxt_self.behind = 0;
	pxt_self.depth = 0;
	if (pxt_forked_keep() || pxt_threads_register())
		return true;
	pxt_self = *interrupted;
	return false;
}

/* Unless it was forked again meanwhile: then the identity is its parent's. */
void pxt_forked_give_back(const struct pxt_who *interrupted)
{
	if (pxt_self.epoch == pxt_fork_epoch()) {
		own = pxt_self;
		own.at_fork = 0;
	}
	pxt_self = *interrupted;
}

/* Not where its records would have another form: it may have said already which one they have. */
void pxt_forked_identify(void)
{
	struct pxt_who interrupted;

	if (!pxt_forked_borrow(&interrupted))
		return;
	pxt_forked_give_back(&interrupted);
	if (interrupted.index == PXT_THREAD_EXTRA || own.index == PXT_THREAD_EXTRA)
		return;
	pxt_self.index = own.index;
	pxt_self.index_high = own.index_high;
}

const struct pxt_who *pxt_forked_own(void)
{
	return &own;
}
