/* SPDX-License-Identifier: MIT */
/*
 * main_preload.c - before main(), the moment after which what is called at the end comes before all
 * destructors.
 *
 * What a library's constructor asks to be called at the end is called after the destructors of all
 * libraries, when no stream is there any more.  So the C library's own beginning of a program is called with a
 * main() that asks once more.  It has one function for all ages.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/exit.h"
#include "sysevents/wrap/wrap.h"

typedef int (*main_function)(int count, char **args, char **env);

extern int __libc_start_main(main_function function, int count, char **args, void (*init)(void),
    void (*fini)(void), void (*end_of_loader)(void), void *stack);
PXT_WRAP_REAL(__libc_start_main);

/* The program's; written before it is called, by the only thread. */
static main_function program;

static int begin(int count, char **args, char **env)
{
	pxt_exit_start();
	return program(count, args, env);
}

PXT_WRAP_EXPORT int __libc_start_main(main_function function, int count, char **args,
    void (*init)(void), void (*fini)(void), void (*end_of_loader)(void), void *stack)
{
	program = function;
	return PXT_WRAP_CALL(__libc_start_main)(
	    begin, count, args, init, fini, end_of_loader, stack);
}
