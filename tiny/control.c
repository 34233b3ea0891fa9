/* SPDX-License-Identifier: MIT */
/* control.c - making the stream, start, stop, clear, shutdown; see tiny.h. */
#include "base/attr.h"
#include "core/process/names.h"
#include "core/stream/wanted.h"
#include "port/port.h"
#include "tiny/tiny.h"

/* Zeros, without @from.  Byte by byte through volatile, or the compiler asks for memcpy() and memset(). */
static PXT_NOINLINE void fill(volatile void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((volatile unsigned char *)to)[i] = from ? ((const unsigned char *)from)[i] : 0;
}

/* 0: more than there is. */
static uint32_t slots_for(uint64_t stream_bytes, uint32_t max_data)
{
	uint32_t slots = 32;

	while (slots <= PXT_TINY_SLOTS) {
		if ((uint64_t)slots * PXT_SLOT_BYTES >= stream_bytes &&
		    slots >= 2u * pxt_slots_for(max_data))
			return slots;
		slots *= 2u;
	}
	return 0;
}

/* Interrupts are away. */
static int create(const struct _pxt_attr *attr, trace_id_t *trid)
{
	struct pxt_tiny *tiny = &pxt_tiny;
	uint32_t max_data =
	    attr ? (uint32_t)attr->_pxt_max_data : (uint32_t)CONFIG_PTRACE_DEFAULT_DATA_SIZE;
	uint32_t slots = slots_for(
	    attr ? attr->_pxt_stream_size : (uint64_t)CONFIG_PTRACE_DEFAULT_STREAM_SIZE, max_data);

	if (tiny->trid)
		return EAGAIN;
	if (!slots)
		return ENOMEM;
	tiny->last += tiny->last + 1u != 0 ? 1u : 2u;
	tiny->mask = slots - 1u;
	tiny->max_data = max_data;
	/* A trace point or a reader that was interrupted finds another place. */
	tiny->head += PXT_TINY_SLOTS;
	tiny->tail = tiny->head;
	fill(&tiny->counts, NULL, sizeof(tiny->counts));
	tiny->at_shutdown = NULL;
	tiny->anchor_ticks = pxt_port_ticks();
	pxt_board_realtime(&tiny->anchor);
	tiny->flags = attr ? attr->_pxt_flags : 0;
	fill(tiny->name, attr ? attr->_pxt_name : NULL, sizeof(tiny->name));
	tiny->trid = tiny->last;
	pxt_tiny_label_set();
	*trid = tiny->last;
	return 0;
}

int pxt_tiny_create(pid_t pid, const trace_attr_t *attr, trace_id_t *trid)
{
	int error = pid ? pxt_port_may_trace(pid) : 0;
	uint32_t irq;

	if (!trid || (attr && pxt_attr_check(attr, attr)))
		return EINVAL;
	if (error)
		return error;
	irq = pxt_irq_save();
	error = create(attr ? &attr->_pxt_kept : NULL, trid);
	pxt_irq_restore(irq);
	return error;
}

/* Whatever call was the last to say so holds for each type. */
void pxt_wanted_type_added(unsigned id)
{
	uint32_t irq = pxt_irq_save();

	_pxt_wanted[id] = pxt_tiny.running;
	pxt_irq_restore(irq);
}

/* Bound: the types of the process. */
static int run(trace_id_t trid, bool on)
{
	uint32_t irq = pxt_irq_save();
	bool is = pxt_tiny_is(trid);

	if (is)
		pxt_tiny.running = on;
	pxt_irq_restore(irq);
	if (!is)
		return EINVAL;
	for (unsigned id = PXT_TINY_FIRST; id <= PXT_ID_UNNAMED + pxt_names_count(); id++) {
		if (id >= PXT_ID_USER_FIRST || pxt_tiny_system_name(id))
			pxt_wanted_type_added(id);
	}
	return 0;
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
	uint32_t irq;

	if (!pxt_tiny_is(trid))
		return EINVAL;
	/* What was there when it was called. */
	pxt_tiny_clear_before(pxt_tiny.head);
	irq = pxt_irq_save();
	pxt_tiny.counts.clears++;
	pxt_tiny.counts.lost_told = (uint32_t)pxt_tiny_lost();
	pxt_irq_restore(irq);
	return 0;
}

PXT_API int posix_trace_shutdown(trace_id_t trid)
{
	int error = run(trid, false);

	if (error)
		return error;
	if (pxt_tiny.at_shutdown)
		error = pxt_tiny.at_shutdown(trid);
	pxt_tiny.trid = 0;
	return error;
}
