/* SPDX-License-Identifier: MIT */
/* layout.c - the types of System Events are called, and their data is described, as in FORMAT.md, 5.1. */
#include "../suite.h"

#include "format/ids.h"

#include <stdio.h>
#include <string.h>

#define CALLERS                                                                                    \
	",x64 caller1,x64 caller2,x64 caller3,x64 caller4,x64 caller5,x64 caller6,x64 caller7,"    \
	"x64 caller8"

static const char *const layouts[][2] = {
	{ "mutex_wait", "x64 lock,u32 holder" },
	{ "mutex_lock", "x64 lock,u32 waited_us,i32 result" CALLERS },
	{ "mutex_unlock", "x64 lock,i32 result" },
	{ "cond_wait", "x64 cond,x64 lock,i64 asked_ns" },
	{ "cond_resume", "x64 cond,x64 lock,u32 waited_us,i32 result" CALLERS },
	{ "cond_signal", "x64 cond" },
	{ "cond_broadcast", "x64 cond" },
	{ "sync_wait", "x64 lock,u32 holder,u8 kind" },
	{ "sync_lock", "x64 lock,u32 waited_us,i32 result,u8 kind" CALLERS },
	{ "sync_unlock", "x64 lock,i32 result,u8 kind" },
	{ "process", "u8 what,u32 number,x64 address,u64 size,text name" },
	{ "call_enter", "u16 call,x64 object,u64 size,i64 asked_ns" },
	{ "call_exit", "u16 call,x64 object,i64 result,u32 took_us" CALLERS },
	{ "signal", "u8 what,i32 signo,u32 sender,x64 address" },
	{ "context_switch",
	    "u32 cpu,u32 prev_tid,u32 next_tid,u32 prev_state,i32 prev_prio,i32 next_prio" },
	{ "task_state", "u32 tid,u8 state,i32 prio,x64 object" },
	{ "kernel_overhead", "u8 what,u32 number,x64 object" },
	{ "function_enter", "x64 function,x64 caller" },
	{ "function_exit", "x64 function,x64 caller" },
	{ "general_debug", "u32 line,x64 value,text text" },
};
#define FIRST 9u
#define LAST  28u

/* LPT-24, LPT-30 */
PXT_TEST(each_type_has_the_number_the_name_and_the_fields_of_the_format)
{
	unsigned there = 0;

	PXT_EQ_FATAL(sizeof layouts / sizeof *layouts, LAST - FIRST + 1);
	for (unsigned id = FIRST; id <= LAST; id++) {
		const char *const *layout = layouts[id - FIRST];
		const char *name = pxt_sysspecific_name(id);
		char full[64];

		if (!name) {
			PXT_CHECK(
			    *pxt_sysspecific_format(id) == '\0', "%u: described, not named", id);
			continue;
		}
		there++;
		(void)snprintf(full, sizeof full, "posix_trace_%s", layout[0]);
		PXT_CHECK(strcmp(name, full) == 0, "%u: %s", id, name);
		PXT_CHECK(strcmp(pxt_sysspecific_format(id), layout[1]) == 0, "%u: %s", id,
		    pxt_sysspecific_format(id));
	}
	CU_ASSERT(there > 0);
}

PXT_TEST(other_numbers_have_neither_name_nor_fields)
{
	const unsigned others[] = { 0, FIRST - 1, LAST + 1, 63, 1000 };

	for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
		CU_ASSERT_PTR_NULL(pxt_sysspecific_name(others[i]));
		CU_ASSERT_STRING_EQUAL(pxt_sysspecific_format(others[i]), "");
	}
}
