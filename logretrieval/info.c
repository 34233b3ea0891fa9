/* SPDX-License-Identifier: MIT */
/* info.c - what a log knows beside its events: counts, losses, how it ended, threads, modules, notes. */
#include "logretrieval/log.h"

#include "base/attr.h"

#include <errno.h>

static void add_former(struct posix_trace_counts_np *counts, const struct pxt_log_former *former)
{
	pxt_sum_add(&counts->posix_written_np, former->written);
	pxt_sum_add(&counts->posix_retrieved_np, former->retrieved);
	pxt_sum_add(&counts->posix_lost_np, former->lost);
	pxt_sum_add(&counts->posix_cleared_np, former->cleared);
}

static void get_counts(const struct pxt_log *log, struct posix_trace_loginfo_np *info)
{
	struct posix_trace_counts_np *counts = &info->posix_counts_np;
	const struct pxt_log_former *former = pxt_log_former(log);

	info->posix_lost_np = log->scan.missing;
	pxt_sum_add(&info->posix_lost_np, former->lost);
	pxt_sum_add(&info->posix_lost_np, former->log_lost);
	if (log->complete) {
		*counts = log->trailer.counts;
		pxt_sum_add(&info->posix_lost_np, counts->posix_lost_np);
		pxt_sum_add(&info->posix_lost_np, log->trailer.log_lost);
		/* The stream is gone, and with it what nobody took out of it. */
		pxt_sum_add(&info->posix_lost_np, counts->posix_held_np);
		add_former(counts, former);
		return;
	}
	pxt_sum_add(&info->posix_lost_np, log->scan.lost_total);
	/* As far as the blocks tell. */
	counts->posix_retrieved_np = log->scan.records_total;
	counts->posix_lost_np = log->scan.lost_total;
	counts->posix_written_np = log->scan.records_total;
	pxt_sum_add(&counts->posix_written_np, log->scan.lost_total);
	add_former(counts, former);
}

static void get_crash(const struct pxt_crash *crash, struct posix_trace_loginfo_np *info)
{
	info->posix_signal_np = (int)crash->signal;
	info->posix_signal_code_np = crash->code;
	info->posix_signal_address_np = crash->address;
	info->posix_signal_at_np = crash->at;
	info->posix_signal_sender_np = crash->sender;
	info->posix_signal_tid_np = crash->tid;
}

static int get_info(const struct pxt_log *log, struct posix_trace_loginfo_np *info)
{
	memset(info, 0, sizeof(*info));
	memcpy(info->posix_uuid_np, log->header.uuid, sizeof(info->posix_uuid_np));
	info->posix_format_major_np = log->header.major;
	info->posix_format_minor_np = log->header.minor;
	info->posix_word_bytes_np = log->header.word_bytes;
	info->posix_swapped_np = log->header.swapped;
	info->posix_complete_np = log->complete;
	info->posix_pid_np = log->process.pid;
	info->posix_start_np = log->header.created.realtime;
	info->posix_start_monotonic_np = log->header.created.monotonic;
	info->posix_start_boottime_np = log->header.created.boottime;
	info->posix_generation_np = log->header.generation;
	info->posix_file_np = log->header.number;
	info->posix_earlier_np = log->set.records;
	info->posix_earlier_lost_np = log->set.lost;
	info->posix_earlier_repeated_np = log->set.repeated;
	info->posix_larger_priority_np = !!(log->header.contents & PXT_LOG_LARGER_PRIORITY);
	if (log->complete) {
		info->posix_end_np = log->trailer.end.realtime;
		info->posix_end_monotonic_np = log->trailer.end.monotonic;
		info->posix_end_boottime_np = log->trailer.end.boottime;
		get_crash(&log->trailer.crash, info);
	}
	info->posix_blocks_np = log->scan.data_blocks + log->scan.meta_blocks;
	get_counts(log, info);
	pxt_log_get_ticks(log, &info->posix_clock_np);
	info->posix_threads_np = log->thread_count;
	info->posix_modules_np = log->module_count;
	info->posix_notes_np = log->note_count;
	memcpy(
	    info->posix_executable_np, log->process.executable, sizeof(info->posix_executable_np));
	memcpy(info->posix_host_np, log->process.host, sizeof(info->posix_host_np) - 1);
	memcpy(info->posix_boot_id_np, log->process.boot_id, sizeof(info->posix_boot_id_np));
	info->posix_cpus_np = log->process.cpus;
	info->posix_process_start_np = log->process.start;
	memcpy(info->posix_system_np, log->process.system, sizeof(info->posix_system_np));
	return 0;
}

