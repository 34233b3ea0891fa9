/* SPDX-License-Identifier: MIT */
/* readings.c - how much of a log a command reads, counted where the port reads it. */
#include "fakes/fakes.h"
#include "port/port_file.h"
#include "tools/command/command.h"
#include "tools/write/logwrite.h"

#include "suite.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENTS 100000u

static uint64_t bytes_read;

PXT_WRAPPED(int, pxt_port_file_read,
    (const struct pxt_port_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done))
{
	int error = __real_pxt_port_file_read(file, offset, buffer, bytes, done);

	bytes_read += *done;
	return error;
}

static char folder[] = "/tmp/pxt-readings-XXXXXX";

/* Jobs of one thread, of which the last one is the longest. */
static void make_log(const char *third_type)
{
	const struct pxt_loghead head = { .name = "jobs", .hz = 1000000000 };
	const struct posix_trace_logthread_np thread = {
		.posix_thread_np = 7, .posix_tid_np = 7, .posix_name_np = "worker"
	};
	struct pxt_logwrite *log;

	CU_ASSERT_FATAL(mkdtemp(folder) && chdir(folder) == 0);
	log = pxt_logwrite_begin("run.ptl", PXT_LOG_WHOLE, &head);
	CU_ASSERT_FATAL(log != NULL);
	pxt_logwrite_type(log, 32, "job_begin", "u32 job");
	pxt_logwrite_type(log, 33, "job_end", "u32 job");
	pxt_logwrite_type(log, 34, third_type, "u32 tid");
	pxt_logwrite_thread(log, 1, &thread);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t job = i / 2;
		struct pxt_logevent event = { .id = 32 + i % 2,
			.ticks = UINT64_C(1000) * i + (i == EVENTS - 1 ? 900 : 0),
			.thread_index = 1,
			.cpu = -1,
			.data = &job,
			.bytes = sizeof job };

		pxt_logwrite_event(log, &event);
	}
	CU_ASSERT(pxt_logwrite_end(log, NULL) == 0);
}

/* Runs "COMMAND ARGUMENT...": how often it read the log, in percent of its bytes. */
static unsigned percent(const struct pxt_command *command, const char *line)
{
	char words[80];
	char *argv[12] = { words };
	int argc = 1;
	int out = open("out", O_WRONLY | O_CREAT, 0600);
	int kept = dup(STDOUT_FILENO);
	struct stat st;

	CU_ASSERT_FATAL(out >= 0 && kept >= 0 && dup2(out, STDOUT_FILENO) >= 0);
	(void)snprintf(words, sizeof words, "%s", line);
	for (char *space = words; (space = strchr(space, ' ')) != NULL && argc < 11;) {
		*space++ = '\0';
		argv[argc++] = space;
	}
	optind = 1;
	bytes_read = 0;
	CU_ASSERT(command->run(argc, argv) == 0);
	CU_ASSERT_FATAL(dup2(kept, STDOUT_FILENO) >= 0 && stat("run.ptl", &st) == 0);
	CU_ASSERT(st.st_size > 1000000);
	(void)unlink("out");
	(void)unlink("run.html");
	(void)unlink("run.ptl");
	CU_ASSERT(chdir("/") == 0 && rmdir(folder) == 0);
	return (unsigned)(100 * bytes_read / (uint64_t)st.st_size);
}

PXT_TEST_FRESH(of_what_is_before_the_tail_heads_are_read)
{
	make_log("other");
	CU_ASSERT(percent(&pxt_cmd_print, "print --tail 10 run.ptl") < 50);
}

PXT_TEST_FRESH(a_log_whose_threads_may_be_renamed_is_read_once_for_its_tail)
{
	make_log("task_rename");
	CU_ASSERT(percent(&pxt_cmd_print, "print --tail 10 run.ptl") < 150);
}

PXT_TEST_FRESH(a_page_without_answers_is_made_in_one_reading)
{
	make_log("other");
	CU_ASSERT(percent(&pxt_cmd_report, "report --worst 0 run.ptl") < 150);
}

PXT_TEST_FRESH(a_page_is_made_in_one_reading_and_one_for_its_answers)
{
	make_log("other");
	CU_ASSERT(percent(&pxt_cmd_report, "report run.ptl") < 250);
}
