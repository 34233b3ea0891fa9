/* SPDX-License-Identifier: MIT */
/*
 * producer_put.h - what a producer recorded goes into the producers' lane, as if a trace point of this process
 * had recorded it.
 *
 *   concurrency: with the stream's mutex, beside this process' writers; thread() under no lock.
 */
#ifndef PXT_PRODUCERPUT_H
#define PXT_PRODUCERPUT_H

#include "core/stream/stream.h"

/* Slots that the producers' lane takes without overwriting anything that was not read. */
uint32_t pxt_intake_put_room(struct pxt_block *block);
/*
 * A producer's record, with its own stamp; event->info, ctx and what belongs to them as any record of
 * this process has them.  False: it did not enter the stream, as a trace point of this process
 * would not have at this moment: filtered, not running, or no room (counted then).
 */
bool pxt_intake_put_record(struct pxt_stream *stream, const struct pxt_ring_event *event);
/*
 * @records of them at once, in @count slots as a log has them.  False: none entered, because something unusual is in
 * the way: the stream does not run, or is nearly full, the lap ends; then they go one by one.
 */
bool pxt_intake_put_row(
    struct pxt_stream *stream, const struct pxt_slot *slots, uint32_t count, uint32_t records);
/* @records of a producer were overwritten in its own memory, or never finished, at about @ticks. */
void pxt_intake_put_lost(struct pxt_stream *stream, uint64_t records, uint64_t ticks);
/*
 * An entry for a thread of another process in this one's table, so that records and logs tell who
 * it was.  Returns its index; PXT_THREAD_EXTRA: the table is full.  Under no lock.
 */
uint32_t pxt_intake_put_thread(int32_t pid, int32_t tid, uint64_t thread, const char *name);

#endif
