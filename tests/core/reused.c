/* SPDX-License-Identifier: MIT */
/*
 * reused.c - operations that were begun with an identifier whose object is another's by then: the
 * look-up comes first, as in a thread that is stopped after it, and the object changes hands.
 */
#include "../suite_trace.h"

#include "base/handle.h"
#if _PXT_UNIT_LOGRETRIEVAL
#include "logretrieval/log.h"
#endif

#include <errno.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

/* What was looked up with an identifier, and the identifier. */
struct found {
	void *object;
	const struct pxt_ops *ops;
	trace_id_t trid;
};

#if PXT_CAN_CREATE || PXT_CAN_LOG
/* All that may be asked in both worlds; an operation that the kind does not have is as good as refused. */
static void all_say(const struct found *old, int want)
{
	static struct posix_trace_status_info status;
	static struct _pxt_attr attr;
	static char name[TRACE_EVENT_NAME_MAX + 1];
	static char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_clock_np clock;
	trace_event_id_t id = 0;

	PXT_EQ(old->ops->get_attr(old->object, old->trid, &attr), want);
	PXT_EQ(old->ops->get_status(old->object, old->trid, &status), want);
	PXT_EQ(
	    old->ops->type_name(old->object, old->trid, POSIX_TRACE_UNNAMED_USEREVENT, name), want);
	PXT_EQ(old->ops->type_format(old->object, old->trid, POSIX_TRACE_UNNAMED_USEREVENT, format),
	    want);
	PXT_EQ(old->ops->type_next(old->object, old->trid, &id), want);
	PXT_EQ(old->ops->type_rewind(old->object, old->trid), want);
	PXT_EQ(old->ops->get_clock(old->object, old->trid, &clock), want);
	if (old->ops->rewind)
		PXT_EQ(old->ops->rewind(old->object, old->trid), want);
}
#endif

#if _PXT_UNIT_ONLINE || PXT_CAN_LOG
#if (_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL
static void no_views_are_read(const struct found *old)
{
	struct posix_trace_eventview_np view;
	size_t count = 0;

	if (!old->ops->views)
		return;
	PXT_EQ(old->ops->views(old->object, old->trid, &view, 1, &count), EINVAL);
	PXT_EQ(count, 0);
}
#else
static void no_views_are_read(const struct found *old)
{
	CU_ASSERT(!old->ops->views);
}
#endif

/* Nothing is handed out: a request that would wait is not made. */
static void nothing_is_read(const struct found *old)
{
	struct posix_trace_event_info event;
	unsigned char data[8];
	size_t len;
	int unavailable = 1;
	struct pxt_getnext request = { .trid = old->trid,
		.event = &event,
		.data = data,
		.num_bytes = sizeof(data),
		.data_len = &len,
		.unavailable = &unavailable,
		.wait = old->ops->log ? PXT_WAIT_BLOCK : PXT_WAIT_NOT };

	if (old->ops->getnext)
		PXT_EQ(old->ops->getnext(old->object, &request), EINVAL);
	no_views_are_read(old);
	PXT_EQ(unavailable, 1);
}
#endif

#if PXT_CAN_CREATE
static struct found look_up(trace_id_t trid)
{
	struct found found = { .trid = trid };

	found.object = pxt_handle_find(trid, &found.ops);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found.object);
	return found;
}
#endif

#if _PXT_UNIT_ONLINE
/* SHUT-02, DEC-01 */
PXT_TEST(an_old_identifier_asks_nothing_of_the_stream_that_has_its_place)
{
	struct found old = look_up(pxt_stream(0, 0, 0));
	struct found now;

	all_say(&old, 0);
	PXT_EQ(posix_trace_shutdown(old.trid), 0);
	now = look_up(pxt_stream(0, 0, 0));
	CU_ASSERT_PTR_EQUAL(now.object, old.object);
	all_say(&old, EINVAL);
	nothing_is_read(&old);
	all_say(&now, 0);
	PXT_EQ(posix_trace_shutdown(now.trid), 0);
}
#endif

#if _PXT_UNIT_TOLOG
/* SHUT-02, STA-03 */
PXT_TEST(an_old_identifier_asks_nothing_of_the_stream_with_log_that_has_its_place)
{
	int fd = pxt_temp_file();
	int other = pxt_temp_file();
	struct found old = look_up(pxt_log_stream(NULL, fd));
	struct found now;

	PXT_EQ(posix_trace_shutdown(old.trid), 0);
	now = look_up(pxt_log_stream(NULL, other));
	CU_ASSERT_PTR_EQUAL(now.object, old.object);
	all_say(&old, EINVAL);
	all_say(&now, 0);
	PXT_EQ(posix_trace_shutdown(now.trid), 0);
	close(fd);
	close(other);
}
#endif

#if PXT_CAN_LOG
static int made_log(void)
{
	int fd = pxt_temp_file();

	PXT_EQ_FATAL(posix_trace_shutdown(pxt_log_stream(NULL, fd)), 0);
	return fd;
}

/* What only logs can be asked. */
static void getters_say(const struct found *old, int want)
{
	static struct posix_trace_loginfo_np info;
	static struct posix_trace_logmodule_np module;
	const struct pxt_log_getters *getters = old->ops->log;
	struct posix_trace_logthread_np thread;
	struct posix_trace_logblock_np block;
	struct posix_trace_logfinding_np finding;
	struct timespec time;
	int unavailable = 1;

	PXT_EQ(getters->info(old->object, old->trid, &info), want);
	PXT_EQ(getters->time(old->object, old->trid, 1, &time), want);
	PXT_EQ(getters->block(old->object, old->trid, &block, &unavailable), want);
	PXT_EQ(getters->thread(old->object, old->trid, 0, &thread), want);
	if (want)
		PXT_EQ(getters->module(old->object, old->trid, 0, &module), want);
	PXT_EQ(getters->damage(old->object, old->trid, &finding), want ? want : ENOENT);
}

/* CLOSE-01, DEC-01 */
PXT_TEST(an_old_identifier_asks_nothing_of_the_log_that_has_its_object)
{
	int fd = made_log();
	struct found old = look_up(pxt_open_log(fd));
	struct found now;

	all_say(&old, 0);
	getters_say(&old, 0);
	PXT_EQ(posix_trace_close(old.trid), 0);
	all_say(&old, EINVAL);
	now = look_up(pxt_open_log(fd));
	CU_ASSERT_PTR_EQUAL(now.object, old.object);
	all_say(&old, EINVAL);
	getters_say(&old, EINVAL);
	nothing_is_read(&old);
	all_say(&now, 0);
	PXT_EQ(posix_trace_close(now.trid), 0);
	close(fd);
}

/* CLOSE-01, CLOSE-02 */
PXT_TEST(of_two_who_close_one_log_the_second_closes_no_other)
{
	int fd = made_log();
	struct found old = look_up(pxt_open_log(fd));
	struct found now;

	PXT_EQ(posix_trace_close(old.trid), 0);
	now = look_up(pxt_open_log(fd));
	PXT_EQ(old.ops->close(old.object, old.trid), EINVAL);
	all_say(&now, 0);
	PXT_EQ(posix_trace_close(now.trid), 0);
	close(fd);
}
#endif
