/* SPDX-License-Identifier: MIT */
/*
 * symbols.h - program addresses of a log as "function (file:line)", or "module+0x1234" where the binary
 * is not at hand, is another build, or no addr2line is installed; and the variables at addresses of data.
 * And what the files of binaries say.
 *
 * Addresses belong to a process.  What events told of its images says where they lie
 * (pxt_symbols_take(), images.h); of the log's writer, if none told, the log's own table of modules does.
 *
 * Use: pxt_symbols_take() for each event, pxt_symbols_want() for each address, once
 * pxt_symbols_resolve(), then pxt_symbols_text().  addr2line runs once per module and resolve.
 */
#ifndef PXT_SYMBOLS_H
#define PXT_SYMBOLS_H

#include "format/elfnote.h"
#include "tools/read/source.h"
#include "tools/symbols/images.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Distinct addresses that are looked up; those beyond are shown as module and offset. */
#define PXT_SYMBOLS_MAX 65536u

/* What was at @value of the memory of process @pid at @ns. */
struct pxt_address {
	uint64_t value; /* 0: none */
	pid_t pid;
	int64_t ns;
	/* It is where a function begins; else where a call returns to, and the call is the byte before. */
	bool begins;
};

struct pxt_symbols;

/* @root (may be NULL) is before the path of every module. */
struct pxt_symbols *pxt_symbols_new(const struct pxt_source *source, const char *root);
void pxt_symbols_free(struct pxt_symbols *symbols);
/* Any event of the log. */
void pxt_symbols_take(struct pxt_symbols *symbols, const struct pxt_event *event);
/* Where an event was recorded; of one that tells of a function's begin or end, that function. */
struct pxt_address pxt_symbols_address(const struct pxt_event *event);
void pxt_symbols_want(struct pxt_symbols *symbols, struct pxt_address at);
void pxt_symbols_resolve(struct pxt_symbols *symbols);
/* Another number after each change of what a process has mapped, as far as it was told. */
uint32_t pxt_symbols_changes(const struct pxt_symbols *symbols, pid_t pid);
/* Whether the same image has it from then up to @ns. */
bool pxt_symbols_stays(const struct pxt_symbols *symbols, struct pxt_address at, int64_t ns);
/* Escaped; valid until the next call. */
const char *pxt_symbols_text(struct pxt_symbols *symbols, struct pxt_address at);
/* The same of a function of the program's own, that has a name; else NULL. */
const char *pxt_symbols_own(const struct pxt_symbols *symbols, struct pxt_address at);
/* Where the function there was put into another one by the compiler: that one, the same way; else NULL. */
const char *pxt_symbols_into(const struct pxt_symbols *symbols, struct pxt_address at);
/* The path of the image that has it, as the log says it; NULL: none is known. */
const char *pxt_symbols_image(const struct pxt_symbols *symbols, struct pxt_address at);
/* The variable there, escaped; NULL: none is known.  Valid until the next call. */
const char *pxt_symbols_variable(struct pxt_symbols *symbols, struct pxt_address at);

/*
 * Programs of binutils (addr2line, c++filt), which are asked by a file and answer in lines.
 *
 * They read files that anybody may have made.  So each has limits of memory and processor time.  One that
 * neither answers nor works for PXT_BINUTIL_STALL_MS is ended; it waits for a FIFO, say.  After that, or
 * after PXT_BINUTIL_SUM_MS of all of them, none is started any more.
 */

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

/* ---- Names of variables, and where functions lie, out of a binary's symbols ---- */

/* In files: in memory it is some three times as much. */
#define PXT_OBJECTS_BYTES_MAX (UINT64_C(256) << 20)

struct pxt_objects;

#ifdef PXTRACE_HAS_ELF

/*
 * The variables of @file; where its symbols are stripped, also those of the file of the same build-id that
 * has them (/usr/lib/debug/.build-id, .gnu_debuglink).  NULL: it has none, or this build cannot look.
 *
 * Of each kind the first table counts.  Tables of all files together that are open at once take
 * PXT_OBJECTS_BYTES_MAX; what is opened then has none.
 */
struct pxt_objects *pxt_objects_open(const char *file);
/* The one that has the link-time address @address: "name", or "name+8" inside of it.  False: none has. */
bool pxt_objects_name(const struct pxt_objects *objects, uint64_t address, char *name, size_t room);
/* Whether a function has that address: where there are no lines, addr2line takes the nearest one before. */
bool pxt_objects_in_function(const struct pxt_objects *objects, uint64_t address);
void pxt_objects_close(struct pxt_objects *objects);

#else

/* Without libelf: no names of variables, and no places of functions. */

static inline struct pxt_objects *pxt_objects_open(const char *file)
{
	(void)file;
	return NULL;
}

static inline bool pxt_objects_name(
    const struct pxt_objects *objects, uint64_t address, char *name, size_t room)
{
	(void)objects;
	(void)address;
	(void)name;
	(void)room;
	return false;
}

static inline bool pxt_objects_in_function(const struct pxt_objects *objects, uint64_t address)
{
	(void)objects;
	(void)address;
	return true;
}

static inline void pxt_objects_close(struct pxt_objects *objects)
{
	(void)objects;
}

#endif

#endif
