/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recover.c - whatever a file holds, pxtrace recover neither crashes nor hangs, and every log that
 * it makes can be opened and is sound.
 *
 * The first byte of an input says what is done with the rest:
 *
 *	ALL   what the program had read already is taken, too
 *	SIGN  the checksums of a log are made right first
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/recover/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define ALL  1u
#define SIGN 2u

#define STREAMS_MAX 16u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/fuzz-recover-XXXXXX/log.ptl";

/* ---- Streams ---- */

static void recover(const struct pxt_finds *finds, const struct pxt_found *found, bool all)
{
	static struct pxt_recovered recovered;
	struct pxt_written written;
	int error;

	if (pxt_recover_load(&recovered, finds, found, all, NULL))
		return;
	if (!pxt_recover_write(&recovered, path, &written, &error)) {
		if (error)
			abort();
		check_log(path);
	}
	pxt_recover_free(&recovered);
}

static void recover_small(const struct pxt_found *found)
{
	static struct pxt_small small;

	if (found->wrong || pxt_small_load(&small, found))
		return;
	(void)pxt_small_state(&small);
	if (pxt_small_write(&small, path))
		abort();
	check_log(path);
	pxt_small_free(&small);
}

static void recover_all(const struct pxt_image *image, bool all)
{
	struct pxt_finds finds = { 0 };

	if (!pxt_find(&finds, image))
		abort();
	for (size_t i = 0; i < finds.stream_count && i < STREAMS_MAX; i++)
		if (finds.streams[i].small)
			recover_small(&finds.streams[i]);
		else
			recover(&finds, &finds.streams[i], all);
	pxt_find_free(&finds);
}

static void salvage(const struct pxt_image *image)
{
	struct pxt_salvaged salvaged;
	int error;

	if (pxt_salvage(image, 1, path, &salvaged, &error))
		return;
	if (error)
		abort();
	check_log(path);
}

/* ---- One input ---- */

static int make_file(const uint8_t *data, size_t size, bool signs)
{
	unsigned char *copy = malloc(size + 1);
	int fd = memfd_create("image", 0);

	if (!copy || fd < 0)
		abort();
	memcpy(copy, data, size);
	if (signs)
		sign(copy, size);
	if (write(fd, copy, size) != (ssize_t)size)
		abort();
	free(copy);
	return fd;
}

static void make_folder(void)
{
	static bool made;
	char *name = strrchr(path, '/');

	if (made)
		return;
	*name = '\0';
	if (!mkdtemp(path))
		abort();
	*name = '/';
	made = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pxt_image image;

	make_folder();
	if (size < 1)
		return 0;
	if (pxt_image_open(&image, "image", make_file(data + 1, size - 1, (data[0] & SIGN) != 0)))
		abort();
	if (pxt_salvage_is_log(&image))
		salvage(&image);
	else
		recover_all(&image, (data[0] & ALL) != 0);
	pxt_image_close(&image);
	return 0;
}
