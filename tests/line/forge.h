/* SPDX-License-Identifier: MIT */
/*
 * forge.h - a sender that makes its numbers up: every frame is whole and its checksum right, but
 * which one comes when, and what it says of itself, is anybody's choice.
 */
#ifndef PXT_FORGE_H
#define PXT_FORGE_H

#include "tools/link/frame.h"
#include "tools/receive/receiver.h"

#include <stddef.h>
#include <stdint.h>
#include <trace.h>
#include <trace_np.h>

#define FORGE_STREAMS 3u

struct forge {
	unsigned char head[PXT_LOG_HEADER_BYTES];
	uint32_t seed;
	bool swapped;
	uint64_t frames; /* what an honest sender would say next */
	uint64_t records;
};

/* A packet. */
struct forged {
	unsigned char bytes[PXT_LINKFRAME_BYTES];
	size_t count;
};

/* The @which-th of FORGE_STREAMS streams; the last one is of the other byte order. */
void forge_begin(struct forge *forge, unsigned which);
/* Frames with forge->frames and forge->records as their numbers, which stay as they are. */
void forge_head(const struct forge *forge, struct forged *forged);
/* @count events of type @id, or with @id 0 losses of @count records. */
void forge_data(const struct forge *forge, struct forged *forged, uint32_t id, uint32_t count);
/* An entry of a block of @type; @choice: which one. */
void forge_entry(
    const struct forge *forge, struct forged *forged, enum pxt_log_type type, uint64_t choice);

/*
 * Gives @in frames as the @count bytes at @choices say; whatever they are.  As packets, or stuffed
 * as on a serial line.
 */
void forge_play(struct pxt_receiver *in, const uint8_t *choices, size_t count, bool packets);

/* What a target sends of a small trace, caught as bytes. */

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
