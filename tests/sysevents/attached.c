/* SPDX-License-Identifier: MIT */
/* attached.c - system events of attached processes come out in the owner's stream. */
#include "attach/party.h"

#include "format/ids.h"

#include <string.h>
#include <trace_hooks_np.h>
#include <unistd.h>

static struct pxt_event event;

/* The next event of another process, or of a user. */
static bool next_of_producer(trace_id_t trid)
{
	for (int ms = 0; ms < 1000; ms++) {
		while (pxt_next(trid, &event))
			if (event.info.posix_event_id >= PXT_ID_SPECIFIC_FIRST)
				return true;
		pxt_sleep_ms(1);
	}
	return false;
}

static void records_both(void *argument)
{
	trace_id_t trid = producer_attach(0);

	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, "0123456789ab", 12, NULL);
	posix_trace_event(pxt_open_event("user"), "x", 1);
	if (posix_trace_shutdown(trid) != 0)
		_exit(1);
}

/* LPT-30, LPT-31 */
PXT_TEST(an_attached_process_system_events_come_with_its_pid)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ .stream_bytes = 1 << 16 });
	struct producer producer = producer_begin(records_both, NULL);

	CU_ASSERT_TRUE(next_of_producer(trid));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_MUTEX_WAIT_NP);
	PXT_EQ(event.info.posix_pid, producer.pid);
	CU_ASSERT(event.len == 12 && memcmp(event.data, "0123456789ab", 12) == 0);
	CU_ASSERT_TRUE(next_of_producer(trid));
	CU_ASSERT(event.info.posix_event_id >= PXT_ID_USER_FIRST);
	producer_end(&producer);
	owner_close(trid);
}
