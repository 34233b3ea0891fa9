/* SPDX-License-Identifier: MIT */
/*
 * port_environment.h - what who started the program asks the library for, and a word to them.
 *
 *   concurrency: at the start of the process.
 */
#ifndef PXT_PORT_ENVIRONMENT_H
#define PXT_PORT_ENVIRONMENT_H

#include "format/compiler.h"

/* The variable; NULL: it is not there, or the process has more rights than who started it. */
const char *pxt_port_environment(const char *name);
/*
 * A file for a log of this process alone, made if it is not there, unchanged if it is.  An error number:
 * EBUSY if another process has it as its log, else what the system said.
 */
int pxt_port_environment_file(const char *path, int *fd);
void pxt_port_environment_close(int fd);
/* "libptrace: NAME=VALUE: why" on the standard error output. */
void pxt_port_environment_complain(const char *name, const char *value, int error);

#endif
