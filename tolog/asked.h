/* SPDX-License-Identifier: MIT */
/*
 * asked.h - what the value of PXTRACE_OUT says: PATH[,size=BYTES][,policy=WORD][,lanes=NUMBER][,mode=OCTAL]
 * [,box=no].
 *
 *   concurrency: none.
 */
#ifndef PXT_ASKED_H
#define PXT_ASKED_H

#include "port/port_environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beside the path. */
#define PXT_ASKED_OPTIONS 256u

struct pxt_asked {
	char folder[PXT_ENVIRONMENT_PATH]; /* where a relative path begins, with a slash */
	char text[PXT_ENVIRONMENT_PATH + PXT_ASKED_OPTIONS]; /* all of it, for complaints */
	char pattern[PXT_ENVIRONMENT_PATH];
	size_t size; /* 0: the default, as of the next two */
	int policy;  /* of the stream */
	unsigned lanes;
	uint32_t mode; /* of new files, before the umask */
	bool box;
};

/*
 * Reads @text.  NULL; or what is wrong in it, and *why: "" and the same text, where it is all of it.  The answer
 * is good until the next call.
 */
const char *pxt_asked_read(struct pxt_asked *asked, const char *text, const char **why);

#endif
