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

PXT_INLINE void pxt_counter_up(pxt_counter *counter)
{
	(void)pxt_cursor_add(counter, 1);
}

PXT_INLINE uint64_t pxt_counter_load(pxt_counter *counter)
{
	return pxt_cursor_load(counter);
}

PXT_INLINE uint64_t pxt_twins_peek(pxt_twins *twins)
{
	return pxt_cursor_peek(twins);
}

PXT_INLINE uint64_t pxt_twins_load(pxt_twins *twins)
{
	return pxt_cursor_load(twins);
}

PXT_INLINE void pxt_twins_set(pxt_twins *twins, uint64_t value)
{
	pxt_cursor_set(twins, value);
}

/* Once: if it fails, another wanted the same. */
PXT_INLINE void pxt_twins_move(pxt_twins *twins, uint64_t from, uint64_t to)
{
	(void)pxt_cursor_swap(twins, &from, to);
}

PXT_INLINE uint64_t pxt_wide_load(pxt_wide *wide)
{
	return pxt_cursor_load(wide);
}

PXT_INLINE void pxt_wide_set(pxt_wide *wide, uint64_t value)
{
	pxt_cursor_set(wide, value);
}

#endif
