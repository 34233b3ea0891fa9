/* SPDX-License-Identifier: MIT */
/*
 * replicas.h - the list of replicas, for both halves of their upkeep.
 *
 *   concurrency: any thread may look; core/process/replica.h says who changes it.
 */
#ifndef PXT_REPLICAS_H
#define PXT_REPLICAS_H

#include "core/process/replica.h"

/* NULL: there is none. */
struct pxt_directory *pxt_replica_of(uint32_t index);

/* There are replicas from now on. */
#if CONFIG_PTRACE_USEREVENTS
void pxt_replica_names_begin(void);
#else
PXT_INLINE void pxt_replica_names_begin(void)
{
}
#endif

#endif
