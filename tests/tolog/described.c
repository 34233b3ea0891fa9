/* SPDX-License-Identifier: MIT */
/*
 * described.c - what a log says of threads and modules is in it once, in as few blocks as hold it:
 * the blocks are read one by one, for a reader that puts them together would hide what comes twice.
 */
#include "../suite.h"

#include "format/logfmt.h"
#include "port/port_sysinfo.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define ROOM  (1u << 20)
#define MANY  600u /* entries of more threads than one block holds */
#define KINDS 16u

int pxt_temp_file(void);

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

static trace_id_t begin(int fd)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setstreamsize(&attr, 1 << 18);
	(void)posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	return trid;
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
static void each_thread_is_told_once_in_one_block_of_each_look(void)
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

/* More than a block holds: none is left out, none comes twice, and each block but the last is full. */
static void more_threads_than_a_block_holds_are_told_once_each(void)
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
	(void)module;
	++*(unsigned *)context;
}

static void each_module_is_told_once(void)
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
static void a_module_at_the_address_of_an_earlier_one_is_told_as_well(void)
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

static const struct pxt_case cases[] = {
	PXT_CASE_FRESH(each_thread_is_told_once_in_one_block_of_each_look),
	PXT_CASE_FRESH(more_threads_than_a_block_holds_are_told_once_each),
	PXT_CASE_FRESH(each_module_is_told_once),
	PXT_CASE_FRESH(a_module_at_the_address_of_an_earlier_one_is_told_as_well),
};
PXT_SUITE("tolog: what is described", cases)
