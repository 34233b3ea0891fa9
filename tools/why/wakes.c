/* SPDX-License-Identifier: MIT */
/* wakes.c - which events say that their thread does something that wakes another one; see history.h. */
#include "tools/why/history.h"

#include <trace_hooks_np.h>

/* Whether another thread may be woken by such a call while it lasts. */
static bool call_wakes(uint32_t call)
{
	switch (call) {
	case POSIX_TRACE_CALL_SEM_POST_NP:
	case POSIX_TRACE_CALL_BARRIER_WAIT_NP:
	case POSIX_TRACE_CALL_ONCE_NP:
	case POSIX_TRACE_CALL_WRITE_NP:
	case POSIX_TRACE_CALL_OPEN_NP:
	case POSIX_TRACE_CALL_CLOSE_NP:
	case POSIX_TRACE_CALL_ACCEPT_NP:
	case POSIX_TRACE_CALL_CONNECT_NP:
	case POSIX_TRACE_CALL_SEND_NP:
	case POSIX_TRACE_CALL_READ_NP:
	case POSIX_TRACE_CALL_RECV_NP:
	case POSIX_TRACE_CALL_SENDFILE_NP:
	case POSIX_TRACE_CALL_FLOCK_NP:
	case POSIX_TRACE_CALL_LOCKF_NP:
	case POSIX_TRACE_CALL_FCNTL_NP:
	case POSIX_TRACE_CALL_MQ_NP:
	case POSIX_TRACE_CALL_MQ_SEND_NP:
	case POSIX_TRACE_CALL_MQ_RECEIVE_NP:
	case POSIX_TRACE_CALL_MSGSND_NP:
	case POSIX_TRACE_CALL_MSGRCV_NP:
	case POSIX_TRACE_CALL_SEMOP_NP:
	case POSIX_TRACE_CALL_FUTEX_WAKE_NP:
		return true;
	default:
		return false;
	}
}

bool pxt_wakes_event(const struct pxt_event *event)
{
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_MUTEX_UNLOCK_NP:
	case POSIX_TRACE_SYNC_UNLOCK_NP:
	case POSIX_TRACE_COND_WAIT_NP:
	case POSIX_TRACE_COND_SIGNAL_NP:
	case POSIX_TRACE_COND_BROADCAST_NP:
		return true;
	case POSIX_TRACE_CALL_ENTER_NP:
		return call_wakes((uint32_t)pxt_key_number(event, 0));
	case POSIX_TRACE_CALL_EXIT_NP:
		/* Calls that cannot block tell of their end alone. */
		return pxt_key_number(event, 0) == POSIX_TRACE_CALL_SEM_POST_NP ||
		       pxt_key_number(event, 0) == POSIX_TRACE_CALL_FUTEX_WAKE_NP;
	case POSIX_TRACE_SIGNAL_NP:
	case POSIX_TRACE_PROCESS_NP:
		return true;
	default:
		return false;
	}
}
