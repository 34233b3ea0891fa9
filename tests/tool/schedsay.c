/* SPDX-License-Identifier: MIT */
/* schedsay.c - what is said where the kernel does not allow all: what is missing, and the line that would help. */
#include "tools/sched/schedwatch.h"

#include "suite.h"

#include <errno.h>
#include <string.h>

static struct pxt_schedsay say;

static bool says(const struct pxt_schedtold *told, const char *what, const char *how)
{
	return pxt_schedsay_missing(&say, told) && strstr(say.what, what) && strstr(say.how, how) &&
	       strlen(say.what) < sizeof say.what - 1 && strlen(say.how) < sizeof say.how - 1;
}

PXT_TEST(where_all_is_recorded_there_is_nothing_to_say)
{
	const struct pxt_schedtold told = { .level = PXT_SCHEDLEVEL_POINTS, .paranoid = 2 };

	CU_ASSERT(!pxt_schedsay_missing(&say, &told));
}

/* Who asked for less is not told that there is more. */
PXT_TEST(what_was_not_asked_for_is_not_missed)
{
	const struct pxt_schedtold own = { .level = PXT_SCHEDLEVEL_OWN, .paranoid = 2 };
	const struct pxt_schedtold all = { .level = PXT_SCHEDLEVEL_ALL, .paranoid = 2 };

	CU_ASSERT(!pxt_schedsay_missing(&say, &own));
	CU_ASSERT(!pxt_schedsay_missing(&say, &all));
}

PXT_TEST(a_refusal_names_the_line_that_would_allow_it)
{
	struct pxt_schedtold told = { .error = EACCES, .paranoid = 3 };

	CU_ASSERT(says(&told, "not recorded: perf_event_open: Permission denied",
	    "sysctl kernel.perf_event_paranoid=2"));
	told.error = EPERM;
	told.paranoid = 2;
	CU_ASSERT(says(&told, "Operation not permitted", "--cap-add PERFMON"));
	told.error = ENOSYS;
	CU_ASSERT(says(&told, "not recorded", "no perf events"));
	told.error = EMFILE;
	CU_ASSERT(says(&told, "not recorded", "ulimit -n"));
}

PXT_TEST(own_threads_alone_name_the_line_that_allows_all)
{
	struct pxt_schedtold told = {
		.level = PXT_SCHEDLEVEL_OWN, .all_error = EACCES, .paranoid = 2
	};

	CU_ASSERT(says(&told, "not who runs instead", "sysctl kernel.perf_event_paranoid=-1"));
	told.all_error = EMFILE;
	CU_ASSERT(says(&told, "not who runs instead", "ulimit -n"));
}

PXT_TEST(missing_tracepoints_name_the_mount)
{
	struct pxt_schedtold told = {
		.level = PXT_SCHEDLEVEL_ALL, .points_error = ENOENT, .paranoid = 0
	};

	CU_ASSERT(says(&told, "not who wakes whom", "mount -t tracefs"));
	told.points_error = EACCES;
	CU_ASSERT(
	    says(&told, "not who wakes whom", "perf_event_paranoid=-1, and mount -o remount"));
	told.paranoid = -1;
	CU_ASSERT(says(&told, "not who wakes whom", "mount -o remount"));
	told.points_error = EXDEV;
	told.other_space = true;
	CU_ASSERT(says(&told, "not who wakes whom", "--pid=host"));
}
