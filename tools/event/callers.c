/* SPDX-License-Identifier: MIT */
/* callers.c - see callers.h. */
#include "tools/event/callers.h"

#include <string.h>
#include <trace_hooks_np.h>

static bool has_callers(trace_event_id_t id)
{
	return id == POSIX_TRACE_MUTEX_LOCK_NP || id == POSIX_TRACE_COND_RESUME_NP ||
	       id == POSIX_TRACE_SYNC_LOCK_NP || id == POSIX_TRACE_CALL_EXIT_NP;
}

bool pxt_callers_is(const struct pxt_type *type, unsigned field)
{
	return has_callers(type->id) && strncmp(type->fields[field].name, "caller", 6) == 0;
}

unsigned pxt_callers_of(const struct pxt_event *event, uint64_t callers[PXT_CALLERS_MAX])
{
	unsigned count = 0;

	if (!has_callers(event->type->id))
		return 0;
	for (unsigned i = 0; i < event->type->field_count && count < PXT_CALLERS_MAX; i++) {
		const struct pxt_layout *field = &event->type->fields[i];
		size_t bytes;

		if (!pxt_callers_is(event->type, i) || field->kind != POSIX_TRACE_FIELD_HEX_NP)
			continue;
		if (!pxt_layout_present(field, event->bytes, &bytes))
			break;
		callers[count++] = pxt_load_unsigned(event->data + field->offset, bytes);
	}
	return count;
}
