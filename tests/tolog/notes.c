/* SPDX-License-Identifier: MIT */
/* notes.c - notes (posix_trace_note_np()) are in a log once, in their order, whatever becomes of the log. */
#include "../suite.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define ROOM 2048u /* of all notes of a stream, with a zero behind each name and text */

static trace_id_t begin(int fd)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	(void)posix_trace_attr_init(&attr);
	(void)posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fd, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	return trid;
}

static trace_id_t end_and_open(trace_id_t trid, int fd)
{
	trace_id_t log = 0;

	if (trid)
		PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ_FATAL(lseek(fd, 0, SEEK_SET), 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &log), 0);
	return log;
}

/* Note @index of the log is @name and @text. */
static void expect(trace_id_t log, uint32_t index, const char *name, const char *text)
{
	struct posix_trace_lognote_np note = { "", "" };

	PXT_EQ(posix_trace_log_getnote_np(log, index, &note, sizeof(note)), 0);
	CU_ASSERT_STRING_EQUAL(note.posix_name_np, name);
	CU_ASSERT_STRING_EQUAL(note.posix_text_np, text);
}

static void expect_count(trace_id_t log, uint32_t count)
{
	struct posix_trace_loginfo_np info;

	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_notes_np, count);
}

/* QNX-52 */
PXT_TEST(notes_are_in_the_log_once_and_in_their_order)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	trace_id_t log;

	PXT_EQ(posix_trace_note_np(trid, "load", "80 %"), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_note_np(trid, "load", ""), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_note_np(trid, "result", "done"), 0);
	log = end_and_open(trid, fd);
	expect_count(log, 3);
	expect(log, 0, "load", "80 %");
	expect(log, 1, "load", "");
	expect(log, 2, "result", "done");
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

/* More than the block has room for in which they are made. */
PXT_TEST(the_longest_notes_fill_several_blocks)
{
	char name[POSIX_TRACE_NOTE_NAME_MAX_NP + 1] = "";
	char text[POSIX_TRACE_NOTE_TEXT_MAX_NP + 1] = "";
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	trace_id_t log;

	memset(name, 'n', sizeof(name) - 1);
	memset(text, 't', sizeof(text) - 1);
	for (char i = 0; i < 6; i++) {
		name[0] = (char)('0' + i);
		PXT_EQ(posix_trace_note_np(trid, name, text), 0);
	}
	log = end_and_open(trid, fd);
	expect_count(log, 6);
	for (char i = 0; i < 6; i++) {
		name[0] = (char)('0' + i);
		expect(log, (uint32_t)i, name, text);
	}
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

/* A file that is begun anew lost what was in it. */
PXT_TEST(a_cleared_log_has_its_notes_again)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	trace_id_t log;

	PXT_EQ(posix_trace_note_np(trid, "load", "80 %"), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_note_np(trid, "cleared", "once"), 0);
	log = end_and_open(trid, fd);
	expect_count(log, 2);
	expect(log, 0, "load", "80 %");
	expect(log, 1, "cleared", "once");
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

static void read_on(trace_id_t log)
{
	struct posix_trace_event_info event;
	int unavailable = 0;
	size_t bytes;

	while (!unavailable)
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(log, &event, NULL, 0, &bytes, &unavailable), 0);
}

/* The file is begun anew while somebody reads it, who knows what it said before. */
PXT_TEST(who_looks_on_knows_each_note_once)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	trace_id_t log = 0;

	PXT_EQ(posix_trace_note_np(trid, "load", "80 %"), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ_FATAL(
	    posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &log, NULL, 0), 0);
	read_on(log);
	expect_count(log, 1);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_note_np(trid, "cleared", "once"), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	read_on(log);
	expect_count(log, 2);
	expect(log, 1, "cleared", "once");
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

/* What is out in a pipe cannot be taken back: the notes are told once. */
PXT_TEST(a_cleared_pipe_has_its_notes_once)
{
	static unsigned char bytes[1 << 16];
	int fd = pxt_temp_file();
	ssize_t got = 0;
	ssize_t size = 0;
	int fds[2];
	trace_id_t trid;
	trace_id_t log;

	PXT_EQ_FATAL(pipe(fds), 0);
	trid = begin(fds[1]);
	PXT_EQ(posix_trace_note_np(trid, "load", "80 %"), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_note_np(trid, "cleared", "once"), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fds[1]);
	while ((got = read(fds[0], bytes + size, sizeof(bytes) - (size_t)size)) > 0)
		size += got;
	(void)close(fds[0]);
	PXT_EQ(write(fd, bytes, (size_t)size), size);
	log = end_and_open(0, fd);
	expect_count(log, 2);
	expect(log, 0, "load", "80 %");
	expect(log, 1, "cleared", "once");
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

PXT_TEST(what_has_no_room_is_refused_and_the_rest_stays)
{
	char text[101] = "";
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);
	uint32_t count = 0;
	trace_id_t log;

	memset(text, 't', 100);
	while (posix_trace_note_np(trid, "n", text) == 0)
		count++;
	PXT_EQ(count, ROOM / 103u);
	PXT_EQ(posix_trace_note_np(trid, "n", text), ENOMEM);
	/* To the last byte, and no further. */
	text[ROOM % 103u - 2u] = '\0';
	PXT_EQ(posix_trace_note_np(trid, "r", text), ENOMEM);
	text[ROOM % 103u - 3u] = '\0';
	PXT_EQ(posix_trace_note_np(trid, "r", text), 0);
	PXT_EQ(posix_trace_note_np(trid, "s", ""), ENOMEM);
	log = end_and_open(trid, fd);
	expect_count(log, count + 1u);
	expect(log, count, "r", text);
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}

/* Texts of just the length that is allowed, and one byte more. */
PXT_TEST(longer_texts_than_a_log_has_are_refused)
{
	char text[POSIX_TRACE_NOTE_TEXT_MAX_NP + 2] = "";
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd);

	memset(text, 't', sizeof(text) - 1);
	PXT_EQ(posix_trace_note_np(trid, "n", text), EINVAL);
	PXT_EQ(posix_trace_note_np(trid, "n", text + 1), 0);
	PXT_EQ(
	    posix_trace_note_np(trid, text + sizeof(text) - POSIX_TRACE_NOTE_NAME_MAX_NP - 2, ""),
	    EINVAL);
	PXT_EQ(
	    posix_trace_note_np(trid, text + sizeof(text) - POSIX_TRACE_NOTE_NAME_MAX_NP - 1, ""),
	    0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
}

/* DEC-23: the handler ends the log before any flush came. */
PXT_TEST(a_log_that_a_signal_ended_has_its_notes)
{
	static const int signals[] = { SIGSEGV };
	int fd = pxt_temp_file();
	pid_t child = fork();
	trace_id_t log;

	if (child == 0) {
		trace_id_t trid = begin(fd);

		(void)posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_NONE_NP, signals, 1);
		(void)posix_trace_note_np(trid, "load", "80 %");
		(void)raise(SIGSEGV);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	log = end_and_open(0, fd);
	expect_count(log, 1);
	expect(log, 0, "load", "80 %");
	PXT_EQ(posix_trace_close(log), 0);
	(void)close(fd);
}
