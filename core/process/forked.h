/* SPDX-License-Identifier: MIT */
/*
 * forked.h - a child that comes back into a trace point: a handler that interrupted the trace point
 * forks, and returns in the child as well.
 *
 *   concurrency: before_fork() in the thread that forks; the rest in the child, most of it in that
 *   thread alone.  The list of entries is made before fork() returns, and read by any thread.
 *
 * The trace point goes on with the addresses that it had.  They stay, but no other thread looks there: in
 * streams' memory it finds zeros (pxt_shutdown_child()), and its thread's entry is left behind in
 * memory of the child's own (pxt_directory_after_fork()).  So the parent's number of passes stays as it
 * is, and the ring, too.  What the child shares with its parent it has at other addresses.
 *
 * What the thread knows of itself (pxt_self) stays as well, until the trace point is over: it leaves by
 * that.  So it has no epoch of the child's, and each event of the handler's is recorded with another
 * identity, which the thread borrows meanwhile.
 */
#ifndef PXT_FORKED_H
#define PXT_FORKED_H

#include "core/process/threads.h"

#if CONFIG_PTRACE_PORT_POSIX

/* Notes in pxt_self.at_fork whether the calling thread is inside a trace point. */
void pxt_forked_note(void);
/* In a child, whose thread comes back into so many trace points: as at_fork says. */
void pxt_forked_begin(uint32_t inside);
/* Its entry is left behind: at the same place, in memory that is the child's own by now. */
void pxt_forked_leave_behind(void);
/* Last: what the trace point records from here on is the child's. */
void pxt_forked_identify(void);
/* Entries left behind, which a wait for this process' threads has to look at, too; NULL: no more. */
struct pxt_thread *pxt_forked_entry(uint32_t nth);
/* The calling thread, to be registered, is still inside. */
bool pxt_forked_inside(void);
/* It has been back: the identity that it borrowed is its own now.  False: it has borrowed none. */
bool pxt_forked_keep(void);
/* For the time of an event.  False: the thread does not come back, or cannot trace. */
bool pxt_forked_borrow(struct pxt_who *interrupted);
void pxt_forked_give_back(const struct pxt_who *interrupted);
/* The identity as of the last time. */
const struct pxt_who *pxt_forked_own(void);

#else

PXT_OFF(pxt_forked_note, void);
PXT_OFF(pxt_forked_begin, uint32_t inside);
PXT_OFF(pxt_forked_leave_behind, void);
PXT_OFF(pxt_forked_identify, void);
PXT_OFF_RETURNS(NULL, struct pxt_thread *, pxt_forked_entry, uint32_t nth);
PXT_OFF_RETURNS(false, bool, pxt_forked_inside, void);
PXT_OFF_RETURNS(false, bool, pxt_forked_keep, void);
PXT_OFF_RETURNS(false, bool, pxt_forked_borrow, struct pxt_who *interrupted);
PXT_OFF(pxt_forked_give_back, const struct pxt_who *interrupted);
PXT_OFF_RETURNS(&pxt_self, const struct pxt_who *, pxt_forked_own, void);

#endif

#endif
