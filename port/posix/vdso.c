/* SPDX-License-Identifier: MIT */
/*
 * vdso.c - the kernel's clock_gettime() in the image that it maps into each process; see clock.h.
 *
 * Where there is no such image, or none of this form, the C library's function is called.
 */
#define _GNU_SOURCE
#include "port/posix/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && defined(__LP64__)
#include <elf.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>

#if defined(__x86_64__)
#define NAME "__vdso_clock_gettime"
#else
#define NAME "__kernel_clock_gettime"
#endif

typedef int (*gettime)(clockid_t clock, struct timespec *now);

/* The kernel's, after pxt_vdso_find().  Several threads may look at once; they find the same.  Relaxed: it is all. */
static _Atomic(gettime) vdso_clock = clock_gettime;

struct image {
	uintptr_t base; /* where it lies less where it was linked */
	const Elf64_Sym *symbols;
	const char *names;
};

static const void *at(uintptr_t address)
{
	return (const void *)address; /* NOLINT(performance-no-int-to-ptr) */
}

static bool read_dynamic(struct image *image, const Elf64_Dyn *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_SYMTAB)
			image->symbols = at(image->base + dynamic->d_un.d_ptr);
		else if (dynamic->d_tag == DT_STRTAB)
			image->names = at(image->base + dynamic->d_un.d_ptr);
	}
	return image->symbols && image->names;
}

static bool read_image(struct image *image, uintptr_t start)
{
	const Elf64_Ehdr *head = at(start);
	const Elf64_Phdr *parts = at(start + head->e_phoff);
	const Elf64_Phdr *dynamic = NULL;
	bool has_base = false;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		if (parts[i].p_type == PT_DYNAMIC)
			dynamic = &parts[i];
		if (parts[i].p_type != PT_LOAD || has_base)
			continue;
		image->base = start + parts[i].p_offset - parts[i].p_vaddr;
		has_base = true;
	}
	return has_base && dynamic && read_dynamic(image, at(image->base + dynamic->p_vaddr));
}

/* Names come behind symbols: there is no other number of these that every kernel tells. */
static gettime look_up(void)
{
	uintptr_t start = (uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct image image = { 0 };

	if (!start || !read_image(&image, start) ||
	    (uintptr_t)image.names < (uintptr_t)image.symbols)
		return clock_gettime;
	for (const Elf64_Sym *symbol = image.symbols; (const char *)(symbol + 1) <= image.names;
	     symbol++)
		if (symbol->st_shndx != SHN_UNDEF &&
		    strcmp(image.names + symbol->st_name, NAME) == 0)
			return (gettime)(image.base + symbol->st_value);
	return clock_gettime;
}

void pxt_vdso_find(void)
{
	atomic_store_explicit(&vdso_clock, look_up(), memory_order_relaxed);
}

int pxt_vdso_gettime(clockid_t clock, struct timespec *now)
{
	gettime vdso_gettime = atomic_load_explicit(&vdso_clock, memory_order_relaxed);

	return vdso_gettime(clock, now);
}

#else

void pxt_vdso_find(void)
{
}

int pxt_vdso_gettime(clockid_t clock, struct timespec *now)
{
	return clock_gettime(clock, now);
}

#endif
