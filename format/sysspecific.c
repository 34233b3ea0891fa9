/* SPDX-License-Identifier: MIT */
/* sysspecific.c - names of the types of System Events, and descriptions of their data (FORMAT.md). */
#include "format/ids.h"

#define TYPE_IF(condition, name, format)                                                           \
	{                                                                                          \
		PXT_NAME_IF(condition, name), PXT_NAME_IF(condition, format)                       \
	}
/* The functions that called, innermost first, of a wait that was long. */
#define CALLERS                                                                                    \
	",x64 caller1,x64 caller2,x64 caller3,x64 caller4,x64 caller5,x64 caller6,x64 caller7,"    \
	"x64 caller8"
#define SWITCH                                                                                     \
	(CONFIG_PTRACE_SYSEV_SHORT_SWITCH                                                          \
	        ? PXT_SHORT_SWITCH_FORMAT                                                          \
	        : "u32 cpu,u32 prev_tid,u32 next_tid,u32 prev_state,i32 prev_prio,i32 next_prio")

static const struct specific {
	const char *name;
	const char *format;
} specific[] = {
	TYPE_IF(CONFIG_PTRACE_SYSEV_MUTEX, "posix_trace_mutex_wait", "x64 lock,u32 holder"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_MUTEX, "posix_trace_mutex_lock",
	    "x64 lock,u32 waited_us,i32 result" CALLERS),
	TYPE_IF(CONFIG_PTRACE_SYSEV_MUTEX, "posix_trace_mutex_unlock", "x64 lock,i32 result"),
	TYPE_IF(
	    CONFIG_PTRACE_SYSEV_COND, "posix_trace_cond_wait", "x64 cond,x64 lock,i64 asked_ns"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_COND, "posix_trace_cond_resume",
	    "x64 cond,x64 lock,u32 waited_us,i32 result" CALLERS),
	TYPE_IF(CONFIG_PTRACE_SYSEV_COND, "posix_trace_cond_signal", "x64 cond"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_COND, "posix_trace_cond_broadcast", "x64 cond"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_SYNC, "posix_trace_sync_wait", "x64 lock,u32 holder,u8 kind"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_SYNC, "posix_trace_sync_lock",
	    "x64 lock,u32 waited_us,i32 result,u8 kind" CALLERS),
	TYPE_IF(CONFIG_PTRACE_SYSEV_SYNC, "posix_trace_sync_unlock", "x64 lock,i32 result,u8 kind"),
	TYPE_IF(1, "posix_trace_process", "u8 what,u32 number,x64 address,u64 size,text name"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_SYSTEM_CALL, "posix_trace_call_enter",
	    "u16 call,x64 object,u64 size,i64 asked_ns"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_SYSTEM_CALL, "posix_trace_call_exit",
	    "u16 call,x64 object,i64 result,u32 took_us" CALLERS),
	TYPE_IF(CONFIG_PTRACE_SYSEV_SIGNAL, "posix_trace_signal",
	    "u8 what,i32 signo,u32 sender,x64 address"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_CONTEXT_SWITCH, "posix_trace_context_switch", SWITCH),
	TYPE_IF(CONFIG_PTRACE_SYSEV_TASK_STATE, "posix_trace_task_state",
	    "u32 tid,u8 state,i32 prio,x64 object"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_KERNEL_OVERHEAD, "posix_trace_kernel_overhead",
	    "u8 what,u32 number,x64 object"),
	TYPE_IF(
	    CONFIG_PTRACE_SYSEV_FUNCTION, "posix_trace_function_enter", "x64 function,x64 caller"),
	TYPE_IF(
	    CONFIG_PTRACE_SYSEV_FUNCTION, "posix_trace_function_exit", "x64 function,x64 caller"),
	TYPE_IF(CONFIG_PTRACE_SYSEV_GENERAL_DEBUG, "posix_trace_general_debug",
	    "u32 line,x64 value,text text"),
};
_Static_assert(sizeof specific / sizeof *specific == PXT_ID_SYSTEM_LAST - PXT_ID_SPECIFIC_FIRST + 1,
    "a row for each number");

static const struct specific *specific_of(unsigned id)
{
	static const struct specific none;

	return pxt_id_is_specific(id) ? &specific[id - PXT_ID_SPECIFIC_FIRST] : &none;
}

const char *pxt_sysspecific_name(unsigned id)
{
	return specific_of(id)->name;
}

const char *pxt_sysspecific_format(unsigned id)
{
	const char *format = specific_of(id)->format;

	return format ? format : "";
}
