/* SPDX-License-Identifier: MIT */
/*
 * create.h - making a stream.
 *
 *   concurrency: any thread, beside all other calls; the process lock inside.
 */
#ifndef PXT_CREATE_H
#define PXT_CREATE_H

#include "core/stream/stream.h"

struct pxt_create {
	int32_t pid;
	const trace_attr_t *attr; /* NULL: defaults */
	bool with_log;
	const struct pxt_ops *ops;
};

/* Every default resolved, every value checked and rounded: what the stream will have. */
int pxt_create_attr(const struct pxt_create *request, struct _pxt_attr *attr);
/*
 * EAGAIN, EINVAL, ENOMEM, EPERM, ESRCH or 0.  @attr: from pxt_create_attr().  On success *stream
 * is complete but cannot be found yet: a unit prepares its own part, then publishes or abandons.
 */
int pxt_create_stream(
    const struct pxt_create *request, const struct _pxt_attr *attr, struct pxt_stream **stream);
/*
 * @name: for other processes, or NULL.  0, ENOMEM: no identifier is left, or what struct pxt_share_ops, open,
 * says.
 */
int pxt_create_publish(struct pxt_stream *stream, const char *name, trace_id_t *trid);

#endif
