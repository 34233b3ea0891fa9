/* SPDX-License-Identifier: MIT */
/* names.c - rows of functions are called as their symbols say. */
#include "tools/spans/pairs.h"
#include "tools/spans/syspairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_function(const struct pxt_pairs *pairs, const struct pxt_row *row)
{
	const struct pxt_syspair *system = pairs->pairs[row->pair].system;

	return system && system->names == PXT_SYSPAIR_FUNCTIONS &&
	       strncmp(row->label, "0x", 2) == 0;
}

static struct pxt_address address_of(const struct pxt_row *row)
{
	return (struct pxt_address){
		.value = row->key, .pid = row->pid, .ns = row->ns, .begins = true
	};
}

/* "refill" of "refill (cache.c:88)"; what is behind the address, the thread, stays. */
static void name_row(struct pxt_symbols *symbols, struct pxt_row *row)
{
	const char *text = pxt_symbols_text(symbols, address_of(row));
	const char *place = strstr(text, " (");
	const char *thread = strstr(row->label, "  ");
	char label[sizeof row->label];

	(void)snprintf(label, sizeof label, "%.*s%s",
	    (int)(place ? place - text : (ptrdiff_t)strlen(text)), text, thread ? thread : "");
	memcpy(row->label, label, sizeof label);
}

void pxt_pairs_name(struct pxt_pairs *pairs, struct pxt_symbols *symbols)
{
	uint32_t count;
	struct pxt_row **rows = pxt_pairs_rows(pairs, &count);

	for (uint32_t i = 0; i < count; i++)
		if (is_function(pairs, rows[i]))
			pxt_symbols_want(symbols, address_of(rows[i]));
	pxt_symbols_resolve(symbols);
	for (uint32_t i = 0; i < count; i++)
		if (is_function(pairs, rows[i]))
			name_row(symbols, rows[i]);
	free(rows);
}
