/* SPDX-License-Identifier: MIT */
/* sequential.c - block after block: the log policies UNTIL_FULL and APPEND. */
#include "tolog/policies.h"

void pxt_tolog_sequential(struct pxt_tolog *log, const struct _pxt_attr *attr)
{
	log->header.layout = PXT_LAYOUT_SEQUENTIAL;
	log->header.coded = pxt_tolog_may_code(log, attr);
	log->data_room = pxt_tolog_turns_room(log, pxt_tolog_block_bytes(attr));
	log->end = PXT_LOG_HEADER_BYTES;
	log->size = attr->_pxt_log_size;
	log->taken = 0;
}

size_t pxt_tolog_no_memory(PXT_UNUSED const struct _pxt_attr *attr)
{
	return 0;
}

uint64_t pxt_tolog_sequential_place(struct pxt_tolog *log)
{
	return log->end;
}

/* Also a block that was not full: what is out cannot be written again. */
void pxt_tolog_sequential_placed(struct pxt_tolog *log, PXT_UNUSED bool full)
{
	uint32_t bytes = log->way.length - PXT_LOG_BLOCK_BYTES;

	/* What tells losses is not counted. */
	log->taken += bytes < log->open ? bytes : log->open;
	log->end += log->way.length;
	pxt_logfmt_written(&log->data, &log->sums, PXT_LOG_DATA);
	pxt_tolog_new_data(log);
}

/* ---- The log policy APPEND: grows without end, on any kind of file (LOGP-03) ---- */

/* What somebody else wrote is never appended to (DEC-21). */
static int check_append(const struct pxt_port_log *out, PXT_UNUSED const struct _pxt_attr *attr)
{
	return out->kind == PXT_LOG_APPEND && out->size ? EINVAL : 0;
}

const struct pxt_tolog_policy pxt_tolog_append = {
	.policy = POSIX_TRACE_APPEND,
	.check = check_append,
	.lay_out = pxt_tolog_sequential,
	.memory = pxt_tolog_no_memory,
	.place = pxt_tolog_sequential_place,
	.placed = pxt_tolog_sequential_placed,
};

/*
 * The log policy UNTIL_FULL: room for a STOP is always kept, so that the last
 * record of a full log is one (LOGP-02, DEC-14), and the least size of such a log.
 */

static const uint32_t stop_bytes = PXT_TOLOG_STOP_BYTES;

/* The least size of an UNTIL_FULL log; only a regular file has a size. */
static int check_until_full(const struct pxt_port_log *out, const struct _pxt_attr *attr)
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
	.check = check_until_full,
	.lay_out = pxt_tolog_sequential,
	.memory = pxt_tolog_no_memory,
	.left = left,
	.place = pxt_tolog_sequential_place,
	.placed = pxt_tolog_sequential_placed,
};
