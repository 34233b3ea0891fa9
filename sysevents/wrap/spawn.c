/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - programs that are started in one step.  The C library's functions of before 2011 start a shell
 * where the file is no program: who was linked with them gets them.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/ages.h"
#include "sysevents/wrap/process.h"

#include <spawn.h>

PXT_AGES(posix_spawn, "GLIBC_2.15");
PXT_AGES(posix_spawnp, "GLIBC_2.15");

/* The caller may not want to know its number, which is there all the same. */
#define SPAWN(function)                                                                            \
	do {                                                                                       \
		pid_t number;                                                                      \
		pid_t *where = child ? child : &number;                                            \
		int result = function(where, path, actions, attributes, args, env);                \
                                                                                                   \
		if (result == 0)                                                                   \
			pxt_process_tell(POSIX_TRACE_PROCESS_FORK_NP, (uint32_t)*where, 0, 0,      \
			    NULL, PXT_WRAP_CALLER());                                              \
		return result;                                                                     \
	} while (0)

PXT_WRAP_EXPORT int PXT_AGES_NAME(posix_spawn)(pid_t *child, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *args, char *const *env)
{
	SPAWN(PXT_WRAP_CALL(posix_spawn));
}

PXT_WRAP_EXPORT int PXT_AGES_NAME(posix_spawnp)(pid_t *child, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *args, char *const *env)
{
	SPAWN(PXT_WRAP_CALL(posix_spawnp));
}

#if PXT_AGES_TWO
PXT_WRAP_EXPORT int PXT_AGES_FORMER_NAME(posix_spawn)(pid_t *child, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *args, char *const *env)
{
	SPAWN(PXT_AGES_FORMER_CALL(posix_spawn));
}

PXT_WRAP_EXPORT int PXT_AGES_FORMER_NAME(posix_spawnp)(pid_t *child, const char *path,
    const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
    char *const *args, char *const *env)
{
	SPAWN(PXT_AGES_FORMER_CALL(posix_spawnp));
}
#endif
