/* SPDX-License-Identifier: MIT */
/*
 * share.h - streams that processes that were not forked from the owner trace into (unit Attached Processes).
 *
 *   concurrency     own writers   consumer, control   pull, put, lost   open, close
 *   own writers              -                -                  -               -
 *   the others               -                X                  X               X
 *                                                   X: the stream's mutex; open and close: see below
 *
 * No process writes into another one's memory.  An attached process ("producer") traces into a stream
 * of its own, whose memory it gives the owner to read; the owner takes the records from there
 * ("pull"), checks and translates them, and puts them into one more lane of the stream, the
 * producers' lane, which no trace point of its own uses.  From there on they are like all others.
 *
 * A pull belongs to a look at the lanes: the clock is read first, then producers are pulled, then the
 * lanes' heads are read.  What a producer had finished before that reading is in the lane then, so
 * the merge's rules hold for it as for what the owner's threads recorded.
 *
 * The unit's functions are reached through a table that the first attribute with a name sets, so
 * that programs that share nothing carry nothing of it.
 */
#ifndef PXT_SHARE_H
#define PXT_SHARE_H

#include "base/attr.h"
#include "core/process/directory.h"
#include "core/stream/stream.h"
#include "format/locktally.h"

#include <trace_hooks_np.h>

#if CONFIG_PTRACE_ATTACH

struct pxt_share_ops {
	/*
	 * The stream is whole and known to trace points, its identifier is about to be given out: other
	 * processes may find it from now on.  No lock is held.  EINVAL (no such name), EEXIST (a living
	 * process has it), EACCES, EAGAIN, ENOMEM or 0; then stream->share is set.
	 */
	int (*open)(struct pxt_stream *stream, const char *name);
	/* It is shut down: it cannot be found any more, producers are let go.  No lock is held. */
	void (*close)(struct pxt_stream *stream);
	/*
	 * Producers' records that were finished before @clock (a reading of the counter) come into the
	 * producers' lane.  Returns a bound, at most @clock: producers' records with smaller stamps are there,
	 * or were lost, or return later than that.  @all: older ones are overwritten, if need be, to
	 * get at the newest, or where that is not the policy, what finds no room is refused; else it
	 * stays with its producer.  With the stream's mutex.
	 * Bound: the slots of all producers.
	 */
	uint64_t (*pull)(struct pxt_stream *stream, uint64_t clock, bool all);
	/*
	 * Somebody has sent a message that is not answered yet: what it recorded since cannot be pulled.  False in
	 * the thread that answers.  @last: it is waited for no longer, and the stream gets an error event of it.
	 * With the stream's mutex; does not wait.
	 */
	bool (*awaits)(struct pxt_stream *stream, bool last);
	/* The stream was started or stopped.  With the stream's mutex; does not wait. */
	void (*state)(struct pxt_stream *stream);
	/* ... or has another filter. */
	void (*filter)(struct pxt_stream *stream);
	/*
	 * In a forked child, which has neither producers nor the name: what port_alloc() gave the unit is
	 * not in it, so it keeps in static memory, by the stream's index, what has to be closed here.
	 * Async-signal-safe.
	 */
	void (*forget)(unsigned index);
};

/* NULL: nothing in this process was ever given a name.  Set at any time, by threads beside each other. */
extern const struct pxt_share_ops *_Atomic pxt_share_ops;

/* Tests make it shorter. */
extern uint64_t pxt_share_answer_ns;

/* Acquire: pairs with the release in attach/name.c. */
PXT_INLINE const struct pxt_share_ops *pxt_share_table(void)
{
	return atomic_load_explicit(&pxt_share_ops, memory_order_acquire);
}

PXT_INLINE uint64_t pxt_share_pull(struct pxt_block *block, uint64_t clock, bool all)
{
	struct pxt_stream *stream;

	/* A thread that reads a copy has no stream's mutex, and may not look at any. */
	if (block->index == PXT_INDEX_COPY)
		return clock;
	stream = &pxt_streams[block->index];
	return stream->block == block && stream->share ? pxt_share_table()->pull(stream, clock, all)
	                                               : clock;
}

