/* SPDX-License-Identifier: MIT */
/* header.c - what a log's header says: the clocks, the stream's attributes, what each record holds. */
#include "tolog/tolog.h"

#include "port/port_sysinfo.h"

#include <string.h>

void pxt_tolog_fill_header(struct pxt_tolog *log, const struct pxt_block *block)
{
	struct pxt_log_header *header = &log->header;

	header->word_bytes = sizeof(void *);
	header->ctx_bytes = PXT_CTX_BYTES;
	header->contents = (CONFIG_PTRACE_RECORD_THREAD ? PXT_LOG_HAS_THREAD : 0u) |
	                   (CONFIG_PTRACE_RECORD_ADDRESS ? PXT_LOG_HAS_ADDRESS : 0u) |
	                   (CONFIG_PTRACE_RECORD_CPU ? PXT_LOG_HAS_CPU : 0u) |
	                   (CONFIG_PTRACE_LARGER_PRIORITY ? PXT_LOG_LARGER_PRIORITY : 0u);
	pxt_port_random(header->uuid, sizeof(header->uuid));
	memcpy(log->sums.uuid, header->uuid, sizeof(header->uuid));
	header->rate = pxt_clock;
	header->created = block->created;
	header->largest_block = CONFIG_PTRACE_LOG_BLOCK_SIZE;
	header->set_bytes = PXT_START_BYTES;
	header->attr = block->attr;
}
