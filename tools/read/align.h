/* SPDX-License-Identifier: MIT */
/* align.h - several logs on one line of time. */
#ifndef PXT_ALIGN_H
#define PXT_ALIGN_H

#include "tools/read/source.h"

/*
 * Sets the shifts, and with them the starts, of opened logs: those of one boot lie by CLOCK_MONOTONIC, whatever
 * happened to the civil clock between their beginnings; where that is far, it is said.
 */
void pxt_align(struct pxt_reader *reader);

#endif
