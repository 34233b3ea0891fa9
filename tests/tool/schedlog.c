/* SPDX-License-Identifier: MIT */
/*
 * schedlog.c - from the kernel's records to events of a log, by made-up records.
 *
 * A story is what a reader of the log gets, an event a word: "CPU:FROM>TO/STATE" is a switch,
 * with (PRIO,PRIO) where /proc told of them; "wake TID@CPU", "move TID:CPU>CPU", "fork PARENT>CHILD", "exit TID", "name TID=OLD>NEW",
 * "irq NS*COUNT NAME", "disk TID NS WHAT", "TID at KHZ", "cgroup NS/WITHIN", "faults COUNT+NS", and "lost N" before
 * the event that tells it.  In all of them thread 10 is the one that is watched.
 */
#include "tools/sched/sched.h"

#include "perfbytes.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <trace_np.h>
#include <unistd.h>

#define CHILD 10

static struct perfbytes made;
static struct pxt_schedlog scheduler;
static char path[256];
static char story[2048];

static struct pb_place at(uint64_t ns, uint32_t cpu, int32_t tid)
{
	return (struct pb_place){
		.ns = UINT64_C(1000000000000) + ns, .cpu = cpu, .pid = tid, .tid = tid
	};
}

/* ---- Reading ---- */

static void say(const char *format, ...)
{
	size_t used = strlen(story);
	va_list args;

	if (used > 0)
		story[used++] = ' ';
	va_start(args, format);
	(void)vsnprintf(story + used, sizeof story - used, format, args);
	va_end(args);
}

static int number(const unsigned char *data, size_t offset)
{
	int32_t value;

	memcpy(&value, data + offset, sizeof value);
	return (int)value;
}

/* The last fields, as far as they are there. */
static void say_prios(const unsigned char *data, size_t bytes)
{
	char *end = story + strlen(story);
	size_t room = sizeof story - strlen(story);

	if (bytes == 52)
		(void)snprintf(end, room, "(%d)", number(data, 48));
	else if (bytes > 52)
		(void)snprintf(end, room, "(%d,%d)", number(data, 48), number(data, 52));
}

static void say_event(const char *name, const unsigned char *data, size_t bytes, int cpu)
{
	const char *text = (const char *)data;
	bool prio = scheduler.wish.points != NULL;

	if (strcmp(name, "sched_switch") == 0) {
		say("%d:%d>%d/%d", cpu, number(data, 16), number(data, prio ? 48 : 44),
		    number(data, prio ? 24 : 20));
		say_prios(data, prio ? 0 : bytes);
	} else if (strcmp(name, "sched_waking") == 0)
		say("wake %d@%d", number(data, 16), number(data, 24));
	else if (strcmp(name, "sched_migrate_task") == 0)
		say("move %d:%d>%d", number(data, 16), number(data, 24), number(data, 28));
	else if (strcmp(name, "sched_pi_setprio") == 0)
		say("boost %d:%d>%d", number(data, 16), number(data, 20), number(data, 24));
	else if (strcmp(name, "sched_process_fork") == 0)
		say("fork %d>%d", number(data, 16), number(data, 40));
	else if (strcmp(name, "sched_process_exit") == 0)
		say("exit %d", number(data, 16));
	else if (strcmp(name, "task_rename") == 0)
		say("name %d=%s>%s%s", number(data, 0), text + 4, text + 20, data[36] ? "!" : "");
	else if (strcmp(name, "interrupts") == 0)
		say("irq %d*%d %s", number(data, 0), number(data, 8), text + 12);
	else if (strcmp(name, "block_io") == 0)
		say("disk %d %s", number(data, 0), text + 28);
	else if (strcmp(name, "cpu_frequency") == 0)
		say("%d at %d", cpu, number(data, 0));
	else if (strcmp(name, "cpu_throttled") == 0)
		say("cgroup %d/%d", number(data, 0), number(data, 8));
	else if (strcmp(name, "page_faults") == 0)
		say("faults %d+%d", number(data, 0), bytes > 5 ? number(data, 5) : 0);
	else
		say("%s", name);
}

