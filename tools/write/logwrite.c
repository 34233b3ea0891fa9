/* SPDX-License-Identifier: MIT */
/* logwrite.c - events, names and clocks as structures, into the blocks of a log. */
#include "tools/write/logwrite.h"

#include "format/ids.h"
#include "format/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define BLOCK_BYTES   65536u
#define CONTEXT_BYTES 8u /* 15:0 thread index, 63:16 address */
#define EVENT_BYTES   (CONTEXT_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_DATA_MAX)
#define EVENT_SLOTS   (1u + (EVENT_BYTES + 11u) / 12u)
#define SLOT_PAYLOAD  12u

struct pxt_logwrite {
	struct pxt_logblocks blocks;
	struct pxt_log_header header;
	uint64_t events;
	uint64_t lost;
};

/* ---- Begin ---- */

static struct pxt_clock_set set_of(const struct pxt_logclock *clock)
{
	return (struct pxt_clock_set){ .ticks = clock->ticks,
		.realtime = clock->realtime,
		.monotonic = clock->monotonic,
		.boottime = clock->boottime };
}

static void fill_attr(struct _pxt_attr *attr, const struct pxt_loghead *head)
{
	trace_attr_t defaults;

	(void)posix_trace_attr_init(&defaults);
	*attr = head->attr ? head->attr->_pxt_kept : defaults._pxt_kept;
	/* What no log may say, and what only this one can. */
	if (!attr->_pxt_stream_policy)
		attr->_pxt_stream_policy = POSIX_TRACE_FLUSH;
	attr->_pxt_log_policy = POSIX_TRACE_APPEND;
	attr->_pxt_ctx_bytes = CONTEXT_BYTES;
	attr->_pxt_create_sec = head->created.realtime.tv_sec;
	attr->_pxt_create_nsec = (int32_t)head->created.realtime.tv_nsec;
	memset(attr->_pxt_name, 0, sizeof attr->_pxt_name);
	if (head->name)
		(void)snprintf(attr->_pxt_name, sizeof attr->_pxt_name, "%s", head->name);
}

static void fill_header(struct pxt_log_header *header, const struct pxt_loghead *head)
{
	static const unsigned char none[PXT_LOG_UUID_BYTES];

	header->word_bytes = 8;
	header->ctx_bytes = CONTEXT_BYTES;
	header->layout = PXT_LAYOUT_SEQUENTIAL;
	header->contents = PXT_LOG_HAS_THREAD | PXT_LOG_HAS_ADDRESS | PXT_LOG_HAS_CPU |
	                   (head->larger_priority ? PXT_LOG_LARGER_PRIORITY : 0u);
	memcpy(header->uuid, head->uuid, sizeof header->uuid);
	if (memcmp(header->uuid, none, sizeof none) == 0)
		(void)!getrandom(header->uuid, sizeof header->uuid, 0);
	header->rate.hz = head->hz;
	header->rate.source = head->clock_source;
	header->rate.error_ppm = head->clock_error_ppm;
	header->created = set_of(&head->created);
	header->largest_block = BLOCK_BYTES;
	header->set_bytes = _PXT_EVENT_IDS / 8u;
	fill_attr(&header->attr, head);
}

struct pxt_logwrite *pxt_logwrite_begin(
    const char *path, enum pxt_logmode mode, const struct pxt_loghead *head)
{
	unsigned char bytes[PXT_LOG_HEADER_BYTES];
	struct pxt_logwrite *log = calloc(1, sizeof *log);

	if (!log)
		return NULL;
	fill_header(&log->header, head);
	pxt_logfmt_put_header(bytes, &log->header);
	if (!pxt_logblocks_open(&log->blocks, path, mode, bytes, &log->header)) {
		free(log);
		return NULL;
	}
	for (unsigned id = 1; id <= PXT_ID_UNNAMED; id++) {
		const char *name = pxt_system_event_name(id);

		if (name && !pxt_id_is_specific(id))
			pxt_logblocks_type(&log->blocks, id, name, "");
	}
	return log;
}

/* ---- What events mean ---- */

void pxt_logwrite_type(
    struct pxt_logwrite *log, trace_event_id_t id, const char *name, const char *format)
{
	pxt_logblocks_type(&log->blocks, (uint32_t)id, name, format ? format : "");
}

trace_event_id_t pxt_logwrite_system_type(const char *name)
{
	return (trace_event_id_t)pxt_system_event_id(name, strlen(name) + 1);
}

