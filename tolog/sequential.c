/* SPDX-License-Identifier: MIT */
/* sequential.c - block after block: what UNTIL_FULL and APPEND have in common. */
#include "tolog/tolog.h"

#include "base/attr.h"

void pxt_tolog_sequential(struct pxt_tolog *log, const struct _pxt_attr *attr)
{
	log->header.layout = PXT_LAYOUT_SEQUENTIAL;
	log->header.coded = CONFIG_PTRACE_LOG_CODED && !pxt_tolog_is_line(log) &&
	                    !(attr->_pxt_flags & PXT_ATTR_PLAIN);
	log->data_room = pxt_tolog_turns_room(log, CONFIG_PTRACE_LOG_BLOCK_SIZE);
	log->end = PXT_LOG_HEADER_BYTES;
	log->size = attr->_pxt_log_size;
	log->taken = 0;
}

size_t pxt_tolog_no_memory(const struct _pxt_attr *attr)
{
	(void)attr;
	return 0;
}

uint64_t pxt_tolog_sequential_place(struct pxt_tolog *log)
{
	return log->end;
}

/* Also a block that was not full: what is out cannot be written again. */
void pxt_tolog_sequential_placed(struct pxt_tolog *log, bool full)
{
	uint32_t bytes = log->way.length - PXT_LOG_BLOCK_BYTES;

	(void)full;
	/* What tells losses is not counted. */
	log->taken += bytes < log->open ? bytes : log->open;
	log->end += log->way.length;
	pxt_logfmt_written(&log->data, &log->sums, PXT_LOG_DATA);
	pxt_tolog_new_data(log);
}
