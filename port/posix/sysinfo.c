/* SPDX-License-Identifier: MIT */
/* sysinfo.c - reads name, executable, host, system, boot id and start of this process; random bytes. */
#define _GNU_SOURCE
#include "format/hexdigit.h"
#include "port/port_sysinfo.h"
#include "port/posix/owncalls.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NS_PER_S 1000000000

/* Of a path that is too long the folders go, not the program's name at its end. */
void pxt_port_executable(char *path, size_t room)
{
	char whole[1024];
	PXT_OWNCALLS();
	ssize_t got = readlink("/proc/self/exe", whole, sizeof(whole));
	size_t length = got > 0 ? (size_t)got : 0;
	size_t cut = length >= room ? length - (room - 1) : 0;

	memcpy(path, whole + cut, length - cut);
	if (cut)
		path[0] = '+';
	path[length - cut] = '\0';
}

void pxt_port_host(char *name, size_t room)
{
	PXT_OWNCALLS();

	if (gethostname(name, room) != 0 && errno != ENAMETOOLONG)
		name[0] = '\0';
	name[room - 1] = '\0';
}

void pxt_port_system(char *name, size_t room)
{
	PXT_OWNCALLS();
	struct utsname system;

	name[0] = '\0';
	if (uname(&system) == 0)
		(void)snprintf(
		    name, room, "%s %s %s", system.machine, system.sysname, system.release);
}

/*
 * Field 22 of the stat line: ticks of the system's clock between its boot and our start.  The
 * second field is a name that may hold blanks and brackets, so counting begins after the last one.
 */
static uint64_t start_ticks(void)
{
	char line[1024];
	const char *at;

	if (pxt_descriptor_text("/proc/self/stat", line, sizeof(line)) < 0)
		return 0;
	at = strrchr(line, ')');
	for (int field = 2; at != NULL && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

void pxt_port_process_start(struct timespec *start)
{
	PXT_OWNCALLS();
	long per_second = sysconf(_SC_CLK_TCK);
	uint64_t ticks = start_ticks();
	struct pxt_clock_set now;
	int64_t since_boot;
	int64_t ns;

	*start = (struct timespec){ 0, 0 };
	if (per_second <= 0 || ticks == 0)
		return;
	pxt_port_clock_read(&now);
	since_boot = (int64_t)(ticks / (uint64_t)per_second) * NS_PER_S +
	             (int64_t)(ticks % (uint64_t)per_second) * (NS_PER_S / per_second);
	ns = (int64_t)now.realtime.tv_sec * NS_PER_S + now.realtime.tv_nsec -
	     ((int64_t)now.boottime.tv_sec * NS_PER_S + now.boottime.tv_nsec) + since_boot;
	if (ns < 0)
		return;
	start->tv_sec = (time_t)(ns / NS_PER_S);
	start->tv_nsec = (long)(ns % NS_PER_S);
}

/* 8-4-4-4-12 digits; any other text is not a boot id. */
static bool parse_uuid(const char *text, size_t length, unsigned char *id)
{
	size_t digits = 0;

	for (size_t at = 0; at < length && digits / 2 < PXT_BOOT_ID_BYTES; at++) {
		int digit = pxt_hexdigit(text[at]);

		if (text[at] == '-')
			continue;
		if (digit < 0)
			return false;
		id[digits / 2] = (unsigned char)(id[digits / 2] << 4 | digit);
		digits++;
	}
	return digits / 2 == PXT_BOOT_ID_BYTES;
}

void pxt_port_boot_id(unsigned char *id)
{
	PXT_OWNCALLS();
	char text[40];
	long got = pxt_descriptor_text("/proc/sys/kernel/random/boot_id", text, sizeof(text));

	memset(id, 0, PXT_BOOT_ID_BYTES);
	if (got > 0 && !parse_uuid(text, (size_t)got, id))
		memset(id, 0, PXT_BOOT_ID_BYTES);
}

/* Early after boot the pool may be empty: then clocks, pid and an address make the difference. */
void pxt_port_random(void *bytes, size_t count)
{
	PXT_OWNCALLS();
	unsigned char *to = bytes;
	struct pxt_clock_set now;
	uint64_t state;

	if (getrandom(bytes, count, GRND_NONBLOCK) != (ssize_t)count) {
		pxt_port_clock_read(&now);
		state = now.ticks ^ (uint64_t)now.realtime.tv_sec << 32 ^
		        (uint64_t)now.realtime.tv_nsec ^ (uint64_t)pxt_port_pid() << 40 ^
		        (uint64_t)(uintptr_t)&now;
		for (size_t i = 0; i < count; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			to[i] = (unsigned char)(state >> 56);
		}
	}
}

/* Executable and shared libraries in memory, with their build-ids. */

struct walk {
	void (*each)(void *context, const struct pxt_port_module *module);
	void *context;
	bool first;
};

static void take_buildid(const void *notes, size_t bytes, struct pxt_port_module *module)
{
	uint32_t length;
	const unsigned char *id = pxt_elfnote_buildid(notes, bytes, PXT_ELFNOTE_BIG, &length);

	if (!id)
		return;
	module->buildid_bytes = length;
	memcpy(module->buildid, id, length);
}

static void note_segments(const struct dl_phdr_info *info, struct pxt_port_module *module)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t at = (uint64_t)info->dlpi_addr + header->p_vaddr;

		/* Notes outside every loaded segment exist in the file only. */
		if (header->p_type != PT_NOTE || at < module->low ||
		    header->p_memsz > module->high - at)
			continue;
		/* The loader gives addresses as numbers. */
		const void *notes =
		    (const void *)(uintptr_t)at; /* NOLINT(performance-no-int-to-ptr) */

		if (module->buildid_bytes == 0)
			take_buildid(notes, header->p_memsz, module);
	}
}

static void load_segments(const struct dl_phdr_info *info, struct pxt_port_module *module)
{
	module->low = UINT64_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t low = (uint64_t)info->dlpi_addr + header->p_vaddr;

		if (header->p_type != PT_LOAD)
			continue;
		if (low < module->low)
			module->low = low;
		if (low + header->p_memsz > module->high)
			module->high = low + header->p_memsz;
	}
}

/* Absolute, if it can be: "./plugin.so" is below the folder that dlopen() was called in, as a rule. */
static void take_path(const char *name, char *path, size_t room)
{
	size_t bytes = strnlen(name, room - 1);

	if (*name != '/' && memchr(name, '/', bytes) && bytes + 2 < room &&
	    getcwd(path, room - bytes - 1))
		(void)strcat(path, "/");
	else
		*path = '\0';
	(void)strncat(path, name, room - 1 - strlen(path));
}

static int on_module(struct dl_phdr_info *info, PXT_UNUSED size_t size, void *argument)
{
	struct walk *walk = argument;
	struct pxt_port_module module;

	memset(&module, 0, sizeof(module));
	module.base = (uint64_t)info->dlpi_addr;
	load_segments(info, &module);
	if (module.high == 0)
		return 0;
	note_segments(info, &module);
	if (walk->first)
		pxt_port_executable(module.path, sizeof(module.path));
	else if (info->dlpi_name != NULL)
		take_path(info->dlpi_name, module.path, sizeof(module.path));
	walk->first = false;
	walk->each(walk->context, &module);
	return 0;
}

void pxt_port_modules(
    void (*each)(void *context, const struct pxt_port_module *module), void *context)
{
	struct walk walk = { each, context, true };
	PXT_OWNCALLS();

	(void)dl_iterate_phdr(on_module, &walk);
}
