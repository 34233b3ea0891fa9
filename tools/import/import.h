/* SPDX-License-Identifier: MIT */
/*
 * import.h - recordings of others, as a log: of the Linux kernel by perf, trace-cmd or ftrace, and of SEGGER SystemView.
 *
 * A file of perf (perf.data) or trace-cmd (trace.dat) is read by its own command (`perf script`, `trace-cmd report`);
 * the text is read twice: once for threads and types, once for the events.  Switches and wakeups have
 * the types of merged logs (ftracetext.h).  Each other event is a type with its name; what it says as KEY=VALUE
 * are its fields, if all its events say the same ones, else it is one text, `payload`.
 *
 * Memory: 24 bytes a thread, 1 KiB a type (PXT_LINUX_TYPES).
 */
#ifndef PXT_IMPORT_H
#define PXT_IMPORT_H

#include "tools/output/out.h"
#include "tools/write/logwrite.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define PXT_LINUX_TYPES 512u

/* @hz: rate of stamps that are a counter; 0: not known, or as the recording says.  An exit status, what is wrong was told. */
int pxt_linux_import(const char *path, uint64_t hz, const char *output);
int pxt_sysview_import(const char *path, uint64_t hz, const char *output);
/* The first of text that was opened, which is closed. */
int pxt_linux_text(FILE *file, const char *path, uint64_t hz, const char *output);

/* The end of the log that was made, which may be NULL; an exit status, what is wrong was told. */
static inline int pxt_import_end(
    struct pxt_logwrite *log, const struct pxt_logend *end, const char *command, const char *output)
{
	int error = log ? pxt_logwrite_end(log, end) : ENOMEM;

	if (error)
		pxt_complain("%s: %s: %s", command, output, strerror(error));
	return error ? PXT_EXIT_OUTPUT : PXT_EXIT_OK;
}

#endif
