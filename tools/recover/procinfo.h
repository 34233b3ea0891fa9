/* SPDX-License-Identifier: MIT */
/*
 * procinfo.h - the process information that a black box has beside its stream (format/imageheader.h): lines of a
 * word, a blank and the rest.  Words that are not known, and lines that make no sense, are passed over.
 */
#ifndef PXT_RECOVER_PROCINFO_H
#define PXT_RECOVER_PROCINFO_H

#include "tools/recover/find.h"

#include "format/logfmt.h"

struct pxt_procinfo {
	struct pxt_log_process process; /* its pid is not set */
	struct pxt_log_module *modules;
	uint32_t count;
};

/* @stream: a header without fault.  NULL, or what is wrong; a stream without text is not. */
const char *pxt_procinfo_load(struct pxt_procinfo *procinfo, const struct pxt_found *stream);
void pxt_procinfo_free(struct pxt_procinfo *procinfo);

#endif
