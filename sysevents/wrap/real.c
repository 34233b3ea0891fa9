/* SPDX-License-Identifier: MIT */
/*
 * real.c - the real functions behind the preload library's.
 *
 * All are looked for before main(), and one by one at a call that comes earlier: another library's
 * constructor calls ours.  Two threads may look for one at once; they find the same.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/wrap.h"

#include <dlfcn.h>

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
