/* SPDX-License-Identifier: MIT */
/* error.c - events of what went wrong inside the trace system; see error.h. */
#include "core/control/error.h"

#include "core/control/sysevent.h"
#include "core/read/lane.h"

#include <trace_np.h>

void pxt_error_record(struct pxt_block *block, unsigned cause, int error)
{
	const int data = POSIX_TRACE_ERROR_OF_NP(cause, error);

	(void)pxt_sysevent_record(block, PXT_ID_ERROR, &data, sizeof(data), NULL);
}

/* A copy for a snapshot has its stream's gate, but is only read. */
static void record_passed(struct pxt_block *block, int error)
{
	if (block->index != PXT_INDEX_COPY)
		pxt_error_record(block, POSIX_TRACE_ERROR_RECORD_NP, error);
}

void (*pxt_lane_passed_hook)(struct pxt_block *block, int error) = record_passed;
