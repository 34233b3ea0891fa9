/* SPDX-License-Identifier: MIT */
/*
 * process.c - events about the process, its threads and its images; whether this is the traced process or a
 * child of vfork() in its memory; see process.h.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include "format/elfnote.h"
#include "sysevents/wrap/tally.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
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

_Atomic uint32_t pxt_process_inherited = 7u;

/* Most programs use one or two of the three, and the kernel takes longer to name them than all that we do here. */
void pxt_process_tell_inherited(uint64_t fd)
{
	char link[] = "/proc/self/fd/0";
	char path[NAME_MAX_BYTES + 1] = "";
	int saved = errno;

	if (pxt_process_confined || !pxt_process_is_own())
		return;
	link[sizeof(link) - 2] = (char)('0' + fd);
	if (readlink(link, path, NAME_MAX_BYTES) > 0)
		pxt_process_tell_descriptor((int)fd, path, NULL);
	errno = saved;
}

void pxt_process_tell_descriptor(int fd, const char *name, const void *caller)
{
	pxt_process_forget_inherited((uint64_t)fd);
	pxt_process_tell(POSIX_TRACE_PROCESS_DESCRIPTOR_NP, (uint32_t)fd, 0, 0, name, caller);
}

void pxt_process_tell_copy(int fd, int from, const void *caller)
{
	pxt_process_use((uint64_t)from);
	pxt_process_forget_inherited((uint64_t)fd);
	pxt_process_tell(
	    POSIX_TRACE_PROCESS_DESCRIPTOR_NP, (uint32_t)fd, (uint64_t)from, 0, NULL, caller);
}

int pxt_process_tell_memory(int result, const volatile void *at, size_t bytes, const void *caller)
{
	if (result != 0)
		return result;
	pxt_tally_tell_taken(at, bytes);
	pxt_process_tell(
	    POSIX_TRACE_PROCESS_MEMORY_NP, 0, pxt_wrap_address(at), bytes, NULL, caller);
	return 0;
}

/* The thread's CPU clock is its number, with three bits behind it that say what sort of clock it is. */
#define SORT_BITS   3u
#define THREAD_SORT 6u

uint32_t pxt_process_thread_number(pthread_t thread)
{
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) != 0 ||
	    ((unsigned)clock & ((1u << SORT_BITS) - 1)) != THREAD_SORT)
		return 0;
	return (uint32_t) ~(clock >> SORT_BITS);
}

void pxt_process_tell_name(pthread_t thread, const char *name, const void *caller)
{
	char cut[16] = "";

	memcpy(cut, name, strnlen(name, sizeof(cut) - 1));
	pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_NAME_NP, pxt_process_thread_number(thread), 0,
	    0, cut, caller);
}

uint32_t pxt_process_tell_thread(uint64_t start)
{
	uint32_t tid = pxt_process_thread_number(pthread_self());
	char name[16] = "";

	if (!pxt_process_confined)
		(void)prctl(PR_GET_NAME, name, 0, 0, 0);
	pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_BEGIN_NP, tid, start, 0, NULL,
	    (const void *)(uintptr_t)start);
	if (*name)
		pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_NAME_NP, tid, 0, 0, name, NULL);
	return tid;
}

/* ---- Images ---- */

/* In memory, where the loader mapped it: no file is asked.  NULL: it has none. */
static const unsigned char *buildid_of(
    const struct dl_phdr_info *info, struct pxt_real_extent extent, uint32_t *length)
{
	const unsigned char *id = NULL;

	for (unsigned i = 0; i < info->dlpi_phnum && !id; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		/* Notes outside of what is loaded are in the file only. */
		if (part->p_type != PT_NOTE || part->p_vaddr < extent.low ||
		    part->p_vaddr > extent.high || part->p_memsz > extent.high - part->p_vaddr)
			continue;
		/* The loader gives addresses as numbers.  NOLINTNEXTLINE(performance-no-int-to-ptr) */
		const void *notes = (const void *)(uintptr_t)(info->dlpi_addr + part->p_vaddr);

		id = pxt_elfnote_buildid(notes, part->p_memsz, PXT_ELFNOTE_BIG, length);
	}
	return id;
}

