/* SPDX-License-Identifier: MIT */
/*
 * real.c - the real functions behind the preload library's.
 *
 * Found at the first call, which may come before any constructor: another library's constructor calls
 * ours.  Two threads may find one at once; they find the same.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/wrap.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void complain(const char *name)
{
	static char before[] = "libptrace-preload: this C library has no ";
	char text[64];
	size_t length = strnlen(name, sizeof(text) - 1);
	static char after[] = "()\n";
	struct iovec line[] = { { before, sizeof(before) - 1 }, { text, length }, { after, 3 } };

	memcpy(text, name, length);
	(void)!writev(STDERR_FILENO, line, 3);
}

pxt_real pxt_real_find(const char *name, const char *version)
{
	int saved = errno;
	union {
		void *object;
		pxt_real function;
	} found;

	found.object = *version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);
	if (!found.object) {
		complain(name);
		abort();
	}
	errno = saved;
	return found.function;
}
