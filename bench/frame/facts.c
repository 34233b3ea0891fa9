/* SPDX-License-Identifier: MIT */
/* facts.c - what machine the figures belong to. */
#define _GNU_SOURCE
#include "frame.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

void bench_cpu_model(char *text, size_t room)
{
	FILE *info = fopen("/proc/cpuinfo", "re");
	char line[256];

	(void)snprintf(text, room, "unknown processor");
	while (info && fgets(line, sizeof(line), info)) {
		const char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !value)
			continue;
		line[strcspn(line, "\n")] = '\0';
		(void)snprintf(
		    text, room, "%s, %ld CPUs", value + 2, sysconf(_SC_NPROCESSORS_ONLN));
		break;
	}
	if (info)
		(void)fclose(info);
}

void bench_kernel(char *text, size_t room)
{
	struct utsname name;

	if (uname(&name) == 0)
		(void)snprintf(text, room, "%s %s %s", name.sysname, name.release, name.machine);
	else
		(void)snprintf(text, room, "unknown kernel");
}

#if defined(__GLIBC__)
void bench_libc(char *text, size_t room)
{
	(void)snprintf(text, room, "glibc %s", gnu_get_libc_version());
}
#else
void bench_libc(char *text, size_t room)
{
	(void)snprintf(text, room, "a C library that is not glibc");
}
#endif
