/* SPDX-License-Identifier: MIT */
/* emit.c - where every trace point comes in; see emit.h. */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/emit.h"

#include "core/record/emit_short.h"
#include "core/stream/wanted.h"

void pxt_emit(uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	pxt_emit_short(id, data, bytes, address PXT_LOOK_ARGUMENT);
}

void pxt_emit_system(trace_event_id_t id, const void *data, size_t bytes)
{
	const struct pxt_look look = pxt_look_system();

	if (PXT_UNLIKELY(pxt_look_wanted(look, id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0) PXT_LOOK_ARGUMENT);
}
