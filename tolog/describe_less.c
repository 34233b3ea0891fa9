/* SPDX-License-Identifier: MIT */
/*
 * describe_less.c - what every log says of process and threads: the numbers that records are
 * for, and what they said of themselves.
 */
#include "tolog/tolog.h"

#define PROCESS_AT ((PXT_TOLOG_META_BYTES - sizeof(struct pxt_log_process)) & ~(size_t)7)

struct pxt_tolog_describe {
	bool process_told;
	uint32_t threads; /* entries of the thread table that were told ... */
	uint32_t given;   /* ... when places had been given again so often */
	uint32_t since[CONFIG_PTRACE_MAX_THREADS]; /* lowest bits of the entry's, and 1 more */
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
	/* At the end of the block, behind the entry that it becomes: a small stack has no room for it. */
	struct pxt_log_process *process =
	    (struct pxt_log_process *)(void *)(log->meta_bytes + PROCESS_AT);

	_Static_assert(PXT_LOG_BLOCK_BYTES + PXT_LOG_PROCESS_1_2 <= PROCESS_AT, "behind the entry");
	if (log->describe->process_told)
		return 0;
	memset(process, 0, sizeof(*process));
	process->pid = pxt_process_pid();
	(void)pxt_logfmt_put_process(&log->meta, process);
	log->describe->process_told = true;
	return pxt_tolog_put_meta(log, PXT_LOG_PROCESS);
}

/* The calling log has told who has the place. */
static bool told(const struct pxt_tolog_describe *describe, uint32_t index)
{
	return describe->since[index] ==
	       1u + (uint32_t)pxt_thread_since(&pxt_threads->entry[index]);
}

static int tell_thread(struct pxt_tolog *log, uint32_t index)
{
	struct pxt_thread *entry = &pxt_threads->entry[index];
	struct pxt_log_thread thread = { .since = pxt_thread_since(entry),
		.thread = pxt_wide_load(&entry->thread),
		.pid = atomic_load_explicit(&entry->pid, memory_order_relaxed),
		.tid = atomic_load_explicit(&entry->tid, memory_order_relaxed),
		.index = (uint16_t)index };
	int error;

	pxt_thread_get_name(entry, thread.name);
	/* Given to another one meanwhile: that comes with the next look. */
	if (pxt_thread_since(entry) != thread.since)
		return 0;
	error = PXT_TOLOG_ENTRY(log, PXT_LOG_THREADS, pxt_logfmt_put_thread(&log->meta, &thread));
	if (!error)
		log->describe->since[index] = 1u + (uint32_t)thread.since;
	return error;
}

static int tell_threads(struct pxt_tolog *log)
{
	struct pxt_tolog_describe *describe = log->describe;
	const uint32_t count = pxt_threads_entries(pxt_threads) - 1u;
	uint32_t given = atomic_load_explicit(&pxt_threads_given, memory_order_acquire);
	bool all = true;
	int error = 0;

	if (describe->threads == count && describe->given == given)
		return 0;
	for (uint32_t i = 1; !error && i <= count; i++) {
		/* 0: the thread is just entering itself. */
		bool entered = pxt_wide_load(&pxt_threads->entry[i].thread) != 0;

		if (entered && !told(describe, i))
			error = tell_thread(log, i);
		all &= entered && told(describe, i);
	}
	if (!error && log->meta.count)
		error = pxt_tolog_put_meta(log, PXT_LOG_THREADS);
	if (!error && all) {
		describe->threads = count;
		describe->given = given;
	}
	return error;
}

int pxt_tolog_describe(struct pxt_tolog *log, PXT_UNUSED bool slow)
{
	int error = tell_process(log);

	return error ? error : tell_threads(log);
}