/* It comes before its image's event, so that who reads that knows which file to look for. */
static void tell_build(const struct dl_phdr_info *info, struct pxt_real_extent extent)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * PXT_BUILDID_MAX + 1];
	uint32_t length = 0;
	const unsigned char *id = buildid_of(info, extent, &length);

	for (uint32_t i = 0; id && i < length; i++) {
		text[(size_t)2 * i] = digits[id[i] >> 4];
		text[(size_t)2 * i + 1] = digits[id[i] & 15u];
	}
	text[id ? (size_t)2 * length : 0] = '\0';
	pxt_process_tell(POSIX_TRACE_PROCESS_IMAGE_BUILD_NP, (uint32_t)extent.low, info->dlpi_addr,
	    extent.high - extent.low, text, NULL);
}

/* The file that it was executed by is no script: of one the kernel makes the first argument its interpreter. */
static bool no_script;

void pxt_process_called(const char *first)
{
	/* The kernel gives addresses as numbers.  NOLINTNEXTLINE(performance-no-int-to-ptr) */
	const char *name = (const char *)getauxval(AT_EXECFN);
	const char *slash = name ? strrchr(name, '/') : NULL;

	no_script = first && slash && (!strcmp(first, slash + 1) || !strcmp(first, name));
}

static bool is_program(const char *name)
{
	unsigned char magic[SELFMAG] = { 0 };
	int fd;

	if (no_script)
		return true;
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return false;
	(void)!read(fd, magic, SELFMAG);
	(void)close(fd);
	return memcmp(magic, ELFMAG, SELFMAG) == 0;
}

/*
 * The name that it was executed by, if that is the program itself, not a script of it: the kernel takes ten times as
 * long to say what /proc/self/exe is.
 */
static bool takes_given_name(char path[NAME_MAX_BYTES + 1])
{
	/* The kernel gives addresses as numbers.  NOLINTNEXTLINE(performance-no-int-to-ptr) */
	const char *name = (const char *)getauxval(AT_EXECFN);
	size_t bytes = name ? strnlen(name, NAME_MAX_BYTES + 1) : 0;
	struct stat about;

	if (bytes > NAME_MAX_BYTES || !bytes || *name != '/' || lstat(name, &about) != 0 ||
	    !S_ISREG(about.st_mode) || !is_program(name))
		return false;
	memcpy(path, name, bytes);
	return true;
}

const char *pxt_process_executable(void)
{
	/* Asked once: another one is another process' memory. */
	static char path[NAME_MAX_BYTES + 1];

	if (!*path && !pxt_process_confined && !takes_given_name(path) &&
	    readlink("/proc/self/exe", path, NAME_MAX_BYTES) < 0)
		*path = '\0';
	return path;
}

/* Absolute, if it can be.  A program may have changed its folder since; but a build has its number. */
static void path_of(const struct dl_phdr_info *info, char path[NAME_MAX_BYTES + 1])
{
	const char *name = info->dlpi_name;

	*path = '\0';
	/* The program itself has no name here. */
	if (!name || !*name) {
		memcpy(path, pxt_process_executable(), NAME_MAX_BYTES + 1);
		return;
	}
	/* "./plugin.so"; the vDSO has a name and no file. */
	if (*name != '/' && strchr(name, '/') && !pxt_process_confined &&
	    getcwd(path, NAME_MAX_BYTES - strnlen(name, NAME_MAX_BYTES - 2) - 1))
		(void)strcat(path, "/");
	else
		*path = '\0';
	(void)strncat(path, name, NAME_MAX_BYTES - strlen(path));
}

static int tell_image(struct dl_phdr_info *info, PXT_UNUSED size_t bytes, PXT_UNUSED void *argument)
{
	const struct pxt_real_extent extent = pxt_real_extent(info, 0);
	char path[NAME_MAX_BYTES + 1] = "";

	path_of(info, path);
	if (extent.low >= extent.high || *path != '/')
		return 0;
	tell_build(info, extent);
	pxt_process_tell(POSIX_TRACE_PROCESS_IMAGE_NP, (uint32_t)extent.low, info->dlpi_addr,
	    extent.high - extent.low, path, NULL);
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
