/* SPDX-License-Identifier: MIT */
/* rolesystem.c - what system events mean (FORMAT.md 5.1); their numbers are the same in all logs. */
#include "tools/event/event.h"
#include "tools/why/state.h"

#include <errno.h>
#include <string.h>
#include <trace_hooks_np.h>

/* One of the things that a type means. */
static const struct meaning {
	trace_event_id_t id;
	enum pxt_deed deed;
	const char *name; /* of the kind of lock, or of what is waited in */
	const char *fields[PXT_USES];
} meanings[] = {
	{ POSIX_TRACE_MUTEX_WAIT_NP, PXT_LOCK_WAIT, "mutex",
	    { [PXT_USE_KEY] = "lock", [PXT_USE_HOLDER] = "holder" } },
	{ POSIX_TRACE_MUTEX_LOCK_NP, PXT_LOCK_ACQUIRE, "mutex",
	    { [PXT_USE_KEY] = "lock", [PXT_USE_RESULT] = "result" } },
	{ POSIX_TRACE_MUTEX_UNLOCK_NP, PXT_LOCK_RELEASE, "mutex",
	    { [PXT_USE_KEY] = "lock", [PXT_USE_RESULT] = "result" } },
	{ POSIX_TRACE_COND_WAIT_NP, PXT_LOCK_RELEASE, "mutex", { [PXT_USE_KEY] = "lock" } },
	{ POSIX_TRACE_COND_WAIT_NP, PXT_BLOCK, "pthread_cond_wait", { [PXT_USE_KEY] = "cond" } },
	{ POSIX_TRACE_COND_RESUME_NP, PXT_LOCK_ACQUIRE, "mutex", { [PXT_USE_KEY] = "lock" } },
	{ POSIX_TRACE_SYNC_WAIT_NP, PXT_LOCK_WAIT, "lock",
	    { [PXT_USE_KEY] = "lock", [PXT_USE_HOLDER] = "holder", [PXT_USE_WHAT] = "kind" } },
	{ POSIX_TRACE_SYNC_LOCK_NP, PXT_LOCK_ACQUIRE, "lock",
	    { [PXT_USE_KEY] = "lock", [PXT_USE_RESULT] = "result", [PXT_USE_WHAT] = "kind" } },
	{ POSIX_TRACE_SYNC_UNLOCK_NP, PXT_LOCK_RELEASE, "lock",
	    { [PXT_USE_KEY] = "lock", [PXT_USE_RESULT] = "result", [PXT_USE_WHAT] = "kind" } },
	{ POSIX_TRACE_PROCESS_NP, PXT_THREAD, NULL,
	    { [PXT_USE_THREAD] = "number", [PXT_USE_TO_NAME] = "name", [PXT_USE_WHAT] = "what" } },
	{ POSIX_TRACE_CALL_ENTER_NP, PXT_BLOCK, "call",
	    { [PXT_USE_KEY] = "object", [PXT_USE_WHAT] = "call", [PXT_USE_SIZE] = "size" } },
	{ POSIX_TRACE_CALL_EXIT_NP, PXT_WAKE, NULL, { [PXT_USE_KEY] = "object" } },
	{ POSIX_TRACE_CALL_ENTER_NP, PXT_LOCK_WAIT, "semaphore",
	    { [PXT_USE_KEY] = "object", [PXT_USE_CALL] = "call", [PXT_USE_SIZE] = "size" } },
	{ POSIX_TRACE_CALL_EXIT_NP, PXT_LOCK_ACQUIRE, "semaphore",
	    { [PXT_USE_KEY] = "object", [PXT_USE_RESULT] = "result", [PXT_USE_CALL] = "call" } },
	{ POSIX_TRACE_CALL_EXIT_NP, PXT_LOCK_RELEASE, "semaphore",
	    { [PXT_USE_KEY] = "object", [PXT_USE_RESULT] = "result", [PXT_USE_CALL] = "call" } },
	{ POSIX_TRACE_CONTEXT_SWITCH_NP, PXT_SWITCH, NULL,
	    { [PXT_USE_CPU] = "cpu",
	        [PXT_USE_FROM] = "prev_tid",
	        [PXT_USE_TO] = "next_tid",
	        [PXT_USE_STATE] = "prev_state",
	        [PXT_USE_FROM_PRIO] = "prev_prio",
	        [PXT_USE_TO_PRIO] = "next_prio" } },
	{ POSIX_TRACE_TASK_STATE_NP, PXT_WAKE, NULL,
	    { [PXT_USE_THREAD] = "tid", [PXT_USE_WHAT] = "state" } },
};

void pxt_rolesystem_add(
    struct pxt_roles_book *book, struct pxt_type_roles *roles, const struct pxt_type *type)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
		const struct meaning *meaning = &meanings[i];
		struct pxt_role role = { .deed = meaning->deed, .name = PXT_NO_NAME };

		if (meaning->id != type->id)
			continue;
		for (unsigned use = 0; use < PXT_USES; use++)
			if (meaning->fields[use])
				role.fields[use] = pxt_field_named(type, meaning->fields[use]);
		if (meaning->name)
			role.name = pxt_roles_name(book, meaning->name, strlen(meaning->name));
		roles->list[roles->count++] = role;
	}
	book->own_kernel = book->own_kernel || type->id == POSIX_TRACE_CONTEXT_SWITCH_NP;
}

