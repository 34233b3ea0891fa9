/* SPDX-License-Identifier: MIT */
/* sysview.h - recordings of SEGGER SystemView, as a log. */
#ifndef PXT_IMPORT_SYSVIEW_H
#define PXT_IMPORT_SYSVIEW_H

#include <stdint.h>

/* @hz: rate of the stamps; 0: as the recording says.  An exit status, what is wrong was told. */
int pxt_sysview_import(const char *path, uint64_t hz, const char *output);

#endif
