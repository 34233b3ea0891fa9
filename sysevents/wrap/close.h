/* SPDX-License-Identifier: MIT */
/* close.h - whether the closing of files is recorded: a file for each answer. */
#ifndef PXT_WRAP_CLOSE_H
#define PXT_WRAP_CLOSE_H

void pxt_close_tell(int fd, int result, const void *caller) __attribute__((visibility("hidden")));

#endif