/* FLUSH: room comes by itself, and what does not find any now stays with its producer until then. */
PXT_INLINE bool pxt_share_takes_all(const struct pxt_block *block)
{
	return block->full_policy != POSIX_TRACE_FLUSH;
}

/*
 * How long is waited for what somebody has begun: of a program that did not ask to be traced, and may have hundreds
 * of processes, as long as for its messages.
 */
PXT_INLINE uint64_t pxt_share_patience_ns(const struct pxt_block *block)
{
	return block->attr._pxt_flags & PXT_ATTR_GUEST ? pxt_share_answer_ns : pxt_holdback_ns;
}

/* The same up to now, for control calls. */
PXT_INLINE void pxt_share_pull_now(struct pxt_block *block, bool all)
{
	(void)pxt_share_pull(block, pxt_port_ticks_ordered(), all);
}

PXT_INLINE void pxt_share_state(struct pxt_stream *stream)
{
	if (stream->share)
		pxt_share_table()->state(stream);
}

PXT_INLINE void pxt_share_filter(struct pxt_stream *stream)
{
	if (stream->share)
		pxt_share_table()->filter(stream);
}

/*
 * What the owner of a guest wants, behind the guest's directory: the owner alone writes it.  Counts of locks follow on the
 * same page (format/locktally.h).  A guest has nobody who hears a message: its trace points look here where they go the
 * slow path, once in a lap of the ring at least.  While something is not wanted they all go that way, so that the end
 * of it is seen at once.
 */
struct pxt_wish {
	/* Bit by type, of those below 32, which have one number everywhere. */
	PXT_ALIGNED(PXT_LOCKTALLY_BEHIND) _Atomic uint32_t unwanted;
};

#define PXT_WISH_NOTHING          1u /* the owner is stopped; no type has the number 0 */
/* In the file, from the place of the directory. */
#define PXT_WISH_AT(directory_at) PXT_LOCKTALLY_PAGE((directory_at) + sizeof(struct pxt_directory))

/* Whether the owner of @block wants @id now.  What defines is wanted always: a start comes later than names. */
PXT_INLINE bool pxt_share_wants(struct pxt_block *block, uint32_t id)
{
	const unsigned char *memory = (const unsigned char *)block;
	const struct pxt_wish *wish;
	uint32_t unwanted;

	if (PXT_LIKELY(!pxt_attr_guest(&block->attr)))
		return true;
	wish = (const struct pxt_wish *)(const void *)(memory +
	                                               PXT_WISH_AT(block->header.directory_at));
	unwanted = atomic_load_explicit(&wish->unwanted, memory_order_relaxed);
	if (unwanted || !pxt_word_is(&block->no_short, 0u))
		atomic_store_explicit(&block->no_short, unwanted != 0, memory_order_relaxed);
	if (id == POSIX_TRACE_PROCESS_NP)
		return true;
	return !(unwanted & PXT_WISH_NOTHING) && (id >= 32u || !(unwanted >> id & 1u));
}

/*
 * An owner has a lane more, for what others record.  So has a guest, for what it says of itself: images,
 * threads and processes (core/record/slowpath.c).  No event overwrites them there, so what is left can be read.
 */
PXT_INLINE uint32_t pxt_share_lanes(const struct _pxt_attr *attr)
{
	return attr->_pxt_flags & PXT_ATTR_NAMED || pxt_attr_guest(attr) ? 1u : 0u;
}

#define PXT_LANES_MAX(attr)                                                                        \
	(pxt_share_lanes(attr) ? CONFIG_PTRACE_LANES_MAX / 2u : CONFIG_PTRACE_LANES_MAX)

PXT_INLINE bool pxt_share_defines(const struct pxt_block *block)
{
	return pxt_attr_guest(&block->attr);
}

/* Definitions wait here while the owner does not run: 512 KiB at most, of some 2,500 threads. */
#define PXT_SHARE_DEFINITIONS (UINT32_C(1) << 15)

/* Slots of the last lane, where the others have @slots. */
PXT_INLINE uint32_t pxt_share_last_slots(const struct _pxt_attr *attr, uint32_t slots)
{
	return pxt_attr_guest(attr) && slots > PXT_SHARE_DEFINITIONS ? PXT_SHARE_DEFINITIONS
	                                                             : slots;
}

