/* SPDX-License-Identifier: MIT */
/*
 * described.c - what a log says of threads and modules is in it once, in as few blocks as hold it:
 * the blocks are read one by one, for a reader that puts them together would hide what comes twice.
 */
#define _GNU_SOURCE
#include "../suite.h"

#include "format/logfmt.h"
#include "port/port_sysinfo.h"
#include "port_atomic.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define ROOM  (1u << 20)
#define MANY  600u /* entries of more threads than one block holds */
#define KINDS 16u

/* What the blocks of one type hold. */
struct kind {
	unsigned blocks;
	unsigned entries;
	uint32_t longest; /* bytes of a block */
};

static struct {
	struct kind kinds[KINDS];
	unsigned threads[CONFIG_PTRACE_MAX_THREADS]; /* how often each entry is told */
	uint64_t modules[512];
	unsigned module_count;
	unsigned doubles; /* modules told again */
} found;

static void note_module(uint64_t low)
{
	for (unsigned i = 0; i < found.module_count; i++)
		found.doubles += found.modules[i] == low;
	if (found.module_count < 512)
		found.modules[found.module_count++] = low;
}

static void note_entries(const unsigned char *block, const struct pxt_log_blockhead *head)
{
	uint32_t offset = PXT_LOG_BLOCK_BYTES;
	const unsigned char *entry;

	for (uint32_t i = 0; i < head->count; i++) {
		struct pxt_log_thread thread;
		struct pxt_log_module module;

		if (pxt_logfmt_get_entry(block, head, false, 8, &offset, &entry))
			break;
		if (head->type == PXT_LOG_THREADS) {
			pxt_logfmt_get_thread(entry, false, &thread);
			found.threads[thread.index % CONFIG_PTRACE_MAX_THREADS]++;
		} else if (head->type == PXT_LOG_MODULES &&
		           !pxt_logfmt_get_module(entry, false, &module)) {
			note_module(module.low);
		}
	}
}

/* All blocks of a log that was written front to back. */
static void read_blocks(int fd)
{
	static unsigned char bytes[ROOM];
	ssize_t size = pread(fd, bytes, sizeof(bytes), 0);
	struct pxt_log_header header;
	uint64_t at;

	memset(&found, 0, sizeof(found));
	CU_ASSERT_FATAL(size > 0 && (size_t)size < sizeof(bytes));
	CU_ASSERT_FATAL(pxt_logfmt_get_header(bytes, &header) == NULL);
	for (at = header.header_bytes; at + PXT_LOG_BLOCK_BYTES <= (uint64_t)size;) {
		struct pxt_log_blockhead head;
		struct kind *kind;

		CU_ASSERT_FATAL(pxt_logfmt_get_block(bytes + at, &header, &head) == NULL);
		kind = &found.kinds[head.type % KINDS];
		kind->blocks++;
		kind->entries += head.count;
		kind->longest = head.length > kind->longest ? head.length : kind->longest;
		note_entries(bytes + at, &head);
		at += head.length;
	}
	PXT_EQ(at, size);
}

static trace_id_t begin_as(int fd, size_t bytes, int policy)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, bytes);
	(void)posix_trace_attr_setlogfullpolicy(&attr, policy);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	return trid;
}

static trace_id_t begin(int fd)
{
	return begin_as(fd, 1 << 19, POSIX_TRACE_APPEND);
}

static void *say(void *argument)
{
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	return argument;
}

static void have_said(unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		pthread_t thread;

		PXT_EQ_FATAL(pthread_create(&thread, NULL, say, NULL), 0);
		(void)pthread_join(thread, NULL);
	}
}

static unsigned told_of_threads(unsigned *twice)
{
	unsigned told = 0;

	*twice = 0;
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_THREADS; i++) {
		told += found.threads[i] > 0;
		*twice += found.threads[i] > 1;
	}
	return told;
}

/* One that has ended, or keeps its name, is told by the first look that finds it, and no more. */
PXT_TEST_FRESH(each_thread_is_told_once_in_one_block_of_each_look)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	unsigned twice;

	(void)say(NULL);
	have_said(10);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	have_said(10);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	read_blocks(fd);
	PXT_EQ(told_of_threads(&twice), 21);
	PXT_EQ(twice, 0);
	PXT_EQ(found.kinds[PXT_LOG_THREADS].entries, 21);
	PXT_EQ(found.kinds[PXT_LOG_THREADS].blocks, 2);
	(void)close(fd);
}

/* So that names are found without a look at all events before; a small build does not look for them. */
PXT_TEST_FRESH(a_block_says_whether_an_event_of_its_own_tells_a_threads_name)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	trace_event_id_t rename;
	trace_id_t log = 0;

	PXT_EQ(posix_trace_eventid_open("task_rename", &rename), 0);
	for (unsigned i = 0; i < 3; i++) {
		(void)say(NULL);
		if (i == 1)
			posix_trace_event(rename, "x", 1);
		(void)say(NULL);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct posix_trace_logblock_np block;
		int unavailable = 1;

		PXT_EQ(posix_trace_log_nextblock_np(log, &block, sizeof(block), &unavailable), 0);
		PXT_EQ(unavailable, 0);
		PXT_EQ(block.posix_names_np, PXT_SMALL || i == 1);
	}
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

