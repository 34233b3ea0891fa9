/* SPDX-License-Identifier: MIT */
/* slot.c - see slot.h; where bytes are saved (PXT_SMALL), its functions are here. */
#include "format/slot.h"

#if PXT_SMALL
uint32_t pxt_info_slots(uint32_t info, uint32_t ctx)
{
	return pxt_info_slots_here(info, ctx);
}
#endif
