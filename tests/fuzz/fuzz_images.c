/* SPDX-License-Identifier: MIT */
/*
 * fuzz_images.c - whatever events say of images, what is found covers the address that was asked for,
 * at that time or later.
 *
 * Steps of 8 bytes: what happens or is asked, process, address, size, two bytes of the path, time.
 */
#include "tools/read/images.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define STEP_BYTES 8u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void happen(struct pxt_images *images, const uint8_t *step, int64_t ns)
{
	static const unsigned char kinds[] = { POSIX_TRACE_PROCESS_IMAGE_NP,
		POSIX_TRACE_PROCESS_IMAGE_NP, POSIX_TRACE_PROCESS_IMAGE_GONE_NP,
		POSIX_TRACE_PROCESS_TRACED_NP };
	unsigned char bytes[32] = { step[0] & 64u ? POSIX_TRACE_PROCESS_IMAGE_BUILD_NP
		                                  : kinds[step[0] & 3u] };
	const struct pxt_event event = { .data = bytes,
		.bytes = step[0] & 4u ? step[6] % sizeof bytes : 25,
		.ns = ns,
		.info = { .posix_event_id = POSIX_TRACE_PROCESS_NP, .posix_pid = step[1] % 5 } };
	uint64_t base = step[0] & 8u ? UINT64_MAX - step[2] : (uint64_t)step[2] << 12;
	uint64_t room = step[0] & 16u ? UINT64_MAX - step[3] : (uint64_t)step[3] << 10;

	bytes[1] = step[0] & 32u ? step[6] : 0;
	memcpy(bytes + 5, &base, sizeof base);
	memcpy(bytes + 13, &room, sizeof room);
	memcpy(bytes + 21, step + 4, 2);
	pxt_images_take(images, &event);
}

static void ask(const struct pxt_images *images, const uint8_t *step, int64_t ns)
{
	pid_t pid = step[1] % 5;
	uint64_t address = (uint64_t)step[2] << 12 | (uint64_t)step[3] << 4;
	const struct pxt_image *image = pxt_images_find(images, pid, address, ns);

	if (image && (image->pid != pid || address < image->low || address >= image->high ||
	                 (image->from_ns <= ns && image->to_ns <= ns)))
		abort();
	if (image && (image->file >= images->file_count || !*images->files[image->file].path))
		abort();
	if (image && images->files[image->file].build.bytes > PXT_BUILDID_MAX)
		abort();
	if (image && !pxt_images_knows(images, pid))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pxt_images images = { 0 };
	int64_t ns = 0;

	for (; size >= STEP_BYTES; data += STEP_BYTES, size -= STEP_BYTES) {
		if (data[0] & 128u) {
			ask(&images, data, ns - data[7]);
		} else {
			ns += data[7];
			happen(&images, data, ns);
		}
	}
	pxt_images_free(&images);
	return 0;
}
