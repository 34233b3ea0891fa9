/* SPDX-License-Identifier: MIT */
/*
 * fixture.h - cases of calls that fail, and what they are about: streams, a log, arguments, results; ways to fail;
 * what a call leaves behind; calls of the system that fail.
 */
#ifndef FAILING_FIXTURE_H
#define FAILING_FIXTURE_H

#include "format/ctlsock.h"
#include "suite.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>

/* One of cases.c, which is listed before the tests run. */
struct failing_case {
	const char *function;
	const char *name; /* of the error */
	const char *how;
	int error;
	bool alone; /* one call, which stores no results */
	int (*run)(void);
};
#define FAILING_CASES_MAX 700u
extern struct failing_case failing_cases[FAILING_CASES_MAX];
extern size_t failing_count;

#define UNKNOWN ((trace_id_t)0xdeadbeefu)
#define MARK    4711 /* errno, which no call changes */
#define STALE   0x5a /* each byte of what no failing call stores to */
#define COMMA   ,

#define LONG_NAME                                                                                  \
	"/a_name_that_is_longer_than_any_name_of_an_event_or_a_stream_may_be_in_this_library_"     \
	"and_longer_than_any_path_of_a_socket_too_which_are_107_bytes"

extern struct fixture {
	trace_id_t stream; /* without log, running, empty but for START */
	trace_id_t logged; /* with a log in a file, running */
	trace_id_t log;    /* complete, opened, its events unread */
	int log_file;      /* of that log */
	int file;          /* empty, for reading and writing */
	int pipe[2];
	trace_event_id_t id; /* a user type with description "u32 number" */
	trace_attr_t good;
	trace_attr_t bad; /* destroyed */
	trace_event_set_t set;
	struct posix_trace_event_info event;
	struct timespec past;
	struct timespec far;
	struct timespec wrong_time;
} env;

/* Results. */
extern struct out {
	_Alignas(16) unsigned char bytes[2048];
	char text[512];
	size_t size;
	int number;
	trace_id_t trid;
	trace_event_id_t id;
	trace_event_set_t set;
	trace_attr_t attr;
	struct timespec time;
	struct posix_trace_status_info status;
	struct posix_trace_clock_np clock;
	struct posix_trace_counts_np counts;
	struct posix_trace_event_info event;
	struct posix_trace_eventview_np views[4];
} out;
extern int gone; /* *unavailable */

void fixture_open(void);
void fixture_close(void);
/* What any caller asks next works, and comes to its end: nobody holds a lock. */
bool fixture_serves(void);

/* A call within a case that needs several: its error, and whether errno was left alone. */
#define TRY(call) (errno = MARK, fixture_tried(call))
int fixture_tried(int error);
/* Since the last question: errno was changed by a call. */
bool fixture_changed_errno(void);

/* ---- Ways to fail: what the call in question returned, -1 when it succeeded ---- */

typedef int making(pid_t pid, const trace_attr_t *attr);
typedef int opening(int fd, trace_id_t *trid);
typedef int asking(trace_id_t trid);
typedef int checking(int fd);

int in_new_process(int (*body)(void));
/* In one that was started anew, with nothing of the library: what fixture_first() does. */
int in_fresh_process(const char *what);
int fixture_first(const char *what);
int second_field(void);
int describe_too_much(void);
int dump_what_is_something_else(void);
int dump_without_room(void);
int note_too_much(unsigned name, unsigned text);
int note_too_often(void);
int seal_on_too_many(void);
int set_too_many_handlers(void);
typedef int changing(trace_id_t trid);
changing set_a_handler, set_no_threads, set_no_processes, set_short;
int rules_without_memory(changing *change);
int rules_from_inside(changing *change);
int keep_event(const struct posix_trace_handled_np *event, void *arg);
uint64_t no_clock(void *context);
/* A forked process stands still in the middle of a definition. */
int standing(int (*body)(void));
int name_anew(void);
int dump_threads(void);
int name_anew_by_stream(void);
int describe(void);

making make;
making make_logged;
pid_t dead_pid(void);
const trace_attr_t *with_policy(int policy);
const trace_attr_t *with_tiny_log(void);
const trace_attr_t *with_priority(int priority);
/* @fd is the stream's file, and closed after the call. */
int with_file(making *made, int fd);
int full_file(void);
int sealed_file(void);
int with_name(making *made, const char *name);
const char *path_of_file(void);
int name_twice(making *made);
int with_closed_folder(making *made);
int too_many(making *made);
int name_without_thread(making *made);
int name_without_descriptors(making *made);
int without_memory(making *made, unsigned n);
int file_without_room(making *made, bool extend);
int without_descriptors(making *made);
int logged_to(int fd);
int logged_to_pipe(int policy);
int logged_to_full_pipe(void);
int logged_to_broken_pipe(void);
int logged_failing(int error);
int logged_untruncated(int error);
int own_log_as_file(void);
int flush_without_thread(int priority, int error);
int priority_not_for_us(void);

int shutdown_failing(int error);
int shutdown_untruncated(int error);
int flush_failing(int error);
int flush_to_full_pipe(void);
int flush_without_descriptor(void);
int flush_without_reader(void);
int shot_into(int fd);
int shot_behind_something(void);
int shot_without_memory(unsigned n);
int shot_without_descriptors(void);
int shot_failing(int error);
int shot_untruncated(int error);
int shot_into_full_pipe(void);
int shot_into_broken_pipe(void);

