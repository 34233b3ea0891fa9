/* SPDX-License-Identifier: MIT */
/* sysnames.c - words for what fields of system events say by numbers (FORMAT.md 5.1); see event.h. */
#include "tools/event/event.h"

#include "format/ids.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <string.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

static const char *const kinds[] = { NULL, "read", "write", "spin" };
static const char *const calls[] = { NULL, "sem_wait", "sem_post", "barrier_wait", "once", "join",
	"sleep", "read", "write", "open", "close", "accept", "connect", "recv", "send", "poll",
	"select", "epoll_wait", "fsync", "futex_wait", "timer", "wait", "malloc", "free", "realloc",
	"lseek", "sendfile", "flock", "msync", "pause", "mq", "file_name", "futex_wake", "priority",
	"semop", "msgsnd", "msgrcv", "mq_send", "mq_receive", "sigwait", "sigsuspend", "lockf",
	"fcntl" };
static const char *const processes[] = { NULL, "image", "image_gone", "thread_create",
	"thread_begin", "thread_end", "thread_name", "fork", "exec", "exit", "traced", "descriptor",
	"untraced", "memory", "semaphore", "image_build", "holds", "taken" };
static const char *const signals[] = { NULL, "begin", "end", "sent" };
static const char *const states[] = { NULL, "created", "ready", "running", "blocked", "sleeping",
	"suspended", "ended" };
static const char *const overheads[] = { NULL, "interrupt", "interrupt_end", "timer_post",
	"timer_delete", "wakeup", "wakeup_end", "scheduler", "scheduler_end", "critical",
	"critical_end" };

#define WORDS(words) words, sizeof(words) / sizeof(*(words))

static const struct field {
	trace_event_id_t id;
	const char *name;
	const char *const *words;
	size_t count;
} fields[] = {
	{ POSIX_TRACE_SYNC_WAIT_NP, "kind", WORDS(kinds) },
	{ POSIX_TRACE_SYNC_LOCK_NP, "kind", WORDS(kinds) },
	{ POSIX_TRACE_SYNC_UNLOCK_NP, "kind", WORDS(kinds) },
	{ POSIX_TRACE_PROCESS_NP, "what", WORDS(processes) },
	{ POSIX_TRACE_CALL_ENTER_NP, "call", WORDS(calls) },
	{ POSIX_TRACE_CALL_EXIT_NP, "call", WORDS(calls) },
	{ POSIX_TRACE_SIGNAL_NP, "what", WORDS(signals) },
	{ POSIX_TRACE_TASK_STATE_NP, "state", WORDS(states) },
	{ POSIX_TRACE_KERNEL_OVERHEAD_NP, "what", WORDS(overheads) },
};

/* A larger number is an address, in calls whose object may be either. */
#define DESCRIPTORS 65535u

bool pxt_sysnames_has_descriptor(const char *call, uint64_t object)
{
	static const char *const always[] = { "read", "write", "close", "accept", "connect", "recv",
		"send", "epoll_wait", "fsync", "lseek", "sendfile", "flock", "lockf", "fcntl",
		"mq_send", "mq_receive" };
	static const char *const sometimes[] = { "poll", "timer", "mq" };

	for (size_t i = 0; i < sizeof always / sizeof *always; i++)
		if (strcmp(always[i], call) == 0)
			return object <= DESCRIPTORS;
	for (size_t i = 0; i < sizeof sometimes / sizeof *sometimes; i++)
		if (strcmp(sometimes[i], call) == 0)
			return object > 0 && object <= DESCRIPTORS;
	return false;
}

static const struct field *field_of(trace_event_id_t id, const char *name)
{
	if (id < POSIX_TRACE_SYNC_WAIT_NP || id > POSIX_TRACE_KERNEL_OVERHEAD_NP)
		return NULL;
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (fields[i].id == id && strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

const char *pxt_sysnames_word(trace_event_id_t id, const char *name, uint64_t value)
{
	const struct field *field = field_of(id, name);

	return field && value < field->count ? field->words[value] : NULL;
}

bool pxt_sysnames_is_none(trace_event_id_t id, const char *name, uint64_t value)
{
	return id == POSIX_TRACE_CALL_ENTER_NP && value == UINT64_MAX && strcmp(name, "size") == 0;
}

size_t pxt_sysnames_count(trace_event_id_t id, const char *name)
{
	const struct field *field = field_of(id, name);

	return field ? field->count : 0;
}

/* ---- The causes of POSIX_TRACE_ERROR events, in words ---- */

static const struct {
	const char *what;
	const char *word;
} causes[] = {
	{ "failed", "" },
	[POSIX_TRACE_ERROR_LOG_NP] = { "flush failed", "log" },
	[POSIX_TRACE_ERROR_RECORD_NP] = { "record never completed, passed over", "record" },
	[POSIX_TRACE_ERROR_TYPES_NP] = { "no more event types", "types" },
	[POSIX_TRACE_ERROR_ATTACH_NP] = { "attach refused", "attach" },
	[POSIX_TRACE_ERROR_POINT_NP] = { "a point is defined twice with other fields", "point" },
};

static int cause_of(int32_t data)
{
	int cause = POSIX_TRACE_ERROR_CAUSE_NP(data);

	return cause < (int)(sizeof causes / sizeof causes[0]) ? cause : 0;
}

const char *pxt_failure_what(int32_t data)
{
	return causes[cause_of(data)].what;
}

const char *pxt_failure_word(int32_t data)
{
	return causes[cause_of(data)].word;
}

/* ---- The groups of system events that --only of `pxtrace run` and `attach` names ---- */

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
	{ "sched", { .kernel = PXT_GROUP_SCHED } },
	{ "irq", { .kernel = PXT_GROUP_SCHED | PXT_GROUP_IRQ } },
	{ "block", { .kernel = PXT_GROUP_SCHED | PXT_GROUP_BLOCK } },
	{ "softirq", { .kernel = PXT_GROUP_SCHED | PXT_GROUP_SOFTIRQ } },
	{ "freq", { .kernel = PXT_GROUP_SCHED | PXT_GROUP_FREQUENCY } },
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
	*usual = (struct pxt_groups){ .types = ALWAYS, .calls = ALL_CALLS };
	for (size_t i = 0; i < GROUPS; i++) {
		usual->types |= groups[i].of.types;
		usual->kinds |= groups[i].of.kinds;
		usual->kernel |= groups[i].of.kernel & ~PXT_GROUP_SOFTIRQ;
	}
}

bool pxt_groups_parse(struct pxt_groups *wanted, const char *list, const char *command)
{
	if (*list == '+')
		pxt_groups_usual(wanted);
	else
		*wanted = (struct pxt_groups){ .types = ALWAYS };
	list += *list == '+';
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
		wanted->kernel |= group->of.kernel;
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
