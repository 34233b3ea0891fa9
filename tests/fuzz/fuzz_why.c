/* SPDX-License-Identifier: MIT */
/*
 * fuzz_why.c - whatever threads, locks, spans and CPUs did, in whatever order, and whatever a roles file
 * says of it: `pxtrace why` ends, in bounded memory, its causes add up to the span to the nanosecond,
 * and nothing of a log reaches the screen unescaped.
 *
 * An input is not a log (fuzz_log.c has those) but a story, from which a log is made, so that a fuzzer
 * does not spend its time on checksums:
 *
 *	byte 0   MODES: what is asked for, whether there are two logs, whether there is a roles file
 *	byte 1   bytes of the roles file, which follows
 *	then     events of 6 bytes: type (5 bits) and what was lost before; thread and CPU;
 *	         time since the one before; two values for its fields
 */
#define _GNU_SOURCE
#include "tools/why/tell.h"
#include "tools/write/logwrite.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AT     1u /* --at */
#define LIMIT  2u /* --longer-than */
#define NAMED  4u /* --event */
#define THREAD 8u /* --thread */
#define TWO    16u
#define ROLES  32u
#define JSON   64u
#define WAITS  128u /* --waits; with LIMIT --off-cpu */

#define EVENT_BYTES 6u
#define THREADS     6u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *name;
	const char *format;
} types[] = {
	{ "job_begin", "u32 job, i64 start_ns" },
	{ "job_end", "u32 job" },
	{ "job_release", "u32 job" },
	{ "step_enter", NULL },
	{ "step_exit", NULL },
	{ "deadline_miss", "u32 job, i64 late_ns" },
	{ "mtx_wait", "u32 lock" },
	{ "mtx_lock", "u32 lock" },
	{ "mtx_unlock", "u32 lock" },
	{ "io_block", "u32 on" },
	{ "io_wake", "i32 tid" },
	{ "sched_switch", "u8 cpu, i32 prev_tid, i32 next_tid, i64 prev_state, text next_comm" },
	{ "sched_wakeup", "i32 tid, u8 target_cpu" },
	{ "ev\x1b[2Jil_begin", "text who" },
	{ "ev\x1b[2Jil_end", "text who" },
	{ "note", "u32 n, i64 d, x64 addr, f64 real" },
	{ "frame_in", "u32 size, u32 number, i64 age" },
	{ "frame_out", "u32 number" },
	{ "posix_trace_mutex_wait", "x64 lock, u32 holder" },
	{ "posix_trace_mutex_lock", "x64 lock, u32 waited_us, i32 result, x64 caller1" },
	{ "posix_trace_mutex_unlock", "x64 lock, i32 result" },
	{ "posix_trace_cond_wait", "x64 cond, x64 lock, i64 asked_ns" },
	{ "posix_trace_cond_resume", "x64 cond, x64 lock, u32 waited_us, i32 result" },
	{ "posix_trace_sync_wait", "x64 lock, u32 holder, u8 kind" },
	{ "posix_trace_sync_lock", "x64 lock, u32 waited_us, i32 result, u8 kind" },
	{ "posix_trace_sync_unlock", "x64 lock, i32 result, u8 kind" },
	{ "posix_trace_process", "u8 what, u32 number, x64 address, u64 size, text name" },
	{ "posix_trace_call_enter", "u16 call, x64 object, u64 size, i64 asked_ns" },
	{ "posix_trace_call_exit", "u16 call, x64 object, i64 result, u32 took_us" },
	{ "posix_trace_function_enter", "x64 function, x64 caller" },
	{ "posix_trace_function_exit", "x64 function, x64 caller" },
};
#define TYPES (sizeof types / sizeof *types)

static char path[2][64];
static char roles_path[64];

/* ---- The logs ---- */

static void put_number(unsigned char *data, size_t *used, int64_t value, size_t bytes)
{
	memcpy(data + *used, &value, bytes);
	*used += bytes;
}

/* The fields, filled from two values in turn; a story may cut them. */
static size_t fill(const char *format, unsigned a, unsigned b, unsigned char *data)
{
	static const char *const sizes[] = { "8", "16", "32", "64" };
	size_t used = 0;

	for (const char *at = format; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 2 : "") {
		unsigned value = at == format ? a : b;

		if (*at == 't') {
			data[used++] = (unsigned char)b;
			data[used++] = 0;
			continue;
		}
		for (unsigned i = 0; i < 4; i++)
			if (strncmp(at + 1, sizes[i], strlen(sizes[i])) == 0)
				put_number(data, &used,
				    *at == 'i' && i == 3 ? ((int64_t)value - 16) * 1000
				                         : (int64_t)value % 9,
				    1u << i);
	}
	return format && a > 250 ? used / 2 : used;
}

