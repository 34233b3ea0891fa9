/* SPDX-License-Identifier: MIT */
/*
 * own.h - what the interfaces have in common: event types with their descriptions, and a stream that
 * holds nothing but those.
 */
#ifndef COMPAT_OWN_H
#define COMPAT_OWN_H

#include <trace_np.h>

#define COMPAT_INSIDE __attribute__((visibility("hidden")))

/*
 * Opens a type.  @format: NULL: none.  ENOMEM: there is no room for its name, so that it could not be
 * told from others.
 */
int compat_open_type(const char *name, const char *format, trace_event_id_t *type) COMPAT_INSIDE;

struct compat_own {
	const char *name;              /* of the stream */
	int policy;                    /* what it does when it is full */
	size_t data_bytes;             /* largest data */
	size_t events;                 /* that it keeps, however small, ... */
	size_t event_bytes;            /* ... or with so much data */
	const trace_event_id_t *types; /* of @count places; 0: none */
	size_t count;
};

/* A stream of one lane that records these types and nothing else, and runs. */
int compat_make_stream(const struct compat_own *own, trace_id_t *stream) COMPAT_INSIDE;

#endif