/* The frame is written anew at each flush; what came last stands behind records of any length. */
PXT_TEST_FRESH(a_frame_says_so_of_an_event_that_came_after_others_were_flushed)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin_as(fd, 1 << 16, POSIX_TRACE_LOOP);
	struct posix_trace_logblock_np block;
	trace_event_id_t rename;
	trace_id_t log = 0;
	int unavailable = 1;

	PXT_EQ(posix_trace_eventid_open("task_rename", &rename), 0);
	for (unsigned i = 0; i < 5; i++) {
		(void)say(NULL);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	posix_trace_event(rename, "x", 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	PXT_EQ(posix_trace_log_nextblock_np(log, &block, sizeof(block), &unavailable), 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(block.posix_names_np, 1);
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

/* More than a block holds: none is left out, none comes twice, and each block but the last is full. */
PXT_TEST_FRESH(more_threads_than_a_block_holds_are_told_once_each)
{
	const unsigned many =
	    MANY < CONFIG_PTRACE_MAX_THREADS / 2u ? MANY : CONFIG_PTRACE_MAX_THREADS / 2u;
	const struct kind *kind = &found.kinds[PXT_LOG_THREADS];
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	unsigned twice;
	unsigned each;

	(void)say(NULL);
	have_said(many);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	read_blocks(fd);
	PXT_EQ(told_of_threads(&twice), many + 1u);
	PXT_EQ(twice, 0);
	each = (kind->longest - PXT_LOG_BLOCK_BYTES) / PXT_LOG_THREAD_BYTES;
	PXT_EQ(kind->blocks, (many + 1u + each - 1u) / each);
	(void)close(fd);
}

/* One module in place of what there is. */
static const struct pxt_port_module *only_module;

void __real_pxt_port_modules(
    void (*each)(void *context, const struct pxt_port_module *module), void *context);
void __wrap_pxt_port_modules(
    void (*each)(void *context, const struct pxt_port_module *module), void *context);

void __wrap_pxt_port_modules(
    void (*each)(void *context, const struct pxt_port_module *module), void *context)
{
	if (only_module)
		each(context, only_module);
	else
		__real_pxt_port_modules(each, context);
}

static void count_module(void *context, const struct pxt_port_module *module)
{
	++*(unsigned *)context;
}

PXT_TEST_FRESH(each_module_is_told_once)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	unsigned modules = 0;

	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	pxt_port_modules(count_module, &modules);
	read_blocks(fd);
	PXT_EQ(found.module_count, modules);
	PXT_EQ(found.doubles, 0);
	PXT_EQ(found.kinds[PXT_LOG_MODULES].entries, modules);
	PXT_EQ(found.kinds[PXT_LOG_MODULES].blocks, 1);
	(void)close(fd);
}

/* As dlclose() and dlopen() leave it. */
PXT_TEST_FRESH(a_module_at_the_address_of_an_earlier_one_is_told_as_well)
{
	static const struct pxt_port_module modules[] = {
		{ .low = 4096, .high = 8192, .path = "one.so" },
		{ .low = 4096, .high = 8192, .path = "two.so" },
	};
	int fd = pxt_temp_file();
	trace_id_t trid;

	only_module = &modules[0];
	trid = begin(fd);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	only_module = &modules[1];
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	only_module = NULL;
	read_blocks(fd);
	PXT_EQ(found.kinds[PXT_LOG_MODULES].entries, 2);
	(void)close(fd);
}

/* ---- More threads than the table has places ---- */

#define SAYERS (CONFIG_PTRACE_MAX_THREADS + 80u)
#define SERVED (5u * CONFIG_PTRACE_MAX_THREADS)

static pthread_barrier_t all_said;

static void *say_number(void *together)
{
	const int32_t tid = (int32_t)syscall(SYS_gettid);

	for (int i = 0; i < 2; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &tid, sizeof(tid));
	if (together)
		(void)pthread_barrier_wait(&all_said);
	return NULL;
}

/* How many events name the thread that said them: by process, tid, and an entry for it alone. */
static unsigned count_true(int fd, pid_t pid)
{
	static struct posix_trace_eventview_np views[256];
	unsigned right = 0;
	int32_t before = 0;
	uint32_t entry_before = UINT32_MAX;
	size_t count = 0;
	trace_id_t trid;

	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	while (
	    posix_trace_getnext_events_np(trid, views, sizeof(*views), 256, &count) == 0 && count) {
		for (size_t i = 0; i < count; i++) {
			struct posix_trace_logthread_np thread;
			uint32_t entry = views[i].posix_thread_entry_np;
			int32_t tid;

			if (views[i].posix_event_id_np != POSIX_TRACE_UNNAMED_USEREVENT)
				continue;
			memcpy(&tid, views[i].posix_data_np, sizeof(tid));
			right += posix_trace_log_getthread_np(
			             trid, entry, &thread, sizeof(thread)) == 0 &&
			         thread.posix_tid_np == tid && thread.posix_pid_np == pid &&
			         views[i].posix_pid_np == pid &&
			         (tid == before) == (entry == entry_before);
			before = tid;
			entry_before = entry;
		}
	}
	PXT_EQ(posix_trace_close(trid), 0);
	return right;
}

PXT_TEST_FRESH(each_of_thousands_of_threads_one_after_the_other_is_named_by_its_events)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	pthread_t thread;

	for (unsigned i = 0; i < SERVED; i++) {
		PXT_EQ_FATAL(pthread_create(&thread, NULL, say_number, NULL), 0);
		(void)pthread_join(thread, NULL);
		if (i % CONFIG_PTRACE_MAX_THREADS == 500)
			PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(count_true(fd, getpid()), 2u * SERVED);
	(void)close(fd);
}

/* Some were recorded, and how many of them by threads without a place. */
static uint64_t placeless(int fd)
{
	struct posix_trace_logcheck_np sum;

	PXT_EQ(posix_trace_log_check_np(fd, &sum, sizeof(sum), NULL, 0, 0, NULL, NULL), 0);
	return sum.posix_placeless_np;
}

/* Where slots are not stored as one, places are not given again: all but the first threads have none. */
#define PLACED    (CONFIG_PTRACE_MAX_THREADS - 2u)
#define PLACELESS (sizeof(pxt_cell) == sizeof(struct pxt_slot) ? 0u : 2u * (SERVED - PLACED))

/* As a server does it for months. */
PXT_TEST_FRESH(places_of_threads_that_ended_are_given_again_when_the_stream_has_turned_over)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin_as(fd, 1 << 12, POSIX_TRACE_APPEND);
	pthread_t thread;

	for (unsigned i = 0; i < SERVED; i++) {
		PXT_EQ_FATAL(pthread_create(&thread, NULL, say_number, NULL), 0);
		(void)pthread_join(thread, NULL);
		if (i % 16 == 0)
			PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(count_true(fd, getpid()), 2u * SERVED);
	PXT_EQ(placeless(fd), PLACELESS);
	(void)close(fd);
}

PXT_TEST_FRESH(so_is_each_of_more_living_threads_than_the_table_has_places_for)
{
	static pthread_t threads[SAYERS];
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	pthread_attr_t attr;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 128 * 1024);
	(void)pthread_barrier_init(&all_said, NULL, SAYERS + 1u);
	for (unsigned i = 0; i < SAYERS; i++)
		PXT_EQ_FATAL(pthread_create(&threads[i], &attr, say_number, &all_said), 0);
	(void)pthread_barrier_wait(&all_said);
	for (unsigned i = 0; i < SAYERS; i++)
		(void)pthread_join(threads[i], NULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(count_true(fd, getpid()), 2u * SAYERS);
	(void)close(fd);
}

/* ---- The same in other processes ---- */

static void run_one_after_the_other(unsigned count)
{
	pthread_t thread;

	for (unsigned i = 0; i < count; i++) {
		if (pthread_create(&thread, NULL, say_number, NULL) != 0)
			_exit(4);
		(void)pthread_join(thread, NULL);
	}
}

static void expect_success(pid_t child)
{
	int status = -1;

	PXT_EQ(waitpid(child, &status, 0), child);
	PXT_EQ(status, 0);
}

#if CONFIG_PTRACE_INHERIT
#endif

#if CONFIG_PTRACE_ATTACH
static void attach_and_run(const char *name)
{
	trace_attr_t attr;
	trace_id_t trid;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, 1 << 19);
	if (posix_trace_attach_np(name, &attr, &trid) != 0)
		_exit(3);
	run_one_after_the_other(SAYERS);
	_exit(posix_trace_shutdown(trid) == 0 ? 0 : 5);
}

/* An owner reads them under the places that they have in the other process. */
PXT_TEST_FRESH(so_is_each_of_thousands_of_threads_of_an_attached_process)
{
	char name[128];
	int fd = pxt_temp_file();
	trace_attr_t attr;
	trace_id_t trid;
	pid_t child;

	(void)snprintf(name, sizeof(name), "%s/shared", pxt_temp_folder());
	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, 1 << 19);
	(void)posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	PXT_EQ_FATAL(posix_trace_attr_setsharename_np(&attr, name), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	child = fork();
	if (child == 0)
		attach_and_run(name);
	expect_success(child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(count_true(fd, child), 2u * SAYERS);
	(void)close(fd);
}
#endif
