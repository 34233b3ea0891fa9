/* SPDX-License-Identifier: MIT */
/*
 * log.c - writes a log with three events and a note, checks it, and reads it.
 *
 * Page: posix_trace_create, posix_trace_create_withlog, posix_trace_flush,
 * posix_trace_shutdown - make a stream, with or without log, flush it, and end it
 * Page: posix_trace_open, posix_trace_close, posix_trace_rewind, posix_trace_seek_np - read a log
 * Page: posix_trace_log_getinfo_np, posix_trace_log_getthread_np, posix_trace_log_getmodule_np,
 * posix_trace_log_getnote_np, posix_trace_log_nextblock_np,
 * posix_trace_log_gettime_np - what a log says about itself
 * Page: posix_trace_log_open_np, posix_trace_log_check_np,
 * posix_trace_log_skipdamage_np - logs that grow, are damaged, or have several files
 * Page: posix_trace_note_np - put a note into a log
 *
 * Prints:
 *	complete, 0 findings
 *	event 7
 *	event 8
 *	event 9
 *	note: version is 1.2
 *	lost: 0
 */
#define _POSIX_C_SOURCE 200809L
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

static void write_log(int fd)
{
	trace_event_id_t reading;
	trace_id_t trid;

	must(posix_trace_create_withlog(0, NULL, fd, &trid));
	must(posix_trace_note_np(trid, "version", "1.2"));
	must(posix_trace_eventid_open("reading", &reading));
	must(posix_trace_start(trid));
	for (int value = 7; value < 10; value++)
		posix_trace_event(reading, &value, sizeof(value));
	must(posix_trace_flush(trid)); /* not needed: shutdown flushes, too */
	must(posix_trace_shutdown(trid));
}

static void read_log(int fd)
{
	struct posix_trace_logerror_np why;
	struct posix_trace_event_info event;
	struct posix_trace_loginfo_np info;
	struct posix_trace_lognote_np note;
	trace_id_t trid;
	size_t length;
	int value;
	int nothing;

	if (posix_trace_log_open_np(&fd, 1, 0, &trid, &why, sizeof(why)) != 0) {
		(void)fprintf(stderr, "log: %s\n", why.posix_reason_np);
		exit(1);
	}
	for (;;) {
		must(posix_trace_getnext_event(
		    trid, &event, &value, sizeof(value), &length, &nothing));
		if (nothing)
			break;
		if (event.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT)
			(void)printf("event %d\n", value);
	}
	must(posix_trace_log_getnote_np(trid, 0, &note, sizeof(note)));
	must(posix_trace_log_getinfo_np(trid, &info, sizeof(info)));
	(void)printf("note: %s is %s\n", note.posix_name_np, note.posix_text_np);
	(void)printf("lost: %llu\n", (unsigned long long)info.posix_lost_np);
	must(posix_trace_close(trid));
}

int main(void)
{
	struct posix_trace_logcheck_np check;
	FILE *file = tmpfile();
	int fd = file ? fileno(file) : -1;

	write_log(fd);
	must(posix_trace_log_check_np(fd, &check, sizeof(check), NULL, 0, 0, NULL, NULL));
	(void)printf("%s, %llu findings\n", check.posix_complete_np ? "complete" : "incomplete",
	    (unsigned long long)check.posix_findings_np);
	read_log(fd);
	return fclose(file) != 0;
}
