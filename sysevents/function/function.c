/* SPDX-License-Identifier: MIT */
/*
 * function.c - functions of a program that was compiled with -finstrument-functions, as events.
 *
 * The compiler puts a call of each of these into every function.  Where no stream wants the type it
 * costs a load and a test.  What tools make of it: durations, nested calls.
 *
 *   concurrency: any thread, signal handlers.
 */
#include <trace_hooks_np.h>

/* The compiler's own names. */
void __cyg_profile_func_enter(void *function, void *caller) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *function, void *caller) __attribute__((no_instrument_function));

#define RECORD(name, id)                                                                           \
	void name(void *function, void *caller)                                                    \
	{                                                                                          \
		if (posix_trace_wanted_np(id)) {                                                   \
			const uint64_t data[] = { (uint64_t)(uintptr_t)function,                   \
				(uint64_t)(uintptr_t)caller };                                     \
                                                                                                   \
			posix_trace_system_event_np(id, data, sizeof(data), caller);               \
		}                                                                                  \
	}                                                                                          \
	_Static_assert(1, "")
RECORD(__cyg_profile_func_enter, POSIX_TRACE_FUNCTION_ENTER_NP);
RECORD(__cyg_profile_func_exit, POSIX_TRACE_FUNCTION_EXIT_NP);
