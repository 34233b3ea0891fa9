/* SPDX-License-Identifier: MIT */
/*
 * port.c - the functions of the port: each system call that a function makes fails at its n-th time, with
 * each error of its manual.  A table has what the function returns for which error; for errors that are not in it, the
 * function returns the same error.  A call that was interrupted, or did half of its work, must be continued.
 */
#define _GNU_SOURCE
#include "port/port.h"
#include "fixture.h"
#include "format/ctlsock.h"
#include "port/port_file.h"
#include "port/port_local.h"
#include "port/port_log.h"
#include "port/port_sysinfo.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK   4711 /* errno, which no function changes */
#define BYTES  3000u
#define WRONG  (-2) /* said 0, and it is not so */
#define GONE_1 (-3) /* "not": no error number, as a descriptor of -1, or false */
#define EITHER (-4) /* GONE_1 or 0: another call may do instead */

/* What the functions find, made anew for each call. */
static struct {
	int file;
	int pipe[2];
	int pair[2];
	int listener;
	int caller;
	char path[PXT_CTLSOCK_PATH];
	struct pxt_port_place place;
} fixture;

/* The error, or 0: it depends on which of the calls fails. */
#define OR_0(error) ((error) + 10000)

static unsigned char bytes[BYTES];
static unsigned char back[BYTES];

