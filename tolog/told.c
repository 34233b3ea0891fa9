/* SPDX-License-Identifier: MIT */
/* told.c - a log that begins again has no names, threads and modules yet. */
#include "tolog/tolog.h"

#include <string.h>

void pxt_tolog_forget_told(struct pxt_tolog *log)
{
	memset(log->told_types, 0, sizeof(log->told_types));
	log->looked_ticks = 0;
	log->told_notes = 0;
	log->told_head = false;
	pxt_tolog_describe_forget(log);
}
