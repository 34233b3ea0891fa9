/* SPDX-License-Identifier: MIT */
/*
 * describe.c - who traced and where the code lay, as the log says it: process (executable, host, system, boot id),
 * threads by name, modules.
 */
#include "tolog/tolog.h"

#include "core/process/forks.h"
#include "format/crc32.h"
#include "port/port_sysinfo.h"

/* At most so many are written: 2 KiB for each stream with a log. */
#define MODULES 256u

struct pxt_tolog_describe {
	bool process_told;
	uint32_t threads; /* entries of the thread table that were written */
	uint32_t modules;
	int error;
	uint32_t count;           /* of the thread table, at this look */
	uint32_t given;           /* pxt_threads_given at the last one */
	uint64_t module[MODULES]; /* key_of() those told */
	/* Checksum of the last entry written for a thread; 0: none. */
	uint32_t told[CONFIG_PTRACE_MAX_THREADS];
	uint32_t since[CONFIG_PTRACE_MAX_THREADS]; /* lowest bits of the entry's */
};

size_t pxt_tolog_describe_bytes(void)
{
	return sizeof(struct pxt_tolog_describe);
}

void pxt_tolog_describe_forget(struct pxt_tolog *log)
{
	memset(log->describe, 0, sizeof(*log->describe));
}

/* ---- Threads ---- */

/* 0: the thread is just entering itself. */
static uint64_t thread_at(uint32_t index)
{
	return pxt_wide_load(&pxt_threads->entry[index].thread);
}

/* False: the place is just given to another thread, or the thread enters itself; there is a next look. */
static bool read_thread(uint32_t index, struct pxt_log_thread *thread)
{
	const struct pxt_thread *entry = &pxt_threads->entry[index];

	memset(thread, 0, sizeof(*thread));
	thread->since = pxt_thread_since(entry);
	atomic_thread_fence(memory_order_acquire);
	thread->thread = thread_at(index);
	if (!thread->thread)
		return false;
	thread->pid = atomic_load_explicit(&entry->pid, memory_order_relaxed);
	thread->tid = atomic_load_explicit(&entry->tid, memory_order_relaxed);
	thread->index = (uint16_t)index;
	pxt_thread_get_name(entry, thread->name);
	thread->name[sizeof(thread->name) - 1] = '\0';
	atomic_thread_fence(memory_order_acquire);
	return pxt_thread_since(entry) == thread->since;
}

static void tell_thread(struct pxt_tolog *log, const struct pxt_log_thread *thread)
{
	struct pxt_tolog_describe *describe = log->describe;
	const uint32_t since = (uint32_t)thread->since;
	uint32_t sum = pxt_crc32((uint32_t)thread->tid, thread->name, strlen(thread->name)) | 1u;

	if (describe->told[thread->index] == sum && describe->since[thread->index] == since)
		return;
	if (!describe->error)
		describe->error = PXT_TOLOG_ENTRY(
		    log, PXT_LOG_THREADS, pxt_logfmt_put_thread(&log->meta, thread));
	if (describe->error)
		return;
	describe->told[thread->index] = sum;
	describe->since[thread->index] = since;
}

/*
 * A pthread_t is used again when its thread has ended, so it belongs to the youngest entry of this
 * process; a forked child's thread has the one of the thread that forked it.  What a thread said of
 * itself is in the table.
 */
static void match(void *context, const struct pxt_port_thread_info *info)
{
	struct pxt_tolog *log = context;
	struct pxt_log_thread thread;

	for (uint32_t i = log->describe->count; i > 0; i--) {
		if (!info->thread || thread_at(i) != info->thread || !read_thread(i, &thread) ||
		    (thread.tid && thread.tid != info->tid) ||
		    pxt_forks_foreign(&pxt_threads->entry[i]))
			continue;
		thread.tid = info->tid;
		memcpy(thread.name, info->name, sizeof(thread.name));
		thread.name[sizeof(thread.name) - 1] = '\0';
		tell_thread(log, &thread);
		return;
	}
}