PXT_INLINE void pxt_share_set_lanes(struct pxt_block *block, uint32_t lanes, uint32_t last_mask)
{
	block->producers_lanes = (uint16_t)lanes;
	block->last_log = (uint8_t)__builtin_ctz(last_mask + 1u);
}

/* The name that others find the stream by; NULL: none. */
PXT_INLINE const char *pxt_share_asked(const trace_attr_t *asked)
{
	return asked && asked->_pxt_share[0] ? asked->_pxt_share : NULL;
}

/* Attributes that another process made have no table to them.  Being a producer cannot be asked for. */
PXT_INLINE bool pxt_share_known(struct _pxt_attr *attr, const trace_attr_t *asked)
{
	attr->_pxt_flags &= ~(PXT_ATTR_PRODUCER | PXT_ATTR_NAMED);
	attr->_pxt_flags |= pxt_share_asked(asked) ? PXT_ATTR_NAMED : 0u;
	return !pxt_share_asked(asked) || pxt_share_table();
}

/*
 * The last step of create that may fail: the stream gets its name, NULL: none.  With the
 * stream's mutex, which is given up meanwhile; on an error the identifier is gone.
 */
int pxt_share_name(struct pxt_stream *stream, const char *name);
void pxt_share_close(struct pxt_stream *stream);
/*
 * Before a stop and the like, with no lock: returns when all that others have recorded by now is in
 * the producers' lane.  Usually that is one pull; a type that is new here must be learnt first, an unfinished
 * record is waited for, each for the hold-back time at most.  Before that, who has sent a message is attached:
 * that takes the helper a CPU, which a full machine may give it late.  It is waited for up to
 * pxt_share_answer_ns; then the stream has an error event.
 */
void pxt_share_settle(trace_id_t trid);
/*
 * In a forked child, before fork() returns in it: one that never calls the library, but outlives its
 * parent, would keep up places and connections of its parent's streams.  Again when a child starts,
 * which may have been made where no fork handler runs.
 */
void pxt_share_forget(void);
#else

PXT_OFF(pxt_share_filter, struct pxt_stream *stream);
PXT_OFF_RETURNS(true, bool, pxt_share_wants, struct pxt_block *block, uint32_t id);
PXT_OFF_RETURNS(clock, uint64_t, pxt_share_pull, struct pxt_block *block, uint64_t clock, bool all);
PXT_OFF_RETURNS(true, bool, pxt_share_takes_all, const struct pxt_block *block);
PXT_OFF_RETURNS(pxt_holdback_ns, uint64_t, pxt_share_patience_ns, const struct pxt_block *block);
PXT_OFF(pxt_share_pull_now, struct pxt_block *block, bool all);

#define PXT_LANES_MAX(attr) CONFIG_PTRACE_LANES_MAX

PXT_OFF_RETURNS(false, bool, pxt_share_defines, const struct pxt_block *block);
PXT_OFF_RETURNS(0, uint32_t, pxt_share_lanes, const struct _pxt_attr *attr);
PXT_OFF_RETURNS(
    slots, uint32_t, pxt_share_last_slots, const struct _pxt_attr *attr, uint32_t slots);
PXT_OFF(pxt_share_set_lanes, struct pxt_block *block, uint32_t lanes, uint32_t last_mask);
PXT_OFF_RETURNS(NULL, const char *, pxt_share_asked, const trace_attr_t *asked);
PXT_OFF_RETURNS(true, bool, pxt_share_known, struct _pxt_attr *attr, const trace_attr_t *asked);
PXT_OFF(pxt_share_state, struct pxt_stream *stream);
PXT_OFF_RETURNS(0, int, pxt_share_name, struct pxt_stream *stream, const char *name);
PXT_OFF(pxt_share_close, struct pxt_stream *stream);
PXT_OFF(pxt_share_settle, trace_id_t trid);
PXT_OFF(pxt_share_forget, void);
#endif

/* The same in ticks. */
PXT_INLINE uint64_t pxt_share_patience_ticks(const struct pxt_block *block)
{
	return pxt_process_ticks(pxt_share_patience_ns(block));
}

#endif
