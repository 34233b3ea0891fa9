/* SPDX-License-Identifier: MIT */
/* dlopen.c - loading and unloading of libraries; see process.h. */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <dlfcn.h>

#define PATH_BYTES 256

/* The compiler makes a jump of the call, as nothing comes after it. */
PXT_WRAPPER(void *, dlopen, (const char *path, int mode))
{
	if (path && !(mode & RTLD_NOLOAD) &&
	    pxt_wrap_wanted(POSIX_TRACE_PROCESS_NP, PXT_WRAP_CALLER()))
		pxt_process_new_images = true;
	return PXT_WRAP_CALL(dlopen)(path, mode);
}

#ifdef LM_ID_BASE
/*
 * What is loaded into a namespace of its own calls a C library of its own, not these wrappers: an image without a
 * place tells of it.  This is a jump, too.
 */
PXT_WRAPPER(void *, dlmopen, (Lmid_t space, const char *path, int mode))
{
	const void *caller = PXT_WRAP_CALLER();

	if (path && !(mode & RTLD_NOLOAD) && pxt_wrap_wanted(POSIX_TRACE_PROCESS_NP, caller)) {
		pxt_process_new_images = pxt_process_new_images || space == LM_ID_BASE;
		if (space != LM_ID_BASE)
			pxt_process_tell(POSIX_TRACE_PROCESS_IMAGE_NP, 0, 0, 0, path, caller);
	}
	return PXT_WRAP_CALL(dlmopen)(space, path, mode);
}
#endif

/* Where @handle is mapped now, and from which file; false: it is not. */
static bool look(void *handle, uint64_t *address, char path[PATH_BYTES])
{
	struct link_map *map;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) {
		/* The thread's own.  NOLINTNEXTLINE(concurrency-mt-unsafe) */
		(void)dlerror();
		return false;
	}
	*address = map->l_addr;
	path[0] = '\0';
	(void)strncat(path, map->l_name, PATH_BYTES - 1);
	return path[0] != '\0';
}

static int is_that(struct dl_phdr_info *info, PXT_UNUSED size_t bytes, void *argument)
{
	return info->dlpi_name && strncmp(info->dlpi_name, argument, PATH_BYTES - 1) == 0;
}

/* Others may have it open as well: it is gone when it cannot be found any more. */
static void tell_gone(uint64_t address, char *path, const void *caller)
{
	if (!dl_iterate_phdr(is_that, path))
		pxt_process_tell(POSIX_TRACE_PROCESS_IMAGE_GONE_NP, 0, address, 0, path, caller);
}

PXT_WRAPPER(int, dlclose, (void *handle))
{
	const void *caller = PXT_WRAP_CALLER();
	char path[PATH_BYTES];
	void *given = handle; /* may be NULL all the same */
	uint64_t address;
	int result;

	if (!pxt_wrap_wanted(POSIX_TRACE_PROCESS_NP, caller) || !given)
		return PXT_WRAP_CALL(dlclose)(handle);
	pxt_process_catch_up();
	if (!look(handle, &address, path))
		return PXT_WRAP_CALL(dlclose)(handle);
	result = PXT_WRAP_CALL(dlclose)(handle);
	if (result == 0)
		tell_gone(address, path, caller);
	return result;
}