static void read_story(void)
{
	struct posix_trace_event_info info;
	struct posix_trace_eventextra_np extra;
	unsigned char data[256];
	char name[TRACE_EVENT_NAME_MAX + 1];
	int unavailable = 0;
	trace_id_t trid;
	size_t bytes;
	int fd = open(path, O_RDONLY);

	*story = '\0';
	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	while (
	    posix_trace_getnext_event(trid, &info, data, sizeof data, &bytes, &unavailable) == 0 &&
	    !unavailable) {
		PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
		PXT_EQ(posix_trace_eventid_get_name(trid, info.posix_event_id, name), 0);
		if (extra.posix_lost_before_np)
			say("lost %llu", (unsigned long long)extra.posix_lost_before_np);
		say_event(name, data, bytes, extra.posix_cpu_np);
	}
	(void)posix_trace_close(trid);
	(void)close(fd);
}

/* ---- Writing ---- */

static void begin(bool wide, const struct pxt_tracepoint *points)
{
	const struct pxt_schedlog_wish wish = {
		.path = path, .child = CHILD, .wide = wide, .points = points
	};

	made.used = 0;
	(void)snprintf(path, sizeof path, "%s/sched.ptl", pxt_temp_folder());
	(void)unlink(path);
	CU_ASSERT_FATAL(pxt_schedlog_begin(&scheduler, &wish));
}

static void take_all(void)
{
	for (size_t used = 0; used < made.used;) {
		struct perf_event_header head;
		struct pxt_perfrec rec;

		memcpy(&head, made.bytes + used, sizeof head);
		CU_ASSERT_FATAL(pxt_perfrec_parse(&rec, made.bytes + used, head.size));
		pxt_schedlog_take(&scheduler, &rec);
		used += head.size;
	}
	made.used = 0;
}

/* What the records that were made come to. */
static const char *end(void)
{
	take_all();
	PXT_EQ(pxt_schedlog_end(&scheduler), 0);
	read_story();
	return story;
}

#define STORY(text)                                                                                \
	do {                                                                                       \
		const char *got_ = end();                                                          \
		PXT_CHECK(strcmp(got_, text) == 0, "\"%s\", not \"%s\"", got_, text);              \
	} while (0)

/* ---- Own threads alone ---- */

/* QNX-24, LPT-30: states of threads; 0 is preempted, 1 waits. */
PXT_TEST(of_own_threads_it_is_told_when_they_run_and_not_who_else)
{
	begin(false, NULL);
	pb_in(&made, at(1, 2, 10));
	pb_out(&made, at(2, 2, 10), PB_PREEMPTED);
	pb_in(&made, at(3, 2, 10));
	pb_out(&made, at(4, 2, 10), 0);
	STORY("2:-1>10/0 2:10>-1/0 2:-1>10/0 2:10>-1/1");
}

/* Its records end with it: the kernel does not tell when it left. */
PXT_TEST(an_own_thread_leaves_its_cpu_when_it_ends)
{
	begin(false, NULL);
	pb_task(&made, 7, at(1, 0, 10), 10, 11, 10);
	pb_in(&made, at(2, 1, 11));
	pb_task(&made, 4, at(3, 1, 11), 10, 11, 10);
	pb_task(&made, 4, at(4, 0, 12), 12, 12, 10);
	STORY("fork 10>11 1:-1>11/0 exit 11 1:11>-1/16 exit 12");
}

PXT_TEST(a_new_name_is_told_with_the_old_one)
{
	begin(false, NULL);
	pb_name(&made, at(1, 0, 10), "first", 1);
	pb_name(&made, at(2, 0, 10), "second", 0);
	STORY("name 10=>first! name 10=first>second");
}

/* ---- The whole machine ---- */

PXT_TEST(a_switch_is_told_once_though_two_records_have_it)
{
	begin(true, NULL);
	pb_wide_out(&made, at(1, 0, 50), 0, 10);
	pb_wide_in(&made, at(2, 0, 10), 50);
	pb_wide_out(&made, at(3, 0, 10), PB_PREEMPTED, 51);
	pb_wide_in(&made, at(4, 0, 51), 10);
	STORY("0:50>10/1 0:10>51/0");
}

