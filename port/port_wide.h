/* SPDX-License-Identifier: MIT */
/*
 * port_wide.h - the kinds of shared 64-bit numbers, where a 64-bit word is one access: then all are
 * cursors.  Included by port_atomic.h.
 */
#ifndef PXT_PORT_WIDE_H
#define PXT_PORT_WIDE_H

typedef pxt_cursor pxt_counter; /* counted up by many */
typedef pxt_cursor pxt_twins;   /* two 32-bit numbers, each of which grows for itself */
typedef pxt_cursor pxt_wide;    /* set, rarely by two at once; 0: not known */

#define pxt_counter_load pxt_cursor_load
#define pxt_twins_peek   pxt_cursor_peek
#define pxt_twins_load   pxt_cursor_load
#define pxt_twins_set    pxt_cursor_set
#define pxt_wide_load    pxt_cursor_load
#define pxt_wide_set     pxt_cursor_set

PXT_INLINE void pxt_counter_up(pxt_counter *counter)
{
	(void)pxt_cursor_add(counter, 1);
}

/* Once: if it fails, another wanted the same. */
PXT_INLINE void pxt_twins_move(pxt_twins *twins, uint64_t from, uint64_t to)
{
	(void)pxt_cursor_swap(twins, &from, to);
}

#endif
