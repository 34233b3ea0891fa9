/* SPDX-License-Identifier: MIT */
/* control.c - start, stop, clear, shutdown; see tiny.h. */
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
