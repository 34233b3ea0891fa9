/* SPDX-License-Identifier: MIT */
/* groups.c - the groups of system events that --only of `pxtrace run` and `attach` names. */
#include "tools/event/event.h"

#include "format/ids.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <string.h>
#include <trace_hooks_np.h>

#define TYPE(name) (UINT64_C(1) << POSIX_TRACE_##name##_NP)
#define CALL(name) (UINT64_C(1) << POSIX_TRACE_CALL_##name##_NP)
#define MUTEXES    (TYPE(MUTEX_WAIT) | TYPE(MUTEX_LOCK) | TYPE(MUTEX_UNLOCK))
#define CONDITIONS (TYPE(COND_WAIT) | TYPE(COND_RESUME) | TYPE(COND_SIGNAL) | TYPE(COND_BROADCAST))
#define SYNCS      (TYPE(SYNC_WAIT) | TYPE(SYNC_LOCK) | TYPE(SYNC_UNLOCK))
#define CALLS      (TYPE(CALL_ENTER) | TYPE(CALL_EXIT))
#define FUNCTIONS  (TYPE(FUNCTION_ENTER) | TYPE(FUNCTION_EXIT))
#define ALWAYS     (TYPE(PROCESS) | TYPE(GENERAL_DEBUG))

#define SEMS    (CALL(SEM_WAIT) | CALL(SEM_POST) | CALL(SEMOP))
#define RWLOCKS (1u << POSIX_TRACE_KIND_READ_NP | 1u << POSIX_TRACE_KIND_WRITE_NP)
#define SPINS   (1u << POSIX_TRACE_KIND_SPIN_NP)
#define FILES                                                                                      \
	(CALL(READ) | CALL(WRITE) | CALL(OPEN) | CALL(CLOSE) | CALL(LSEEK) | CALL(SENDFILE) |      \
	    CALL(FLOCK) | CALL(LOCKF) | CALL(FCNTL) | CALL(FILE_NAME))
#define SOCKETS   (CALL(ACCEPT) | CALL(CONNECT) | CALL(RECV) | CALL(SEND))
#define POLLS     (CALL(POLL) | CALL(SELECT) | CALL(EPOLL_WAIT))
#define FSYNCS    (CALL(FSYNC) | CALL(MSYNC))
#define QUEUES    (CALL(MQ) | CALL(MQ_SEND) | CALL(MQ_RECEIVE) | CALL(MSGSND) | CALL(MSGRCV))
#define ALLOCS    (CALL(MALLOC) | CALL(FREE) | CALL(REALLOC))
/* Whatever number a call has, and will have. */
#define ALL_CALLS (~(uint64_t)ALLOCS)

static const struct group {
	const char *name;
	struct pxt_groups of;
} groups[] = {
	{ "mutex", { .types = MUTEXES } },
	{ "cond", { .types = CONDITIONS } },
	{ "rwlock", { .types = SYNCS, .kinds = RWLOCKS } },
	{ "spin", { .types = SYNCS, .kinds = SPINS } },
	{ "sync", { .types = SYNCS, .kinds = RWLOCKS | SPINS } },
	{ "sem", { .types = CALLS, .calls = SEMS } },
	{ "barrier", { .types = CALLS, .calls = CALL(BARRIER_WAIT) } },
	{ "once", { .types = CALLS, .calls = CALL(ONCE) } },
	{ "locks", { .types = MUTEXES | CONDITIONS | SYNCS | CALLS,
	               .calls = SEMS | CALL(BARRIER_WAIT) | CALL(ONCE),
	               .kinds = RWLOCKS | SPINS } },
	{ "futex", { .types = CALLS, .calls = CALL(FUTEX_WAIT) | CALL(FUTEX_WAKE) } },
	{ "threads", { .types = CALLS, .calls = CALL(JOIN) | CALL(PRIORITY) } },
	{ "children", { .types = CALLS, .calls = CALL(WAIT) } },
	{ "sleep", { .types = CALLS,
	               .calls = CALL(SLEEP) | CALL(PAUSE) | CALL(SIGWAIT) | CALL(SIGSUSPEND) } },
	{ "timer", { .types = CALLS, .calls = CALL(TIMER) } },
	{ "signal", { .types = TYPE(SIGNAL) } },
	{ "file", { .types = CALLS, .calls = FILES } },
	{ "socket", { .types = CALLS, .calls = SOCKETS } },
	{ "poll", { .types = CALLS, .calls = POLLS } },
	{ "fsync", { .types = CALLS, .calls = FSYNCS } },
	{ "mq", { .types = CALLS, .calls = QUEUES } },
	{ "io", { .types = CALLS, .calls = FILES | SOCKETS | POLLS | FSYNCS | QUEUES } },
	{ "alloc", { .types = CALLS, .calls = ALLOCS } },
	{ "calls", { .types = CALLS, .calls = ALL_CALLS } },
	{ "function", { .types = FUNCTIONS } },
	{ "sched", { .sched = true } },
};
#define GROUPS (sizeof groups / sizeof *groups)

static const struct group *find(const char *name, size_t bytes)
{
	for (size_t i = 0; i < GROUPS; i++)
		if (strncmp(groups[i].name, name, bytes) == 0 && groups[i].name[bytes] == '\0')
			return &groups[i];
	return NULL;
}

static void complain(const char *command, const char *name, size_t bytes)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < GROUPS && used < sizeof known; i++)
		used += (size_t)snprintf(
		    known + used, sizeof known - used, "%s%s", i ? ", " : "", groups[i].name);
	pxt_complain("%s: --only knows no group \"%.*s\"", command, (int)bytes, name);
	pxt_explain("%s", known);
}

void pxt_groups_usual(struct pxt_groups *usual)
{
	*usual = (struct pxt_groups){ .types = ALWAYS, .calls = ALL_CALLS, .sched = true };
	for (size_t i = 0; i < GROUPS; i++) {
		usual->types |= groups[i].of.types;
		usual->kinds |= groups[i].of.kinds;
	}
}

bool pxt_groups_parse(struct pxt_groups *wanted, const char *list, const char *command)
{
	*wanted = (struct pxt_groups){ .types = ALWAYS };
	for (;;) {
		size_t bytes = strcspn(list, ",");
		const struct group *group = find(list, bytes);

		if (!group) {
			complain(command, list, bytes);
			return false;
		}
		wanted->types |= group->of.types;
		wanted->calls |= group->of.calls;
		wanted->kinds |= group->of.kinds;
		wanted->sched = wanted->sched || group->of.sched;
		if (list[bytes] == '\0')
			return true;
		list += bytes + 1;
	}
}

/* The number in a field by that name; false: the event has none. */
static bool number_of(const struct pxt_event *event, const char *name, uint64_t *number)
{
	const struct pxt_layout *field = pxt_field_named(event->type, name);
	struct pxt_value value;

	if (!field || !pxt_field_value(event, field, &value))
		return false;
	*number = value.u;
	return true;
}

static bool has_bit(uint64_t bits, uint64_t number)
{
	return number < 64 ? (bits >> number & 1) != 0 : bits == ALL_CALLS;
}

bool pxt_groups_has(const struct pxt_groups *wanted, const struct pxt_event *event)
{
	trace_event_id_t id = event->info.posix_event_id;
	uint64_t number;

	if (!pxt_id_is_specific(id) || !has_bit(wanted->types, id))
		return false;
	if (number_of(event, "call", &number))
		return has_bit(wanted->calls, number);
	if (number_of(event, "kind", &number))
		return has_bit(wanted->kinds, number);
	return true;
}
