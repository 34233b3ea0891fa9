/* SPDX-License-Identifier: MIT */
/*
 * real.c - the two doors: the real functions behind the wrappers, whose code is whose, and what is asked for.
 *
 * The preload library's are looked for before main(), and one by one at a call that comes earlier: another
 * library's constructor calls ours.  Two threads may look for one at once; they find the same.  For the
 * archive the linker has done all that there is to do.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unwind.h>

/* Filled before main() (start.c). */
struct pxt_wrap_wishes pxt_wrap_wishes = {
	.stack_ns = UINT64_MAX, .calls = UINT64_MAX, .kinds = UINT64_MAX
};

int (*pxt_real_gettime)(clockid_t clock, struct timespec *time) = clock_gettime;

#if PXT_WRAP_BY_LINKER
void pxt_start_door(void)
{
}
#else
/* Where the linker put all that PXT_WRAP_REAL_AS() named. */
extern struct pxt_real *const __start_pxt_reals[] __attribute__((visibility("hidden")));
extern struct pxt_real *const __stop_pxt_reals[] __attribute__((visibility("hidden")));

/* What an older C library does not have; a program for that one does not call it. */
static long missing(void)
{
	errno = ENOSYS;
	return -1;
}

__thread bool pxt_real_looks;

pxt_real_function pxt_real_find(struct pxt_real *real)
{
	bool looked = pxt_real_looks;
	int saved = errno;
	union {
		void *object;
		pxt_real_function function;
	} found;

	pxt_real_looks = true;
	found.object = *real->version ? dlvsym(RTLD_NEXT, real->name, real->version)
	                              : dlsym(RTLD_NEXT, real->name);
	if (!found.object) {
		/* The thread's own.  NOLINTNEXTLINE(concurrency-mt-unsafe) */
		(void)dlerror();
		found.function = (pxt_real_function)missing;
	}
	pxt_real_looks = looked;
	__atomic_store_n(&real->function, found.function, __ATOMIC_RELAXED);
	errno = saved;
	return found.function;
}

void pxt_real_find_all(void)
{
	for (struct pxt_real *const *at = __start_pxt_reals; at != __stop_pxt_reals; at++)
		(void)pxt_real_find(*at);
}

/* In the C library itself: what comes next may be a library for another time. */
static void find_gettime(void)
{
	void *library = dlopen(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD);
	union {
		void *object;
		__typeof__(&clock_gettime) function;
	} found = { library ? dlsym(library, "clock_gettime") : NULL };

	if (found.object)
		pxt_real_gettime = found.function;
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

#define FORWARDED(result, name, parameters, arguments)                                             \
	result name parameters                                                                     \
	{                                                                                          \
		static void *known;                                                                \
		union {                                                                            \
			void *object;                                                              \
			result(*function) parameters;                                              \
		} found = { unwinder(&known, #name) };                                             \
                                                                                                   \
		return found.function arguments;                                                   \
	}

/* What the compiler's tables name for clean-ups in C; no header has it. */
_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
    _Unwind_Exception_Class class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context);

FORWARDED(_Unwind_Reason_Code, __gcc_personality_v0,
    (int version, _Unwind_Action actions, _Unwind_Exception_Class class,
        struct _Unwind_Exception *exception, struct _Unwind_Context *context),
    (version, actions, class, exception, context))
FORWARDED(_Unwind_Reason_Code, _Unwind_Backtrace, (_Unwind_Trace_Fn visit, void *argument),
    (visit, argument))
FORWARDED(_Unwind_Ptr, _Unwind_GetIP, (struct _Unwind_Context * context), (context))
FORWARDED(
    _Unwind_Word, _Unwind_GetGR, (struct _Unwind_Context * context, int index), (context, index))

/* At the end of a wrapper's clean-up: does not return. */
void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	static void *known;
	union {
		void *object;
		void (*function)(struct _Unwind_Exception *exception);
	} found = { unwinder(&known, "_Unwind_Resume") };

	found.function(exception);
	abort();
}
#endif

/* ---- Whose code is whose ---- */

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
	if (info->dlpi_addr == getauxval(AT_BASE) && info->dlpi_name)
		(void)strncpy(pxt_wrap_wishes.kind.loader, info->dlpi_name,
		    sizeof(pxt_wrap_wishes.kind.loader) - 1);
	if (*(const uintptr_t *)argument - code.low < code.bytes)
		pxt_wrap_wishes.own[0] = code;
	else if (slash && strncmp(slash, recorder, sizeof(recorder) - 1) == 0)
		pxt_wrap_wishes.own[1] = code;
	return 0;
}

/* The head of this library's file, where the linker says that it is. */
extern const unsigned char __ehdr_start[] __attribute__((visibility("hidden")));

void pxt_start_door(void)
{
	uintptr_t here = (uintptr_t)&pxt_start_door;

	pxt_real_find_all();
	pxt_wrap_wishes.kind.wordsize = __ehdr_start[4];
	pxt_wrap_wishes.kind.order = __ehdr_start[5];
	memcpy(&pxt_wrap_wishes.kind.machine, __ehdr_start + 18, 2);
	find_gettime();
	(void)dl_iterate_phdr(note_own, &here);
}
#endif
