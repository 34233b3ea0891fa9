/* SPDX-License-Identifier: MIT */
/*
 * run.h - records in a row, for the flusher of a log.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_RUN_H
#define PXT_RUN_H

#include "core/stream/stream.h"
#include "format/slot.h"

/*
 * Records in a row, as slots with tag 0, as long as it is plain what comes next.  None
 * may be taken that way now: records is 0, and next() tells.
 */
struct pxt_run {
	struct pxt_slot *to;
	uint32_t room;  /* slots at @to */
	uint32_t limit; /* records, at most */
	uint32_t slots;
	uint32_t records;
	uint32_t last_id;
	uint64_t least; /* stamp, and ... */
	uint64_t most;  /* ... the largest one */
};
/* Records with stamps up to @until, @to, @room and @limit as the caller set them; they are done. */
void pxt_run_take(struct pxt_stream *stream, struct pxt_run *run, uint64_t until);

#endif