/* Where the kernel does not record in its idle thread, say. */
PXT_TEST(a_switch_is_told_though_one_record_is_missing)
{
	begin(true, NULL);
	pb_wide_out(&made, at(1, 0, 50), 0, 0);
	pb_wide_in(&made, at(2, 0, 10), 0);
	pb_wide_out(&made, at(3, 0, 10), 0, 0);
	pb_wide_in(&made, at(5, 0, 10), 0);
	STORY("0:0>10/0 0:10>0/1 0:0>10/0");
}

PXT_TEST(what_does_not_concern_the_program_is_not_written)
{
	begin(true, NULL);
	for (uint32_t i = 0; i < 50; i++)
		pb_wide_out(&made, at(i, i % 4, (int32_t)(50 + i)), 0, (int32_t)(51 + i));
	pb_task(&made, 7, at(60, 0, 50), 90, 90, 50);
	pb_name(&made, at(61, 0, 90), "other", 1);
	pb_task(&made, 4, at(62, 0, 90), 90, 90, 50);
	STORY("");
	PXT_EQ(scheduler.switches, 0);
}

/* LPT-30: while the program's thread could run there, all that runs there is told; then no more. */
PXT_TEST(who_runs_instead_is_told_as_long_as_it_matters)
{
	begin(true, NULL);
	pb_wide_out(&made, at(1, 0, 50), 0, 10);
	pb_wide_out(&made, at(2, 0, 10), PB_PREEMPTED, 51);
	pb_wide_out(&made, at(3, 0, 51), 0, 52);
	pb_wide_out(&made, at(4, 1, 60), 0, 61);
	pb_wide_out(&made, at(5, 0, 52), 0, 10);
	pb_wide_out(&made, at(6, 0, 10), 0, 53);
	pb_wide_out(&made, at(7, 0, 53), 0, 54);
	pb_wide_out(&made, at(8, 0, 54), 0, 55);
	STORY("0:50>10/1 0:10>51/0 0:51>52/1 0:52>10/1 0:10>53/1 0:53>-1/1");
}

PXT_TEST(what_the_program_starts_is_watched_too)
{
	begin(true, NULL);
	pb_task(&made, 7, at(1, 0, 10), 20, 20, 10);
	pb_task(&made, 7, at(2, 1, 20), 20, 21, 20);
	pb_wide_out(&made, at(3, 1, 50), 0, 21);
	pb_wide_out(&made, at(4, 1, 21), 0, 0);
	pb_task(&made, 4, at(5, 1, 21), 20, 21, 20);
	STORY("fork 10>20 fork 20>21 1:50>21/1 1:21>0/1 exit 21");
}

/* The system uses a number again: it is another thread. */
PXT_TEST(a_number_that_is_used_again_is_a_thread_of_its_own)
{
	begin(true, NULL);
	pb_task(&made, 7, at(1, 0, 10), 20, 20, 10);
	pb_task(&made, 4, at(2, 0, 20), 20, 20, 10);
	pb_task(&made, 7, at(3, 0, 50), 20, 20, 50);
	pb_wide_out(&made, at(4, 0, 50), 0, 20);
	STORY("fork 10>20 exit 20");
}

PXT_TEST(who_ended_leaves_for_ever_and_may_have_no_number_any_more)
{
	begin(true, NULL);
	pb_wide_out(&made, at(1, 0, 50), 0, 10);
	pb_task(&made, 4, at(2, 0, 10), 10, 10, 1);
	pb_wide_out(&made, at(3, 0, -1), 0, 51);
	STORY("0:50>10/1 exit 10 0:10>51/16");
}

/* ---- Losses ---- */

/* Nobody knows any more who runs, nor who waits. */
PXT_TEST(after_a_loss_nothing_is_known)
{
	begin(true, NULL);
	pb_wide_out(&made, at(1, 0, 50), 0, 10);
	pb_wide_out(&made, at(2, 0, 10), PB_PREEMPTED, 51);
	pb_lost(&made, at(3, 0, 51), 7);
	pb_wide_out(&made, at(4, 0, 51), 0, 52);
	pb_wide_out(&made, at(5, 0, 52), 0, 10);
	take_all();
	PXT_EQ(scheduler.lost, 7);
	STORY("0:50>10/1 0:10>51/0 lost 7 0:52>10/1");
}

