/* SPDX-License-Identifier: MIT */
/* ended.c - see ended.h. */
#include "tools/read/ended.h"

#include <stdio.h>

/*
 * Linux' numbers, which a log carries, on all machines but Alpha, MIPS, PA-RISC and SPARC; this
 * machine's own may be others.
 */
const char *pxt_ended_signal(int number)
{
	static const char *const names[] = { "", "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP",
		"SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2",
		"SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP",
		"SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU", "SIGXFSZ", "SIGVTALRM",
		"SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS" };

	return number > 0 && number < (int)(sizeof names / sizeof names[0]) ? names[number]
	                                                                    : "real-time";
}

bool pxt_ended_by(const struct posix_trace_loginfo_np *info, char *text, size_t room)
{
	char about[40] = "";
	char thread[40] = "";
	char at[48] = "";

	if (!info->posix_signal_np)
		return false;
	if (info->posix_signal_code_np > 0)
		(void)snprintf(about, sizeof about, " about address 0x%llx",
		    (unsigned long long)info->posix_signal_address_np);
	else if (info->posix_signal_sender_np)
		(void)snprintf(
		    about, sizeof about, " from process %ld", (long)info->posix_signal_sender_np);
	if (info->posix_signal_tid_np)
		(void)snprintf(
		    thread, sizeof thread, ", in thread %ld", (long)info->posix_signal_tid_np);
	if (info->posix_signal_at_np)
		(void)snprintf(at, sizeof at, " at instruction 0x%llx",
		    (unsigned long long)info->posix_signal_at_np);
	(void)snprintf(text, room, "signal %d (%s)%s%s%s", info->posix_signal_np,
	    pxt_ended_signal(info->posix_signal_np), about, thread, at);
	return true;
}

bool pxt_never_started(const struct posix_trace_loginfo_np *info, uint64_t events)
{
	return info->posix_complete_np && events == 0 && info->posix_lost_np == 0 &&
	       info->posix_counts_np.posix_written_np == 0;
}
