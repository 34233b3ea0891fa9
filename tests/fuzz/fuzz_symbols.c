/* SPDX-License-Identifier: MIT */
/*
 * fuzz_symbols.c - whatever a binary holds, its build, its sections, its variables and functions are
 * read in bounded memory.
 *
 * The first eight bytes are an address that is asked for; the rest is the binary.
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"

#include "tools/read/symbols.h"

#include <fcntl.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pxt_objects *objects;
	unsigned char id[PXT_BUILDID_MAX];
	const char *path;
	uint64_t address;
	int fd;

	if (size < sizeof address)
		return 0;
	memcpy(&address, data, sizeof address);
	path = input_path(data + sizeof address, size - sizeof address);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pxt_build_id(fd, id) > sizeof id)
		abort();
	(void)pxt_build_sections(fd);
	(void)close(fd);
	objects = pxt_objects_open(path);
	if (objects) {
		char name[32] = "";

		for (unsigned i = 0; i < 64; i++) {
			if (pxt_objects_name(objects, address + 8u * i, name, sizeof name) &&
			    !memchr(name, '\0', sizeof name))
				abort();
			(void)pxt_objects_in_function(objects, address << i);
		}
	}
	pxt_objects_close(objects);
	return 0;
}
