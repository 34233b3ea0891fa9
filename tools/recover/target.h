/* SPDX-License-Identifier: MIT */
/*
 * target.h - the memory of a target that a debugger's server reads (GDB's remote protocol: QEMU, OpenOCD and
 * others), as a file without a name.
 *
 * The target stands still while it is read: what is read is of one moment.
 */
#ifndef PXT_RECOVER_TARGET_H
#define PXT_RECOVER_TARGET_H

#include "tools/link/device.h"
#include "tools/recover/write.h"

#include <stdbool.h>
#include <stdint.h>

struct pxt_target {
	struct pxt_linkdevice link;
	uint64_t at; /* of its memory, so many bytes */
	uint64_t bytes;
	int fd;       /* the file: as much of it as was read, from 0 on */
	bool running; /* it was told to go on */
	bool over;    /* the server, or what it ran, has gone */
	/* Bytes that came and were not looked at: */
	unsigned char came[4096];
	size_t count;
	size_t used;
};

/* Whether it is "gdb:...". */
bool pxt_target_is(const char *text);
/* @text: "gdb:HOST:PORT,ADDRESS,BYTES".  It stands still afterwards.  False: the user was told. */
bool pxt_target_open(struct pxt_target *target, const char *text);
bool pxt_target_halt(struct pxt_target *target);
bool pxt_target_go_on(struct pxt_target *target);
/* While it stands still: @bytes from @offset on, into the file.  False: it is over, or its answers make no sense. */
bool pxt_target_read(struct pxt_target *target, uint64_t offset, uint64_t bytes);
/* It goes on, and the server is left. */
void pxt_target_close(struct pxt_target *target);

/*
 * A stream of a target that runs, read again and again through its debugger's server.
 *
 * The target stands still while it is read, and goes on in between.
 */

/* The target stands still, and was read.  False: no stream came until it ended, or the user stopped it. */
bool pxt_follow_appear(struct pxt_target *target, const struct pxt_image *image);
/*
 * After it has appeared: the stream whose header is at @at of @image, until the target ends, is reset, or the user
 * stops it (SIGINT, SIGTERM).  @output grows meanwhile.  Returns NULL, or what is wrong; *error is an errno where the file is.
 */
const char *pxt_follow(struct pxt_target *target, const struct pxt_image *image, uint64_t at,
    const char *output, struct pxt_written *written, int *error);

#endif
