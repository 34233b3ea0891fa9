/* SPDX-License-Identifier: MIT */
/* ctf.h - traces that babeltrace2 reads, as a log. */
#ifndef PXT_IMPORT_CTF_H
#define PXT_IMPORT_CTF_H

/* Returns an exit status. */
int pxt_ctf_import(char *const *inputs, int count, const char *output);

#endif