/* Each record is an event, or in the count of what was lost. */
PXT_TEST(losses_at_the_end_are_in_the_counts_of_the_log)
{
	struct posix_trace_loginfo_np info;
	trace_id_t trid;
	int fd;

	begin(false, NULL);
	pb_in(&made, at(1, 0, 10));
	take_all();
	pxt_schedlog_loss(&scheduler, 5);
	PXT_EQ(pxt_schedlog_end(&scheduler), 0);
	fd = open(path, O_RDONLY);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	PXT_EQ(posix_trace_log_getinfo_np(trid, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_counts_np.posix_written_np, 6);
	PXT_EQ(info.posix_counts_np.posix_lost_np, 5);
	(void)posix_trace_close(trid);
	(void)close(fd);
}

PXT_TEST(what_comes_late_gets_the_time_of_what_was_written)
{
	begin(false, NULL);
	pb_in(&made, at(50, 0, 10));
	pb_out(&made, at(40, 0, 10), 0);
	take_all();
	PXT_EQ(scheduler.late, 1);
	PXT_EQ(scheduler.last_ns - at(0, 0, 0).ns, 50);
	STORY("0:-1>10/0 0:10>-1/1");
}

/* ---- Tracepoints ---- */

PXT_TEST(a_tracepoint_tells_state_and_priority_of_a_switch)
{
	struct pxt_tracepoint points[PXT_TRACEPOINTS];

	pb_points(points);
	begin(true, points);
	pb_said_switch(&made, at(1, 0, 50), 50, 2, 10);
	pb_wide_out(&made, at(2, 0, 50), 0, 10);
	pb_wide_in(&made, at(3, 0, 10), 50);
	pb_said_switch(&made, at(4, 0, 10), 10, 256, 51);
	pb_wide_out(&made, at(5, 0, 10), PB_PREEMPTED, 51);
	STORY("0:50>10/2 0:10>51/256");
}

/* Who has the CPU of a woken thread may have it for long, and is told at once. */
PXT_TEST(a_wake_up_tells_who_has_the_cpu)
{
	struct pxt_tracepoint points[PXT_TRACEPOINTS];

	pb_points(points);
	begin(true, points);
	pb_said_switch(&made, at(1, 1, 60), 60, 1, 61);
	pb_said_waking(&made, at(2, 0, 50), 10, 1);
	pb_said_switch(&made, at(3, 1, 61), 61, 0, 62);
	pb_said_switch(&made, at(4, 1, 62), 62, 0, 10);
	pb_said_waking(&made, at(5, 1, 10), 50, 0);
	STORY("wake 10@1 1:-1>61/0 1:61>62/0 1:62>10/0");
	PXT_EQ(scheduler.wakes, 1);
}

PXT_TEST(a_thread_that_is_moved_waits_at_its_new_place)
{
	struct pxt_tracepoint points[PXT_TRACEPOINTS];

	pb_points(points);
	begin(true, points);
	pb_said_switch(&made, at(1, 2, 70), 70, 0, 71);
	pb_said_switch(&made, at(2, 0, 50), 50, 0, 10);
	pb_said_switch(&made, at(3, 0, 10), 10, 0, 51);
	pb_said_migration(&made, at(4, 2, 71), 10, 0, 2);
	pb_said_switch(&made, at(5, 0, 51), 51, 0, 52);
	pb_said_switch(&made, at(6, 2, 71), 71, 0, 72);
	STORY("0:50>10/0 0:10>51/0 move 10:0>2 2:-1>71/0 0:51>-1/0 2:71>72/0");
}

/* SHARK-36: of the program's own threads; another one's is no event. */
PXT_TEST(a_priority_that_is_inherited_is_told_and_given_back)
{
	struct pxt_tracepoint points[PXT_TRACEPOINTS];

	pb_points(points);
	begin(true, points);
	pb_said_switch(&made, at(1, 2, 10), 70, 0, 10);
	pb_said_boost(&made, at(2, 1, 71), 10, 120, 9);
	pb_said_boost(&made, at(3, 1, 71), 72, 120, 9);
	pb_said_boost(&made, at(4, 2, 10), 10, 9, 120);
	STORY("2:70>10/0 boost 10:120>9 boost 10:9>120");
}

/* ---- What /proc says ---- */

PXT_TEST(the_line_of_a_thread_tells_name_and_priority)
{
	static const struct {
		const char *line;
		const char *name;
		int prio;
	} lines[] = {
		{ "7 (plain) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0 1", "plain", 120 },
		{ "7 (a) b (c) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 39 19 1", "a) b (c", 139 },
		{ "7 (fifteen letters) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 -2 0 1",
		    "fifteen letters", 98 },
		{ "7 (a kernel thread's long name) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0",
		    "a kernel thread", 120 },
		{ "7 (short) S 1 2 3", NULL, 0 },
		{ "7 (word) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 x 0", NULL, 0 },
		{ "7 (large) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 4000 0", NULL, 0 },
		{ "7 )name( S", NULL, 0 },
		{ "", NULL, 0 },
	};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		char name[PXT_SCHEDTHREAD_NAME] = "";
		int32_t prio = 0;
		bool good = pxt_schedthreads_parse(lines[i].line, name, &prio);

		PXT_CHECK(good == (lines[i].name != NULL), "%s", lines[i].line);
		PXT_CHECK(!good || (strcmp(name, lines[i].name) == 0 && prio == lines[i].prio),
		    "%s: %s, %d", lines[i].line, name, (int)prio);
	}
}

