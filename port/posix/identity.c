/* SPDX-License-Identifier: MIT */
/* identity.c - who this process is, and whom it may trace. */
#include "port/port.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

int32_t pxt_port_pid(void)
{
	return (int32_t)getpid();
}

/* kill() also says EPERM for processes that exist and may not be signalled: they exist. */
int pxt_port_may_trace(int32_t pid)
{
	int saved = errno;
	int result;

	if (pid == pxt_port_pid())
		return 0;
	if (pid < 0)
		return ESRCH;
	result = kill((pid_t)pid, 0) != 0 && errno == ESRCH ? ESRCH : EPERM;
	errno = saved;
	return result;
}
