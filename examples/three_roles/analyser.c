/* SPDX-License-Identifier: MIT */
/*
 * analyser.c - the third of three processes: it creates the stream, the other two attach to it, and
 * it reads what both record while they run.  Their events come in order of time, each with its
 * process, so that it can say of each job of the real-time process that came late which
 * request of the ordinary one was being answered meanwhile.
 *
 *	analyser STREAM
 *
 * The programs share nothing but the names of stream and events.
 */
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS        1000000LL
#define PATIENCE  5 /* s without any event */
#define PROCESSES 2u

/* ---- What is known of the others ---- */

struct process {
	pid_t pid;
	char role[17];
	unsigned events;
};

struct task {
	const char *name;
	int64_t deadline_ns;
	trace_event_id_t end; /* u32 job, i64 response_ns */
	unsigned jobs;
	unsigned late;
};

/* The latest one. */
static struct {
	uint32_t number;
	char kind[17];
	int64_t end_ns; /* INT64_MAX: it is being answered */
	unsigned count;
} request;

static struct process processes[PROCESSES];
static unsigned came, left;
static struct task tasks[] = {
	{ "control", 5 * MS, 0, 0, 0 },
	{ "sampler", 10 * MS, 0, 0, 0 },
};
#define TASKS (sizeof(tasks) / sizeof(tasks[0]))
static trace_event_id_t hello, goodbye, request_begin, request_end;

/* What an event's data begins with; data is packed as its description says. */
static uint32_t number_of(const unsigned char *data)
{
	uint32_t number;

	memcpy(&number, data, sizeof(number));
	return number;
}

static int64_t response_of(const unsigned char *data)
{
	int64_t ns;

	memcpy(&ns, data + sizeof(uint32_t), sizeof(ns));
	return ns;
}

/* ---- Analysis ---- */

static void say_late(struct task *task, const unsigned char *data, int64_t end_ns)
{
	int64_t response_ns = response_of(data);
	double late_ms = (double)(response_ns - task->deadline_ns) / 1e6;

	task->late++;
	(void)printf("analyser: job %u of %s was late by %.1f ms; server was ", number_of(data),
	    task->name, late_ms);
	/* The latest request goes on, or went on when the job should have begun. */
	if (request.count > 0 && request.end_ns > end_ns - response_ns)
		(void)printf("at request %u, a %s\n", request.number, request.kind);
	else
		(void)printf("idle\n");
}

static void look_at_task(struct task *task, const unsigned char *data, int64_t ns)
{
	task->jobs++;
	if (response_of(data) > task->deadline_ns)
		say_late(task, data, ns);
}

static void look_at_request(trace_event_id_t type, const unsigned char *data, int64_t ns)
{
	if (type == request_begin) {
		request.number = number_of(data);
		memcpy(request.kind, data + sizeof(request.number), sizeof(request.kind) - 1);
		request.end_ns = INT64_MAX;
		request.count++;
	} else if (type == request_end) {
		request.end_ns = ns;
	}
}

static void count_for(pid_t pid)
{
	for (unsigned i = 0; i < came; i++)
		processes[i].events += processes[i].pid == pid;
}

static void look(const struct posix_trace_event_info *event, const unsigned char *data)
{
	const struct timespec *at = &event->posix_timestamp;
	int64_t ns = (int64_t)at->tv_sec * 1000 * MS + at->tv_nsec;
	trace_event_id_t type = event->posix_event_id;

	if (type == hello && came < PROCESSES) {
		processes[came].pid = event->posix_pid;
		memcpy(processes[came].role, data, sizeof(processes[came].role) - 1);
		came++;
	}
	count_for(event->posix_pid);
	left += type == goodbye;
	look_at_request(type, data, ns);
	for (size_t i = 0; i < TASKS; i++) {
		if (type == tasks[i].end)
			look_at_task(&tasks[i], data, ns);
	}
}

/* ---- Stream ---- */

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "analyser: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static trace_id_t open_stream(const char *name)
{
	trace_attr_t attr;
	trace_id_t trid;

	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setsharename_np(&attr, name));
	must(name, posix_trace_create(0, &attr, &trid));
	must("attributes", posix_trace_attr_destroy(&attr));
	must("start", posix_trace_start(trid));
	return trid;
}

static void open_types(void)
{
	must("event", posix_trace_eventid_open("hello", &hello));
	must("event", posix_trace_eventid_open("goodbye", &goodbye));
	must("event", posix_trace_eventid_open("request_begin", &request_begin));
	must("event", posix_trace_eventid_open("request_end", &request_end));
	must("event", posix_trace_eventid_open("control_end", &tasks[0].end));
	must("event", posix_trace_eventid_open("sampler_end", &tasks[1].end));
}

/* Until both have left. */
static void analyse(trace_id_t trid)
{
	while (left < PROCESSES) {
		struct posix_trace_event_info event;
		unsigned char data[64] = { 0 };
		struct timespec until;
		size_t bytes;
		int nothing;

		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += PATIENCE;
		must("an event", posix_trace_timedgetnext_event(
		                     trid, &event, data, sizeof(data), &bytes, &nothing, &until));
		if (!nothing)
			look(&event, data);
	}
}

static void say_results(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	for (unsigned i = 0; i < came; i++)
		(void)printf("analyser: %s (pid %d) recorded %u events\n", processes[i].role,
		    (int)processes[i].pid, processes[i].events);
	for (size_t i = 0; i < TASKS; i++)
		(void)printf("analyser: %s ran %u jobs, %u of them late\n", tasks[i].name,
		    tasks[i].jobs, tasks[i].late);
	must("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	(void)printf("analyser: server answered %u requests; %llu events lost\n", request.count,
	    (unsigned long long)counts.posix_lost_np);
}

int main(int argc, char **argv)
{
	trace_id_t trid;

	if (argc != 2)
		must("usage: analyser STREAM", EINVAL);
	open_types();
	trid = open_stream(argv[1]);
	analyse(trid);
	say_results(trid);
	must("shutdown", posix_trace_shutdown(trid));
	return 0;
}