/* SHARK-36: where no record tells it, and only for a thread that is there. */
PXT_TEST(a_priority_that_no_record_tells_is_asked_for)
{
	char wanted[128];
	int mine = 120 + getpriority(PRIO_PROCESS, 0);
	int tid = (int)getpid();
	const struct pxt_schedlog_wish wish = { .path = path, .child = tid, .ask = true };

	begin(false, NULL);
	pxt_schedlog_abandon(&scheduler);
	CU_ASSERT_FATAL(pxt_schedlog_begin(&scheduler, &wish));
	pb_in(&made, at(1, 2, tid));
	pb_out(&made, at(2, 2, tid), 0);
	pb_in(&made, at(3, 0, 0x3ffffff0));
	/* One that is gone when it is asked for had its parent's. */
	pb_task(&made, 7, at(4, 2, tid), tid, 0x3ffffff1, tid);
	pb_in(&made, at(5, 1, 0x3ffffff1));
	(void)snprintf(wanted, sizeof wanted,
	    "2:-1>%d/0(0,%d) 2:%d>-1/1(%d,0) 0:-1>%d/0 fork %d>%d 1:-1>%d/0(0,%d)", tid, mine, tid,
	    mine, 0x3ffffff0, tid, 0x3ffffff1, 0x3ffffff1, mine);
	STORY(wanted);
}

/* ---- What the machine did ---- */

static void begin_with_points(void)
{
	static struct pxt_tracepoint points[PXT_TRACEPOINTS];

	pb_points(points);
	begin(true, points);
}

/* Of one within another the time is counted once; of another program's thread none is told. */
PXT_TEST(interrupts_of_a_thread_are_added_up_until_it_leaves)
{
	begin_with_points();
	pb_said_switch(&made, at(10, 0, 50), 50, 1, 10);
	pb_irq(&made, at(100, 0, 10), PXT_TRACEPOINT_SOFTIRQ, 3);
	pb_irq(&made, at(150, 0, 10), PXT_TRACEPOINT_IRQ, 9);
	pb_irq(&made, at(170, 0, 10), PXT_TRACEPOINT_IRQ_END, 9);
	pb_irq(&made, at(200, 0, 10), PXT_TRACEPOINT_SOFTIRQ_END, 3);
	pb_said_switch(&made, at(300, 0, 10), 10, 1, 50);
	pb_irq(&made, at(400, 0, 50), PXT_TRACEPOINT_IRQ, 9);
	pb_irq(&made, at(450, 0, 50), PXT_TRACEPOINT_IRQ_END, 9);
	STORY("0:50>10/1 irq 100*2 NET_RX 0:10>50/1");
}