void pxt_logwrite_thread(
    struct pxt_logwrite *log, uint32_t index, const struct posix_trace_logthread_np *thread)
{
	struct pxt_log_thread entry = { .thread = thread->posix_thread_np,
		.pid = thread->posix_pid_np,
		.tid = thread->posix_tid_np,
		.index = (uint16_t)index };

	memcpy(entry.name, thread->posix_name_np, sizeof entry.name);
	entry.name[sizeof entry.name - 1] = '\0';
	pxt_logblocks_thread(&log->blocks, &entry);
}

void pxt_logwrite_process(struct pxt_logwrite *log, const struct posix_trace_loginfo_np *info)
{
	struct pxt_log_process entry = { .pid = info->posix_pid_np, .cpus = info->posix_cpus_np };

	(void)snprintf(entry.executable, sizeof entry.executable, "%s", info->posix_executable_np);
	(void)snprintf(entry.host, sizeof entry.host, "%s", info->posix_host_np);
	(void)snprintf(entry.system, sizeof entry.system, "%s", info->posix_system_np);
	memcpy(entry.boot_id, info->posix_boot_id_np, sizeof entry.boot_id);
	pxt_logblocks_process(&log->blocks, &entry);
}

void pxt_logwrite_module(struct pxt_logwrite *log, const struct posix_trace_logmodule_np *module)
{
	struct pxt_log_module entry = { .base = module->posix_base_np,
		.low = module->posix_low_np,
		.high = module->posix_high_np,
		.build_id_bytes = module->posix_buildid_bytes_np };

	memcpy(entry.build_id, module->posix_buildid_np, sizeof entry.build_id);
	memcpy(entry.path, module->posix_path_np, sizeof entry.path);
	pxt_logblocks_module(&log->blocks, &entry);
}

void pxt_logwrite_note(struct pxt_logwrite *log, const struct posix_trace_lognote_np *note)
{
	pxt_logblocks_note(&log->blocks, note);
}

void pxt_logwrite_lossnote(struct posix_trace_lognote_np *note, const char *name, uint64_t events)
{
	(void)snprintf(note->posix_name_np, sizeof note->posix_name_np, "%s", name);
	(void)snprintf(note->posix_text_np, sizeof note->posix_text_np, "%llu events",
	    (unsigned long long)events);
}

void pxt_logwrite_clock(struct pxt_logwrite *log, const struct pxt_logclock *clock)
{
	const struct pxt_log_clock entry = { .moment = PXT_LOG_AT_FLUSH, .clock = set_of(clock) };

	pxt_logblocks_clock(&log->blocks, &entry);
}

/* ---- Events ---- */

