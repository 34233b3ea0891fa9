/* SPDX-License-Identifier: MIT */
/* names.c - rows of functions are called as their symbols say. */
#include "tools/spans/syspairs.h"
#include "tools/stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_function(const struct pxt_stat *s, const struct pxt_row *row)
{
	const struct pxt_syspair *system = s->pairs->pairs[row->pair].system;

	return system && system->names == PXT_SYSPAIR_FUNCTIONS && strncmp(row->label, "0x", 2) == 0;
}

static struct pxt_address address_of(const struct pxt_row *row)
{
	return (struct pxt_address){
		.value = row->key, .pid = row->pid, .ns = row->ns, .begins = true
	};
}

/* "refill" of "refill (cache.c:88)"; what is behind the address, the thread, stays. */
static void name_row(struct pxt_stat *s, struct pxt_row *row)
{
	const char *text = pxt_symbols_text(s->symbols, address_of(row));
	const char *place = strstr(text, " (");
	const char *thread = strstr(row->label, "  ");
	char label[sizeof row->label];

	(void)snprintf(label, sizeof label, "%.*s%s",
	    (int)(place ? place - text : (ptrdiff_t)strlen(text)), text, thread ? thread : "");
	memcpy(row->label, label, sizeof label);
}

void pxt_stat_name_rows(struct pxt_stat *s)
{
	uint32_t count;
	struct pxt_row **rows = pxt_pairs_rows(s->pairs, &count);

	for (uint32_t i = 0; i < count; i++)
		if (is_function(s, rows[i]))
			pxt_symbols_want(s->symbols, address_of(rows[i]));
	pxt_symbols_resolve(s->symbols);
	for (uint32_t i = 0; i < count; i++)
		if (is_function(s, rows[i]))
			name_row(s, rows[i]);
	free(rows);
}
