/* SPDX-License-Identifier: MIT */
/*
 * port_environment.h - what who started the program asks the library for, and a word to them.
 *
 *   concurrency: at the start of the process, then by one thread at a time; remove() also in the handler of a
 *   fatal signal.
 */
#ifndef PXT_PORT_ENVIRONMENT_H
#define PXT_PORT_ENVIRONMENT_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_ENVIRONMENT_PATH 4096u

/* The variable; NULL: it is not there, or the process has more rights than who started it. */
const char *pxt_port_environment(const char *name);
/* The working folder and a slash; "" where it cannot be told. */
void pxt_port_environment_folder(char folder[PXT_ENVIRONMENT_PATH]);

/*
 * A file for a log of this process alone.  What is at @path already is never written into, unless it is an
 * empty file of this user, or no file (a device, a pipe): a log of before, and the black box beside it, get
 * the names @path.~1~, @path.~2~, ... first.  *regular: it is a file.
 *
 * An error number: EBUSY if another process has it as its log; ELOOP: a symbolic link that another user made;
 * EPERM: something else that is another user's, in a folder for all; else what the system said.
 */
int pxt_port_environment_file(const char *path, uint32_t mode, int *fd, bool *regular);
/*
 * The same, a folder for the files of a log.  A folder of before gets another name, with its box.  ENOTDIR: something
 * else is at @path.
 */
int pxt_port_environment_newfolder(const char *path, uint32_t mode, int *fd);
/* A new file, and how to know it again.  Removed only as long as it is that one; async-signal-safe. */
struct pxt_port_newfile {
	char path[PXT_ENVIRONMENT_PATH];
	uint64_t device;
	uint64_t number;
};
int pxt_port_environment_box(const char *log, uint32_t mode, int *fd, struct pxt_port_newfile *box);
void pxt_port_environment_remove(const struct pxt_port_newfile *box);
void pxt_port_environment_close(int fd);

/*
 * "libptrace: NAME=VALUE: what: why" on the standard error output.  @what: "", or the part of it that is wrong;
 * @why: NULL: what the system says of @error.  Nothing where that output is another one than at the first call
 * of pxt_port_environment_folder(): a daemon has its own files there.
 */
void pxt_port_environment_complain(
    const char *name, const char *value, const char *what, const char *why, int error);

#endif
