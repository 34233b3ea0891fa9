/* SPDX-License-Identifier: MIT */
/*
 * fuzz_import.c - whatever S.Ha.R.K.'s tracer is said to have left, the log of it is sound.
 *
 * The first byte says whether the rest is a file, or datagrams with a byte of length each; and the rate.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/import/shark.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_packets(struct pxt_shark *shark, const uint8_t *data, size_t size)
{
	while (size > 0) {
		size_t bytes = *data * 8u < size - 1 ? *data * 8u : size - 1;

		if (pxt_shark_is_packet(data + 1, bytes))
			pxt_shark_packet(shark, data + 1, bytes);
		data += bytes + 1;
		size -= bytes + 1;
	}
	(void)pxt_shark_missing(shark);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	struct pxt_shark shark = { 0 };
	int status = 0;

	if (!*path)
		(void)snprintf(path, sizeof path, "/tmp/fuzz-import-%ld.ptl", (long)getpid());
	if (size < 1)
		return 0;
	shark.hz = data[0] & 2u ? 1000000u << (data[0] >> 4) : 0;
	if (data[0] & 1u)
		take_packets(&shark, data + 1, size - 1);
	else
		status = pxt_shark_file(&shark, input_path(data + 1, size - 1));
	if (status == 0 && pxt_shark_write(&shark, "import", path) == 0)
		check_log(path);
	pxt_shark_free(&shark);
	return 0;
}
