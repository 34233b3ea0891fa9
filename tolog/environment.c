/* SPDX-License-Identifier: MIT */
/*
 * environment.c - a log that the environment asks for (PXTRACE_OUT=run.ptl,size=64M ./program), although the
 * program creates no stream; the logs of its forked children.
 *
 * With rotate=64M the log is a folder, in which it goes from file to file (rotate.c).
 *
 * The stream is made before main(), runs to the end of the process, and is one of the process' streams
 * like any other.  Its log ends where exit() is called or a signal ends the process.  What is not in the log
 * when a process is killed, calls _exit(), or executes another program, is in a black box beside the log; that
 * is removed where the log is completed.
 *
 * A forked child gets a stream, a log and a black box of its own at its first trace point or control call, so
 * one that only executes another program leaves nothing.  They are made by a thread that the child has had from
 * the fork on: the trace point may be in a handler that interrupted anything.
 *
 * Where the library is not a shared one, the program is linked with -Wl,-u,pxt_environment_start
 * (cmake/libraries.cmake).
 */
#include "core/stream/wanted.h"
#include "tolog/environment_value.h"
#include "tolog/tolog.h"

#define VARIABLE   "PXTRACE_OUT"
#define PID_DIGITS ((size_t)10)

static struct pxt_asked asked PXT_SELDOM;
static struct pxt_port_newfile box PXT_SELDOM;
/* Where the log is: it may have to be opened again. */
static char log_path[PXT_ENVIRONMENT_PATH] PXT_SELDOM;

static void complain(const char *what, int error)
{
	const char *why = error == ELOOP ? "a symbolic link of another user" : NULL;

	if (error == ETIMEDOUT)
		why = "the pipe is full, and nobody reads it";
	pxt_port_environment_complain(VARIABLE, asked.text, what, why, error);
}

/* A file of @path's name, or a folder. */
static int open_new(const char *path, int *fd, bool *regular)
{
	*regular = true;
	return asked.rotates ? pxt_port_environment_newfolder(path, asked.mode, fd)
	                     : pxt_port_environment_file(path, asked.mode, fd, regular);
}

/* ---- Which file ---- */

