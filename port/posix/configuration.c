/* SPDX-License-Identifier: MIT */
/*
 * configuration.c - a message if two libraries of different configurations are in one process.
 *
 * Symbol names keep programs from other configurations (trace.h), but not a library that is loaded
 * beside another one: a plugin, or what `pxtrace run` loads.  Its calls of the same name reach the
 * library that came first, and its look at the wanted table finds its own, in which nothing ever is.
 */
#include "format/compiler.h"
#include "format/ids.h"

#include <string.h>
#include <sys/uio.h>
#include <trace_np.h>
#include <unistd.h>

#define LAYOUT                                                                                     \
	_PXT_DIGITS(_PXT_EVENT_IDS)                                                                \
	" types, names of " _PXT_DIGITS(_PXT_EVENT_NAME_MAX) " bytes, " _PXT_DIGITS(               \
	    _PXT_WANTED_BITS) " bits for streams"

/* The first library's of the process. */
extern const char _pxt_layout[];
PXT_API const char _pxt_layout[] = LAYOUT;

static struct iovec piece(const char *text)
{
	union {
		const char *from;
		void *to;
	} text_of = { text };

	return (struct iovec){ text_of.to, strlen(text) };
}

static __attribute__((constructor)) void compare(void)
{
	const char *first = _pxt_layout;
	const char *own = LAYOUT;
	struct iovec line[6];

	PXT_NOW(first);
	if (strcmp(first, own) == 0)
		return;
	line[0] = piece("libptrace: two configurations of the library are in this process (");
	line[1] = piece(first);
	line[2] = piece("; " _PXT_CONFIGURATION ": ");
	line[3] = piece(own);
	line[4] = piece("): what was compiled for the second one records nothing\n");
	(void)!writev(STDERR_FILENO, line, 5);
}
