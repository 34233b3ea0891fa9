/* SPDX-License-Identifier: MIT */
/* writeall.h - all bytes into a descriptor, however many writes that takes. */
#ifndef PXTRACE_WRITEALL_H
#define PXTRACE_WRITEALL_H

#include <stddef.h>

/* Everything, also where the system takes it in pieces.  0 or an error number. */
int pxt_write_all(int fd, const void *bytes, size_t count);

#endif