static size_t put_number(char *to, uint32_t number)
{
	char digits[PID_DIGITS];
	size_t count = 0;

	do {
		digits[PID_DIGITS - ++count] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	memcpy(to, digits + PID_DIGITS - count, count);
	return count;
}

/* @pattern with the process' number for each "%p", and behind it if that is asked; false: too long. */
static bool expand(char *path, const char *pattern, bool add_pid)
{
	uint32_t pid = (uint32_t)pxt_port_pid();
	size_t used = 0;

	if (*pattern != '/') {
		used = strlen(asked.folder);
		memcpy(path, asked.folder, used);
	}
	for (; *pattern; pattern++) {
		if (used + 2 * PID_DIGITS + 2 > PXT_ENVIRONMENT_PATH)
			return false;
		if (pattern[0] == '%' && pattern[1] == 'p') {
			used += put_number(path + used, pid);
			pattern++;
		} else {
			path[used++] = *pattern;
		}
	}
	if (add_pid) {
		path[used++] = '.';
		used += put_number(path + used, pid);
	}
	path[used] = '\0';
	return true;
}

/*
 * Whose file it is already, as of a program that started this one, gets one with a number beside it; so does
 * a child.  *box_fd: -1: there is to be none.
 */
static int open_asked(bool is_child, int *fd, int *box_fd)
{
	char *path = log_path;
	bool regular = false;
	int error;

	*box_fd = -1;
	box.path[0] = '\0';
	if (!expand(path, asked.pattern, is_child && !strstr(asked.pattern, "%p")))
		return ENAMETOOLONG;
	error = open_new(path, fd, &regular);
	if (error == EBUSY && !is_child) {
		(void)expand(path, asked.pattern, true);
		error = open_new(path, fd, &regular);
	}
	if (!error && regular && asked.box) {
		int none = pxt_port_environment_box(path, asked.mode, box_fd, &box);

		if (none)
			complain("no black box", none);
	}
	return error;
}

/* ---- The stream ---- */

/* Complete, nothing is in the box that is not in it. */
static void log_completed(int error)
{
	const char *why = "its end could not be written";

	if (error == EBADF)
		why = "the program closed it, and the file is not there any more";
	if (error == EPIPE)
		why = "nobody reads it any more";
	if (!error)
		pxt_port_environment_remove(&box);
	else
		pxt_port_environment_complain(
		    VARIABLE, asked.text, "the log is not complete", why, error);
}

static int choose(trace_attr_t *attr, int box_fd)
{
	int error;

	*attr = asked.attr;
	error = posix_trace_attr_setlogfullpolicy(attr, POSIX_TRACE_APPEND);
	if (!error && box_fd >= 0)
		error = posix_trace_attr_setfile_np(attr, box_fd);
	/* Files are called as their folder is. */
	if (!error && asked.rotates)
		error = pxt_environment_value_rotation(attr, &asked, strrchr(log_path, '/') + 1);
	return error;
}

static int create(int fd, int box_fd)
{
	struct pxt_stream *stream;
	trace_attr_t attr;
	trace_id_t trid;
	int error = choose(&attr, box_fd);

	if (!error)
		error = posix_trace_create_withlog(0, &attr, fd, &trid);
	if (error)
		return error;
	stream = pxt_stream_lock(trid);
	if (stream) {
		pxt_tolog_of(stream)->completed = log_completed;
		if (asked.rotates)
			pxt_port_log_folder_path(&pxt_tolog_of(stream)->out, log_path);
		else
			pxt_tolog_of(stream)->out.path = log_path;
		pxt_stream_unlock(stream);
	}
	return posix_trace_start(trid);
}

/* Without room for a black box, as it would be without. */
static int record_into(int fd, int box_fd)
{
	int error = create(fd, box_fd);

	if (error && box_fd >= 0) {
		pxt_port_environment_remove(&box);
		box.path[0] = '\0';
		if (create(fd, -1) == 0) {
			pxt_port_environment_complain(VARIABLE, asked.text, "no black box",
			    error == ENOMEM ? "the disk, ulimit -f or the memory has no room"
			                    : NULL,
			    error);
			error = 0;
		}
	}
	return error;
}

static int record(bool is_child)
{
	int fd;
	int box_fd;
	int error = open_asked(is_child, &fd, &box_fd);

	if (error)
		return error;
	error = record_into(fd, box_fd);
	if (error == EAGAIN)
		error = ETIMEDOUT;
	pxt_port_environment_close(fd);
	if (box_fd >= 0)
		pxt_port_environment_close(box_fd);
	return error;
}

/* ---- Children ---- */

enum {
	NOBODY,
	READY,  /* the thread sleeps */
	CALLED, /* a trace point, or a call, waits for it */
	AWAY,   /* nobody waits any more */
	DONE,
};

/* A second, or two. */
#define CALL_ROUNDS   20000u
#define CALL_SLICE_NS 50000u

static _Atomic uint32_t child;  /* waited for as a futex */
static _Atomic uintptr_t maker; /* the thread */
static struct pxt_port_thread thread;

static void make_log(PXT_UNUSED void *argument)
{
	int error;

	pxt_port_thread_leave();
	atomic_store_explicit(&maker, (uintptr_t)pxt_port_thread(), memory_order_release);
	while (atomic_load_explicit(&child, memory_order_acquire) == READY)
		(void)pxt_port_wait(&child, READY, NULL, 0);
	error = record(true);
	if (!error)
		pxt_port_crash_inherit();
	else
		complain("a child is not recorded", error);
	/* Nothing is wanted for the sake of what cannot be. */
	if (error && pxt_fork_epoch() == 0)
		pxt_wanted_none();
	atomic_store_explicit(&child, DONE, memory_order_release);
	pxt_port_wake(&child);
}

/* In a trace point, or before a control call's own start of the process; see core/process/process.h. */
static bool begin_child(void)
{
	uint32_t seen = READY;

	if (atomic_load_explicit(&maker, memory_order_acquire) == (uintptr_t)pxt_port_thread())
		return false;
	if (atomic_compare_exchange_strong_explicit(
	        &child, &seen, CALLED, memory_order_acq_rel, memory_order_acquire)) {
		pxt_port_wake(&child);
		seen = CALLED;
	}
	/* Bound: the rounds; the thread may need a lock that the interrupted call holds. */
	PXT_BOUND(calling, CALL_ROUNDS);
	for (unsigned round = 0; round < CALL_ROUNDS && seen == CALLED; round++) {
		PXT_ROUND(calling);
		pxt_port_pause_ns(CALL_SLICE_NS);
		seen = atomic_load_explicit(&child, memory_order_acquire);
	}
	/* Once is enough. */
	if (seen == CALLED)
		(void)atomic_compare_exchange_strong_explicit(
		    &child, &seen, AWAY, memory_order_acq_rel, memory_order_acquire);
	return seen == DONE && pxt_fork_epoch() != 0;
}

/* Before fork() returns in the child, after Core's part. */
static void in_child(void)
{
	int error;

	box.path[0] = '\0';
	atomic_store_explicit(&maker, 0u, memory_order_relaxed);
	/* One that goes on with a stream of its parent's is traced already. */
	atomic_store_explicit(&child, pxt_fork_epoch() ? CALLED : READY, memory_order_release);
	error = pxt_port_thread_start(&thread, make_log, NULL, 0);
	if (error) {
		atomic_store_explicit(&child, NOBODY, memory_order_release);
		complain("a child is not recorded", error);
	} else if (pxt_fork_epoch() == 0) {
		pxt_wanted_late(UINT64_MAX);
	}
}

/* ---- The start ---- */

/*
 * Before main(), where the file is part of the program; its name is for the linker.  After the port's own (101),
 * and before wrappers tell what they find (sysevents/wrap/start.c): in a static program all are in one list.
 */
void pxt_environment_start(void) __attribute__((constructor(102)));

void pxt_environment_start(void)
{
	const char *text = pxt_port_environment(VARIABLE);
	const char *why = NULL;
	const char *wrong;
	int saved = errno;
	int error;

	if (!text || !*text)
		return;
	pxt_port_environment_folder(asked.folder);
	wrong = pxt_environment_value_read(&asked, text, &why);
	if (wrong) {
		pxt_port_environment_complain(VARIABLE, text, wrong, why, 0);
		return;
	}
	error = record(false);
	if (!error)
		error = posix_trace_seal_on_signals_np(POSIX_TRACE_SEAL_ENDS_NP, NULL, 0);
	if (error) {
		complain("", error);
	} else {
		atomic_store_explicit(&pxt_process_late, begin_child, memory_order_release);
		pxt_port_at_fork(in_child);
	}
	errno = saved;
}
