/* SPDX-License-Identifier: MIT */
/*
 * linux.h - what perf, trace-cmd or ftrace recorded of the Linux kernel, as a log.
 *
 * A file of perf (perf.data) or trace-cmd (trace.dat) is read by its own command (`perf script`, `trace-cmd report`);
 * the text is read twice: once for threads and types, once for the events.  Switches and wakeups have
 * the types of merged logs (ftracetext.h).  Each other event is a type with its name; what it says as KEY=VALUE
 * are its fields, if all its events say the same ones, else it is one text, `payload`.
 *
 * Memory: 24 bytes a thread, 1 KiB a type (PXT_LINUX_TYPES).
 */
#ifndef PXT_IMPORT_LINUX_H
#define PXT_IMPORT_LINUX_H

#include <stdint.h>
#include <stdio.h>

#define PXT_LINUX_TYPES 512u

/* @hz: rate of stamps that are a counter; 0: not known.  An exit status, what is wrong was told. */
int pxt_linux_import(const char *path, uint64_t hz, const char *output);
/* The same of text that was opened, which is closed. */
int pxt_linux_text(FILE *file, const char *path, uint64_t hz, const char *output);

#endif
