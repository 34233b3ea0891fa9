/* SPDX-License-Identifier: MIT */
/* names_at_use.c - the type of a trace point that is met for the first time while a stream runs. */
#include "base/fields.h"
#include "core/process/introduce.h"
#include "core/process/lock.h"
#include "core/process/names.h"
#include "core/process/process.h"

#include <errno.h>
#include <string.h>

#define AT_USE_NS 1000000u

/*
 * Under the process lock.  A description for which there is no room is left out.  EAGAIN: a forked
 * process does not give its lock.
 */
static int open_described(const char *name, size_t bytes, const char *format,
    struct pxt_patience *patience, trace_event_id_t *opened)
{
	size_t format_bytes;
	unsigned id = 0;
	bool is_new;
	int error = pxt_names_find_or_append(name, bytes, patience, &id, &is_new);

	if (error || id < PXT_ID_USER_FIRST)
		return error == EAGAIN ? EAGAIN : 0;
	if (format[0] != '\0' && pxt_fields_check(format, &format_bytes) == 0)
		error = pxt_names_describe(id, format, format_bytes, patience);
	if (error == EBUSY || error == EAGAIN)
		return error;
	/* One that a forked process has defined is not in this process' wanted table. */
	if (pxt_names_comes)
		pxt_names_comes(id);
	/* Who records first is known by its name, though it may end soon. */
	pxt_introduce_self();
	*opened = id;
	return 0;
}

int pxt_names_open_at_use(const char *name, const char *format, trace_event_id_t *id)
{
	const char *end = memchr(name, '\0', PXT_NAME_BYTES);
	struct pxt_patience patience;
	int error;

	*id = PXT_ID_UNNAMED;
	/* A child that is not started is not traced: nothing comes of the event either. */
	if (!end || (pxt_fork_epoch() == 0 && !pxt_process_begin_late()))
		return end ? EAGAIN : 0;
	pxt_patience_begin(&patience, AT_USE_NS);
	if (!pxt_process_lock_within(&patience))
		return EAGAIN;
	error = open_described(name, (size_t)(end - name) + 1, format, &patience, id);
	pxt_process_unlock();
	return error;
}
