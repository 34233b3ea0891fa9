/* SPDX-License-Identifier: MIT */
/* sysspecific_none.c - no types of System Events, where that unit is off. */
#include "format/sysspecific.h"

const char *pxt_sysspecific_name(unsigned id)
{
	(void)id;
	return NULL;
}

const char *pxt_sysspecific_format(unsigned id)
{
	(void)id;
	return "";
}
