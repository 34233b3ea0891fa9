/* SPDX-License-Identifier: MIT */
/*
 * thread.c - threads: creation, begin and end, names, joining.
 *
 * A new thread begins in a function of ours, which calls its own.  Its end is seen by a key's destructor,
 * so however it ends.  Threads of the library's are left alone.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/process.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

PXT_WRAP_REAL(pthread_create);
PXT_WRAP_REAL(pthread_setname_np);

struct beginning {
	void *(*function)(void *argument);
	void *argument;
};

static pthread_key_t key;
static bool has_key;

static void tell_end(void *value)
{
	(void)value;
	pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_END_NP, (uint32_t)gettid(), 0, 0, NULL, NULL);
}

static __attribute__((constructor)) void make_key(void)
{
	has_key = pthread_key_create(&key, tell_end) == 0;
}

static void *begin(void *argument)
{
	struct beginning beginning = *(struct beginning *)argument;

	free(argument);
	(void)posix_trace_thread_register_np();
	pxt_process_tell_thread((uint64_t)(uintptr_t)beginning.function);
	if (has_key)
		(void)pthread_setspecific(key, &has_key);
	return beginning.function(beginning.argument);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_create)(pthread_t *thread,
    const pthread_attr_t *attributes, void *(*function)(void *argument), void *argument)
{
	const void *caller = PXT_WRAP_CALLER();
	struct beginning *beginning;
	int result;

	if (!pxt_wrap_wanted(POSIX_TRACE_PROCESS_NP, caller))
		return PXT_WRAP_CALL(pthread_create)(thread, attributes, function, argument);
	beginning = malloc(sizeof(*beginning));
	if (!beginning)
		return PXT_WRAP_CALL(pthread_create)(thread, attributes, function, argument);
	*beginning = (struct beginning){ function, argument };
	pxt_process_tell(POSIX_TRACE_PROCESS_THREAD_CREATE_NP, 0, (uint64_t)(uintptr_t)function, 0,
	    NULL, caller);
	result = PXT_WRAP_CALL(pthread_create)(thread, attributes, begin, beginning);
	if (result)
		free(beginning);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_setname_np)(pthread_t thread, const char *name)
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(pthread_setname_np)(thread, name);

	if (result != 0 || !pthread_equal(thread, pthread_self()))
		return result;
	(void)posix_trace_thread_register_np();
	pxt_process_tell(
	    POSIX_TRACE_PROCESS_THREAD_NAME_NP, (uint32_t)gettid(), 0, 0, name, caller);
	return result;
}
