/* SPDX-License-Identifier: MIT */
/* numbers.h - shared numbers of 64 bits, of which not every machine has such accesses. */
#ifndef PXT_ARCH_NUMBERS_H
#define PXT_ARCH_NUMBERS_H

#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2
#include "port/posix/cursor.h"
#else
#include "port/posix/words_port.h"
#endif

#endif
