/* SPDX-License-Identifier: MIT */
/* door_preload.c - the preload library's start: the real functions, and where the library's own code is. */
#define _GNU_SOURCE
#include "sysevents/wrap/start.h"
#include "sysevents/wrap/wrap.h"

#include <link.h>
#include <string.h>

static const char recorder[] = "/libptrace.so";

static struct pxt_wrap_code code_of(const struct dl_phdr_info *info)
{
	uintptr_t low = UINTPTR_MAX;
	uintptr_t high = 0;

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		if (part->p_vaddr < low)
			low = part->p_vaddr;
		if (part->p_vaddr + part->p_memsz > high)
			high = part->p_vaddr + part->p_memsz;
	}
	return (struct pxt_wrap_code){ info->dlpi_addr + low, high > low ? high - low : 0 };
}

/* The recording library is known by its name: an address of one of its functions may lie in the program. */
static int note_own(struct dl_phdr_info *info, size_t bytes, void *argument)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct pxt_wrap_code code = code_of(info);

	(void)bytes;
	if (*(const uintptr_t *)argument - code.low < code.bytes)
		pxt_wrap_wishes.own[0] = code;
	else if (slash && strncmp(slash, recorder, sizeof(recorder) - 1) == 0)
		pxt_wrap_wishes.own[1] = code;
	return 0;
}

void pxt_start_door(void)
{
	uintptr_t here = (uintptr_t)&pxt_start_door;

	pxt_real_find_all();
	(void)dl_iterate_phdr(note_own, &here);
}
