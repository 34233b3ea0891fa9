/* SPDX-License-Identifier: MIT */
/*
 * forge.h - a sender that makes its numbers up: every frame is whole and its checksum right, but
 * which one comes when, and what it says of itself, is anybody's choice.
 */
#ifndef PXT_FORGE_H
#define PXT_FORGE_H

#include "tools/receive/receiver.h"

#include <stddef.h>
#include <stdint.h>

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

#endif
