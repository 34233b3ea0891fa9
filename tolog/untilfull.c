/* SPDX-License-Identifier: MIT */
/*
 * untilfull.c - the log policy UNTIL_FULL: room for a STOP is always kept, so that the last
 * record of a full log is one (LOGP-02, DEC-14), and the least size of such a log.
 */
#include "tolog/policies.h"

#include "base/attr.h"

#include <errno.h>

static const uint32_t stop_bytes = PXT_TOLOG_STOP_BYTES;

/* The least size of an UNTIL_FULL log; only a regular file has a size. */
static int check(const struct pxt_port_log *out, const struct _pxt_attr *attr)
{
	uint64_t least = (uint64_t)pxt_system_slots() * PXT_SLOT_BYTES + stop_bytes;

	return out->kind != PXT_LOG_FILE || attr->_pxt_log_size < least ? EINVAL : 0;
}

/* Slots that are not in the log yet count as they are: coded they take no more. */
static uint64_t left(const struct pxt_tolog *log)
{
	uint64_t used = log->taken + log->open;

	return used < log->size ? log->size - used : 0u;
}

const struct pxt_tolog_policy pxt_tolog_until_full = {
	.policy = POSIX_TRACE_UNTIL_FULL,
	.check = check,
	.lay_out = pxt_tolog_sequential,
	.memory = pxt_tolog_no_memory,
	.left = left,
	.place = pxt_tolog_sequential_place,
	.placed = pxt_tolog_sequential_placed,
};
