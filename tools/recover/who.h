/* SPDX-License-Identifier: MIT */
/*
 * who.h - a process out of an image: its directory (threads, names of event types), and the lines of process
 * information.
 */
#ifndef PXT_RECOVER_WHO_H
#define PXT_RECOVER_WHO_H

#include "tools/recover/image.h"

#include "format/logfmt.h"

struct pxt_who {
	const struct pxt_directory_header *header; /* NULL: there is no directory */
	bool swapped;
	unsigned char *bytes;
	uint64_t there;
	uint32_t threads; /* entries of the table that may be in use: 1 to this */
	uint32_t names;
};

/* @found: NULL, or a directory without fault, which must outlive it.  NULL, or what is wrong. */
const char *pxt_who_load(struct pxt_who *who, const struct pxt_found *found);
void pxt_who_free(struct pxt_who *who);

/* False: nobody has this index (yet). */
bool pxt_who_thread(const struct pxt_who *who, uint32_t index, struct pxt_log_thread *thread);
/* The thread was inside a trace point. */
bool pxt_who_inside(const struct pxt_who *who, uint32_t index);
/* The @number-th user event type; false: its name is damaged. */
bool pxt_who_type(const struct pxt_who *who, uint32_t number, struct pxt_log_typename *type);
void pxt_who_process(const struct pxt_who *who, struct pxt_log_process *process);

/*
 * ---- The process information beside a stream ----
 *
 * A black box has it (format/imageheader.h).
 *
 * Lines of a word, a blank and the rest.  Words that are not known, and lines that make no sense, are
 * passed over.
 */

struct pxt_procinfo {
	struct pxt_log_process process; /* its pid is not set */
	struct pxt_log_module *modules;
	uint32_t count;
};

/* @stream: a header without fault.  NULL, or what is wrong; a stream without text is not. */
const char *pxt_procinfo_load(struct pxt_procinfo *procinfo, const struct pxt_found *stream);
void pxt_procinfo_free(struct pxt_procinfo *procinfo);

#endif