int shut_down_meanwhile(const struct timespec *until);
int interrupted(const struct timespec *until);
int views_without_memory(void);
asking read_one;
asking read_whole;
asking read_many;
int short_of_streams_event(void);
int short_of_logs_event(void);
asking next_block;
asking seek_end;
int unreadable(asking *ask);
int cut_short(asking *ask);

opening open_plain;
opening open_explained;
opening open_growing;
int with_bytes(opening *opened, const void *bytes, size_t count);
int with_golden(opening *opened, const char *name);
int with_damage(opening *opened);
int open_without_descriptors(opening *opened);
int open_without_memory(opening *opened, unsigned n);
int open_unreadable(opening *opened);
checking check_plain;
int check_without_descriptors(checking *check);
int check_without_memory(checking *check, unsigned n);
enum skip {
	SKIP_UNREAD,
	SKIP_NOTHING_BEHIND,
	SKIP_UNREADABLE,
	SKIP_NO_MEMORY
};
int skip_damage(enum skip how);

int attach_with(const trace_attr_t *attr);
int attach_to_the_dead(void);
/* Somebody answers with this version and error; 0: hangs up. */
int attach_answered(uint32_t version, int error);
int attach_to_own(void);
int attach_to_closed(void);
int attach_beside_too_many(void);
int attach_without_thread(void);
int attach_without_descriptors(unsigned left);
int attach_unmapped(void);
int attach_without_room(void);
int attach_to_silence(void);

/* ---- What several ways to fail have in common ---- */

/* The calling thread's pauses take no time, or as long as they should. */
void ways_hurry(bool hurry);
/* No more than @left descriptors can be opened; and as many as before. */
void ways_no_descriptors(unsigned left);
void ways_descriptors(void);
/* The path of a socket that is not there yet. */
const char *ways_path(void);
/* The process has no rights from now on, or those of before.  False: it cannot. */
bool ways_nobody(bool nobody);

/*
 * ---- What is left (fixture.c) ----
 *
 * What a process has at a moment, as far as a call of the library can leave something after: descriptors, threads,
 * memory, locks.  Linked with the fakes, which count for it.
 */

struct left {
	unsigned descriptors; /* how many, ... */
	unsigned long which;  /* ... and what they are */
	unsigned stale;       /* not open, but wrappers of close() take them for the library's */
	unsigned threads;
	unsigned
	    maps; /* lines of /proc/self/maps, but for heap, stacks and what the C library keeps */
	size_t map_bytes;
	long blocks; /* the fakes' counts */
	long bytes;
	long heap;
	int locks; /* of the calling thread */
};

struct left left_now(void);
bool left_same(const struct left *one, const struct left *two);
/*
 * Waits up to 30 seconds until the process has again what it had: threads end, and other sides
 * close, a moment later.  False: it has not, and @what says in what it differs.
 */
bool left_again(const struct left *before, char *what, size_t room);

/*
 * ---- The C library's calls that port/posix makes ----
 *
 * The n-th of them fails.  They are before the real ones (--wrap, programs.cmake).  Counted are those of the
 * library's own threads, and of others between calls_enter() and calls_leave().
 */

#define CALLS(X)                                                                                   \
	X(accept4)                                                                                 \
	X(bind)                                                                                    \
	X(close)                                                                                   \
	X(connect)                                                                                 \
	X(fcntl_duplicate)                                                                         \
	X(fcntl_seal)                                                                              \
	X(flock)                                                                                   \
	X(fstat)                                                                                   \
	X(fstatfs)                                                                                 \
	X(ftruncate)                                                                               \
	X(futex_wait)                                                                              \
	X(getcwd)                                                                                  \
	X(getrandom)                                                                               \
	X(get_robust_list)                                                                         \
	X(listen)                                                                                  \
	X(lstat)                                                                                   \
	X(madvise)                                                                                 \
	X(membarrier)                                                                              \
	X(memfd_create)                                                                            \
	X(mmap)                                                                                    \
	X(munmap)                                                                                  \
	X(open)                                                                                    \
	X(fdopendir)                                                                               \
	X(pidfd_open)                                                                              \
	X(poll)                                                                                    \
	X(posix_fallocate)                                                                         \
	X(preadv)                                                                                  \
	X(pthread_attr_init)                                                                       \
	X(pthread_create)                                                                          \
	X(pthread_mutex_init)                                                                      \
	X(pwrite)                                                                                  \
	X(pwritev)                                                                                 \
	X(read)                                                                                    \
	X(readlink)                                                                                \
	X(realloc)                                                                                 \
	X(recvmsg)                                                                                 \
	X(sendmsg)                                                                                 \
	X(socket)                                                                                  \
	X(socketpair)                                                                              \
	X(sysconf)                                                                                 \
	X(unlink)                                                                                  \
	X(write)

enum call {
#define X(name) CALL_##name,
	CALLS(X)
#undef X
	CALL_COUNT
};

/* No error: half of the bytes are taken. */
#define CALLS_HALF (-1)
#define CALLS_MOST 8

struct calls {
	atomic_uint made[CALL_COUNT];
	atomic_int which; /* enum call; -1: none fails */
	atomic_uint first;
	atomic_uint last;
	atomic_int error;
};

/* In memory that children share. */
extern struct calls *calls;
extern const char *const calls_names[CALL_COUNT];
/* What each can fail with, by its manual page; ends with 0. */
extern const int calls_errors[CALL_COUNT][CALLS_MOST];

void calls_enter(void);
void calls_leave(void);

#endif