PXT_TEST(after_a_millisecond_interrupts_are_told_as_they_are)
{
	begin_with_points();
	pb_said_switch(&made, at(10, 0, 50), 50, 1, 10);
	pb_irq(&made, at(1000, 0, 10), PXT_TRACEPOINT_IRQ, 9);
	pb_irq(&made, at(1200000, 0, 10), PXT_TRACEPOINT_IRQ_END, 9);
	STORY("0:50>10/1 irq 1199000*1 disk0");
}

/* Another program's is none of this one's; after a loss nobody knows of one whether it has ended. */
PXT_TEST(a_request_whose_end_is_not_told_is_counted)
{
	begin_with_points();
	pb_said_switch(&made, at(10, 0, 50), 50, 1, 10);
	pb_block(&made, at(100, 0, 10), false, 77);
	pb_block(&made, at(110, 0, 10), false, 78);
	pb_block(&made, at(120, 1, 60), false, 79);
	pb_block(&made, at(900, 1, 60), true, 78);
	take_all();
	CU_ASSERT_EQUAL(scheduler.unended, 0);
	pxt_schedmachine_forget(&scheduler);
	CU_ASSERT_EQUAL(scheduler.unended, 1);
	STORY("0:50>10/1 disk 790 WS");
}

/* The disk's own interrupt comes in any thread. */
PXT_TEST(a_request_to_a_disk_is_of_the_thread_that_gave_it)
{
	begin_with_points();
	pb_said_switch(&made, at(10, 0, 50), 50, 1, 10);
	pb_block(&made, at(100, 0, 10), false, 77);
	pb_block(&made, at(110, 1, 60), false, 78);
	pb_block(&made, at(900, 1, 60), true, 78);
	pb_block(&made, at(1000, 1, 60), true, 77);
	STORY("0:50>10/1 disk 900 WS");
}

PXT_TEST(a_request_of_the_kernel_is_told_while_a_thread_is_stuck)
{
	begin_with_points();
	pb_said_switch(&made, at(10, 0, 50), 50, 1, 10);
	pb_said_switch(&made, at(20, 0, 10), 10, 2, 60);
	pb_block(&made, at(110, 0, 60), false, 78);
	pb_block(&made, at(900, 1, 50), true, 78);
	STORY("0:50>10/1 0:10>60/2 disk 790 WS");
}

PXT_TEST(a_frequency_is_told_where_the_program_runs)
{
	begin_with_points();
	pb_frequency(&made, at(5, 0, 50), 800000);
	pb_said_switch(&made, at(10, 0, 50), 50, 1, 10);
	pb_frequency(&made, at(20, 0, 10), 2000000);
	pb_said_switch(&made, at(30, 0, 10), 10, 1, 50);
	pb_frequency(&made, at(40, 0, 50), 800000);
	STORY("0:50>10/1 0 at 800000 0 at 2000000 0:10>50/1");
}

PXT_TEST(a_cgroup_that_was_throttled_is_told_with_the_time_between_two_looks)
{
	const struct pxt_throttle meanwhile = { .times = 2, .ns = 60 };

	begin(false, NULL);
	pxt_throttles_put(&scheduler, 10, &meanwhile, 1000, 1100);
	STORY("cgroup 60/100");
}

/* It is told when it is over: at once after the thread was back, unless that did something else in between. */
PXT_TEST(a_page_fault_has_the_time_that_its_thread_was_away)
{
	begin(false, NULL);
	pb_in(&made, at(1, 2, 10));
	pb_out(&made, at(1000, 2, 10), 0);
	pb_in(&made, at(9000, 2, 10));
	pb_address(&made, at(9100, 2, 10), 0x401234, 1);
	pb_address(&made, at(9200, 2, 10), 0x401234, 1);
	STORY("2:-1>10/0 2:10>-1/1 2:-1>10/0 faults 1+8100 faults 1+0");
}

/* ---- The log ---- */