/* ENOENT: the table has no place @index. */
static int get_thread(
    const struct pxt_log *log, uint32_t index, struct posix_trace_logthread_np *thread)
{
	const struct pxt_log_thread *known =
	    index < log->thread_count ? &log->threads[index].thread : NULL;

	if (!known)
		return ENOENT;
	thread->posix_thread_np = known->thread;
	thread->posix_pid_np = known->pid ? known->pid : log->process.pid;
	thread->posix_tid_np = known->tid;
	memcpy(thread->posix_name_np, known->name, sizeof(thread->posix_name_np));
	return 0;
}

static int get_module(
    const struct pxt_log *log, uint32_t index, struct posix_trace_logmodule_np *module)
{
	const struct pxt_log_module *known =
	    index < log->module_count ? &log->modules[index] : NULL;

	if (!known)
		return ENOENT;
	module->posix_base_np = known->base;
	module->posix_low_np = known->low;
	module->posix_high_np = known->high;
	module->posix_buildid_bytes_np = known->build_id_bytes;
	memcpy(module->posix_buildid_np, known->build_id, sizeof(module->posix_buildid_np));
	memcpy(module->posix_path_np, known->path, sizeof(module->posix_path_np));
	return 0;
}

static int get_note(const struct pxt_log *log, uint32_t index, struct posix_trace_lognote_np *note)
{
	const struct pxt_log_note *known = index < log->note_count ? &log->notes[index] : NULL;

	if (!known)
		return ENOENT;
	memcpy(note->posix_name_np, known->name, sizeof(note->posix_name_np));
	memcpy(note->posix_text_np, known->text, sizeof(note->posix_text_np));
	return 0;
}

static int get_time(struct pxt_log *log, uint64_t ticks, struct timespec *time)
{
	pxt_log_time(log, ticks, time);
	return 0;
}

const struct pxt_log_getters pxt_log_getters = { get_info, get_thread, get_module,
	pxt_log_nextblock, get_time, get_note, pxt_log_skip_damage, pxt_log_seek };

/* NOLINTBEGIN(bugprone-macro-parentheses): a type and a name cannot stand in parentheses. */
/* A public function: without an error the answer goes to the caller, as much as there is room for. */
#define GETTER(name, parameters, structure, answer, bytes, get)                                    \
	PXT_API int name parameters                                                                \
	{                                                                                          \
		struct structure own = { 0 };                                                      \
		int error = PXT_LOG_ASK(trid, answer, get);                                        \
                                                                                                   \
		if (!error)                                                                        \
			pxt_give(answer, bytes, &own, sizeof(own));                                \
		return error;                                                                      \
	}                                                                                          \
	_Static_assert(1, "")
/* NOLINTEND(bugprone-macro-parentheses) */

GETTER(posix_trace_log_getinfo_np,
    (trace_id_t trid, struct posix_trace_loginfo_np *info, size_t bytes), posix_trace_loginfo_np,
    info, bytes, info(object, &own));
GETTER(posix_trace_log_getthread_np,
    (trace_id_t trid, uint32_t index, struct posix_trace_logthread_np *thread, size_t bytes),
    posix_trace_logthread_np, thread, bytes, thread(object, index, &own));
GETTER(posix_trace_log_getmodule_np,
    (trace_id_t trid, uint32_t index, struct posix_trace_logmodule_np *module, size_t bytes),
    posix_trace_logmodule_np, module, bytes, module(object, index, &own));
GETTER(posix_trace_log_getnote_np,
    (trace_id_t trid, uint32_t index, struct posix_trace_lognote_np *note, size_t bytes),
    posix_trace_lognote_np, note, bytes, note(object, index, &own));
GETTER(posix_trace_log_skipdamage_np,
    (trace_id_t trid, struct posix_trace_logfinding_np *finding, size_t finding_bytes),
    posix_trace_logfinding_np, finding, finding_bytes, damage(object, &own));

PXT_API int posix_trace_log_nextblock_np(
    trace_id_t trid, struct posix_trace_logblock_np *block, size_t bytes, int *unavailable)
{
	struct posix_trace_logblock_np own = { 0 };
	int error;

	if (!pxt_arg_given(unavailable))
		return EINVAL;
	*unavailable = 1;
	error = PXT_LOG_ASK(trid, block, block(object, &own, unavailable));
	if (!error && !*unavailable)
		pxt_give(block, bytes, &own, sizeof(own));
	return error;
}

PXT_API int posix_trace_log_gettime_np(trace_id_t trid, uint64_t ticks, struct timespec *time)
{
	return PXT_LOG_ASK(trid, time, time(object, ticks, time));
}
