/* SPDX-License-Identifier: MIT */
/*
 * types.h - which event types a stream of another process knows: its names, out of a snapshot.
 *
 * A snapshot is a log, and says it without a request of its own.  The process writes it into memory,
 * which nobody can change once it has answered.
 */
#ifndef PXT_REMOTE_TYPES_H
#define PXT_REMOTE_TYPES_H

#include "tools/remote/ctlsock.h"

#include <stdbool.h>
#include <stddef.h>
#include <trace.h>

struct pxt_remote_types {
	int memory; /* of the snapshot */
	trace_id_t trid;
	bool is_open;
};

/* Connected before.  PXT_REACH_STRANGE, with remote->text: what came is no log. */
enum pxt_reach pxt_remote_types_open(struct pxt_remote *remote, struct pxt_remote_types *types);
/* The next name, those of the program and then the standard's; false: there are no more. */
bool pxt_remote_types_next(
    struct pxt_remote_types *types, bool of_program, char name[TRACE_EVENT_NAME_MAX + 1]);
/* From the first one again. */
void pxt_remote_types_rewind(struct pxt_remote_types *types);
void pxt_remote_types_close(struct pxt_remote_types *types);

/*
 * Asks for a snapshot into memory: *@memory, -1 where there is none, is the caller's to close.  Once it is
 * settled nobody changes it.
 */
enum pxt_reach pxt_remote_types_snapshot(struct pxt_remote *remote, int *memory);
bool pxt_remote_types_settle(int memory);

#endif
