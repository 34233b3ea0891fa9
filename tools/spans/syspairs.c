/* SPDX-License-Identifier: MIT */
/*
 * syspairs.c - durations that system events tell of: calls, functions, waits for locks, locks that are held,
 * handlers of signals, what a kernel is busy with; see pairs.h.
 */
#include "tools/spans/pairs.h"

#include "tools/event/event.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

enum {
	CALL,
	FUNCTION,
	MUTEX_WAIT,
	MUTEX_HELD,
	COND_WAIT,
	LOCK_WAIT,
	LOCK_HELD,
	HANDLER,
	INTERRUPT,
	WAKEUP,
	SCHEDULER,
	CRITICAL
};

const struct pxt_syspair pxt_syspairs[PXT_SYSPAIRS] = {
	/* Those that cannot block tell of their end alone. */
	[CALL] = { "call", "call", true, true, PXT_SYSPAIR_WORDS },
	[FUNCTION] = { "function", "function", true, false, PXT_SYSPAIR_FUNCTIONS },
	/* A mutex that was free was not waited for; its release may be all that is recorded. */
	[MUTEX_WAIT] = { "mutex wait", "lock", false, true, PXT_SYSPAIR_NUMBERS },
	[MUTEX_HELD] = { "mutex held", "lock", false, true, PXT_SYSPAIR_NUMBERS },
	[COND_WAIT] = { "condition wait", "cond", false, true, PXT_SYSPAIR_NUMBERS },
	[LOCK_WAIT] = { "lock wait", "lock", false, true, PXT_SYSPAIR_NUMBERS },
	[LOCK_HELD] = { "lock held", "lock", false, true, PXT_SYSPAIR_NUMBERS },
	[HANDLER] = { "signal handler", "signo", true, true, PXT_SYSPAIR_NUMBERS },
	[INTERRUPT] = { "interrupt", "number", true, true, PXT_SYSPAIR_NUMBERS },
	[WAKEUP] = { "timer wake-up", "number", false, true, PXT_SYSPAIR_NUMBERS },
	[SCHEDULER] = { "scheduler", "number", false, true, PXT_SYSPAIR_NUMBERS },
	[CRITICAL] = { "critical section", "number", false, true, PXT_SYSPAIR_NUMBERS },
};

#define HAD                                                                                        \
	{                                                                                          \
		0, EOWNERDEAD                                                                      \
	}
#define DONE                                                                                       \
	{                                                                                          \
		0, 0                                                                               \
	}
#define ONLY(what)                                                                                 \
	"what",                                                                                    \
	{                                                                                          \
		what, what                                                                         \
	}
#define KERNEL(pair, what)                                                                         \
	{ POSIX_TRACE_KERNEL_OVERHEAD_NP, pair, true, ONLY(POSIX_TRACE_KERNEL_##what##_NP) },      \
	{                                                                                          \
		POSIX_TRACE_KERNEL_OVERHEAD_NP, pair, false,                                       \
		    ONLY(POSIX_TRACE_KERNEL_##what##_END_NP)                                       \
	}

/* Of one type, waits come first: where an event can be of one pair alone, it is of that. */
static const struct pxt_syspair_role roles[] = {
	{ POSIX_TRACE_MUTEX_WAIT_NP, MUTEX_WAIT, true, NULL, { 0 } },
	/* Also one that was given up. */
	{ POSIX_TRACE_MUTEX_LOCK_NP, MUTEX_WAIT, false, NULL, { 0 } },
	{ POSIX_TRACE_MUTEX_LOCK_NP, MUTEX_HELD, true, "result", HAD },
	{ POSIX_TRACE_MUTEX_UNLOCK_NP, MUTEX_HELD, false, "result", DONE },
	{ POSIX_TRACE_COND_WAIT_NP, COND_WAIT, true, NULL, { 0 } },
	{ POSIX_TRACE_COND_WAIT_NP, MUTEX_HELD, false, NULL, { 0 } },
	{ POSIX_TRACE_COND_RESUME_NP, COND_WAIT, false, NULL, { 0 } },
	{ POSIX_TRACE_COND_RESUME_NP, MUTEX_HELD, true, NULL, { 0 } },
	{ POSIX_TRACE_SYNC_WAIT_NP, LOCK_WAIT, true, NULL, { 0 } },
	{ POSIX_TRACE_SYNC_LOCK_NP, LOCK_WAIT, false, NULL, { 0 } },
	{ POSIX_TRACE_SYNC_LOCK_NP, LOCK_HELD, true, "result", HAD },
	{ POSIX_TRACE_SYNC_UNLOCK_NP, LOCK_HELD, false, "result", DONE },
	{ POSIX_TRACE_CALL_ENTER_NP, CALL, true, NULL, { 0 } },
	{ POSIX_TRACE_CALL_EXIT_NP, CALL, false, NULL, { 0 } },
	{ POSIX_TRACE_SIGNAL_NP, HANDLER, true, ONLY(POSIX_TRACE_SIGNAL_BEGIN_NP) },
	{ POSIX_TRACE_SIGNAL_NP, HANDLER, false, ONLY(POSIX_TRACE_SIGNAL_END_NP) },
	KERNEL(INTERRUPT, INTERRUPT),
	KERNEL(WAKEUP, WAKEUP),
	KERNEL(SCHEDULER, SCHEDULER),
	KERNEL(CRITICAL, CRITICAL),
	{ POSIX_TRACE_FUNCTION_ENTER_NP, FUNCTION, true, NULL, { 0 } },
	{ POSIX_TRACE_FUNCTION_EXIT_NP, FUNCTION, false, NULL, { 0 } },
};

const struct pxt_syspair_role *pxt_syspairs_next(
    trace_event_id_t id, const struct pxt_syspair_role *after)
{
	const struct pxt_syspair_role *role = after ? after + 1 : roles;

	if (id > POSIX_TRACE_UNNAMED_USEREVENT)
		return NULL;
	for (; role < roles + sizeof roles / sizeof *roles; role++)
		if (role->id == id)
			return role;
	return NULL;
}

bool pxt_syspairs_does(const struct pxt_event *event, const struct pxt_syspair_role *role)
{
	const struct pxt_layout *field =
	    role->test ? pxt_field_named(event->type, role->test) : NULL;
	uint64_t value;

	/* A change of priority is told as a call (SHARK-36), and has no end. */
	if (role->id == POSIX_TRACE_CALL_ENTER_NP) {
		field = pxt_field_named(event->type, "call");
		return !field || !pxt_field_key(event, field, &value) ||
		       value != POSIX_TRACE_CALL_PRIORITY_NP;
	}
	if (!role->test)
		return true;
	return field && pxt_field_key(event, field, &value) &&
	       ((int64_t)value == role->values[0] || (int64_t)value == role->values[1]);
}

/* ---- Rows of functions are called as their symbols say ---- */

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
