/* SPDX-License-Identifier: MIT */
/* groups.c - the groups of system events that --only of `pxtrace run` names. */
#include "tools/run/groups.h"

#include "tools/output/say.h"

#include <string.h>
#include <trace_hooks_np.h>

#define TYPE(name) (UINT64_C(1) << POSIX_TRACE_##name##_NP)
#define MUTEXES    (TYPE(MUTEX_WAIT) | TYPE(MUTEX_LOCK) | TYPE(MUTEX_UNLOCK))
#define CONDITIONS (TYPE(COND_WAIT) | TYPE(COND_RESUME) | TYPE(COND_SIGNAL) | TYPE(COND_BROADCAST))
#define SYNCS      (TYPE(SYNC_WAIT) | TYPE(SYNC_LOCK) | TYPE(SYNC_UNLOCK))
#define CALLS      (TYPE(CALL_ENTER) | TYPE(CALL_EXIT))

static const struct group {
	const char *name;
	uint64_t types;
} groups[] = {
	{ "mutex", MUTEXES },
	{ "cond", CONDITIONS },
	{ "sync", SYNCS },
	{ "locks", MUTEXES | CONDITIONS | SYNCS },
	{ "calls", CALLS },
	{ "threads", TYPE(PROCESS) },
	{ "sched", PXT_GROUPS_SCHED },
	{ "signals", TYPE(SIGNAL) },
	{ "functions", TYPE(FUNCTION_ENTER) | TYPE(FUNCTION_EXIT) },
};
#define GROUPS (sizeof groups / sizeof *groups)

static const struct group *find(const char *name, size_t bytes)
{
	for (size_t i = 0; i < GROUPS; i++)
		if (strncmp(groups[i].name, name, bytes) == 0 && groups[i].name[bytes] == '\0')
			return &groups[i];
	return NULL;
}

bool pxt_groups_parse(const char *list, uint64_t *types)
{
	*types = TYPE(PROCESS);
	for (;;) {
		size_t bytes = strcspn(list, ",");
		const struct group *group = find(list, bytes);

		if (!group) {
			pxt_complain("run: --only knows no group \"%.*s\"", (int)bytes, list);
			pxt_explain(
			    "mutex, cond, sync (read-write and spin locks), locks (all three), "
			    "calls, threads, signals, functions, sched");
			return false;
		}
		*types |= group->types;
		if (list[bytes] == '\0')
			return true;
		list += bytes + 1;
	}
}
