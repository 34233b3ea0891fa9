/* SPDX-License-Identifier: MIT */
/*
 * wanted.h - the table that decides at a trace point whether anything needs to happen: for each
 * event type the streams that are running or automatically stopped and do not filter it out
 * (LPT-33, ruling 11).
 *
 *   concurrency: readers (trace points) at any time; changes under the process lock.
 *
 * The table is a hint that is never too small for long and may be too large for a moment: what
 * counts is the stream's own gate and filter, which a writer looks at after it.
 *
 * Programs look at the table (posix_trace_wanted_np()), and that may lie in theirs.  The library's
 * trace points look at bits beside all else that they read of the process (core/process/process.h): bit by
 * type, whether the table's entry is not 0.
 */
#ifndef PXT_WANTED_H
#define PXT_WANTED_H

#include "core/process/process.h"
#include "core/stream/block.h"

#include <trace_hooks_np.h>

typedef _PXT_WANTED_TYPE pxt_wanted_mask;

PXT_INLINE pxt_wanted_mask pxt_wanted_by(size_t id)
{
	return __atomic_load_n(&_pxt_wanted[id], __ATOMIC_RELAXED);
}

#if CONFIG_PTRACE_PORT_POSIX
/* A system event's type; bits of users' types are not there, so that no user gets at its. */
PXT_INLINE uint32_t pxt_wanted_word(uint32_t id)
{
	return id < PXT_ID_UNNAMED ? PXT_WANTED_SYSTEM_WORD : id / 32u;
}

PXT_INLINE struct pxt_look pxt_look_system(void)
{
	return (struct pxt_look){ &pxt_fork.wanted, PXT_WANTED_SYSTEM_WORD };
}

/* Any number that a user may give. */
PXT_INLINE struct pxt_look pxt_look_user(uint32_t id)
{
	const struct pxt_bits *bits = &pxt_fork.wanted;

	PXT_NOW(bits);
	return (struct pxt_look){ bits, id / 32u % (PXT_ID_COUNT / 32u) };
}

PXT_INLINE bool pxt_look_wanted(struct pxt_look look, uint32_t id)
{
	return PXT_PEEK(look.bits->word[look.word].any) >> id % 32u & 1u;
}

/* Of the stream that was found hot before. */
PXT_INLINE bool pxt_look_hot(struct pxt_look look, uint32_t id)
{
	return PXT_PEEK(look.bits->word[look.word].hot) >> id % 32u & 1u;
}
#define PXT_LOOK_HOT(block, id) pxt_look_hot(look, id)

/*
 * The process' own bit says whether the mask is 0.  What the end of a process takes away, under no
 * lock, does not undo what comes beside it: a thread that takes the bit away looks at the mask once more.
 */
PXT_INLINE void pxt_bits_follow(uint32_t id)
{
	uint32_t *word = &pxt_fork.wanted.word[pxt_wanted_word(id)].any;
	const uint32_t bit = 1u << id % 32u;

	if (!__atomic_load_n(&_pxt_wanted[id], __ATOMIC_SEQ_CST))
		__atomic_fetch_and(word, ~bit, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&_pxt_wanted[id], __ATOMIC_SEQ_CST))
		__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST);
}

/*
 * Before a stream is put in force: it is the only one that is live.  And while it is.  What defines takes
 * the slow path, which knows its lane (core/record/slowpath.c).
 */
PXT_INLINE void pxt_bits_heat(void)
{
	for (unsigned word = 0; word < PXT_WANTED_WORDS; word++) {
		uint32_t any = __atomic_load_n(&pxt_fork.wanted.word[word].any, __ATOMIC_RELAXED);

		if (word == pxt_wanted_word(POSIX_TRACE_PROCESS_NP))
			any &= ~(1u << POSIX_TRACE_PROCESS_NP % 32u);
		__atomic_store_n(&pxt_fork.wanted.word[word].hot, any, __ATOMIC_RELAXED);
	}
}

PXT_INLINE void pxt_bits_cool(void)
{
	for (unsigned word = 0; word < PXT_WANTED_WORDS; word++)
		__atomic_store_n(&pxt_fork.wanted.word[word].hot, 0u, __ATOMIC_RELAXED);
}

PXT_INLINE void pxt_bits_clear(void)
{
	pxt_bits_cool();
	for (unsigned word = 0; word < PXT_WANTED_WORDS; word++)
		__atomic_store_n(&pxt_fork.wanted.word[word].any, 0u, __ATOMIC_RELAXED);
}
#else
/* The table itself. */
PXT_OFF_RETURNS((struct pxt_look){ 0 }, struct pxt_look, pxt_look_system, void);
PXT_OFF_RETURNS((struct pxt_look){ 0 }, struct pxt_look, pxt_look_user, uint32_t id);
PXT_OFF_RETURNS(pxt_wanted_by(id % PXT_ID_COUNT) != 0, bool, pxt_look_wanted, struct pxt_look look,
    uint32_t id);
#define PXT_LOOK_HOT(block, id) (pxt_wanted_by(id) == 1u << (block)->index)

PXT_OFF(pxt_bits_follow, uint32_t id);
PXT_OFF(pxt_bits_heat, void);
PXT_OFF(pxt_bits_cool, void);
PXT_OFF(pxt_bits_clear, void);
#endif

/*
 * The hot stream (pxt_fork.hot): the one that is live, where there is one only, it overwrites, and its
 * stamps and slots are plain.  While it is in force the wanted table is exact, so neither gate nor
 * filter is looked at; a stop is met in head.  From inside a trace point looks once more, at what this
 * stream wants: a thread that looked before the type was filtered out, and comes in after, takes the
 * slow path; so does one that saw another stream want the type, which starts now.
 *
 * Read from inside a trace point only: a thread that changes streams first takes it out of force, and
 * waits for those inside before a filter changes or the block goes.  It is the block itself, so
 * that a writer that is never seen to leave finds its geometry in the memory that is kept for it.
 */

/* Takes the hot stream out of force until the next pxt_wanted_update(); under the process lock. */
void pxt_wanted_suspend_hot(void);
/* Brings the bit of stream @index up to date for all types; @live: running or auto-stopped. */
void pxt_wanted_update(unsigned index, bool live);
/* In a child: all that exists is wanted by the streams it inherits. */
void pxt_wanted_inherited(void);
/*
 * In a child that is not started: all that exists is wanted, so that it is at its first event; of system types those
 * in @system, bit by type.
 */
void pxt_wanted_late(uint64_t system);
/*
 * User type @id comes: it is wanted by every live stream that does not filter it, before any thread can
 * know its number; under the process lock.
 */
void pxt_wanted_type_comes(unsigned id);
/* The same for one that a forked process may have defined; under no lock. */
void pxt_wanted_type_added(unsigned id);
/* Stream @index wants nothing any more; under no lock, where the process ends. */
void pxt_wanted_take(unsigned index);
/* Nothing is wanted; for a forked child, async-signal-safe. */
void pxt_wanted_none(void);

#endif
