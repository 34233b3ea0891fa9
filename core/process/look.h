/* SPDX-License-Identifier: MIT */
/*
 * look.h - what a trace point keeps of its look whether a type is wanted (core/stream/wanted.h): where the
 * type's bit is, so that it need not be found twice.
 *
 *   concurrency: as core/stream/wanted.h.
 */
#ifndef PXT_LOOK_H
#define PXT_LOOK_H

#include "format/compiler.h"
#include "format/ids.h"

#include <stddef.h>
#include <stdint.h>

#if CONFIG_PTRACE_PORT_POSIX
/*
 * Two bits for each type: whether any stream wants it, and whether the hot stream does, which is
 * told while that is in force only.  System events have words of their own.
 */
#define PXT_WANTED_WORDS       (PXT_ID_COUNT / 32u + 1u)
#define PXT_WANTED_SYSTEM_WORD (PXT_ID_COUNT / 32u)

struct pxt_bits {
	struct {
		uint32_t any;
		uint32_t hot;
	} word[PXT_WANTED_WORDS];
};
#define PXT_BITS_MEMBER struct pxt_bits wanted;

struct pxt_look {
	const struct pxt_bits *bits;
	size_t word;
};
/* Of functions that look once more, after their other ones. */
#define PXT_LOOK_PARAMETER      , PXT_UNUSED struct pxt_look look
#define PXT_LOOK_ARGUMENT       , look
#define PXT_LOOK_HOT(block, id) pxt_look_hot(look, id)
#define PXT_LOOK_USER_FIRST     0u /* below the users' first type no bit of theirs is ever set */
#else
/* No bits: the table is as near as they would be, and memory is short. */
#define PXT_BITS_MEMBER
struct pxt_look {
	size_t nothing;
};
#define PXT_LOOK_PARAMETER
#define PXT_LOOK_ARGUMENT
#define PXT_LOOK_HOT(block, id) (pxt_wanted_by(id) == 1u << (block)->index)
#define PXT_LOOK_USER_FIRST     PXT_ID_UNNAMED
#endif

#endif
