/* SPDX-License-Identifier: MIT */
/* history.h - a drawn history: the streams, and what is done with them, step by step. */
#ifndef MODEL_HISTORY_H
#define MODEL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HI_STREAMS 2u
#define HI_STEPS   40u
#define HI_TYPES   4u /* user types of a history; 0 is the unnamed one */

enum hi_op {
	HI_START,
	HI_STOP,
	HI_CLEAR,
	HI_FILTER,
	HI_OPEN,
	HI_EVENTS,
	HI_FILL,    /* small events, until so many slots of the lane are left */
	HI_STRANGE, /* an event of a type that does not exist, or is the system's */
	HI_READ,    /* of a stream with log: flush */
	HI_STATUS,
	HI_COUNTS,
	HI_OPS
};

struct hi_step {
	uint8_t op;
	uint8_t stream;
	uint8_t lane;
	uint8_t type;
	uint16_t len; /* of data, or of the reader's buffer */
	uint16_t count;
	uint32_t draw;
};

struct hi_spec {
	int policy;
	size_t size;
	size_t max_data;
	unsigned lanes;
	bool with_log;
	int log_policy;
	size_t log_size;
};

struct hi_history {
	uint64_t seed;
	unsigned streams;
	struct hi_spec specs[HI_STREAMS];
	unsigned count;
	struct hi_step steps[HI_STEPS];
};

void hi_draw(struct hi_history *history, uint64_t seed);
void hi_print(const struct hi_history *history);
/* Plays it against the reference.  False: they differ; then @text says where. */
bool hi_play(const struct hi_history *history, char *text, size_t room);

#endif
