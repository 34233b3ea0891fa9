/* SPDX-License-Identifier: MIT */
/* objects_none.c - no names of variables, where libelf is not there. */
#include "tools/read/objects.h"

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

void pxt_objects_close(struct pxt_objects *objects)
{
	(void)objects;
}
