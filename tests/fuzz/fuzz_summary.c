/* SPDX-License-Identifier: MIT */
/*
 * fuzz_summary.c - whatever a log holds, the summary of a run ends, and is fit for a terminal.
 *
 * The first byte says whether checksums are made right; the rest is the log.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/run/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pxt_out out;
	struct pxt_recorder_sum sum = { 0 };
	struct pxt_summary summary = { .sum = &sum };
	unsigned char *log;
	char text[4096];
	ssize_t bytes;
	off_t at = 0;

	if (size < 1)
		return 0;
	log = malloc(size);
	if (!log)
		abort();
	memcpy(log, data + 1, size - 1);
	if (data[0] & 1u)
		sign(log, size - 1);
	summary.path = input_path(log, size - 1);
	free(log);
	if (out.fd == 0)
		out.fd = memfd_create("summary", MFD_CLOEXEC);
	if (out.fd < 0 || ftruncate(out.fd, 0) || lseek(out.fd, 0, SEEK_SET))
		abort();
	(void)pxt_summary(&out, &summary);
	pxt_out_flush(&out);
	for (; (bytes = pread(out.fd, text, sizeof text, at)) > 0; at += bytes)
		check_text(text, (size_t)bytes);
	return 0;
}