/* System events have their own numbers. */
static trace_event_id_t id_of(unsigned type)
{
	trace_event_id_t id = pxt_logwrite_system_type(types[type].name);

	return id ? id : (trace_event_id_t)(40 + type);
}

static struct pxt_logwrite *begin(unsigned which)
{
	struct pxt_loghead head = { .uuid = { (unsigned char)(1 + which) },
		.hz = 1000000000,
		.created = {
		    .realtime = { .tv_sec = 1700000000 }, .monotonic = { .tv_sec = 1000 } } };
	struct pxt_logwrite *log = pxt_logwrite_begin(path[which], PXT_LOG_GROWING, &head);

	if (!log)
		abort();
	struct posix_trace_loginfo_np info = { .posix_pid_np = 4711,
		.posix_executable_np = "/bin/app" };

	memcpy(info.posix_host_np, which ? "other" : "box", which ? 6 : 4);
	pxt_logwrite_process(log, &info);
	for (unsigned i = 0; i < TYPES; i++)
		pxt_logwrite_type(log, id_of(i), types[i].name, types[i].format);
	for (unsigned i = 1; i < THREADS; i++) {
		struct posix_trace_logthread_np thread = { .posix_pid_np = 4711,
			.posix_tid_np = (pid_t)(i < 5 ? i : 4) };

		memcpy(&thread.posix_thread_np, &(uint64_t){ 0x7000 + i }, sizeof(pthread_t));
		(void)snprintf(thread.posix_name_np, sizeof thread.posix_name_np, "t\x1b%u", i);
		pxt_logwrite_thread(log, i, &thread);
	}
	return log;
}

static void write_event(struct pxt_logwrite *log, const uint8_t *at, uint64_t ticks)
{
	unsigned char data[256];
	unsigned type = at[0] & 31u;
	struct pxt_logevent event = { .ticks = ticks,
		.thread_index = at[1] % THREADS,
		.cpu = at[1] >> 6 == 3 ? -1 : at[1] >> 6,
		.data = data };

	if (at[0] >> 5 == 7)
		pxt_logwrite_loss(log, 1u + at[4]);
	if (type < TYPES) {
		event.id = id_of(type);
		event.address = 0x400000u + at[5];
		event.bytes = fill(types[type].format, at[4], at[5], data);
	} else {
		event.id = at[4] & 1u ? POSIX_TRACE_START : POSIX_TRACE_STOP;
		event.thread_index = 0;
	}
	pxt_logwrite_event(log, &event);
}

/* Returns how many logs there are. */
static unsigned write_logs(unsigned mode, const uint8_t *data, size_t size)
{
	unsigned count = mode & TWO ? 2 : 1;
	struct pxt_logwrite *logs[2] = { begin(0), count == 2 ? begin(1) : NULL };
	uint64_t ticks = 1;

	for (; size >= EVENT_BYTES; data += EVENT_BYTES, size -= EVENT_BYTES) {
		ticks += (uint64_t)data[2] << (data[3] & 31u);
		write_event(logs[data[1] >> 5 & (count - 1)], data, ticks);
	}
	for (unsigned i = 0; i < count; i++)
		if (pxt_logwrite_end(logs[i], NULL))
			abort();
	return count;
}

/* ---- The answer ---- */

static void check_sums(const struct pxt_blames *blames)
{
	for (unsigned i = 0; i < blames->count; i++) {
		const struct pxt_blame *blame = &blames->list[i];
		int64_t sum = 0;

		if (blame->cause_count > PXT_CAUSES_MAX || blame->overlap_count > PXT_OVERLAPS_MAX)
			abort();
		for (unsigned k = 0; k < blame->cause_count; k++) {
			if (blame->causes[k].ns < 0)
				abort();
			sum += blame->causes[k].ns;
		}
		if (sum != pxt_blame_length(blame))
			abort();
	}
}

