/* SPDX-License-Identifier: MIT */
/*
 * describe_less.c - what every log says of process and threads: the numbers that records are
 * for, without names.
 */
#include "tolog/tolog.h"

#include "core/process/threads.h"

#include <string.h>

struct pxt_tolog_describe {
	uint32_t threads; /* entries of the thread table that were told */
	bool process_told;
};

size_t pxt_tolog_describe_bytes(void)
{
	return sizeof(struct pxt_tolog_describe);
}

void pxt_tolog_describe_forget(struct pxt_tolog *log)
{
	memset(log->describe, 0, sizeof(*log->describe));
}

static int tell_process(struct pxt_tolog *log)
{
	struct pxt_log_process process;

	if (log->describe->process_told)
		return 0;
	memset(&process, 0, sizeof(process));
	process.pid = pxt_process_pid();
	(void)pxt_logfmt_put_process(&log->meta, &process);
	log->describe->process_told = true;
	return pxt_tolog_put_meta(log, PXT_LOG_PROCESS);
}

/* False: the thread is just entering itself. */
static bool entered(uint32_t index)
{
	return pxt_wide_load(&pxt_threads->entry[index].thread) != 0;
}

static int put_thread(struct pxt_tolog *log, uint32_t index)
{
	struct pxt_thread *entry = &pxt_threads->entry[index];
	struct pxt_log_thread thread = { .thread = pxt_wide_load(&entry->thread),
		.pid = atomic_load_explicit(&entry->pid, memory_order_relaxed),
		.tid = atomic_load_explicit(&entry->tid, memory_order_relaxed),
		.index = (uint16_t)index };
	int error;

	pxt_thread_get_name(entry, thread.name);
	if (pxt_logfmt_put_thread(&log->meta, &thread))
		return 0;
	error = pxt_tolog_put_meta(log, PXT_LOG_THREADS);
	if (!error)
		(void)pxt_logfmt_put_thread(&log->meta, &thread);
	return error;
}

int pxt_tolog_describe(struct pxt_tolog *log, bool slow)
{
	uint32_t count = atomic_load_explicit(&pxt_threads->count, memory_order_acquire);
	int error = tell_process(log);

	(void)slow;
	if (count >= CONFIG_PTRACE_MAX_THREADS)
		count = CONFIG_PTRACE_MAX_THREADS - 1u;
	while (!error && log->describe->threads < count && entered(log->describe->threads + 1u)) {
		error = put_thread(log, log->describe->threads + 1u);
		if (!error)
			log->describe->threads++;
	}
	if (!error && log->meta.count)
		error = pxt_tolog_put_meta(log, PXT_LOG_THREADS);
	return error;
}
