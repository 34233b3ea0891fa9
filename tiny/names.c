/* SPDX-License-Identifier: MIT */
/* names.c - names of event types, and descriptions of their data where there is room for them; see tiny.h. */
#include "core/process/names.h"
#include "base/fields.h"
#include "tiny/tiny.h"

/* One behind the other, each with its NUL. */
char pxt_tiny_names[CONFIG_PTRACE_NAME_POOL_BYTES];
static uint32_t names_used;
unsigned pxt_tiny_names_count;
_Atomic bool pxt_names_specific;

unsigned pxt_names_count(void)
{
	return pxt_tiny_names_count;
}

static const char *after(const char *name)
{
	while (*name++ != '\0')
		;
	return name;
}

/* Bound: the bytes of the names before. */
const char *pxt_names_of(unsigned id)
{
	const char *name = pxt_tiny_names;

	if (id < PXT_ID_USER_FIRST)
		return pxt_tiny_system_name(id);
	if (id - PXT_ID_USER_FIRST >= pxt_tiny_names_count)
		return NULL;
	while (id-- > PXT_ID_USER_FIRST)
		name = after(name);
	return name;
}

/* Interrupts are away: an interrupt handler or another thread may open the same name. */
static trace_event_id_t find_or_append(const char *name, size_t bytes, bool *is_new)
{
	trace_event_id_t id = PXT_TINY_FIRST;
	const char *known = pxt_tiny_names;

	/* Bound: the types of the process, the bytes of their names. */
	for (; id < PXT_ID_USER_FIRST + pxt_tiny_names_count; id++) {
		const char *text = id < PXT_ID_USER_FIRST ? pxt_tiny_system_name(id) : known;

		if (text && pxt_same_text(text, name, bytes))
			return id;
		if (id >= PXT_ID_USER_FIRST)
			known = after(known);
	}
	if (pxt_tiny_names_count == PXT_NAMES_MAX || bytes > sizeof(pxt_tiny_names) - names_used)
		return PXT_ID_UNNAMED;
	for (size_t i = 0; i < bytes; i++)
		pxt_tiny_names[names_used++] = name[i];
	*is_new = true;
	pxt_tiny_names_count++;
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

/* ---- Descriptions ---- */

char pxt_tiny_pool[PXT_POOL_ROOM];
static uint32_t pool_used;
uint16_t pxt_tiny_format_at[PXT_NAMES_ROOM]; /* offset in the pool and 1 more; 0: none */

const char *pxt_names_format(unsigned id)
{
	if (!pxt_names_of(id))
		return NULL;
	if (id < PXT_ID_USER_FIRST)
		return pxt_sysspecific_format(id);
	return pxt_tiny_format_at[id - PXT_ID_USER_FIRST]
	           ? pxt_tiny_pool + pxt_tiny_format_at[id - PXT_ID_USER_FIRST] - 1
	           : "";
}

/* Interrupts are away. */
static int describe(unsigned id, const char *text, size_t bytes)
{
	const char *known = pxt_names_format(id);

	if (known[0] != '\0')
		return pxt_same_text(known, text, bytes) ? 0 : EBUSY;
	if (bytes > CONFIG_PTRACE_FORMAT_POOL_BYTES - pool_used)
		return ENOMEM;
	for (size_t i = 0; i < bytes; i++)
		pxt_tiny_pool[pool_used + i] = text[i];
	pxt_tiny_format_at[id - PXT_ID_USER_FIRST] = (uint16_t)(pool_used + 1u);
	pool_used += (uint32_t)bytes;
	return 0;
}

int pxt_names_set_format(unsigned id, const char *text)
{
	size_t bytes;
	uint32_t irq;
	int error;

	if (id < PXT_ID_USER_FIRST || !pxt_names_of(id) || pxt_fields_check(text, &bytes) != 0)
		return EINVAL;
	irq = pxt_irq_save();
	error = describe(id, text, bytes);
	pxt_irq_restore(irq);
	return error;
}

uint32_t pxt_tiny_known(void)
{
	return 1u + pxt_tiny_names_count + pool_used + pxt_names_tells(PXT_ID_SPECIFIC_FIRST);
}
