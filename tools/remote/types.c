/* SPDX-License-Identifier: MIT */
/* types.c - the event types of a stream of another process; see types.h. */
#define _GNU_SOURCE
#include "tools/remote/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <trace_np.h>
#include <unistd.h>

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* ---- A snapshot in memory ---- */

enum pxt_reach pxt_remote_types_snapshot(struct pxt_remote *remote, int *memory)
{
	struct pxt_ask ask = { .what = PXT_CTLSOCK_SNAPSHOT, .patient = true };

	*memory = ask.fd = memfd_create("pxtrace-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ask.fd >= 0)
		return pxt_remote_ask(remote, &ask);
	remote->error = errno;
	return PXT_REACH_SYSTEM;
}

bool pxt_remote_types_settle(int memory)
{
	return fcntl(memory, F_ADD_SEALS, SEALS) == 0;
}

/* ---- Its types ---- */

static enum pxt_reach read_log(struct pxt_remote *remote, struct pxt_remote_types *types)
{
	struct posix_trace_logerror_np error = { 0 };

	types->is_open = pxt_remote_types_settle(types->memory) &&
	                 posix_trace_open_explained_np(types->memory, &types->trid, &error) == 0;
	if (types->is_open)
		return PXT_REACH_OK;
	(void)snprintf(remote->text, sizeof remote->text, "its snapshot is no log");
	return PXT_REACH_STRANGE;
}

enum pxt_reach pxt_remote_types_open(struct pxt_remote *remote, struct pxt_remote_types *types)
{
	enum pxt_reach reach;

	*types = (struct pxt_remote_types){ .memory = -1 };
	reach = pxt_remote_types_snapshot(remote, &types->memory);
	return reach == PXT_REACH_OK ? read_log(remote, types) : reach;
}

void pxt_remote_types_rewind(struct pxt_remote_types *types)
{
	(void)posix_trace_eventtypelist_rewind(types->trid);
}

bool pxt_remote_types_next(
    struct pxt_remote_types *types, bool of_program, char name[TRACE_EVENT_NAME_MAX + 1])
{
	trace_event_id_t id;
	int unavailable = 0;

	while (posix_trace_eventtypelist_getnext_id(types->trid, &id, &unavailable) == 0 &&
	       !unavailable) {
		if ((id > POSIX_TRACE_UNNAMED_USEREVENT) == of_program &&
		    posix_trace_eventid_get_name(types->trid, id, name) == 0)
			return true;
	}
	return false;
}

void pxt_remote_types_close(struct pxt_remote_types *types)
{
	if (types->is_open)
		(void)posix_trace_close(types->trid);
	if (types->memory >= 0)
		(void)close(types->memory);
}
