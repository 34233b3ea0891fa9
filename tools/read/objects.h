/* SPDX-License-Identifier: MIT */
/* objects.h - names of variables, and where functions lie, out of a binary's symbols. */
#ifndef PXT_OBJECTS_H
#define PXT_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In files: in memory it is some three times as much. */
#define PXT_OBJECTS_BYTES_MAX (UINT64_C(256) << 20)

struct pxt_objects;

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

#endif
