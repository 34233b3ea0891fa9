/* SPDX-License-Identifier: MIT */
/* logline.c - which descriptors are lines. */
#include "port/port_log.h"
#include "port/posix/quiet.h"

#include <sys/socket.h>
#include <unistd.h>

enum pxt_log_line pxt_port_log_line(const struct pxt_port_log *log)
{
	struct pxt_quiet quiet = pxt_quiet_begin();
	enum pxt_log_line line = PXT_LINE_NONE;
	int type = 0;
	socklen_t bytes = sizeof(type);

	if (getsockopt(log->fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0)
		line = type == SOCK_STREAM ? PXT_LINE_NONE : PXT_LINE_PACKETS;
	else if (isatty(log->fd))
		line = PXT_LINE_BYTES;
	pxt_quiet_end(quiet);
	return line;
}
