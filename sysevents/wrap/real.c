/* SPDX-License-Identifier: MIT */
/*
 * real.c - the two doors: the real functions behind the wrappers, whose code is whose, and what is asked for.
 *
 * The preload library's are looked for when they are first called: in tables that are noted before main(), and by
 * the loader at a call that comes earlier, from another library's constructor.  Two threads may look for one at
 * once; they find the same.  For the archive the linker has done all that there is to do.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unwind.h>

/* Filled before main() (start.c). */
struct pxt_wrap_wishes pxt_wrap_wishes = {
	.stack_ns = UINT64_MAX, .calls = UINT64_MAX, .kinds = UINT64_MAX
};

int (*pxt_real_gettime)(clockid_t clock, struct timespec *time) = clock_gettime;

struct pxt_real_extent pxt_real_extent(const struct dl_phdr_info *info, uint32_t flags)
{
	struct pxt_real_extent extent = { .low = UINTPTR_MAX };

	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || (part->p_flags & flags) != flags)
			continue;
		if (part->p_vaddr < extent.low)
			extent.low = part->p_vaddr;
		if (part->p_vaddr + part->p_memsz > extent.high)
			extent.high = part->p_vaddr + part->p_memsz;
	}
	return extent;
}

#if PXT_WRAP_BY_LINKER
void pxt_start_door(void)
{
}
#else
/* What an older C library does not have; a program for that one does not call it. */
static long missing(void)
{
	errno = ENOSYS;
	return -1;
}

/* ---- Libraries that come after this one ---- */

/*
 * Two hundred searches by dlsym() are half of what a short process costs, and a handler of a signal must not call
 * it.  So the tables of the libraries that come after this one are noted before main(), and a function is looked
 * for when it is first called: that reads memory, and nothing else.  These libraries are never unloaded.
 */
#define LIBRARIES_FEW 4u
#define LIBRARIES_MAX 256u /* beyond them the loader is asked */

struct library {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;   /* as the GNU linker lays it out ... */
	const uint32_t *former; /* ... or as System V's did; one may be NULL */
	const ElfW(Half) * versions;
	const unsigned char *definitions; /* NULL: no versions */
};

static struct library few[LIBRARIES_FEW]; /* on a page that is written anyway */
static struct library more[LIBRARIES_MAX - LIBRARIES_FEW] PXT_SELDOM;
static struct {
	unsigned count;
	bool begun; /* this library has been seen, others come after it */
} libraries;

static struct library *library_at(unsigned i)
{
	return i < LIBRARIES_FEW ? &few[i] : &more[i - LIBRARIES_FEW];
}

/* Loaders relocate the addresses of that table, or leave them. */
static const void *table_at(uintptr_t base, uintptr_t address)
{
	/* The loader gives addresses as numbers.  NOLINTNEXTLINE(performance-no-int-to-ptr) */
	return (const void *)(address < base ? base + address : address);
}

static void note_table(struct library *library, const ElfW(Dyn) * entry)
{
	const void *table = table_at(library->base, entry->d_un.d_ptr);

	if (entry->d_tag == DT_SYMTAB)
		library->symbols = table;
	else if (entry->d_tag == DT_STRTAB)
		library->names = table;
	else if (entry->d_tag == DT_GNU_HASH)
		library->hash = table;
	else if (entry->d_tag == DT_HASH)
		library->former = table;
	else if (entry->d_tag == DT_VERSYM)
		library->versions = table;
	else if (entry->d_tag == DT_VERDEF)
		library->definitions = table;
}

/* NULL: there is no room. */
static const struct library *note_library(const struct dl_phdr_info *info)
{
	struct library *library;

	if (libraries.count == LIBRARIES_MAX)
		return NULL;
	library = library_at(libraries.count);
	library->base = info->dlpi_addr;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Dyn) *entry =
		    table_at(library->base, library->base + info->dlpi_phdr[i].p_vaddr);

		for (; info->dlpi_phdr[i].p_type == PT_DYNAMIC && entry->d_tag != DT_NULL; entry++)
			note_table(library, entry);
	}
	libraries.count++;
	return library;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* Whether the symbol is of that version; of the present one for "". */
