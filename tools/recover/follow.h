/* SPDX-License-Identifier: MIT */
/*
 * follow.h - a stream of a target that runs, read again and again through its debugger's server.
 *
 * The target stands still while it is read, and goes on in between.
 */
#ifndef PXT_RECOVER_FOLLOW_H
#define PXT_RECOVER_FOLLOW_H

#include "tools/recover/target.h"
#include "tools/recover/write.h"

/* The target stands still, and was read.  False: no stream came until it ended, or the user stopped it. */
bool pxt_follow_appear(struct pxt_target *target, const struct pxt_image *image);
/*
 * After it has appeared: the stream whose header is at @at of @image, until the target ends, is reset, or the user
 * stops it (SIGINT, SIGTERM).  @output grows meanwhile.  Returns NULL, or what is wrong; *error is an errno where the file is.
 */
const char *pxt_follow(struct pxt_target *target, const struct pxt_image *image, uint64_t at,
    const char *output, struct pxt_written *written, int *error);

#endif
