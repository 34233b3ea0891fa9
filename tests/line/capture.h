/* SPDX-License-Identifier: MIT */
/* capture.h - what a target sends of a small trace, caught as bytes. */
#ifndef PXT_CAPTURE_H
#define PXT_CAPTURE_H

#include "tools/link/frame.h"

#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

struct capture {
	unsigned char *bytes;
	size_t count;
	size_t room;
};

/* A target that writes to a descriptor of @log, in a thread of its own as far as the pipe needs. */
struct capture_script {
	int form;          /* POSIX_TRACE_LOG_..._NP */
	unsigned events;   /* numbered from 0, as u32 */
	unsigned longer;   /* every n-th has 600 bytes of data; 0: none */
	unsigned flush;    /* after every n-th */
	unsigned pause_at; /* sleeps for longer than the repetition before this event; 0: never */
	bool clear_in_the_middle;
};

/* Runs @script over a pipe; frees what @capture held. */
void capture_run(struct capture *capture, const struct capture_script *script);
void capture_free(struct capture *capture);

/* A frame of a capture: the bytes between two delimiters, and what they hold. */
struct capture_frame {
	size_t at;    /* of the first byte */
	size_t bytes; /* with the delimiter after it */
	struct pxt_linkframe frame;
	unsigned char plain[PXT_FRAME_ROOM(PXT_FRAME_CONTENTS_MAX)];
};
/* The frame that begins at or after *@at; moves on.  False: there is no other. */
bool capture_next(const struct capture *capture, size_t *at, struct capture_frame *frame);

/* A generator of numbers that repeats. */
uint32_t capture_random(uint64_t *state);

#endif
