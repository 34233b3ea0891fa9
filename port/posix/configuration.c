/* SPDX-License-Identifier: MIT */
/*
 * configuration.c - a message if two libraries of different configurations are in one process.
 *
 * Symbol names keep programs from other configurations (trace.h), but not a library that is loaded
 * beside another one: a plugin, or what `pxtrace run` loads.  Its calls of the same name reach the
 * library that came first, and its look at the wanted table finds its own, in which nothing ever is.
 */
#define _GNU_SOURCE
#include "format/ids.h"
#include "port/posix/owncalls.h"

#include <string.h>
#include <unistd.h>

#define LAYOUT                                                                                     \
	_PXT_DIGITS(_PXT_EVENT_IDS)                                                                \
	" types, names of " _PXT_DIGITS(_PXT_EVENT_NAME_MAX) " bytes, " _PXT_DIGITS(               \
	    _PXT_WANTED_BITS) " bits for streams"

/* The first library's of the process; and what its standard error output was when that one came. */
struct pxt_first {
	uint64_t device;
	uint64_t file;
	uint32_t looked;
	char layout[sizeof(LAYOUT)];
};
extern struct pxt_first _pxt_layout;
PXT_API struct pxt_first _pxt_layout = { .layout = LAYOUT };

/* Whichever begins first looks.  A daemon that loads a plugin later has a file of its own there. */
static bool may_be_told(struct pxt_first *first)
{
	struct stat state;
	bool is_open = fstat(STDERR_FILENO, &state) == 0;

	if (!first->looked && is_open) {
		first->device = (uint64_t)state.st_dev;
		first->file = (uint64_t)state.st_ino;
	}
	first->looked = 1;
	return is_open && first->device == (uint64_t)state.st_dev &&
	       first->file == (uint64_t)state.st_ino;
}

static void tell(const char *first, const char *own)
{
	struct iovec line[] = {
		pxt_unraised_piece(
		    "libptrace: two configurations of the library are in this process ("),
		pxt_unraised_piece(first), pxt_unraised_piece("; " _PXT_CONFIGURATION ": "),
		pxt_unraised_piece(own),
		pxt_unraised_piece("): what was compiled for the second one records nothing\n")
	};

	pxt_unraised_tell(line, sizeof(line) / sizeof(line[0]));
}

static __attribute__((constructor)) void compare(void)
{
	struct pxt_first *first = &_pxt_layout;
	const char *own = LAYOUT;
	PXT_KEEP_ERRNO();

	PXT_NOW(first);
	if (may_be_told(first) && strcmp(first->layout, own) != 0)
		tell(first->layout, own);
}