static bool is_version(const struct library *library, uint32_t symbol, const char *version)
{
	ElfW(Half) number = library->versions ? library->versions[symbol] : 1;
	const unsigned char *at = library->definitions;
	ElfW(Verdef) definition;

	if (!*version)
		return !(number & 0x8000u);
	while (at) {
		memcpy(&definition, at, sizeof(definition));
		if ((definition.vd_ndx & 0x7fffu) == (number & 0x7fffu)) {
			ElfW(Verdaux) name;

			memcpy(&name, at + definition.vd_aux, sizeof(name));
			return strcmp(library->names + name.vda_name, version) == 0;
		}
		at = definition.vd_next ? at + definition.vd_next : NULL;
	}
	return false;
}

static bool is_definition(
    const struct library *library, uint32_t symbol, const char *name, const char *version)
{
	const ElfW(Sym) *entry = &library->symbols[symbol];

	return entry->st_shndx != SHN_UNDEF && entry->st_value &&
	       strcmp(library->names + entry->st_name, name) == 0 &&
	       is_version(library, symbol, version);
}

static const ElfW(Sym) *
    find_gnu(const struct library *library, const char *name, const char *version)
{
	const uint32_t hash = hash_of(name);
	const uint32_t buckets = library->hash[0];
	const uint32_t first = library->hash[1];
	const uint32_t words = library->hash[2];
	const ElfW(Addr) *filter = (const void *)&library->hash[4];
	const uint32_t *bucket = (const void *)&filter[words];
	const uint32_t *chain = bucket + buckets;
	const uint32_t bits = 8 * sizeof(*filter);
	const ElfW(Addr) word = filter[hash / bits & (words - 1)];
	uint32_t symbol;

	if (!(word >> hash % bits & word >> (hash >> library->hash[3]) % bits & 1u))
		return NULL;
	for (symbol = bucket[hash % buckets]; symbol >= first; symbol++) {
		if ((chain[symbol - first] | 1u) == (hash | 1u) &&
		    is_definition(library, symbol, name, version))
			return &library->symbols[symbol];
		if (chain[symbol - first] & 1u)
			break;
	}
	return NULL;
}

static const ElfW(Sym) *
    find_former(const struct library *library, const char *name, const char *version)
{
	const uint32_t buckets = library->former[0];
	const uint32_t *bucket = &library->former[2];
	const uint32_t *chain = bucket + buckets;
	uint32_t hash = 0;

	for (const char *at = name; *at; at++) {
		hash = (hash << 4) + (unsigned char)*at;
		hash = (hash ^ (hash >> 24 & 0xf0u)) & 0x0fffffffu;
	}
	for (uint32_t symbol = bucket[hash % buckets]; symbol; symbol = chain[symbol]) {
		if (is_definition(library, symbol, name, version))
			return &library->symbols[symbol];
	}
	return NULL;
}

static const ElfW(Sym) *
    find_in(const struct library *library, const char *name, const char *version)
{
	if (!library->symbols || !library->names)
		return NULL;
	if (library->hash)
		return find_gnu(library, name, version);
	return library->former ? find_former(library, name, version) : NULL;
}

#define CHOSEN_LATER 10 /* STT_GNU_IFUNC: a function of the library says which one it is */

/* NULL: none, or who looks has to ask the loader. */
static const void *find_noted(const char *name, const char *version)
{
	for (unsigned i = 0; i < libraries.count; i++) {
		const struct library *library = library_at(i);
		const ElfW(Sym) *found = find_in(library, name, version);

		if (found)
			return (found->st_info & 15) == CHOSEN_LATER
			           ? NULL
			           : table_at(library->base, library->base + found->st_value);
	}
	return NULL;
}

__thread bool pxt_real_looks;

static const void *ask_loader(const char *name, const char *version)
{
	bool looked = pxt_real_looks;
	const void *found;

	pxt_real_looks = true;
	found = *version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);
	if (!found)
		/* The thread's own.  NOLINTNEXTLINE(concurrency-mt-unsafe) */
		(void)dlerror();
	pxt_real_looks = looked;
	return found;
}

