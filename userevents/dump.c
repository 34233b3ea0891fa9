/* SPDX-License-Identifier: MIT */
/* dump.c - the threads of the process as events: who there is when a trace begins. */
#include "core/stream/wanted.h"
#include "port/port_sysinfo.h"

#include <errno.h>

#define WORD_BYTES 9u
#define NAME       "thread_state"
#define FORMAT     "i32 tid, i32 prio, i32 rt_prio, i32 cpu, char[9] policy, char[9] state, string name"

struct record {
	int32_t tid;
	int32_t prio;
	int32_t rt_prio;
	int32_t cpu;
	char policy[WORD_BYTES];
	char state[WORD_BYTES];
	char name[16];
};

struct dump {
	trace_event_id_t id;
	size_t threads;
};

/* @to is zeroed. */
static void put_word(char *to, const char *word)
{
	size_t bytes = strlen(word);

	memcpy(to, word, bytes < WORD_BYTES ? bytes : WORD_BYTES - 1u);
}

static void record_thread(void *context, const struct pxt_port_thread_info *thread)
{
	struct dump *dump = context;
	struct pxt_port_thread_state state;
	struct record record;

	/* One that has ended meanwhile. */
	if (!pxt_port_thread_state(thread->tid, &state))
		return;
	memset(&record, 0, sizeof(record));
	record.tid = thread->tid;
	record.prio = state.priority;
	record.rt_prio = state.rt_priority;
	record.cpu = state.cpu;
	put_word(record.policy, state.policy);
	put_word(record.state, state.state);
	memcpy(record.name, thread->name, sizeof(record.name) - 1);
	posix_trace_event(dump->id, &record, offsetof(struct record, name) + strlen(record.name));
	dump->threads++;
}

static int open_type(trace_event_id_t *id)
{
	int error = posix_trace_eventid_open(NAME, id);

	if (error == 0 && *id == POSIX_TRACE_UNNAMED_USEREVENT)
		return ENOMEM;
	return error == 0 ? posix_trace_eventid_setformat_np(*id, FORMAT) : error;
}

PXT_API int posix_trace_dump_threads_np(size_t *threads)
{
	struct dump dump = { .threads = 0 };
	int error = open_type(&dump.id);

	if (error != 0)
		return error;
	const struct pxt_look look = pxt_look_user(dump.id);

	if (pxt_look_wanted(look, dump.id))
		pxt_port_threads(record_thread, &dump);
	if (threads != NULL)
		*threads = dump.threads;
	return 0;
}