/* Threads that are gone by now are known by number only, or by what they said of themselves. */
static void tell_rest(struct pxt_tolog *log)
{
	uint32_t first_missing = log->describe->count + 1u;
	struct pxt_log_thread thread;

	for (uint32_t i = 1; i <= log->describe->count; i++) {
		if (!read_thread(i, &thread)) {
			/* Who is just entering comes with the next look. */
			if (!pxt_thread_is_nobodys(&pxt_threads->entry[i]))
				first_missing = i < first_missing ? i : first_missing;
		} else if (!log->describe->told[i] ||
		           log->describe->since[i] != (uint32_t)thread.since) {
			tell_thread(log, &thread);
		}
	}
	log->describe->threads = first_missing - 1u;
}

static int tell_threads(struct pxt_tolog *log, bool slow)
{
	struct pxt_tolog_describe *describe = log->describe;
	uint32_t given;

	describe->error = 0;
	describe->count = pxt_threads_entries(pxt_threads) - 1u;
	given = atomic_load_explicit(&pxt_threads_given, memory_order_acquire);
	if (!slow && describe->count == describe->threads && describe->given == given)
		return 0;
	describe->given = given;
	if (pxt_tolog_output(log) != PXT_OUTPUT_SEALING)
		pxt_port_threads(match, log);
	tell_rest(log);
	if (!describe->error && log->meta.count)
		describe->error = pxt_tolog_put_meta(log, PXT_LOG_THREADS);
	if (describe->error)
		describe->threads = 0;
	return describe->error;
}

/* ---- Modules ---- */

/* Another file at the same address is another module. */
static uint64_t key_of(const struct pxt_port_module *module)
{
	return (uint64_t)pxt_crc32(0, module->path, strlen(module->path)) << 32 ^ module->low;
}

static bool known(const struct pxt_tolog_describe *describe, uint64_t key)
{
	for (uint32_t i = 0; i < describe->modules; i++) {
		if (describe->module[i] == key)
			return true;
	}
	return false;
}

static void tell_module(void *context, const struct pxt_port_module *module)
{
	struct pxt_tolog *log = context;
	struct pxt_tolog_describe *describe = log->describe;
	struct pxt_log_module entry = { .base = module->base,
		.low = module->low,
		.high = module->high,
		.build_id_bytes = module->buildid_bytes };

	if (describe->error || describe->modules >= MODULES || known(describe, key_of(module)))
		return;
	memcpy(entry.build_id, module->buildid, sizeof(entry.build_id));
	memcpy(entry.path, module->path, sizeof(entry.path));
	describe->error =
	    PXT_TOLOG_ENTRY(log, PXT_LOG_MODULES, pxt_logfmt_put_module(&log->meta, &entry));
	if (describe->error)
		return;
	describe->module[describe->modules++] = key_of(module);
}

static int tell_modules(struct pxt_tolog *log)
{
	struct pxt_tolog_describe *describe = log->describe;

	describe->error = 0;
	pxt_port_modules(tell_module, log);
	if (!describe->error && log->meta.count)
		describe->error = pxt_tolog_put_meta(log, PXT_LOG_MODULES);
	return describe->error;
}

/* ---- Process ---- */

static int tell_process(struct pxt_tolog *log)
{
	struct pxt_log_process process = { .pid = pxt_process_pid() };

	if (log->describe->process_told)
		return 0;
	pxt_port_process_start(&process.start);
	pxt_port_executable(process.executable, sizeof(process.executable));
	pxt_port_host(process.host, sizeof(process.host));
	pxt_port_boot_id(process.boot_id);
	process.cpus = pxt_port_cpus();
	pxt_port_system(process.system, sizeof(process.system));
	(void)pxt_logfmt_put_process(&log->meta, &process);
	log->describe->process_told = true;
	return pxt_tolog_put_meta(log, PXT_LOG_PROCESS);
}

/* In a handler only what threads said of themselves: the system is asked with locks and memory. */
int pxt_tolog_describe(struct pxt_tolog *log, bool slow)
{
	bool sealing = pxt_tolog_output(log) == PXT_OUTPUT_SEALING;
	int error = sealing ? 0 : tell_process(log);

	if (!error && slow && !sealing)
		error = tell_modules(log);
	if (!error)
		error = tell_threads(log, slow);
	return error;
}