pxt_real_function pxt_real_find(pxt_real_function *known, const char *name, const char *version)
{
	int saved = errno;
	union {
		const void *object;
		pxt_real_function function;
	} found = { find_noted(name, version) };

	if (!found.object)
		found.object = ask_loader(name, version);
	if (!found.object)
		found.function = (pxt_real_function)missing;
	__atomic_store_n(known, found.function, __ATOMIC_RELAXED);
	errno = saved;
	return found.function;
}

/* In the C library itself: what comes next may be a library for another time. */
static void note_gettime(const struct library *library)
{
	static const char name[] = "clock_gettime";
	const ElfW(Sym) *found = find_in(library, name, "");
	union {
		const void *object;
		__typeof__(&clock_gettime) function;
	} function;

	if (!found || (found->st_info & 15) == CHOSEN_LATER)
		return;
	function.object = table_at(library->base, library->base + found->st_value);
	pxt_real_gettime = function.function;
}

/* ---- The unwinder ---- */

#if !defined(__arm__)
/*
 * A program in C loads the unwinder when a thread is cancelled.  The preload library does not ask for it
 * sooner: a library more at each start is a tenth of what a short process costs.
 */
static void *unwinder(void **known, const char *name)
{
	void *found = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (!found) {
		void *library = dlopen("libgcc_s.so.1", RTLD_NOW);

		found = library ? dlsym(library, name) : NULL;
		__atomic_store_n(known, found, __ATOMIC_RELAXED);
	}
	/* The C library ends a program that cancels a thread without it, too. */
	if (!found)
		abort();
	return found;
}

/* What the compiler's tables name for clean-ups in C; no header has it. */
_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
    _Unwind_Exception_Class class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context);

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
    _Unwind_Exception_Class class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context)
{
	static void *known;
	union {
		void *object;
		__typeof__(&__gcc_personality_v0) function;
	} found = { unwinder(&known, "__gcc_personality_v0") };

	return found.function(version, actions, class, exception, context);
}

/* At the end of a wrapper's clean-up: does not return. */
void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	static void *known;
	union {
		void *object;
		__typeof__(&_Unwind_Resume) function;
	} found = { unwinder(&known, "_Unwind_Resume") };

	found.function(exception);
	abort();
}
#endif

/* ---- Whose code is whose ---- */

static const char recorder[] = "/libptrace.so";

static struct pxt_wrap_code code_of(const struct dl_phdr_info *info)
{
	const struct pxt_real_extent code = pxt_real_extent(info, PF_X);

	return (struct pxt_wrap_code){ info->dlpi_addr + code.low,
		code.high > code.low ? code.high - code.low : 0 };
}

/* The recording library is known by its name: an address of one of its functions may lie in the program. */
static int note_own(struct dl_phdr_info *info, PXT_UNUSED size_t bytes, void *argument)
{
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct pxt_wrap_code code = code_of(info);

	if (libraries.begun) {
		const struct library *library = note_library(info);

		if (library && slash && strcmp(slash + 1, LIBC_SO) == 0)
			note_gettime(library);
	}
	if (info->dlpi_addr == getauxval(AT_BASE) && info->dlpi_name)
		(void)strncpy(pxt_wrap_wishes.kind.loader, info->dlpi_name,
		    sizeof(pxt_wrap_wishes.kind.loader) - 1);
	if (*(const uintptr_t *)argument - code.low < code.bytes) {
		pxt_wrap_wishes.own[0] = code;
		libraries.begun = true;
	} else if (slash && strncmp(slash, recorder, sizeof(recorder) - 1) == 0) {
		pxt_wrap_wishes.own[1] = code;
	}
	return 0;
}

/* The head of this library's file, where the linker says that it is. */
extern const unsigned char __ehdr_start[] __attribute__((visibility("hidden")));

void pxt_start_door(void)
{
	uintptr_t here = (uintptr_t)&pxt_start_door;

	/* Written before it is read: a page that is read first is met twice. */
	libraries.begun = false;
	(void)dl_iterate_phdr(note_own, &here);
	pxt_wrap_wishes.kind.wordsize = __ehdr_start[4];
	pxt_wrap_wishes.kind.order = __ehdr_start[5];
	memcpy(&pxt_wrap_wishes.kind.machine, __ehdr_start + 18, 2);
}
#endif
