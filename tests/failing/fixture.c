/* SPDX-License-Identifier: MIT */
/* fixture.c - the streams, the log and the arguments that cases are about. */
#include "fixture.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fixture env;
struct out out;
int gone;
static bool changed_errno;

int fixture_tried(int error)
{
	changed_errno |= errno != MARK;
	return error;
}

bool fixture_changed_errno(void)
{
	bool changed = changed_errno;

	changed_errno = false;
	return changed;
}

/* Of several blocks, so that a reader does not have all of it in memory. */
static void make_log(void)
{
	trace_attr_t attr;
	trace_id_t trid;
	char data[200] = "";

	env.log_file = pxt_temp_file();
	pxt_attr(&attr, 65536, sizeof(data), POSIX_TRACE_UNTIL_FULL);
	trid = pxt_log_stream(&attr, env.log_file);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	for (int i = 0; i < 4000; i++) {
		posix_trace_event(env.id, data, sizeof(data));
		if (i % 100 == 99)
			PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ_FATAL(posix_trace_shutdown(trid), 0);
	env.log = pxt_open_log(env.log_file);
}

void fixture_open(void)
{
	trace_attr_t attr;

	CU_ASSERT_FATAL(env.stream == 0);
	env.id = pxt_open_event("failing_known");
	PXT_EQ_FATAL(posix_trace_eventid_setformat_np(env.id, "u32 number"), 0);
	make_log();
	env.stream = pxt_running_stream(16384, 64, POSIX_TRACE_LOOP);
	env.file = pxt_temp_file();
	pxt_attr(&attr, 16384, 64, POSIX_TRACE_UNTIL_FULL);
	env.logged = pxt_log_stream(&attr, env.file);
	PXT_EQ_FATAL(posix_trace_start(env.logged), 0);
	close(env.file);
	env.file = pxt_temp_file();
	CU_ASSERT_FATAL(pipe(env.pipe) == 0);
	PXT_EQ_FATAL(posix_trace_attr_init(&env.good), 0);
	PXT_EQ_FATAL(posix_trace_attr_init(&env.bad), 0);
	PXT_EQ_FATAL(posix_trace_attr_destroy(&env.bad), 0);
	PXT_EQ_FATAL(posix_trace_eventset_empty(&env.set), 0);
	clock_gettime(CLOCK_REALTIME, &env.far);
	env.far.tv_sec += 3600;
	env.past.tv_sec = 1;
	env.wrong_time = (struct timespec){ 1, -1 };
}

void fixture_close(void)
{
	PXT_EQ(posix_trace_shutdown(env.stream), 0);
	PXT_EQ(posix_trace_shutdown(env.logged), 0);
	PXT_EQ(posix_trace_close(env.log), 0);
	close(env.log_file);
	close(env.file);
	close(env.pipe[0]);
	close(env.pipe[1]);
	memset(&env, 0, sizeof(env));
}

bool fixture_serves(void)
{
	struct posix_trace_status_info status;
	struct posix_trace_loginfo_np info;
	trace_event_id_t id;
	trace_id_t trid;
	bool served = posix_trace_get_status(env.stream, &status) == 0 &&
	              posix_trace_get_status(env.logged, &status) == 0 &&
	              posix_trace_log_getinfo_np(env.log, &info, sizeof(info)) == 0 &&
	              posix_trace_rewind(env.log) == 0 &&
	              posix_trace_trid_eventid_open(env.stream, "failing_known", &id) == 0 &&
	              posix_trace_flush(env.logged) == 0;
	int error = posix_trace_create(0, &env.good, &trid);

	return served && error == 0 && posix_trace_shutdown(trid) == 0;
}
