/* SPDX-License-Identifier: MIT */
/*
 * imageheaders.c - a header says where all else is: at the offsets of FORMAT.md, section 11, by hand, since
 * those who read it elsewhere share its structure with the writer.
 */
#include "kit.h"

#include "core/control/control.h"
#include "core/process/directory.h"
#include "core/process/process.h"
#include "suite.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct field {
	unsigned at;
	unsigned bytes;
	uint64_t want;
};

static void expect(const void *header, const struct field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const unsigned char *at = (const unsigned char *)header + fields[i].at;
		uint64_t got = 0;
		uint32_t word;

		memcpy(&word, at, sizeof(word));
		got = word;
		if (fields[i].bytes == 8)
			memcpy(&got, at, sizeof(got));
		PXT_CHECK(got == fields[i].want, "offset %u: %llu, not %llu", fields[i].at,
		    (unsigned long long)got, (unsigned long long)fields[i].want);
	}
}

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

PXT_TEST(a_streams_header_says_where_its_lanes_and_numbers_are)
{
	const struct kit_spec spec = {
		.policy = POSIX_TRACE_UNTIL_FULL, .lanes = 4, .bytes = 16384, .data = 77
	};
	trace_id_t trid = kit_open(&spec);
	struct pxt_block *block = kit_block(trid);
	const struct timespec *real = &block->created.realtime;
	const struct timespec *mono = &block->created.monotonic;
	const struct timespec *boot = &block->created.boottime;
	const bool whole = sizeof(pxt_cell) == sizeof(struct pxt_slot);
	const size_t attr = offsetof(struct pxt_block, attr);
	const struct field fields[] = {
		{ 16, 4, 0x01020304 },
		{ 20, 4, 3 },
		{ 40, 4, (uint32_t)getpid() },
		{ 44, 4, sizeof(void *) },
		{ 68, 4, offsetof(struct pxt_lane, pos) },
		{ 72, 8,
		    (uint64_t)((unsigned char *)pxt_block_lane(block, 0) -
		               (unsigned char *)block) },
		{ 80, 8,
		    (uint64_t)((unsigned char *)pxt_block_lane(block, 1) -
		               (unsigned char *)pxt_block_lane(block, 0)) },
		{ 88, 4, 4 },
		{ 92, 4, kit_slots(trid) },
		{ 96, 4, whole ? 0 : 1 },
		{ 100, 4, whole ? 16 : 32 },
		{ 104, 4,
		    (uint64_t)((unsigned char *)pxt_lane_slots(pxt_block_lane(block, 0)) -
		               (unsigned char *)block) },
		{ 108, 4, offsetof(struct pxt_lane, head) },
		{ 112, 4, offsetof(struct pxt_lane, epoch) },
		{ 116, 4, offsetof(struct pxt_lane, refused) },
		{ 120, 4, offsetof(struct pxt_lane, limit) },
		{ 124, 4, PXT_CTX_BYTES },
		{ 128, 4, CONFIG_PTRACE_RECORD_THREAD },
		{ 132, 4, CONFIG_PTRACE_RECORD_ADDRESS },
		{ 136, 4, offsetof(struct pxt_block, gate) },
		{ 140, 4, offsetof(struct pxt_block, retrieved) },
		{ 144, 4, offsetof(struct pxt_block, oob) },
		{ 148, 4, sizeof(block->oob[0]) },
		{ 152, 4, sizeof(block->oob) / sizeof(block->oob[0]) },
		{ 156, 4, POSIX_TRACE_UNTIL_FULL },
		{ 160, 4, (uint64_t)PXT_START_BYTES * 8u },
		{ 164, 4, (uint32_t)pxt_clock.source },
		{ 168, 4, pxt_clock.error_ppm },
		{ 172, 4, 0 },
		{ 176, 8, pxt_clock.hz },
		{ 184, 8, block->created.ticks },
		{ 192, 8, (uint64_t)real->tv_sec },
		{ 200, 8, (uint64_t)mono->tv_sec },
		{ 208, 8, (uint64_t)boot->tv_sec },
		{ 216, 4, (uint64_t)real->tv_nsec },
		{ 220, 4, (uint64_t)mono->tv_nsec },
		{ 224, 4, (uint64_t)boot->tv_nsec },
		{ 228, 4, 77 },
		{ 232, 4, attr + offsetof(struct _pxt_attr, _pxt_genversion) },
		{ 236, 4, sizeof(block->attr._pxt_genversion) },
		{ 240, 4, attr + offsetof(struct _pxt_attr, _pxt_name) },
		{ 244, 4, sizeof(block->attr._pxt_name) },
		{ 248, 4, offsetof(struct pxt_lane, oob_pos) },
		{ 252, 4, PXT_OOB_SET_AT },
	};

	CU_ASSERT(memcmp(block, "PXTRACE\x01STREAM\n", 16) == 0);
	expect(block, fields, COUNT(fields));
	CU_ASSERT(block->created.ticks != 0 && real->tv_sec != 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST(a_directorys_header_says_where_its_threads_and_names_are)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 4096 };
	trace_id_t trid = kit_open(&spec);
	const struct pxt_directory *directory = pxt_directory;
	const size_t names = offsetof(struct pxt_directory, names);
	const struct field fields[] = {
		{ 16, 4, 0x01020304 },
		{ 20, 4, 3 },
		{ 24, 8, sizeof(*directory) },
		{ 32, 8, kit_block(trid)->header.header.key },
		{ 40, 4, (uint32_t)getpid() },
		{ 44, 4, sizeof(void *) },
		{ 48, 4, offsetof(struct pxt_directory, threads.count) },
		{ 52, 4, offsetof(struct pxt_directory, threads.entry) },
		{ 56, 4, sizeof(directory->threads.entry[0]) },
		{ 60, 4, CONFIG_PTRACE_MAX_THREADS },
		{ 64, 4, offsetof(struct pxt_thread, passes) },
		{ 68, 4, offsetof(struct pxt_thread, thread) },
		{ 72, 4, offsetof(struct pxt_thread, pid) },
		{ 76, 4, offsetof(struct pxt_thread, tid) },
		{ 80, 4, offsetof(struct pxt_thread, name) },
		{ 84, 4, names },
		{ 88, 4, sizeof(directory->names.names[0]) },
		{ 92, 4, sizeof(directory->names.names) / sizeof(directory->names.names[0]) },
		{ 96, 4, names + offsetof(struct pxt_names, count) },
		{ 100, 4, names + offsetof(struct pxt_names, format_at) },
		{ 104, 4, names + offsetof(struct pxt_names, names) },
		{ 108, 4, names + offsetof(struct pxt_names, pool) },
		{ 112, 4, sizeof(directory->names.pool) },
		{ 116, 4, POSIX_TRACE_UNNAMED_USEREVENT + 1 },
		{ 120, 4, sizeof(pxt_cell) == sizeof(struct pxt_slot) ? 0 : 1 },
	};

	CU_ASSERT_FATAL(directory != NULL);
	CU_ASSERT(memcmp(directory, "PXTRACE\x01THREAD\n", 16) == 0);
	expect(directory, fields, COUNT(fields));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Processes of two containers, or of two runs, may have one number. */
PXT_TEST(two_directories_of_one_pid_have_keys_of_their_own)
{
	static struct pxt_directory first;
	static struct pxt_directory second;
	uint64_t ticks;

	pxt_imageheader_directory(&first);
	ticks = pxt_port_ticks();
	while (pxt_port_ticks() == ticks)
		;
	pxt_imageheader_directory(&second);
	PXT_EQ(first.header.header.pid, second.header.header.pid);
	CU_ASSERT(first.header.header.key != second.header.header.key);
}
