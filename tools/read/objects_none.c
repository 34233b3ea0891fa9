/* SPDX-License-Identifier: MIT */
/* objects_none.c - no names of variables and no places of functions, where libelf is not there. */
#include "tools/read/symbols.h"

struct pxt_objects *pxt_objects_open(const char *file)
{
	(void)file;
	return NULL;
}

bool pxt_objects_name(const struct pxt_objects *objects, uint64_t address, char *name, size_t room)
{
	(void)objects;
	(void)address;
	(void)name;
	(void)room;
	return false;
}

bool pxt_objects_in_function(const struct pxt_objects *objects, uint64_t address)
{
	(void)objects;
	(void)address;
	return true;
}

void pxt_objects_close(struct pxt_objects *objects)
{
	(void)objects;
}
