/* SPDX-License-Identifier: MIT */
/* images.c - libraries that come and go while the program runs. */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <dlfcn.h>

PXT_WRAP_REAL(dlopen);

/* All that is mapped is told again: what is known already is the same. */
PXT_WRAP_EXPORT void *PXT_WRAP_NAME(dlopen)(const char *path, int mode)
{
	void *result = PXT_WRAP_CALL(dlopen)(path, mode);

	if (result && path && !(mode & RTLD_NOLOAD))
		pxt_process_tell_images();
	return result;
}
