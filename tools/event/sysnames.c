/* SPDX-License-Identifier: MIT */
/* sysnames.c - words for what fields of system events say by numbers (FORMAT.md 5.1); see event.h. */
#include "tools/event/event.h"

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