/* A call that waits for what another thread gives, without being told who has it. */
static bool waits(const struct pxt_event *event, int64_t call, const struct pxt_role *role)
{
	int64_t size;

	if (call == POSIX_TRACE_CALL_FUTEX_WAIT_NP)
		return true;
	/* sem_trywait() */
	return call == POSIX_TRACE_CALL_SEM_WAIT_NP &&
	       !(pxt_number_of(event, role->fields[PXT_USE_SIZE], &size) && size == 0);
}

bool pxt_call_lasts(const struct pxt_event *event)
{
	return event->info.posix_event_id == POSIX_TRACE_CALL_ENTER_NP &&
	       pxt_key_number(event, 0) != POSIX_TRACE_CALL_PRIORITY_NP;
}

bool pxt_rolesystem_applies(const struct pxt_event *event, const struct pxt_role *role)
{
	int64_t call;

	if (event->info.posix_event_id == POSIX_TRACE_CALL_ENTER_NP && role->deed == PXT_BLOCK)
		return pxt_call_lasts(event) &&
		       (!pxt_number_of(event, role->fields[PXT_USE_WHAT], &call) ||
		           !waits(event, call, role));
	if (!role->fields[PXT_USE_CALL] || !pxt_number_of(event, role->fields[PXT_USE_CALL], &call))
		return true;
	if (role->deed == PXT_LOCK_WAIT)
		return waits(event, call, role);
	if (role->deed == PXT_LOCK_ACQUIRE)
		return call == POSIX_TRACE_CALL_SEM_WAIT_NP ||
		       call == POSIX_TRACE_CALL_FUTEX_WAIT_NP;
	return call == POSIX_TRACE_CALL_SEM_POST_NP || call == POSIX_TRACE_CALL_FUTEX_WAKE_NP;
}

static int64_t call_of(const struct pxt_event *event, const struct pxt_role *role)
{
	int64_t call;

	return role->fields[PXT_USE_CALL] && pxt_number_of(event, role->fields[PXT_USE_CALL], &call)
	           ? call
	           : 0;
}

static bool is_futex(const struct pxt_event *event, const struct pxt_role *role)
{
	int64_t call = call_of(event, role);

	return call == POSIX_TRACE_CALL_FUTEX_WAIT_NP || call == POSIX_TRACE_CALL_FUTEX_WAKE_NP;
}

bool pxt_rolesystem_is_given(const struct pxt_event *event, const struct pxt_role *role)
{
	return call_of(event, role) != 0;
}

bool pxt_rolesystem_tells_holder(const struct pxt_event *event, const struct pxt_role *role)
{
	return !is_futex(event, role);
}

bool pxt_rolesystem_is(const struct pxt_event *event, const struct pxt_role *role)
{
	int64_t value;

	if (role->fields[PXT_USE_RESULT] &&
	    pxt_number_of(event, role->fields[PXT_USE_RESULT], &value))
		return value == 0 || value == EOWNERDEAD;
	if (!role->fields[PXT_USE_WHAT] ||
	    !pxt_number_of(event, role->fields[PXT_USE_WHAT], &value))
		return true;
	if (role->deed == PXT_THREAD)
		return value == POSIX_TRACE_PROCESS_THREAD_NAME_NP;
	return role->deed != PXT_WAKE || value == POSIX_TRACE_TASK_READY_NP;
}

/* Of read-write locks and spin locks; 0: of another one, or the event does not say. */
static int64_t kind_of(const struct pxt_event *event, const struct pxt_role *role)
{
	int64_t kind;

	if (role->deed < PXT_LOCK_WAIT || role->deed > PXT_LOCK_RELEASE ||
	    !pxt_number_of(event, role->fields[PXT_USE_WHAT], &kind))
		return 0;
	return kind;
}

bool pxt_rolesystem_shares(const struct pxt_event *event, const struct pxt_role *role)
{
	return kind_of(event, role) == POSIX_TRACE_KIND_READ_NP;
}

uint32_t pxt_rolesystem_mode(
    struct pxt_roles_book *book, const struct pxt_event *event, const struct pxt_role *role)
{
	int64_t kind = kind_of(event, role);

	if (kind == POSIX_TRACE_KIND_READ_NP)
		return pxt_roles_name(book, "read", 4);
	return kind == POSIX_TRACE_KIND_WRITE_NP ? pxt_roles_name(book, "write", 5) : PXT_NO_NAME;
}

uint32_t pxt_rolesystem_name(
    struct pxt_roles_book *book, const struct pxt_event *event, const struct pxt_role *role)
{
	const char *word = NULL;
	int64_t value;

	if (is_futex(event, role))
		word = "futex";
	/* For reading or writing, it is the same lock. */
	else if (kind_of(event, role) == POSIX_TRACE_KIND_SPIN_NP)
		word = "spin lock";
	else if (kind_of(event, role) != 0)
		word = "rwlock";
	else if (role->deed == PXT_BLOCK &&
	         pxt_number_of(event, role->fields[PXT_USE_WHAT], &value))
		word = pxt_sysnames_word(event->info.posix_event_id, "call", (uint64_t)value);
	return word ? pxt_roles_name(book, word, strlen(word)) : role->name;
}