static void check_screen(struct pxt_out *out)
{
	static unsigned char text[PXT_OUT_BYTES];
	ssize_t bytes;

	pxt_out_flush(out);
	if (out->error || lseek(out->fd, 0, SEEK_SET) != 0)
		abort();
	while ((bytes = read(out->fd, text, sizeof text)) > 0)
		for (ssize_t i = 0; i < bytes; i++)
			if ((text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f)
				abort();
	if (ftruncate(out->fd, 0) || lseek(out->fd, 0, SEEK_SET) != 0)
		abort();
}

static void tell(unsigned mode, struct pxt_blames *blames, struct pxt_late_search *search,
    struct pxt_roles_book *book)
{
	static struct pxt_out out = { .fd = -1 };
	struct pxt_tell tell = { .out = &out,
		.blames = blames,
		.search = search,
		.book = book,
		.explain = 2,
		.lines = 40 };

	if (out.fd < 0 && (out.fd = memfd_create("out", 0)) < 0)
		abort();
	if (mode & JSON)
		pxt_tell_json(&tell);
	else if (blames->count > 0)
		pxt_tell_text(&tell);
	check_screen(&out);
}

static void explain(unsigned mode, struct pxt_reader *reader, struct pxt_select *select,
    struct pxt_roles_book *book)
{
	static struct pxt_late_search search;
	static struct pxt_blames blames;

	memset(&search, 0, sizeof search);
	memset(&blames, 0, sizeof blames);
	search.select = select;
	search.at = (struct pxt_when){ .set = mode & AT, .ns = 5000 };
	search.has_limit = mode & LIMIT;
	search.limit_ns = 100;
	search.asks_waits = (mode & WAITS) && !(mode & LIMIT);
	search.asks_off_cpu = (mode & WAITS) && (mode & LIMIT);
	search.limits.list[0] =
	    (struct pxt_limit){ .is_period = mode & TWO, .ns = 100 + (int64_t)mode };
	search.limits.count = mode & ROLES ? 1 : 0;
	pxt_roles_bind(book, reader);
	if (pxt_late_search(&search, reader, book)) {
		const struct pxt_late_list *list = pxt_late_result(&search);

		blames.reader = reader;
		if (list->count > 0) {
			pxt_reader_rewind(reader);
			pxt_blames_read(&blames, reader, book, &search, list->count);
		}
		check_sums(&blames);
		tell(mode, &blames, &search, book);
	}
	pxt_blames_free(&blames);
	pxt_late_free(&search);
}

/* Threads that wait for it when the log ends. */
static uint32_t still_waiting(const struct pxt_lockuse *use, uint32_t row)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < use->wait_room; i++)
		count += use->waits[i].lock && use->waits[i].lock->row == row + 1;
	return count;
}

/*
 * No wait ends before it begins; who waited has got the lock, or still waits; and no ring has a
 * gap.
 */
static void check_locks(const struct pxt_lockuse *use)
{
	struct pxt_lockuse_ring rings[PXT_LOCKUSE_RINGS];
	bool all;
	unsigned count = pxt_lockuse_rings(use, rings, &all);

	for (uint32_t i = 0; i < use->row_count; i++)
		if (use->rows[i].wait_ns < 0 ||
		    (use->rows[i].waits > use->rows[i].taken + still_waiting(use, i) &&
		        !use->rows[i].lock->of_system))
			abort();
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < rings[i].count; k++)
			if (rings[i].orders[k]->to !=
			    rings[i].orders[(k + 1) % rings[i].count]->from)
				abort();
}

static void explain_locks(unsigned mode, struct pxt_reader *reader, struct pxt_roles_book *book)
{
	static struct pxt_out out = { .fd = -1 };
	struct pxt_lockuse use = { 0 };
	const struct pxt_tell_locks tell = {
		.out = &out, .reader = reader, .book = book, .use = &use
	};

	if (out.fd < 0 && (out.fd = memfd_create("locks", 0)) < 0)
		abort();
	pxt_reader_rewind(reader);
	if (pxt_lockuse_read(&use, reader, book)) {
		check_locks(&use);
		if (mode & JSON)
			pxt_tell_locks_json(&tell);
		else
			pxt_tell_locks_text(&tell);
		check_screen(&out);
	}
	pxt_lockuse_free(&use);
}

static void write_roles(const uint8_t *text, size_t bytes)
{
	int fd = open(roles_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, bytes) != (ssize_t)bytes || close(fd))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const paths[2] = { path[0], path[1] };
	struct pxt_select select = { 0 };
	struct pxt_reader reader = { 0 };
	struct pxt_roles_book *book;
	size_t roles;
	bool taken = true;

	if (size < 2)
		return 0;
	(void)snprintf(path[0], sizeof path[0], "why-%ld-a.ptl", (long)getpid());
	(void)snprintf(path[1], sizeof path[1], "why-%ld-b.ptl", (long)getpid());
	(void)snprintf(roles_path, sizeof roles_path, "why-%ld.roles", (long)getpid());
	roles = data[1] < size - 2 ? data[1] : size - 2;
	book = pxt_roles_new();
	if (data[0] & ROLES) {
		write_roles(data + 2, roles);
		taken = pxt_roles_read(book, roles_path);
	}
	if (taken) {
		unsigned count = write_logs(data[0], data + 2 + roles, size - 2 - roles);

		if (data[0] & NAMED)
			select.events[select.event_count++] = "*o*";
		if (data[0] & THREAD)
			select.threads[select.thread_count++] = "2";
		if (pxt_reader_open(&reader, paths, count, PXT_OPEN_COMPLETE, &select))
			abort();
		explain(data[0], &reader, &select, book);
		explain_locks(data[0], &reader, book);
		pxt_reader_close(&reader);
	}
	pxt_roles_free(book);
	(void)unlink(path[0]);
	(void)unlink(path[1]);
	(void)unlink(roles_path);
	return 0;
}
