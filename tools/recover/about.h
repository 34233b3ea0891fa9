/* SPDX-License-Identifier: MIT */
/*
 * about.h - the text about the process that a black box has beside its stream (format/imageheader.h): lines of a
 * word, a blank and the rest.  Words that are not known, and lines that make no sense, are passed over.
 */
#ifndef PXT_RECOVER_ABOUT_H
#define PXT_RECOVER_ABOUT_H

#include "tools/recover/find.h"

#include "format/logfmt.h"

struct pxt_about {
	struct pxt_log_process process; /* its pid is not set */
	struct pxt_log_module *modules;
	uint32_t count;
};

/* @stream: a header without fault.  NULL, or what is wrong; a stream without text is not. */
const char *pxt_about_load(struct pxt_about *about, const struct pxt_found *stream);
void pxt_about_free(struct pxt_about *about);

#endif