static void open_all(void)
{
	int32_t pid;

	memset(&fixture, 0, sizeof(fixture));
	for (unsigned i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(i * 7u);
	fixture.file = memfd_create("port", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CU_ASSERT_FATAL(fixture.file >= 3);
	CU_ASSERT_FATAL(pipe2(fixture.pipe, O_CLOEXEC | O_NONBLOCK) == 0);
	(void)snprintf(fixture.path, sizeof(fixture.path), "%s/place", pxt_temp_folder());
	(void)unlink(fixture.path);
	PXT_EQ_FATAL(pxt_port_local_listen(fixture.path, &fixture.listener, &fixture.place), 0);
	PXT_EQ_FATAL(pxt_port_local_connect(fixture.path, 1000, &fixture.pair[0]), 0);
	PXT_EQ_FATAL(pxt_port_local_accept(fixture.listener, &fixture.pair[1], &pid), 0);
	PXT_EQ_FATAL(pxt_port_local_connect(fixture.path, 1000, &fixture.caller), 0);
}

static void close_all(void)
{
	(void)close(fixture.file);
	(void)close(fixture.pipe[0]);
	(void)close(fixture.pipe[1]);
	pxt_port_local_close(fixture.pair[0]);
	pxt_port_local_close(fixture.pair[1]);
	pxt_port_local_close(fixture.caller);
	pxt_port_local_close(fixture.listener);
	(void)unlink(fixture.path);
}

/* The faults are for what is in the brackets alone. */
static void faults_on(void)
{
	calls_enter();
	errno = MARK;
}

static int watched(int error)
{
	int left = errno;

	calls_leave();
	PXT_CHECK(left == MARK, "errno was changed to %d", left);
	return error;
}
#define WATCHED(call) (faults_on(), watched(call))
#define DO(call)      (faults_on(), (call), (void)watched(0))

/* ---- Logs ---- */

static int log_open(void)
{
	struct pxt_port_log log;
	int error = WATCHED(pxt_port_log_open(&log, fixture.file));

	if (error)
		return error;
	(void)close(log.fd);
	return log.kind == PXT_LOG_FILE && log.fd >= 3 ? 0 : WRONG;
}

/* What came through the pipe, or is in the file from @at on, are the bytes. */
static bool arrived(int fd, off_t at)
{
	memset(back, 0, sizeof(back));
	return (at < 0 ? read(fd, back, BYTES) : pread(fd, back, BYTES, at)) == (ssize_t)BYTES &&
	       memcmp(back, bytes, BYTES) == 0;
}

/* @done is told in any case: so much has arrived. */
static int written(int error, size_t done, int fd, off_t at)
{
	if (error && done == BYTES)
		return WRONG;
	if (error)
		return error;
	return done == BYTES && arrived(fd, at) ? 0 : WRONG;
}

static struct pxt_port_place place_of(int fd)
{
	struct stat state = { 0 };

	CU_ASSERT(fstat(fd, &state) == 0);
	return (struct pxt_port_place){ (uint64_t)state.st_dev, (uint64_t)state.st_ino };
}

/* As pxt_port_log_open() would leave it, with the fixture's own descriptor. */
static struct pxt_port_log log_of(int fd, enum pxt_log_kind kind)
{
	return (struct pxt_port_log){ .fd = fd, .kind = kind, .piece = 512, .place = place_of(fd) };
}

static int log_write(void)
{
	struct pxt_port_log log = log_of(fixture.pipe[1], PXT_LOG_SEQUENTIAL);
	size_t done = 0;
	int error = WATCHED(pxt_port_log_write(&log, bytes, BYTES, &done));

	return written(error, done, fixture.pipe[0], -1);
}

static int log_write_hurried(void)
{
	struct pxt_port_log log = log_of(fixture.pipe[1], PXT_LOG_SEQUENTIAL);
	size_t done = 0;
	int error;

	log.hurried = true;
	error = WATCHED(pxt_port_log_write(&log, bytes, BYTES, &done));

	return written(error, done, fixture.pipe[0], -1);
}

static int log_write_at(void)
{
	struct pxt_port_log log = log_of(fixture.file, PXT_LOG_FILE);
	size_t done = 0;
	int error = WATCHED(pxt_port_log_write_at(&log, 77, bytes, BYTES, &done));

	return written(error, done, fixture.file, 77);
}

static off_t size_of(int fd)
{
	struct stat state;

	return fstat(fd, &state) == 0 ? state.st_size : -1;
}

static int log_truncate(void)
{
	struct pxt_port_log log = log_of(fixture.file, PXT_LOG_FILE);
	int error = WATCHED(pxt_port_log_truncate(&log, 99));

	return error ? error : size_of(fixture.file) == 99 ? 0 : WRONG;
}

static int log_may_truncate(void)
{
	struct pxt_port_log log = log_of(fixture.file, PXT_LOG_FILE);

	return WATCHED(pxt_port_log_may_truncate(&log));
}

/* ---- Reading ---- */

static int file_open(void)
{
	struct pxt_port_file file;
	int error = WATCHED(pxt_port_file_open(&file, fixture.file));

	if (error)
		return error;
	(void)close(file.fd);
	return file.fd >= 3 ? 0 : WRONG;
}

static int file_size(void)
{
	const struct pxt_port_file file = { .fd = fixture.file, .place = place_of(fixture.file) };
	uint64_t size = 1;
	int error = WATCHED(pxt_port_file_size(&file, &size));

	return error ? error : size == 0 ? 0 : WRONG;
}

static int file_read(void)
{
	const struct pxt_port_file file = { .fd = fixture.file, .place = place_of(fixture.file) };
	size_t done = 0;
	int error;

	if (pwrite(fixture.file, bytes, BYTES, 0) != (ssize_t)BYTES)
		return WRONG;
	memset(back, 0, sizeof(back));
	error = WATCHED(pxt_port_file_read(&file, 5, back, BYTES, &done));
	if (error)
		return error;
	return done == BYTES - 5u && memcmp(back, bytes + 5, done) == 0 ? 0 : WRONG;
}

/* ---- Files as memory ---- */

static int filemap_extend(void)
{
	int error = WATCHED(pxt_port_filemap_extend(fixture.file, 8192));

	return error ? error : size_of(fixture.file) == 8192 ? 0 : WRONG;
}

static int filemap(void)
{
	void *memory = NULL;
	int error;

	if (ftruncate(fixture.file, 8192) != 0)
		return WRONG;
	error = WATCHED(pxt_port_filemap(fixture.file, 8192, false, &memory));
	if (!error)
		pxt_port_free(memory, 8192);
	return error;
}

static int filemap_cut(void)
{
	if (ftruncate(fixture.file, 8192) != 0)
		return WRONG;
	DO(pxt_port_filemap_cut(fixture.file));
	return size_of(fixture.file) == 0 ? 0 : GONE_1;
}

static int filemap_check(void)
{
	return WATCHED(pxt_port_filemap_check(fixture.file));
}

/* ---- Other processes ---- */

static int closed(int error, int fd)
{
	if (error)
		return fd == -1 ? error : WRONG;
	pxt_port_local_close(fd);
	return fd >= 3 ? 0 : WRONG;
}

static int local_memory(void)
{
	int fd = -1;
	int error = WATCHED(pxt_port_local_memory(&fd));

	return closed(error, fd);
}

static int bell_open(void)
{
	int bell = -1;
	int ringer = -1;
	int error = WATCHED(pxt_port_bell_open(&bell, &ringer));
	int other = closed(error, ringer);

	error = closed(error, bell);
	return error ? error : other;
}

/* After an error there is nothing at the path either. */
static int local_listen(void)
{
	struct pxt_port_place place;
	char path[PXT_CTLSOCK_PATH + 8u];
	int fd = -1;
	int error;

	(void)snprintf(path, sizeof(path), "%s.2", fixture.path);
	error = WATCHED(pxt_port_local_listen(path, &fd, &place));
	error = closed(error, fd);
	if (unlink(path) == 0 && error)
		return WRONG;
	return error;
}

static int local_connect(void)
{
	int fd = -1;
	int error = WATCHED(pxt_port_local_connect(fixture.path, 1000, &fd));

	return closed(error, fd);
}

static int local_accept(void)
{
	int32_t pid = 0;
	int fd = -1;
	int error = WATCHED(pxt_port_local_accept(fixture.listener, &fd, &pid));

	if (!error && pid != getpid())
		return WRONG;
	return closed(error, fd);
}

static int local_send(void)
{
	struct pxt_port_passed passed = { .count = 1, .fd = { fixture.file } };
	int error = WATCHED(pxt_port_local_send(fixture.pair[0], bytes, 100, &passed));

	if (error)
		return error;
	return recv(fixture.pair[1], back, 100, MSG_DONTWAIT) == 100 ? 0 : WRONG;
}

static int received(int error, size_t length, struct pxt_port_passed *passed)
{
	bool right = length == 100 && passed->count == 1 && memcmp(back, bytes, 100) == 0;

	if (error)
		return passed->count ? WRONG : error;
	pxt_port_local_drop(passed);
	return right && passed->count == 0 ? 0 : WRONG;
}

static void say_something(void)
{
	const struct pxt_port_passed passed = { .count = 1, .fd = { fixture.file } };

	PXT_EQ(pxt_port_local_send(fixture.pair[0], bytes, 100, &passed), 0);
}

static int local_receive(void)
{
	struct pxt_port_passed passed;
	size_t length = 0;
	int error;

	say_something();
	error = WATCHED(pxt_port_local_receive(fixture.pair[1], back, BYTES, &length, &passed));
	return received(error, length, &passed);
}

static int local_await(void)
{
	struct pxt_port_passed passed;
	size_t length = 0;
	int error;

	say_something();
	error = WATCHED(pxt_port_local_await(fixture.pair[1], back, BYTES, 1000, &length, &passed));
	return received(error, length, &passed);
}

/* Nobody says anything: a wait that signals end is begun again, for what is left of the time. */
static int local_await_silence(void)
{
	struct pxt_port_passed passed;
	size_t length = 0;
	long long begun = pxt_now_ns();
	int error =
	    WATCHED(pxt_port_local_await(fixture.pair[1], back, BYTES, 5, &length, &passed));

	if (error == ETIMEDOUT)
		error = pxt_now_ns() - begun >= 3000000 ? 0 : GONE_1;
	return passed.count ? WRONG : error;
}

static int local_reserve(void)
{
	int fd = WATCHED(pxt_port_local_reserve(fixture.path, 1000));

	if (fd < 0)
		return GONE_1;
	pxt_port_local_release(fd);
	return 0;
}

static int local_look(void)
{
	struct pxt_port_place place = { 0, 0 };
	int error = WATCHED(pxt_port_local_look(fixture.path, &place));

	return error ? error : pxt_port_same_place(&place, &fixture.place) ? 0 : WRONG;
}

static int local_remove(void)
{
	int error = WATCHED(pxt_port_local_remove(fixture.path, &fixture.place));

	return error ? error : access(fixture.path, F_OK) != 0 ? 0 : WRONG;
}

static int local_takes_log(void)
{
	return WATCHED(pxt_port_local_takes_log(fixture.file)) ? 0 : GONE_1;
}

/* Something is ready, and is seen so, also where the wait itself failed. */
static int local_watch(void)
{
	struct pxt_port_watch watch[3] = { { .fd = fixture.listener }, { .fd = -1, .ready = true },
		{ .fd = fixture.pair[0], .ready = true } };

	DO(pxt_port_local_watch(watch, 3, 1000));
	if (watch[1].ready || watch[2].ready)
		return WRONG;
	return watch[0].ready ? 0 : GONE_1;
}

/* ---- What is asked of the system ---- */

static int executable(void)
{
	char path[200];

	memset(path, '?', sizeof(path));
	DO(pxt_port_executable(path, sizeof(path)));
	return path[0] == '/' ? 0 : path[0] == '\0' ? GONE_1 : WRONG;
}

static int boot_id(void)
{
	static const unsigned char none[PXT_BOOT_ID_BYTES];
	unsigned char id[PXT_BOOT_ID_BYTES];

	memset(id, 0xff, sizeof(id));
	DO(pxt_port_boot_id(id));
	return memcmp(id, none, sizeof(id)) == 0 ? GONE_1 : 0;
}

static int process_start(void)
{
	struct timespec start = { 1, 1 };

	DO(pxt_port_process_start(&start));
	if (start.tv_sec == 0)
		return start.tv_nsec == 0 ? GONE_1 : WRONG;
	return start.tv_sec * 1000000000ll <= pxt_now_ns() ? 0 : WRONG;
}

/* Never all alike. */
static int random_bytes(void)
{
	unsigned char some[2][32];

	memset(some, 0, sizeof(some));
	DO(pxt_port_random(some[0], sizeof(some[0])));
	DO(pxt_port_random(some[1], sizeof(some[1])));
	for (unsigned i = 0; i + 1u < sizeof(some); i++) {
		if (memcmp(some[0], some[1], sizeof(some[0])) != 0 && some[0][i] != some[0][i + 1u])
			return 0;
	}
	return WRONG;
}

static void count_thread(void *context, const struct pxt_port_thread_info *thread)
{
	*(unsigned *)context += thread->tid == getpid();
}

static int threads(void)
{
	unsigned count = 0;

	DO(pxt_port_threads(count_thread, &count));
	return count == 1 ? 0 : count ? WRONG : GONE_1;
}

static int allocation(void)
{
	unsigned char *memory;

	DO(memory = pxt_port_alloc(10000));
	if (!memory)
		return GONE_1;
	memory[9999] = 1;
	pxt_port_free(memory, 10000);
	return 0;
}

/* ---- The table ---- */

#define MOST 16

/* @to: what the function says when this call failed with that; 0: it does as if nothing had been. */
struct turn {
	int call;
	int error;
	int to;
};

#define ANY 0 /* of the errors of that call */

static const struct function {
	const char *name;
	int (*run)(void);
	struct turn turns[MOST];
} functions[] = {
#define FUNCTION(name, ...)                                                                        \
	{                                                                                          \
#name, name,                                                                       \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define TURN(name, error, to)                                                                      \
	{                                                                                          \
		CALL_##name, error, to                                                             \
	}
/* Without an answer after the use it was the log's: it is so before it, too, as far as anybody knows. */
#define LOOKED TURN(fstat, ENOMEM, OR_0(ENOMEM)), TURN(fstat, EIO, OR_0(EIO))
	FUNCTION(log_open, TURN(fstat, ANY, EBADF)),
	FUNCTION(log_write, TURN(write, EAGAIN, EAGAIN), LOOKED),
	FUNCTION(log_write_hurried, TURN(write, EAGAIN, 0), LOOKED),
	FUNCTION(log_write_at, TURN(pwrite, EIO, EIO), LOOKED),
	FUNCTION(log_truncate, TURN(ftruncate, EIO, EIO), LOOKED),
	FUNCTION(log_may_truncate, TURN(fcntl_seal, ANY, 0)),
	FUNCTION(file_open, TURN(fstat, ANY, EBADF)),
	FUNCTION(file_size, TURN(fstat, EIO, EIO)),
	FUNCTION(file_read, TURN(preadv, EIO, EIO), LOOKED),
	FUNCTION(filemap_extend, TURN(posix_fallocate, ENODEV, EINVAL),
	    TURN(posix_fallocate, ANY, ENOMEM)),
	FUNCTION(filemap, TURN(sysconf, ANY, 0), TURN(madvise, ANY, 0), TURN(mmap, EPERM, EINVAL),
	    TURN(mmap, ANY, ENOMEM)),
	FUNCTION(filemap_cut, TURN(ftruncate, ANY, GONE_1)),
	FUNCTION(filemap_check, TURN(fstat, ANY, EINVAL)),
	FUNCTION(local_memory, TURN(memfd_create, EINVAL, EINVAL),
	    TURN(memfd_create, ENOMEM, ENOMEM), TURN(memfd_create, ANY, EAGAIN),
	    TURN(fstat, ANY, EAGAIN)),
	FUNCTION(bell_open, TURN(socketpair, EMFILE, EAGAIN), TURN(socketpair, ENFILE, EAGAIN),
	    TURN(socketpair, ANY, ENOMEM), TURN(fstat, ANY, EAGAIN)),
	FUNCTION(local_listen, TURN(socket, EMFILE, EAGAIN), TURN(socket, ENFILE, EAGAIN),
	    TURN(socket, ANY, ENOMEM), TURN(bind, EADDRINUSE, EEXIST), TURN(bind, ENOENT, EINVAL),
	    TURN(listen, ANY, EINVAL), TURN(unlink, ANY, 0), TURN(fstat, ANY, EAGAIN)),
	FUNCTION(local_connect, TURN(socket, EMFILE, EAGAIN), TURN(socket, ENFILE, EAGAIN),
	    TURN(socket, ANY, ENOMEM), TURN(connect, EAGAIN, 0), TURN(poll, ANY, 0),
	    TURN(fstat, ANY, OR_0(EAGAIN))),
	/* Who was not let in is still there: the next look finds it. */
	FUNCTION(local_accept, TURN(accept4, EINTR, EAGAIN), TURN(accept4, EMFILE, EMFILE),
	    TURN(accept4, ENOMEM, EMFILE), TURN(accept4, ANY, EAGAIN),
	    TURN(fstat, ANY, OR_0(EMFILE))),
	FUNCTION(local_send, TURN(sendmsg, EPIPE, EPIPE), TURN(sendmsg, ANY, EAGAIN),
	    TURN(fstat, ANY, 0)),
	FUNCTION(local_receive, TURN(recvmsg, ANY, EPIPE), TURN(fstat, ANY, OR_0(EPROTO))),
	FUNCTION(local_await, TURN(recvmsg, ANY, EPIPE), TURN(fstat, ANY, OR_0(EPROTO))),
	FUNCTION(local_await_silence, TURN(recvmsg, ANY, EPIPE), TURN(poll, ANY, GONE_1),
	    TURN(fstat, ANY, 0)),
	FUNCTION(local_reserve, TURN(flock, EWOULDBLOCK, 0), TURN(poll, ANY, 0),
	    TURN(open, ANY, GONE_1), TURN(flock, ANY, GONE_1), TURN(fstat, ANY, GONE_1)),
	FUNCTION(local_look, TURN(lstat, EACCES, EACCES)),
	FUNCTION(local_remove, TURN(unlink, EBUSY, EINVAL)),
	FUNCTION(local_takes_log, TURN(fstatfs, ANY, GONE_1), TURN(fstat, ANY, GONE_1)),
	FUNCTION(local_watch, TURN(poll, ANY, 0), TURN(fstat, ANY, 0)),
	FUNCTION(executable, TURN(readlink, ANY, GONE_1)),
	/* No signal ends these: the files are the kernel's own. */
	FUNCTION(boot_id, TURN(open, EINTR, GONE_1), TURN(open, ANY, GONE_1),
	    TURN(read, EINTR, GONE_1), TURN(read, CALLS_HALF, GONE_1), TURN(read, ANY, GONE_1)),
	FUNCTION(process_start, TURN(open, EINTR, GONE_1), TURN(open, ANY, GONE_1),
	    TURN(read, EINTR, GONE_1), TURN(read, ANY, GONE_1), TURN(sysconf, ANY, GONE_1)),
	FUNCTION(random_bytes, TURN(getrandom, ANY, 0)),
	FUNCTION(threads, TURN(fdopendir, ANY, GONE_1), TURN(open, EINTR, GONE_1),
	    TURN(open, ANY, GONE_1), TURN(read, EINTR, GONE_1), TURN(read, ANY, GONE_1),
	    TURN(fstat, ANY, 0), TURN(get_robust_list, ANY, EITHER)),
	FUNCTION(allocation, TURN(sysconf, ANY, 0), TURN(madvise, ANY, 0), TURN(mmap, ANY, GONE_1)),
};

/* What nobody need be told: the call was made for good, or it is made again. */
static bool goes_on(int call, int error)
{
	return call == CALL_close || error == EINTR || error == CALLS_HALF;
}

/* One that is named by itself goes before all others; an interruption before ANY. */
static int wanted(const struct function *function, int call, int error)
{
	const struct turn *any = NULL;

	for (unsigned i = 0; i < MOST; i++) {
		const struct turn *turn = &function->turns[i];

		if (!turn->error && !turn->to && !turn->call)
			continue;
		if (turn->call != call)
			continue;
		if (turn->error == error)
			return turn->to;
		any = turn->error == ANY ? turn : any;
	}
	if (goes_on(call, error))
		return 0;
	return any ? any->to : error;
}

static void arm(int call, unsigned n, int error)
{
	for (unsigned i = 0; i < CALL_COUNT; i++)
		atomic_store(&calls->made[i], 0u);
	atomic_store(&calls->first, n);
	atomic_store(&calls->last, n);
	atomic_store(&calls->error, error);
	atomic_store(&calls->which, call);
}

/* Returns how often the call was made. */
static unsigned fail_one(const struct function *function, int call, unsigned n, int error)
{
	struct left before;
	struct left after;
	unsigned made;
	int got;
	int want = call < 0 ? 0 : wanted(function, call, error);

	open_all();
	before = left_now();
	arm(call, n, error);
	got = function->run();
	made = call < 0 ? 0 : atomic_load(&calls->made[call]);
	atomic_store(&calls->which, -1);
	after = left_now();
	PXT_CHECK(got == want || (want == EITHER && (got == 0 || got == GONE_1)) ||
	              (want >= OR_0(0) && (got == 0 || OR_0(got) == want)) ||
	              (call >= 0 && made < n && got == 0),
	    "%s: call %u of %s fails with %d: %d, not %d", function->name, n,
	    call < 0 ? "none" : calls_names[call], error, got, want);
	PXT_CHECK(left_same(&before, &after), "%s: call %u of %s fails with %d: something is left",
	    function->name, n, call < 0 ? "none" : calls_names[call], error);
	close_all();
	return made;
}

static unsigned fail_all(const struct function *function, int call)
{
	unsigned faults = 0;

	for (unsigned i = 0; i < CALLS_MOST && calls_errors[call][i]; i++) {
		for (unsigned n = 1; n < 40; n++) {
			if (fail_one(function, call, n, calls_errors[call][i]) < n)
				break;
			faults++;
		}
	}
	return faults;
}

/* DEC-22, FLUSH-E2, LPT-31 */
PXT_TEST(whichever_call_fails_a_function_of_the_port_says_what_its_header_says)
{
	static struct calls counted;

	calls_leave();
	calls = &counted;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		unsigned faults = 0;

		(void)fail_one(&functions[i], -1, 1, 0);
		for (int call = 0; call < CALL_COUNT; call++)
			faults += fail_all(&functions[i], call);
		PXT_CHECK(faults > 0, "%s: makes no call", functions[i].name);
	}
}
