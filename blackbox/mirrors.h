/* SPDX-License-Identifier: MIT */
/*
 * mirrors.h - the list of mirrors, for both halves of their upkeep.
 *
 *   concurrency: any thread may look; core/process/mirror.h says who changes it.
 */
#ifndef PXT_MIRRORS_H
#define PXT_MIRRORS_H

#include "core/process/mirror.h"

/* NULL: there is none. */
struct pxt_directory *pxt_mirror_of(uint32_t index);

#endif
