/* SPDX-License-Identifier: MIT */
/* sysspecific.h - the types of System Events: their names; for sysnames.c. */
#ifndef PXT_SYSSPECIFIC_H
#define PXT_SYSSPECIFIC_H

#include "format/ids.h"

/* A type that this configuration cannot record costs no bytes and is in no map. */
#define PXT_NAME_IF(condition, name) ((condition) ? (name) : NULL)

/* How the data of a predefined type is laid out (trace_np.h); "": not described. */
const char *pxt_sysspecific_format(unsigned id);
/* NULL: there is none of that number. */
const char *pxt_sysspecific_name(unsigned id);

#endif