static void put_little(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static size_t put_context(unsigned char *payload, const struct pxt_logevent *event)
{
	size_t used = CONTEXT_BYTES;

	put_little(payload, (event->thread_index & 0xffffu) | event->address << 16, CONTEXT_BYTES);
	if (event->thread_index == PXT_LOGWRITE_NO_INDEX) {
		put_little(payload + used, event->thread, 8);
		put_little(payload + used + 8, (uint32_t)event->pid, 4);
		used += PXT_THREAD_EXTRA_BYTES;
	}
	return used;
}

static void put_begin(struct pxt_slot *slot, const struct pxt_logevent *event, uint32_t bytes)
{
	uint32_t cpu = event->cpu < 0 || event->cpu >= (int)PXT_CPU_UNKNOWN ? PXT_CPU_UNKNOWN
	                                                                    : (uint32_t)event->cpu;

	slot->word[0] = PXT_SLOT_BEGIN;
	slot->word[1] = pxt_slot_info((uint32_t)event->id, bytes, event->cut,
	    event->thread_index == PXT_LOGWRITE_NO_INDEX, cpu);
	slot->word[2] = (uint32_t)event->ticks;
	slot->word[3] = (uint32_t)(event->ticks >> 32);
}

void pxt_logwrite_event(struct pxt_logwrite *log, const struct pxt_logevent *event)
{
	unsigned char payload[EVENT_SLOTS * SLOT_PAYLOAD];
	struct pxt_slot slots[EVENT_SLOTS];
	uint32_t bytes = event->bytes < PXT_DATA_MAX ? (uint32_t)event->bytes : PXT_DATA_MAX;
	size_t used = put_context(payload, event);
	uint32_t count;

	if (bytes)
		memcpy(payload + used, event->data, bytes);
	used += bytes;
	count = 1u + ((uint32_t)used + SLOT_PAYLOAD - 1u) / SLOT_PAYLOAD;
	memset(payload + used, 0, (size_t)(count - 1u) * SLOT_PAYLOAD - used);
	put_begin(&slots[0], event, bytes);
	for (uint32_t i = 1; i < count; i++) {
		slots[i].word[0] = 0;
		memcpy(&slots[i].word[1], payload + (size_t)(i - 1u) * SLOT_PAYLOAD, SLOT_PAYLOAD);
	}
	(void)pxt_logblocks_record(&log->blocks, (const unsigned char *)slots, count, event->ticks);
	log->events++;
}

void pxt_logwrite_loss(struct pxt_logwrite *log, uint64_t records)
{
	pxt_logblocks_loss(&log->blocks, records);
	log->lost += records;
}

void pxt_logwrite_flush(struct pxt_logwrite *log)
{
	pxt_logblocks_flush(&log->blocks);
}

int pxt_logwrite_memory(const struct pxt_logwrite *log)
{
	return log->blocks.fd;
}

uint64_t pxt_logwrite_events(const struct pxt_logwrite *log)
{
	return log->events;
}

int pxt_logwrite_error(const struct pxt_logwrite *log)
{
	return log->blocks.error;
}

/* ---- End ---- */

#define SECONDS_MAX (UINT64_C(1) << 40) /* of a log's times */

/* A clock later by @ns, where it is known at all. */
static void later(struct timespec *time, const struct timespec *created, uint64_t seconds, long ns)
{
	if (!created->tv_sec && !created->tv_nsec)
		return;
	time->tv_sec = created->tv_sec + (time_t)seconds;
	time->tv_nsec = created->tv_nsec + ns;
	if (time->tv_nsec >= (long)PXT_NS_PER_S) {
		time->tv_nsec -= (long)PXT_NS_PER_S;
		time->tv_sec++;
	}
}

/* What the rate makes of the last stamp. */
static struct pxt_clock_set last_clock(const struct pxt_logwrite *log)
{
	const struct pxt_clock_set *created = &log->header.created;
	struct pxt_clock_set set = { .ticks = log->blocks.last_ticks };
	uint64_t hz = log->header.rate.hz;
	uint64_t ticks = set.ticks - created->ticks;
	uint64_t seconds = hz ? ticks / hz : 0;
	/* hz is at most 2^40, a double has 53 bits: exact enough for an end that no event has. */
	long ns = hz ? (long)((double)(ticks % hz) * 1e9 / (double)hz) : 0;

	later(&set.realtime, &created->realtime, seconds, ns);
	later(&set.monotonic, &created->monotonic, seconds, ns);
	later(&set.boottime, &created->boottime, seconds, ns);
	const int64_t latest[] = { set.realtime.tv_sec, set.monotonic.tv_sec, set.boottime.tv_sec };

	/* A stamp can be any number, where a damaged memory has it. */
	for (unsigned i = 0; i < 3; i++)
		if (seconds >= SECONDS_MAX || latest[i] >= (int64_t)SECONDS_MAX)
			return *created;
	return set;
}

int pxt_logwrite_end(struct pxt_logwrite *log, const struct pxt_logend *end)
{
	struct pxt_log_trailer trailer = { .attr = log->header.attr };
	int error;

	trailer.status.posix_stream_status =
	    end && end->unknown ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	trailer.status.posix_stream_full_status = POSIX_TRACE_NOT_FULL;
	trailer.status.posix_stream_overrun_status =
	    log->lost ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	trailer.status.posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	trailer.status.posix_log_overrun_status = POSIX_TRACE_NO_OVERRUN;
	trailer.status.posix_log_full_status = POSIX_TRACE_NOT_FULL;
	if (end) {
		trailer.counts = end->counts;
		trailer.log_lost = end->log_lost;
	} else {
		trailer.counts.posix_written_np = log->events + log->lost;
		trailer.counts.posix_retrieved_np = log->events;
		trailer.counts.posix_lost_np = log->lost;
	}
	trailer.end = end && end->clock.ticks ? set_of(&end->clock) : last_clock(log);
	error = pxt_logblocks_close(&log->blocks, &trailer);
	free(log);
	return error;
}

void pxt_logwrite_abandon(struct pxt_logwrite *log)
{
	pxt_logblocks_abandon(&log->blocks);
	free(log);
}
