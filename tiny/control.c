/* SPDX-License-Identifier: MIT */
/* control.c - start, stop, clear, shutdown; names; see tiny.h. */
#include "base/fields.h"
#include "core/process/names.h"
#include "core/stream/wanted.h"
#include "port_atomic.h"
#include "tiny/tiny.h"

#include <errno.h>

/* Bound: the types of the process. */
static int run(trace_id_t trid, bool on)
{
	uint32_t irq = pxt_irq_save();
	int error = EINVAL;

	if (pxt_tiny_is(trid)) {
		pxt_tiny.running = on;
		for (unsigned id = PXT_ID_UNNAMED; id <= PXT_ID_UNNAMED + pxt_names_count(); id++)
			_pxt_wanted[id] = on;
		error = 0;
	}
	pxt_irq_restore(irq);
	return error;
}

PXT_API int posix_trace_start(trace_id_t trid)
{
	return run(trid, true);
}

PXT_API int posix_trace_stop(trace_id_t trid)
{
	return run(trid, false);
}

PXT_API int posix_trace_clear(trace_id_t trid)
{
	uint32_t irq = pxt_irq_save();
	int error = EINVAL;

	if (pxt_tiny_is(trid)) {
		pxt_tiny.cleared += pxt_tiny.held;
		pxt_tiny.held = 0;
		pxt_tiny.tail = pxt_tiny.head;
		pxt_tiny.lost_read = pxt_tiny.lost;
		pxt_tiny.lost_told = pxt_tiny.lost;
		error = 0;
	}
	pxt_irq_restore(irq);
	return error;
}

PXT_API int posix_trace_shutdown(trace_id_t trid)
{
	int error = run(trid, false);

	if (!error)
		pxt_tiny.trid = 0;
	return error;
}

void pxt_wanted_type_added(unsigned id)
{
	_pxt_wanted[id] = pxt_tiny.running;
}

/*
 * Names of event types: the unnamed one and the user's.  Types have no descriptions here:
 * their room would be this configuration's largest table.
 */

static char names[PXT_NAMES_ROOM][PXT_NAME_BYTES];
static unsigned names_count;

unsigned pxt_names_count(void)
{
	return names_count;
}

const char *pxt_names_of(unsigned id)
{
	if (id == PXT_ID_UNNAMED)
		return "posix_trace_unnamed_userevent";
	return id - PXT_ID_USER_FIRST < names_count ? names[id - PXT_ID_USER_FIRST] : NULL;
}

/* Interrupts are away: an interrupt handler or another thread may open the same name. */
static trace_event_id_t find_or_append(const char *name, size_t bytes, bool *is_new)
{
	trace_event_id_t id = PXT_ID_UNNAMED;
	const char *known;

	/* Bound: the types of the process. */
	for (; (known = pxt_names_of(id)) != NULL; id++) {
		if (pxt_same_text(known, name, bytes))
			return id;
	}
	if (names_count == PXT_NAMES_MAX)
		return PXT_ID_UNNAMED;
	for (size_t i = 0; i < bytes; i++)
		names[names_count][i] = name[i];
	names_count++;
	*is_new = true;
	return id;
}

int pxt_names_open(const char *name, trace_event_id_t *id, bool *is_new)
{
	size_t bytes = 0;
	uint32_t irq;

	*is_new = false;
	do {
		if (bytes == PXT_NAME_BYTES)
			return ENAMETOOLONG;
	} while (name[bytes++] != '\0');
	irq = pxt_irq_save();
	*id = find_or_append(name, bytes, is_new);
	pxt_irq_restore(irq);
	return 0;
}

int pxt_names_set_format(unsigned id, const char *text)
{
	size_t bytes;

	if (id < PXT_ID_USER_FIRST || !pxt_names_of(id) || pxt_fields_check(text, &bytes) != 0)
		return EINVAL;
	return ENOMEM;
}
