/* SPDX-License-Identifier: MIT */
/*
 * fuzz_packed.c - whatever a compressed file holds, what becomes of it is bounded.
 *
 * The first byte says whether it should be a log.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/packed/packed.h"

#include <fcntl.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int to = -1;
	struct stat st;
	int from;

	if (to < 0)
		to = memfd_create("unpacked", MFD_CLOEXEC);
	if (size < 1 || ftruncate(to, 0) || lseek(to, 0, SEEK_SET))
		return 0;
	from = open(input_path(data + 1, size - 1), O_RDONLY | O_CLOEXEC);
	if (from < 0)
		abort();
	if (pxt_packed_is(from))
		(void)pxt_packed_unpack(from, to, data[0] & 1u);
	(void)close(from);
	if (fstat(to, &st) || (uint64_t)st.st_size > PXT_PACKED_LEAST + PXT_PACKED_RATIO * size)
		abort();
	return 0;
}
