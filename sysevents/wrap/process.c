/* SPDX-License-Identifier: MIT */
/*
 * process.c - events about the process, its threads and its images; whether this is the traced process or a
 * child of vfork() in its memory; see process.h.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define NAME_MAX_BYTES 232u

struct data {
	uint8_t what;
	uint32_t number;
	uint64_t address;
	uint64_t size;
	char name[NAME_MAX_BYTES];
} __attribute__((packed));

void pxt_process_tell(uint8_t what, uint32_t number, uint64_t address, uint64_t size,
    const char *name, const void *caller)
{
	struct data data = { .what = what, .number = number, .address = address, .size = size };
	size_t length = name ? strnlen(name, NAME_MAX_BYTES) : 0;

	if (!posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP))
		return;
	if (length)
		memcpy(data.name, name, length);
	posix_trace_system_event_np(
	    POSIX_TRACE_PROCESS_NP, &data, offsetof(struct data, name) + length, caller);
}

void pxt_process_tell_descriptor(int fd, const char *name, const void *caller)
{
	pxt_process_tell(POSIX_TRACE_PROCESS_DESCRIPTOR_NP, (uint32_t)fd, 0, 0, name, caller);
}

void pxt_process_tell_copy(int fd, int from, const void *caller)
{
	pxt_process_tell(
	    POSIX_TRACE_PROCESS_DESCRIPTOR_NP, (uint32_t)fd, (uint64_t)from, 0, NULL, caller);
}

int pxt_process_tell_memory(int result, const volatile void *at, size_t bytes, const void *caller)
{
	if (result == 0)
		pxt_process_tell(
		    POSIX_TRACE_PROCESS_MEMORY_NP, 0, pxt_wrap_address(at), bytes, NULL, caller);
	return result;
}

uint32_t pxt_process_tell_thread(uint64_t start)
{
	uint32_t tid = pxt_process_confined ? pxt_process_own_number() : (uint32_t)gettid();
	char name[16] = "";

	if (!pxt_process_confined)
		(void)prctl(PR_GET_NAME, name, 0, 0, 0);
	pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_BEGIN_NP, tid, start, 0, NULL,
	    (const void *)(uintptr_t)start);
	if (*name)
		pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_NAME_NP, tid, 0, 0, name, NULL);
	return tid;
}

#if !PXT_GROUP_MUTEX_LOCK
uint32_t pxt_process_own_number(void)
{
	return 0;
}
#endif

static int tell_image(struct dl_phdr_info *info, size_t bytes, void *argument)
{
	uint64_t low = UINT64_MAX;
	uint64_t high = 0;
	char path[NAME_MAX_BYTES + 1] = "";

	(void)bytes;
	(void)argument;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type != PT_LOAD)
			continue;
		if (part->p_vaddr < low)
			low = part->p_vaddr;
		if (part->p_vaddr + part->p_memsz > high)
			high = part->p_vaddr + part->p_memsz;
	}
	/* The program itself has no name here. */
	if (info->dlpi_name && *info->dlpi_name)
		(void)strncpy(path, info->dlpi_name, NAME_MAX_BYTES);
	else if (readlink("/proc/self/exe", path, NAME_MAX_BYTES) < 0)
		*path = '\0';
	/* The vDSO has no file. */
	if (low < high && *path == '/')
		pxt_process_tell(POSIX_TRACE_PROCESS_IMAGE_NP, (uint32_t)low, info->dlpi_addr,
		    high - low, path, NULL);
	return 0;
}

void pxt_process_tell_images(void)
{
	if (posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP))
		(void)dl_iterate_phdr(tell_image, NULL);
}

__thread bool pxt_process_new_images;

void pxt_process_tell_new_images(void)
{
	int saved = errno;

	pxt_process_new_images = false;
	pxt_process_tell_images();
	errno = saved;
}

bool pxt_process_confined;
bool pxt_process_lent = !PXT_PROCESS_SEES_VFORK;

/* A process that never called vfork() is not asked: a filter may allow it little more than to end. */
bool pxt_process_is_own(void)
{
	return !pxt_process_lent || (int)getpid() == pxt_wrap_wishes.pid;
}

void pxt_process_tell_exit(int status, const void *caller)
{
	static _Atomic int told; /* by the process of this number */

	if (!posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP) || !pxt_process_is_own() ||
	    atomic_exchange_explicit(&told, pxt_wrap_wishes.pid, memory_order_relaxed) ==
	        pxt_wrap_wishes.pid)
		return;
	pxt_process_tell(
	    POSIX_TRACE_PROCESS_EXIT_NP, (uint32_t)(status & 0xff), 0, 0, NULL, caller);
}
