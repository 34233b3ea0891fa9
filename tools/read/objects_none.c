/* SPDX-License-Identifier: MIT */
/* objects_none.c - no names of variables, where libelf is not there. */
#include "tools/read/objects.h"

bool pxt_objects_name(const char *file, uint64_t address, char *name, size_t room)
{
	(void)file;
	(void)address;
	(void)name;
	(void)room;
	return false;
}
