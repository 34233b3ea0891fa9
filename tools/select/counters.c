/* SPDX-License-Identifier: MIT */
/* counters.c - which numeric fields are shown as curves; see counters.h. */
#include "tools/select/counters.h"

#include "tools/output/say.h"

#include <fnmatch.h>
#include <stdio.h>

bool pxt_counters_option(struct pxt_counters *counters, const char *pattern)
{
	if (counters->count == PXT_COUNTERS_MAX) {
		pxt_complain("more than %u times --counter", PXT_COUNTERS_MAX);
		return false;
	}
	counters->patterns[counters->count++] = pattern;
	return true;
}

bool pxt_counters_want(const struct pxt_counters *counters, const struct pxt_type *type,
    const struct pxt_layout *field)
{
	char both[sizeof type->name + sizeof field->name + 1];

	if (field->kind == POSIX_TRACE_FIELD_TEXT_NP)
		return false;
	(void)snprintf(both, sizeof both, "%s.%s", type->name, field->name);
	for (unsigned i = 0; i < counters->count; i++)
		if (fnmatch(counters->patterns[i], field->name, 0) == 0 ||
		    fnmatch(counters->patterns[i], both, 0) == 0)
			return true;
	return false;
}
