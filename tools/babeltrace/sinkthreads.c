/* SPDX-License-Identifier: MIT */
/*
 * sinkthreads.c - which thread recorded an event: the one that a context names, else the one that runs on
 * the event's CPU, as far as the kernel's sched_switch told.
 */
#include "tools/babeltrace/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS    16384u
#define CPUS_MAX 4096

struct thread {
	struct thread *next; /* of the same slot */
	int64_t key;         /* its number; of a CPU's idle thread, below 0 */
	uint32_t index;
	struct posix_trace_logthread_np entry;
};

struct pxt_sink_threads {
	uint32_t count;
	struct thread *slots[SLOTS];
	const struct thread *running[CPUS_MAX]; /* NULL: not known */
};

/* What is known of a thread at one event. */
struct known {
	int64_t key;
	int64_t tid;
	int64_t pid; /* 0: unknown */
	const char *name;
};

static bool is_same(const struct thread *thread, const struct known *known)
{
	const struct posix_trace_logthread_np *entry = &thread->entry;

	/* A number that is used again, or a program that was executed: another name, another entry. */
	return thread->key == known->key &&
	       (known->pid == 0 || entry->posix_pid_np == 0 || entry->posix_pid_np == known->pid) &&
	       (!known->name || *entry->posix_name_np == '\0' ||
	           strncmp(entry->posix_name_np, known->name, sizeof entry->posix_name_np - 1) ==
	               0);
}

static const struct thread *find(
    struct pxt_sink_threads *threads, struct pxt_logwrite *log, const struct known *known)
{
	struct thread **slot = &threads->slots[(uint64_t)known->key % SLOTS];
	struct thread *thread;

	for (thread = *slot; thread; thread = thread->next)
		if (is_same(thread, known))
			return thread;
	thread = calloc(1, sizeof *thread);
	if (!thread)
		return NULL;
	thread->key = known->key;
	thread->entry.posix_thread_np = PXT_LOGWRITE_KERNEL_THREAD + (uint64_t)known->key;
	thread->entry.posix_pid_np = (pid_t)known->pid;
	thread->entry.posix_tid_np = (pid_t)known->tid;
	(void)snprintf(thread->entry.posix_name_np, sizeof thread->entry.posix_name_np, "%s",
	    known->name ? known->name : "");
	thread->index = PXT_LOGWRITE_NO_INDEX;
	if (threads->count < PXT_LOGWRITE_THREADS) {
		thread->index = ++threads->count;
		pxt_logwrite_thread(log, thread->index, &thread->entry);
	}
	thread->next = *slot;
	return *slot = thread;
}

/* Thread 0 is another one on each CPU. */
static struct known known_of(int64_t tid, int64_t pid, const char *name, int64_t cpu)
{
	bool idle = tid <= 0;

	return (struct known){ .key = idle ? -1 - (cpu >= 0 ? cpu : 0) : tid & INT32_MAX,
		.tid = idle ? 0 : tid & INT32_MAX,
		.pid = pid > 0 && pid <= INT32_MAX ? pid : 0,
		.name = name };
}

static const bt_field *packet_context(const bt_event *event)
{
	const bt_stream_class *class =
	    bt_event_class_borrow_stream_class_const(bt_event_borrow_class_const(event));
	const bt_packet *packet =
	    bt_stream_class_supports_packets(class) ? bt_event_borrow_packet_const(event) : NULL;

	return packet ? bt_packet_borrow_context_field_const(packet) : NULL;
}

static int64_t cpu_of(const bt_event *event)
{
	int64_t cpu;

	if (pxt_sink_number(packet_context(event), "cpu_id", &cpu) ||
	    pxt_sink_number(pxt_sink_part(event, PXT_SINK_COMMON), "cpu_id", &cpu))
		return cpu >= 0 && cpu < CPUS_MAX ? cpu : -1;
	return -1;
}

/* One of two names, in one of two contexts. */
static bool number_of(const bt_event *event, const char *name, const char *other, int64_t *value)
{
	const bt_field *common = pxt_sink_part(event, PXT_SINK_COMMON);
	const bt_field *specific = pxt_sink_part(event, PXT_SINK_SPECIFIC);

	return pxt_sink_number(common, name, value) || pxt_sink_number(common, other, value) ||
	       pxt_sink_number(specific, name, value) || pxt_sink_number(specific, other, value);
}

static const char *text_of(const bt_event *event, const char *name)
{
	const char *text = pxt_sink_text(pxt_sink_part(event, PXT_SINK_COMMON), name);

	return text ? text : pxt_sink_text(pxt_sink_part(event, PXT_SINK_SPECIFIC), name);
}

/* False: nothing says whose event it is. */
static bool told(
    const bt_event *event, const struct pxt_sink_type *type, int64_t cpu, struct known *known)
{
	const bt_field *payload = pxt_sink_part(event, PXT_SINK_PAYLOAD);
	int64_t tid;
	int64_t pid = 0;

	(void)number_of(event, "vpid", "pid", &pid);
	if (number_of(event, "vtid", "tid", &tid)) {
		*known = known_of(tid, pid, text_of(event, "procname"), cpu);
		return true;
	}
	if (!type->switches || !pxt_sink_number(payload, "prev_tid", &tid))
		return false;
	*known = known_of(tid, 0, pxt_sink_text(payload, "prev_comm"), cpu);
	return true;
}

bool pxt_sink_threads_of(struct pxt_sink_threads *threads, struct pxt_logwrite *log,
    const bt_event *event, const struct pxt_sink_type *type, struct pxt_logevent *made)
{
	const bt_field *payload = pxt_sink_part(event, PXT_SINK_PAYLOAD);
	const int64_t cpu = cpu_of(event);
	const struct thread *thread = cpu >= 0 ? threads->running[cpu] : NULL;
	struct known known;
	int64_t tid;

	made->cpu = (int)cpu;
	if (told(event, type, cpu, &known)) {
		thread = find(threads, log, &known);
		if (!thread)
			return false;
	}
	if (thread) {
		made->thread_index = thread->index;
		made->thread = thread->entry.posix_thread_np;
		made->pid = thread->entry.posix_pid_np;
	}
	if (!type->switches || cpu < 0 || !pxt_sink_number(payload, "next_tid", &tid))
		return true;
	known = known_of(tid, 0, pxt_sink_text(payload, "next_comm"), cpu);
	threads->running[cpu] = find(threads, log, &known);
	return threads->running[cpu] != NULL;
}

void pxt_sink_threads_forget(struct pxt_sink_threads *threads)
{
	memset(threads->running, 0, sizeof threads->running);
}

struct pxt_sink_threads *pxt_sink_threads_new(void)
{
	return calloc(1, sizeof(struct pxt_sink_threads));
}

void pxt_sink_threads_free(struct pxt_sink_threads *threads)
{
	for (unsigned i = 0; threads && i < SLOTS; i++)
		for (struct thread *next; threads->slots[i]; threads->slots[i] = next) {
			next = threads->slots[i]->next;
			free(threads->slots[i]);
		}
	free(threads);
}
