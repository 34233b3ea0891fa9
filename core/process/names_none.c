/* SPDX-License-Identifier: MIT */
/*
 * names_none.c - the name map without the User Events unit: the predefined types and nothing
 * else.  A new name is the unnamed type's (ruling 16).
 */
#include "core/process/directory.h"
#include "core/process/names.h"
#include "format/ids.h"

#include <errno.h>
#include <string.h>

void (*pxt_names_comes)(unsigned id);

int pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new)
{
	const char *end = memchr(name, '\0', TRACE_EVENT_NAME_MAX + 1);

	*is_new = false;
	if (!end)
		return ENAMETOOLONG;
	*id = pxt_system_event_id(name, (size_t)(end - name) + 1);
	if (*id == 0)
		*id = PXT_ID_UNNAMED;
	return 0;
}

unsigned pxt_names_count(void)
{
	return 0;
}

const char *pxt_names_of(unsigned id)
{
	return pxt_system_event_name(id);
}

int pxt_names_set_format(unsigned id, const char *text)
{
	(void)id;
	(void)text;
	return EINVAL;
}

const char *pxt_names_format(unsigned id)
{
	return pxt_names_of(id) ? pxt_sysspecific_format(id) : NULL;
}

void pxt_names_init(struct pxt_directory *directory)
{
	(void)directory;
}

void pxt_names_copy(struct pxt_directory *to, const struct pxt_directory *from)
{
	(void)to;
	(void)from;
}
