/* SPDX-License-Identifier: MIT */
/* filelimit.h - how long a file of this process may become: files that are memory (a log's: logout.c). */
#ifndef PXT_FILELIMIT_H
#define PXT_FILELIMIT_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

/* Beyond this limit, also of a file in memory, the system would not only refuse, but send SIGXFSZ. */
PXT_INLINE bool pxt_beyond_limit(uint64_t bytes)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       bytes > (uint64_t)limit.rlim_cur;
}

#endif
