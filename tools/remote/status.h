/* SPDX-License-Identifier: MIT */
/* status.h - what a stream's owner says of it, in words and in per cent. */
#ifndef PXT_REMOTE_STATUS_H
#define PXT_REMOTE_STATUS_H

#include "format/ctlsock.h"

/* Running, stopped, full; unknown where it is no number of enum pxt_ctlsock_state. */
const char *pxt_status_state(const struct pxt_ctlsock_status *status);
/* What it does when it is full. */
const char *pxt_status_policy(const struct pxt_ctlsock_status *status);
/* How much of its memory is in use, in per cent. */
unsigned pxt_status_fill(const struct pxt_ctlsock_status *status);

#endif
