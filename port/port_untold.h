/* SPDX-License-Identifier: MIT */
/*
 * port_untold.h - calls of the C library that are the library's own: where they are wrapped (sysevents/wrap/),
 * nobody wants to be told of them.
 *
 *   concurrency: a thread's own; its signal handlers find it as the interrupted code left it.
 */
#ifndef PXT_PORT_UNTOLD_H
#define PXT_PORT_UNTOLD_H

#include "format/compiler.h"

#include <stdint.h>

/*
 * 0: what the calling thread does is its program's.  Bit 0: the thread is excluded; bit 31: it is the
 * library's own, with all signals blocked; the rest: calls deep.
 */
extern PXT_TLS uint32_t pxt_port_untold;

#define PXT_PORT_UNTOLD_THREAD 1u
#define PXT_PORT_UNTOLD_CALL   2u
#define PXT_PORT_UNTOLD_OWN    0x80000000u

PXT_INLINE void pxt_port_untold_begin(void)
{
	pxt_port_untold += PXT_PORT_UNTOLD_CALL;
}

PXT_INLINE void pxt_port_untold_end(void)
{
	pxt_port_untold -= PXT_PORT_UNTOLD_CALL;
}

#endif
