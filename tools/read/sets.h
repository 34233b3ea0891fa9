/* SPDX-License-Identifier: MIT */
/*
 * sets.h - which of the files that a command was given are one log, which went from file to file.
 *
 * Named may be each of the files, in any order; their folder; or what their names begin with (run.ptl of
 * run.ptl.0001 and so on), where there is no file of that name.
 */
#ifndef PXTRACE_SETS_H
#define PXTRACE_SETS_H

#include <stdbool.h>
#include <stdint.h>

#define PXT_SETS_FILES 4096u /* of one log, at most */

/* One log. */
struct pxt_logset {
	char *path;   /* as it is called */
	char **files; /* in the order of the log; NULL: @path is the file */
	uint32_t *numbers;
	unsigned count;
	unsigned char uuid[16];
};

/*
 * The logs of @paths, in the order in which they were named; what is no file of such a log is one of its own.
 * Says which files are empty.
 */
struct pxt_logset *pxt_sets_find(char *const *paths, unsigned count, unsigned *found);
void pxt_sets_free(struct pxt_logset *sets, unsigned count);
/*
 * Of a log whose last known file was read to its end: opens the next one, which pxt_sets_add() makes one of @set.
 * It is made before that end is written, so it is there if there will be one.
 */
enum pxt_sets_next {
	PXT_SETS_OVER, /* there is none, */
	PXT_SETS_SOON, /* it is empty yet, */
	PXT_SETS_NEXT  /* it is open: *@fd, *@path, which is to be freed, *@number */
} pxt_sets_next(const struct pxt_logset *set, int *fd, char **path, uint32_t *number);
void pxt_sets_add(struct pxt_logset *set, const char *path, uint32_t number);
/* Says which numbers are not there between the first and the last. */
void pxt_sets_say_missing(const struct pxt_logset *set);

#endif
