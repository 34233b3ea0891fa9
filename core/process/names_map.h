/* SPDX-License-Identifier: MIT */
/* names_map.h - the layout of the name map in the process' directory; see names.h. */
#ifndef PXT_NAMES_MAP_H
#define PXT_NAMES_MAP_H

#include "format/compiler.h"
#include "format/ids.h"

#include <stdatomic.h>
#include <stdint.h>

/* The unnamed type is one of TRACE_USER_EVENT_MAX (CON-19). */
#define PXT_NAMES_MAX  (TRACE_USER_EVENT_MAX - 1)
#define PXT_NAME_BYTES (TRACE_EVENT_NAME_MAX + 1)

#if CONFIG_PTRACE_USEREVENTS

/* An array of no entries is no C: with a limit of 1, or no pool, one stays unused. */
#define PXT_NAMES_ROOM (PXT_NAMES_MAX > 0 ? PXT_NAMES_MAX : 1)
#define PXT_POOL_ROOM  (CONFIG_PTRACE_FORMAT_POOL_BYTES > 0 ? CONFIG_PTRACE_FORMAT_POOL_BYTES : 1)

struct pxt_names {
	uint32_t name_bytes;
	uint32_t names_max;
	uint32_t pool_bytes;
	uint32_t pool_used;
	_Atomic uint32_t count;
	_Atomic uint32_t format_at[PXT_NAMES_ROOM]; /* offset in pool plus 1; 0: none */
	char names[PXT_NAMES_ROOM][PXT_NAME_BYTES];
	char pool[PXT_POOL_ROOM];
};
#define PXT_NAMES_MEMBER struct pxt_names names;
#define PXT_NAMES_AT     offsetof(struct pxt_directory, names)
#else
#define PXT_NAMES_MEMBER
#define PXT_NAMES_AT 0u
#endif

#endif
