/* SPDX-License-Identifier: MIT */
/* files.c - logs of one boot as one, for other commands; the end of a merger. */
#include "tools/merge/merge.h"

#include "tools/output/exit.h"
#include "tools/output/say.h"

#include <stdlib.h>

void pxt_merge_close(struct pxt_merge *merge)
{
	pxt_ftrace_close(&merge->ftrace);
	free(merge->types.numbers);
	free(merge->line.places);
	pxt_reader_close(&merge->reader);
}

int pxt_merge_files(const char *output, char *const *paths, unsigned count, uint64_t lost)
{
	struct pxt_merge *merge = pxt_must(calloc(1, sizeof *merge));
	int status = pxt_reader_open(&merge->reader, paths, count, PXT_OPEN_INCOMPLETE, NULL);

	if (status == PXT_EXIT_OK &&
	    (!pxt_line_make(&merge->line, &merge->reader, PXT_PLACING_ONE_BOOT) ||
	        !pxt_merge_types_make(&merge->types, &merge->reader)))
		status = PXT_EXIT_LOG;
	merge->lost_before = lost;
	if (status == PXT_EXIT_OK)
		status = pxt_merge_write(merge, output);
	pxt_merge_close(merge);
	free(merge);
	return status;
}
