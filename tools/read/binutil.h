/* SPDX-License-Identifier: MIT */
/*
 * binutil.h - programs of binutils (addr2line, c++filt), which are asked by a file and answer in lines.
 *
 * They read files that anybody may have made.  So each has limits of memory and processor time.  One that
 * neither answers nor works for PXT_BINUTIL_STALL_MS is ended; it waits for a FIFO, say.  After that, or
 * after PXT_BINUTIL_SUM_MS of all of them, none is started any more.
 */
#ifndef PXT_BINUTIL_H
#define PXT_BINUTIL_H

#include "format/elfnote.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define PXT_BINUTIL_STALL_MS 3000
#define PXT_BINUTIL_SUM_MS   60000

struct pxt_binutil {
	FILE *in; /* the questions are written here */
	int out;
	pid_t pid;
	int64_t begun_ms;
	int64_t worked_ms; /* when it was seen to work last ... */
	int64_t cpu_ms;    /* ... and what it had used of the processor then */
	bool stalled;
	size_t used; /* of what came from it, these bytes are lines that were taken */
	size_t filled;
	char bytes[4096];
};

/* False: there is no place for a file, or none is to be started any more. */
bool pxt_binutil_new(struct pxt_binutil *tool);
/* False: it could not be started; *@missing: because it is not installed. */
bool pxt_binutil_run(struct pxt_binutil *tool, char *const *argv, bool *missing);
/* The next line without its end, cut to @room; false: there is none. */
bool pxt_binutil_line(struct pxt_binutil *tool, char *line, size_t room);
/* Ends it, whatever it does. */
void pxt_binutil_end(struct pxt_binutil *tool);

/* A name as its source has it, if it is a C++ or Rust one and c++filt is there; else as it is. */
void pxt_binutil_demangle(const char *name, char *text, size_t room);

/* ---- The identity of an ELF file, and the file beside it that its identity leads to ---- */

/*
 * The GNU build-id in the file @fd, of any byte order and word size.  Returns its length, 0 when
 * there is none or the file is no proper ELF file.
 */
size_t pxt_build_id(int fd, unsigned char id[PXT_BUILDID_MAX]);

/* Where Debian has what was stripped from the file of that build. */
#define PXT_BUILD_DEBUG_ROOM                                                                       \
	(sizeof "/usr/lib/debug/.build-id//.debug" + (size_t)2 * PXT_BUILDID_MAX)
void pxt_build_debug_path(const unsigned char *id, size_t bytes, char path[PXT_BUILD_DEBUG_ROOM]);

/* As digits. */
void pxt_build_text(const unsigned char *id, size_t bytes, char text[2 * PXT_BUILDID_MAX + 1]);

/* How many sections the file says that it has; 0: it is no ELF file. */
uint64_t pxt_build_sections(int fd);

#endif
