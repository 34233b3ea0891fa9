/* SPDX-License-Identifier: MIT */
/* lossnote.c - losses, as a log has them and as they are told; see out.h. */
#include "tools/output/out.h"

#include "format/mul64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pxt_lossnote_make(struct posix_trace_lognote_np *note, const char *name, uint64_t events)
{
	(void)snprintf(note->posix_name_np, sizeof note->posix_name_np, "%s", name);
	(void)snprintf(note->posix_text_np, sizeof note->posix_text_np, "%llu events",
	    (unsigned long long)events);
}

uint64_t pxt_lossnote_sum(trace_id_t trid, const char *name)
{
	struct posix_trace_lognote_np note;
	uint64_t sum = 0;

	for (uint32_t i = 0; posix_trace_log_getnote_np(trid, i, &note, sizeof note) == 0; i++) {
		if (strcmp(note.posix_name_np, name) == 0)
			pxt_sum_add(&sum, strtoull(note.posix_text_np, NULL, 10));
	}
	return sum;
}