PXT_TEST(a_log_that_cannot_be_written_is_an_error_at_the_end)
{
	const struct pxt_schedlog_wish wish = { .path = "/nowhere/sched.ptl", .child = CHILD };

	CU_ASSERT_FATAL(pxt_schedlog_begin(&scheduler, &wish));
	PXT_EQ(pxt_schedlog_end(&scheduler), ENOENT);
}

PXT_TEST(a_watch_that_is_given_up_leaves_no_log)
{
	begin(false, NULL);
	pxt_schedlog_abandon(&scheduler);
	CU_ASSERT(access(path, F_OK) != 0);
}

/* ---- Bounds ---- */

#define ROUNDS 400u

/* What a bound lets through of that many switches; each is two events at most. */
static void switch_often(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		made.used = 0;
		pb_in(&made, at(2 * i + 1, 2, CHILD));
		pb_out(&made, at(2 * i + 2, 2, CHILD), 0);
		take_all();
	}
}

static uint64_t events_of(const char *log, uint64_t *lost)
{
	struct posix_trace_loginfo_np info;
	int fd = open(log, O_RDONLY);
	trace_id_t trid;

	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	PXT_EQ(posix_trace_log_getinfo_np(trid, &info, sizeof(info)), 0);
	*lost = info.posix_lost_np;
	/* Who its events are of can be told without the other segment. */
	CU_ASSERT(info.posix_threads_np > 0);
	(void)posix_trace_close(trid);
	(void)close(fd);
	return info.posix_counts_np.posix_retrieved_np;
}

static uint64_t begin_bounded(const char *other)
{
	struct pxt_schedlog_wish wish = { .path = path, .child = CHILD };
	uint64_t all;

	begin(false, NULL);
	switch_often();
	all = pxt_schedlog_events(&scheduler);
	pxt_schedlog_abandon(&scheduler);
	wish.limit = 8192;
	wish.other = other;
	CU_ASSERT_FATAL(pxt_schedlog_begin(&scheduler, &wish));
	switch_often();
	return all;
}

/* QNX-51 */
PXT_TEST(a_log_with_a_bound_has_the_first_events_and_counts_the_others)
{
	uint64_t all = begin_bounded(NULL);
	uint64_t beyond = scheduler.beyond;
	struct stat state;
	uint64_t lost;

	PXT_EQ(pxt_schedlog_end(&scheduler), 0);
	CU_ASSERT(beyond > 0 && beyond < all);
	PXT_EQ(events_of(path, &lost) + beyond, all);
	PXT_EQ(lost, beyond);
	PXT_EQ(stat(path, &state), 0);
	/* Heads, types and threads come to the records. */
	CU_ASSERT(state.st_size < 8192 + 5120);
}

/* QNX-51: each of them can be read alone. */
PXT_TEST(two_segments_that_take_turns_have_the_newest_events)
{
	char other[sizeof path + 8];
	uint64_t all;
	uint64_t lost;

	(void)snprintf(other, sizeof other, "%s/older.ptl", pxt_temp_folder());
	all = begin_bounded(other);
	CU_ASSERT(scheduler.segments > 2);
	PXT_EQ(pxt_schedlog_events(&scheduler) + scheduler.beyond, all);
	PXT_EQ(pxt_schedlog_end(&scheduler), 0);
	PXT_EQ(events_of(path, &lost) + events_of(other, &lost) + scheduler.beyond, all);
	PXT_EQ(lost, 0);
	if (scheduler.segments % 2)
		PXT_EQ(rename(other, path), 0);
	read_story();
	/* The thread's name and number are told in the last one, too. */
	CU_ASSERT_PTR_NOT_NULL(strstr(story, ":-1>"));
	(void)unlink(other);
}

PXT_TEST(a_watch_of_segments_that_is_given_up_leaves_none)
{
	char other[sizeof path + 8];

	(void)snprintf(other, sizeof other, "%s/older.ptl", pxt_temp_folder());
	(void)begin_bounded(other);
	pxt_schedlog_abandon(&scheduler);
	CU_ASSERT(access(path, F_OK) != 0);
	CU_ASSERT(access(other, F_OK) != 0);
}
