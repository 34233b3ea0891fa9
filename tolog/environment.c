/* SPDX-License-Identifier: MIT */
/*
 * environment.c - a log that the environment asks for (PXTRACE_OUT=run-%p.ptl ./program), although the program
 * creates no stream, and which file that is where another process writes into the first.
 *
 * The stream is made before main(), runs to the end of the process, and is one of the process' streams
 * like any other.  Its log ends where exit() is called or a signal ends the process.  Where the library
 * is not a shared one, the program is linked with -Wl,-u,pxt_environment_start (cmake/libraries.cmake).
 */
#include "base/attr.h"
#include "port/port.h"
#include "port/port_environment.h"

#include <errno.h>
#include <string.h>
#include <trace_np.h>

#define VARIABLE   "PXTRACE_OUT"
#define PATH_BYTES 4096u
#define PID_DIGITS ((size_t)10)

static size_t put_number(char *to, uint32_t number)
{
	char digits[PID_DIGITS];
	size_t count = 0;

	do {
		digits[PID_DIGITS - ++count] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	memcpy(to, digits + PID_DIGITS - count, count);
	return count;
}

/* @pattern with the process' number for each "%p", and behind it if that is asked; false: too long. */
static bool expand(char *path, const char *pattern, bool add_pid)
{
	uint32_t pid = (uint32_t)pxt_port_pid();
	size_t used = 0;

	for (; *pattern; pattern++) {
		if (used + 2 * PID_DIGITS + 2 > PATH_BYTES)
			return false;
		if (pattern[0] == '%' && pattern[1] == 'p') {
			used += put_number(path + used, pid);
			pattern++;
		} else {
			path[used++] = *pattern;
		}
	}
	if (add_pid) {
		path[used++] = '.';
		used += put_number(path + used, pid);
	}
	path[used] = '\0';
	return true;
}

/* Whose file it is already, as of a program that started this one, gets one with a number beside it. */
static int open_asked(const char *pattern, int *fd)
{
	char path[PATH_BYTES];
	int error;

	if (!expand(path, pattern, false))
		return ENAMETOOLONG;
	error = pxt_port_environment_file(path, fd);
	if (error == EBUSY) {
		(void)expand(path, pattern, true);
		error = pxt_port_environment_file(path, fd);
	}
	return error;
}

static int record_into(int fd)
{
	trace_attr_t attr;
	trace_id_t trid;
	int error = posix_trace_attr_init(&attr);

	if (!error)
		error = posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	if (!error)
		error = posix_trace_create_withlog(0, &attr, fd, &trid);
	if (!error)
		error = posix_trace_start(trid);
	if (!error)
		error = posix_trace_seal_on_signals_np(NULL, POSIX_TRACE_SEAL_ENDS_NP);
	return error;
}

/*
 * Before main(), where the file is part of the program; its name is for the linker.  After the port's own (101),
 * and before wrappers tell what they find (sysevents/wrap/start.c): in a static program all are in one list.
 */
void pxt_environment_start(void) __attribute__((constructor(102)));

void pxt_environment_start(void)
{
	const char *pattern = pxt_port_environment(VARIABLE);
	int saved = errno;
	int error;
	int fd;

	if (!pattern || !*pattern)
		return;
	error = open_asked(pattern, &fd);
	if (!error) {
		error = record_into(fd);
		pxt_port_environment_close(fd);
	}
	if (error)
		pxt_port_environment_complain(VARIABLE, pattern, error);
	errno = saved;
}
