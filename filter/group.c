/* SPDX-License-Identifier: MIT */
/* group.c - the event types whose names match a pattern, into a set. */
#include "base/attr.h"
#include "core/process/names.h"

#include <trace_np.h>

/*
 * '*' stands for any text, '?' for one byte.  What a star stands for grows from nothing as long as the
 * rest does not match; an earlier star need not be tried again.
 */
static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL;
	const char *from = NULL;

	/* Bound: the lengths' product. */
	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			from = name;
		} else if (*pattern == '?' || *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

PXT_API int posix_trace_eventset_addgroup_np(const char *pattern, trace_event_set_t *set)
{
	bool found = false;

	if (!pxt_arg_given(pattern) || !pxt_arg_given(set))
		return EINVAL;
	for (unsigned id = PXT_ID_SYSTEM_FIRST; id < PXT_ID_COUNT; id++) {
		const char *name = pxt_names_of(id);

		if (!name || !matches(pattern, name))
			continue;
		set->_pxt_bits[id / 32u] |= UINT32_C(1) << id % 32u;
		found = true;
	}
	return found ? 0 : ENOENT;
}
PXT_PLAIN_NAME(posix_trace_eventset_addgroup_np, _PXT_SETS_NAME);
