/* SPDX-License-Identifier: MIT */
/* binutil.h - programs of binutils (addr2line, c++filt), which are asked by a file and answer in lines. */
#ifndef PXT_BINUTIL_H
#define PXT_BINUTIL_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct pxt_binutil {
	FILE *in;  /* the questions are written here ... */
	FILE *out; /* ... and after pxt_binutil_run() the answers come from here */
	pid_t pid;
};

/* False: there is no place for a file. */
bool pxt_binutil_new(struct pxt_binutil *tool);
/* False: it could not be started; *@missing: because it is not installed. */
bool pxt_binutil_run(struct pxt_binutil *tool, char *const *argv, bool *missing);
void pxt_binutil_end(struct pxt_binutil *tool);

/* A name as its source has it, if it is a C++ or Rust one and c++filt is there; else as it is. */
void pxt_binutil_demangle(const char *name, char *text, size_t room);

#endif
