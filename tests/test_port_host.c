/* SPDX-License-Identifier: MIT */
/*
 * test_port_host.c - what a port on a host must pass beyond test_port.c: descriptors, signals,
 * forked children, and what it finds out about the process.
 */
#define _GNU_SOURCE
#include "suite.h"

#include "port/port.h"
#include "port/port_file.h"
#include "port/port_log.h"
#include "port/port_sysinfo.h"
#include "port_atomic.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS_NS ((uint64_t)1000000)

static int temp_file(int flags)
{
	char path[] = "/tmp/pxt-port-XXXXXX";
	int fd = mkstemp(path);
	int again;

	CU_ASSERT_FATAL(fd >= 0);
	again = open(path, flags);
	CU_ASSERT_FATAL(again >= 0);
	(void)close(fd);
	(void)unlink(path);
	return again;
}

static void on_signal(int number)
{
}

static void handle(int number, int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = flags;
	(void)sigemptyset(&action.sa_mask);
	CU_ASSERT_FATAL(sigaction(number, &action, NULL) == 0);
}

static void timer_every_us(long us)
{
	struct itimerval timer = { { 0, us }, { 0, us } };

	CU_ASSERT_FATAL(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

/* ---- Memory and children ---- */

enum {
	OURS = 64,
	OUR_BYTE = 0xa5
};

/*
 * The kernel is asked, because sanitizers want to speak first when a process faults.  What is there
 * may be something else by now: a sanitizer that starts a thread in the child finds the gap.
 */
static int is_absent(void *memory)
{
	unsigned char seen[OURS];
	int tube[2];

	PXT_CHILD_CHECK(pipe(tube) == 0);
	if (write(tube[1], memory, OURS) == -1) {
		PXT_CHILD_CHECK(errno == EFAULT);
		return 0;
	}
	PXT_CHILD_CHECK(read(tube[0], seen, OURS) == OURS);
	for (int i = 0; i < OURS; i++)
		PXT_CHILD_CHECK(seen[i] != OUR_BYTE);
	return 0;
}

/* Ruling 20 */
PXT_TEST(a_child_has_none_of_this_memory)
{
	unsigned char *memory = pxt_port_alloc(10000);

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	memset(memory, OUR_BYTE, OURS);
	if (!pxt_skip_emulated("advice on memory stays with it"))
		CU_ASSERT_EQUAL(pxt_in_child(is_absent, memory), 0);
	pxt_port_free(memory, 10000);
}

/* Ruling 20: neither at first nor after a fork. */
PXT_TEST(touching_this_memory_faults_no_page_in)
{
	enum {
		BYTES = 1 << 20
	};
	unsigned char *memory = pxt_port_alloc(BYTES);
	struct rusage before;
	struct rusage after;
	pid_t child;

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	if (PXT_TSAN || pxt_skip_emulated("its own memory faults in")) {
		pxt_port_free(memory, BYTES);
		if (PXT_TSAN)
			pxt_skip("the sanitizer's own memory faults in");
		return;
	}
	child = fork();
	if (child == 0)
		for (;;)
			(void)pause();
	(void)getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < BYTES; i += 4096)
		((volatile unsigned char *)memory)[i] = 1;
	(void)getrusage(RUSAGE_THREAD, &after);
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	/* 256 pages; the stack and the test itself may take a few. */
	CU_ASSERT(after.ru_minflt - before.ru_minflt < 16);
	pxt_port_free(memory, BYTES);
}

static int is_wiped(void *memory)
{
	return *(volatile int *)memory == 0 ? 0 : __LINE__;
}

/* DEC-34 */
PXT_TEST(a_wiped_page_reads_zero_in_a_child)
{
	static int pages[8192] __attribute__((aligned(4096)));

	if (pxt_skip_emulated("advice on memory stays with it"))
		return;
	pages[0] = 7;
	if (!pxt_port_wipe_on_fork(pages, sizeof(pages))) {
		pxt_skip("the system wipes no pages");
		return;
	}
	CU_ASSERT_EQUAL(pxt_in_child(is_wiped, pages), 0);
	CU_ASSERT_EQUAL(pages[0], 7);
	CU_ASSERT_FALSE(pxt_port_wipe_on_fork((void *)16, 16));
}

static atomic_int child_pid;

static void note_child(void)
{
	atomic_store(&child_pid, (int)getpid());
}

static int handler_ran(void *unused)
{
	PXT_CHILD_CHECK(atomic_load(&child_pid) == (int)getpid());
	return 0;
}

/* DEC-34 */
PXT_TEST(the_fork_handler_runs_in_the_child_only)
{
	pxt_port_at_fork(note_child);
	CU_ASSERT_EQUAL(pxt_in_child(handler_ran, NULL), 0);
	CU_ASSERT_EQUAL(atomic_load(&child_pid), 0);
}

static int fence_in_child(void *unused)
{
	PXT_CHILD_CHECK(pxt_port_fence_all());
	return 0;
}

PXT_TEST(the_fence_works_in_children_too)
{
	if (!pxt_port_fence_all()) {
		pxt_skip("the system has no such fence");
		return;
	}
	CU_ASSERT_EQUAL(pxt_in_child(fence_in_child, NULL), 0);
}

/* ---- Identity ---- */

/* Ruling 10 */
PXT_TEST(the_cpu_word_says_where_the_caller_runs)
{
	const volatile uint32_t *word = pxt_port_cpu_word();
	cpu_set_t allowed;

	if (word == NULL) {
		pxt_skip("nobody keeps the number of the CPU");
		return;
	}
	CU_ASSERT_FATAL(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
	for (unsigned cpu = 0; cpu < pxt_port_cpus() && cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (CPU_ISSET(cpu, &allowed) && sched_setaffinity(0, sizeof(one), &one) == 0)
			CU_ASSERT_EQUAL(*word, cpu);
	}
	CU_ASSERT(sched_setaffinity(0, sizeof(allowed), &allowed) == 0);
}

/* ---- Waiting and signals ---- */

/* GETNX-E2, TIMED-E3, DEC-35 */
PXT_TEST(a_signal_ends_a_wait_with_eintr)
{
	_Atomic uint32_t word = 0;
	int result;

	handle(SIGALRM, 0);
	timer_every_us(20000);
	errno = 0;
	do
		result = pxt_port_wait(&word, 0, NULL, 0);
	while (result == 0);
	CU_ASSERT_EQUAL(result, EINTR);
	CU_ASSERT_EQUAL(errno, 0);
	result = pxt_port_wait(&word, 0, NULL, 1000 * MS_NS * 1000);
	CU_ASSERT(result == EINTR || result == 0);
	timer_every_us(0);
}

/* ---- Log output ---- */

static int kind_of(int fd)
{
	struct pxt_port_log log;
	int error = pxt_port_log_open(&log, fd);

	if (error != 0)
		return -error;
	pxt_port_log_close(&log);
	return (int)log.kind;
}

/* DEC-21 */
PXT_TEST(descriptors_are_told_apart)
{
	int file = temp_file(O_RDWR);
	int append = temp_file(O_WRONLY | O_APPEND);
	int reading = temp_file(O_RDONLY);
	int folder = open("/tmp", O_RDONLY);
	int device = open("/dev/null", O_WRONLY);
	int tube[2];
	int pair[2];

	CU_ASSERT_FATAL(pipe(tube) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CU_ASSERT_EQUAL(kind_of(file), PXT_LOG_FILE);
	CU_ASSERT_EQUAL(kind_of(append), PXT_LOG_APPEND);
	CU_ASSERT_EQUAL(kind_of(tube[1]), PXT_LOG_SEQUENTIAL);
	CU_ASSERT_EQUAL(kind_of(pair[0]), PXT_LOG_SEQUENTIAL);
	CU_ASSERT_EQUAL(kind_of(device), PXT_LOG_SEQUENTIAL);
	CU_ASSERT_EQUAL(kind_of(reading), -EBADF);
	CU_ASSERT_EQUAL(kind_of(tube[0]), -EBADF);
	CU_ASSERT_EQUAL(kind_of(folder), -EBADF);
	CU_ASSERT_EQUAL(kind_of(-1), -EBADF);
	CU_ASSERT_EQUAL(kind_of(1000000), -EBADF);
	for (int i = 0; i < 2; i++) {
		(void)close(tube[i]);
		(void)close(pair[i]);
	}
	(void)close(file);
	(void)close(append);
	(void)close(reading);
	(void)close(folder);
	(void)close(device);
}

/* DEC-22 */
PXT_TEST(the_descriptor_is_duplicated_and_closed_by_exec)
{
	int fd = temp_file(O_RDWR);
	struct pxt_port_log log;
	size_t done = 0;

	CU_ASSERT_FATAL(write(fd, "abc", 3) == 3);
	CU_ASSERT_FATAL(pxt_port_log_open(&log, fd) == 0);
	CU_ASSERT_EQUAL(log.size, 3);
	CU_ASSERT_NOT_EQUAL(log.fd, fd);
	CU_ASSERT((fcntl(log.fd, F_GETFD) & FD_CLOEXEC) != 0);
	CU_ASSERT_EQUAL(pxt_port_log_truncate(&log, 0), 0);
	CU_ASSERT_EQUAL(pxt_port_log_write_at(&log, 4, "xyz", 3, &done), 0);
	CU_ASSERT_EQUAL(done, 3);
	pxt_port_log_close(&log);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_END), 7);
	(void)close(fd);
}

PXT_TEST(a_device_that_would_wait_says_how_far_it_came)
{
	enum {
		BYTES = 3000000
	};
	char *data = calloc(1, BYTES);
	struct pxt_port_log log;
	size_t done = 0;
	int tube[2];

	CU_ASSERT_FATAL(data != NULL && pipe2(tube, O_NONBLOCK) == 0);
	CU_ASSERT_FATAL(pxt_port_log_open(&log, tube[1]) == 0);
	CU_ASSERT_EQUAL(pxt_port_log_write(&log, data, BYTES, &done), EAGAIN);
	CU_ASSERT(done > 0 && done < BYTES);
	CU_ASSERT_EQUAL(pxt_port_log_write(&log, data, BYTES, &done), EAGAIN);
	CU_ASSERT_EQUAL(done, 0);
	pxt_port_log_close(&log);
	(void)close(tube[0]);
	(void)close(tube[1]);
	free(data);
}

/* ---- The helper thread ---- */

static void set_true(void *argument)
{
	atomic_store((atomic_bool *)argument, true);
}

PXT_TEST(a_helper_thread_runs_and_is_joined)
{
	struct pxt_port_thread thread;
	atomic_bool ran = false;

	errno = 0;
	int cancel = -1;

	CU_ASSERT_FATAL(pxt_port_thread_start(&thread, set_true, &ran, 0) == 0);
	pxt_port_thread_join(&thread);
	CU_ASSERT_TRUE(atomic_load(&ran));
	/* The caller can be cancelled as before. */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	CU_ASSERT_EQUAL(cancel, PTHREAD_CANCEL_ENABLE);
	CU_ASSERT_EQUAL(pxt_port_thread_start(&thread, set_true, &ran, 1000000), EINVAL);
	CU_ASSERT_EQUAL(errno, 0);
}

struct seen {
	sigset_t blocked;
	struct pxt_port_thread_info info;
};

static void look(void *argument)
{
	struct seen *seen = argument;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &seen->blocked);
	pxt_port_thread_self(&seen->info);
}

static void note_priority(void *argument)
{
	struct sched_param param;
	int policy;

	if (pthread_getschedparam(pthread_self(), &policy, &param) == 0 && policy == SCHED_FIFO)
		atomic_store((atomic_int *)argument, param.sched_priority);
}

PXT_TEST(the_helper_thread_gets_its_priority_or_says_why_not)
{
	struct pxt_port_thread thread;
	atomic_int priority = 0;
	int error = pxt_port_thread_start(&thread, note_priority, &priority, 3);

	if (error == EPERM) {
		pxt_skip("SCHED_FIFO is not allowed here");
		return;
	}
	CU_ASSERT_FATAL(error == 0);
	pxt_port_thread_join(&thread);
	CU_ASSERT_EQUAL(atomic_load(&priority), 3);
}

/* DEC-40 */
PXT_TEST(the_helper_thread_has_a_name_and_all_signals_blocked)
{
	struct pxt_port_thread thread;
	struct seen seen;
	sigset_t own;

	CU_ASSERT_FATAL(pxt_port_thread_start(&thread, look, &seen, 0) == 0);
	pxt_port_thread_join(&thread);
	CU_ASSERT_TRUE(sigismember(&seen.blocked, SIGXFSZ) == 1);
	CU_ASSERT_TRUE(sigismember(&seen.blocked, SIGPIPE) == 1);
	CU_ASSERT_TRUE(sigismember(&seen.blocked, SIGALRM) == 1);
	CU_ASSERT_STRING_EQUAL(seen.info.name, "pxt-helper");
	(void)pthread_sigmask(SIG_SETMASK, NULL, &own);
	CU_ASSERT_TRUE(sigismember(&own, SIGXFSZ) == 0);
}

static void set_one_signal(int how, sigset_t *before)
{
	sigset_t own;

	(void)sigemptyset(&own);
	(void)sigaddset(&own, SIGUSR1);
	(void)pthread_sigmask(how, &own, before);
}

static void block_one_signal(void)
{
	set_one_signal(SIG_BLOCK, NULL);
}

/* It alone is still blocked; it is not any more. */
static void expect_one_signal_blocked(void)
{
	sigset_t then;

	set_one_signal(SIG_UNBLOCK, &then);
	CU_ASSERT(sigismember(&then, SIGUSR1) == 1);
	CU_ASSERT(sigismember(&then, SIGUSR2) == 0);
}

PXT_TEST(signals_that_were_blocked_stay_so_when_the_helper_thread_is_started)
{
	struct pxt_port_thread thread;
	atomic_bool ran = false;

	block_one_signal();
	CU_ASSERT_FATAL(pxt_port_thread_start(&thread, set_true, &ran, 0) == 0);
	expect_one_signal_blocked();
	pxt_port_thread_join(&thread);
}

/* ---- The process ---- */

/* What was inherited is the test runner's: no file of the system's. */
PXT_TEST(no_file_that_was_read_before_main_is_still_open)
{
	char path[32];
	char name[64];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t length;

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, name, sizeof(name) - 1);
		name[length > 0 ? length : 0] = '\0';
		PXT_CHECK(strncmp(name, "/sys/", 5) != 0, "descriptor %d is %s", fd, name);
	}
}

/* As the kernel writes it. */
static void read_boot_id(unsigned char id[PXT_BOOT_ID_BYTES])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	unsigned byte = 0;

	memset(id, 0, PXT_BOOT_ID_BYTES);
	for (unsigned i = 0; file && i < PXT_BOOT_ID_BYTES; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			(void)fgetc(file);
		if (fscanf(file, "%2x", &byte) == 1)
			id[i] = (unsigned char)byte;
	}
	if (file)
		(void)fclose(file);
}

PXT_TEST(executable_host_and_start_are_found)
{
	char path[256];
	char host[65];
	char small[4];
	char system[200];
	struct utsname known;
	unsigned char boot[PXT_BOOT_ID_BYTES];
	unsigned char expected[PXT_BOOT_ID_BYTES];
	struct timespec start;
	struct timespec now;
	struct stat by_path;
	struct stat self;

	pxt_port_executable(path, sizeof(path));
	CU_ASSERT_FATAL(stat(path, &by_path) == 0 && stat("/proc/self/exe", &self) == 0);
	if (!pxt_skip_emulated("it is the executable"))
		CU_ASSERT(by_path.st_ino == self.st_ino);
	pxt_port_executable(small, sizeof(small));
	CU_ASSERT_EQUAL(strlen(small), 3);
	if (!pxt_skip_emulated("it is the executable"))
		CU_ASSERT(small[0] == '+' && strcmp(small + 1, path + strlen(path) - 2) == 0);
	pxt_port_host(host, sizeof(host));
	CU_ASSERT(host[0] != '\0');
	pxt_port_system(system, sizeof(system));
	CU_ASSERT(uname(&known) == 0 && strncmp(system, known.machine, strlen(known.machine)) == 0);
	CU_ASSERT(strstr(system, known.sysname) && strstr(system, known.release));
	pxt_port_system(small, sizeof(small));
	CU_ASSERT_EQUAL(strlen(small), 3);
	pxt_port_boot_id(boot);
	read_boot_id(expected);
	CU_ASSERT(memcmp(boot, expected, sizeof(boot)) == 0);
	pxt_port_process_start(&start);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	CU_ASSERT(start.tv_sec <= now.tv_sec);
	CU_ASSERT(start.tv_sec > now.tv_sec - 3600);
}

/* A log has a fixed room for it, which the longest names fill. */
PXT_TEST(a_host_s_name_is_cut_to_its_room)
{
	char whole[256];
	char part[256];
	size_t length;

	pxt_port_host(whole, sizeof(whole));
	length = strlen(whole);
	CU_ASSERT_FATAL(length > 0);
	memset(part, '?', sizeof(part));
	pxt_port_host(part, length + 1);
	CU_ASSERT_STRING_EQUAL(part, whole);
	memset(part, '?', sizeof(part));
	pxt_port_host(part, length);
	PXT_EQ(memchr(part, '\0', sizeof(part)) != NULL, 1);
	PXT_EQ(strnlen(part, sizeof(part)), length - 1);
	CU_ASSERT(strncmp(part, whole, length - 1) == 0);
	PXT_EQ(part[length], '?');
}

/* The name stands in the middle of the line that tells the start. */
PXT_TEST(the_start_of_the_process_does_not_depend_on_its_name)
{
	char before[16] = "";
	struct timespec start;
	struct timespec again;

	CU_ASSERT_FATAL(prctl(PR_GET_NAME, before) == 0);
	pxt_port_process_start(&start);
	CU_ASSERT_FATAL(prctl(PR_SET_NAME, "a) 7 b (c d) e") == 0);
	pxt_port_process_start(&again);
	CU_ASSERT(prctl(PR_SET_NAME, before) == 0);
	CU_ASSERT(start.tv_sec > 0);
	CU_ASSERT(again.tv_sec >= start.tv_sec - 1 && again.tv_sec <= start.tv_sec + 1);
}

static int look_around_without_input(void *unused)
{
	static const unsigned char none[PXT_BOOT_ID_BYTES];
	unsigned char boot[PXT_BOOT_ID_BYTES];
	struct pxt_port_thread_info self;
	struct timespec start;

	(void)close(STDIN_FILENO);
	pxt_port_thread_self(&self);
	PXT_CHILD_CHECK(self.name[0] != '\0');
	PXT_CHILD_CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
	pxt_port_process_start(&start);
	PXT_CHILD_CHECK(start.tv_sec != 0);
	PXT_CHILD_CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
	pxt_port_boot_id(boot);
	PXT_CHILD_CHECK(memcmp(boot, none, sizeof(boot)) != 0);
	PXT_CHILD_CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
#if CONFIG_PTRACE_INHERIT
	errno = ESRCH;
	PXT_CHILD_CHECK(!pxt_port_process_gone((int32_t)getppid()));
	PXT_CHILD_CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
#endif
	return 0;
}

/* The first number is then free, and is not what the library looks at a file by. */
PXT_TEST(a_program_that_closed_its_input_is_told_the_same)
{
	PXT_EQ(pxt_in_child(look_around_without_input, NULL), 0);
}

struct module_search {
	uint64_t address;
	unsigned count;
	struct pxt_port_module first;
	struct pxt_port_module hit;
};

static void on_module(void *context, const struct pxt_port_module *module)
{
	struct module_search *search = context;

	if (search->count++ == 0)
		search->first = *module;
	if (search->address >= module->low && search->address < module->high)
		search->hit = *module;
}

PXT_TEST(the_executable_is_the_first_module)
{
	struct module_search search = { .address = 0 };
	char path[256];

	search.address = (uint64_t)(uintptr_t)on_module;
	pxt_port_modules(on_module, &search);
	pxt_port_executable(path, sizeof(path));
	CU_ASSERT(search.count >= 1);
	CU_ASSERT_STRING_EQUAL(search.first.path, path);
	CU_ASSERT_EQUAL(search.hit.low, search.first.low);
	CU_ASSERT(search.first.base <= search.first.low);
}

/* The program is linked with one that fills its room: tests/programs.cmake. */
PXT_TEST(a_build_id_of_32_bytes_is_whole)
{
	struct module_search search = { .address = 0 };

	pxt_port_modules(on_module, &search);
	PXT_EQ(search.first.buildid_bytes, 32);
	for (unsigned i = 0; i < 32; i++)
		PXT_EQ(search.first.buildid[i], i + 1);
}

/* LPT-52: what is zero when the program begins has no bytes in its file, and is the module's all the same. */
PXT_TEST(a_variable_that_begins_as_zero_is_in_its_module)
{
	static char zeros[65536];
	struct module_search search = { .address = 0 };

	zeros[sizeof(zeros) - 1] = 1;
	search.address = (uint64_t)(uintptr_t)&zeros[sizeof(zeros) - 1];
	pxt_port_modules(on_module, &search);
	CU_ASSERT(search.hit.high > 0);
	CU_ASSERT_STRING_EQUAL(search.hit.path, search.first.path);
}

/* As the kernel counts it, in hundredths of a second since it booted. */
PXT_TEST(the_start_of_the_process_is_told_to_a_hundredth_of_a_second)
{
	FILE *file = fopen("/proc/self/stat", "r");
	unsigned long long ticks = 0;
	long per_second = sysconf(_SC_CLK_TCK);
	char line[1024] = "";
	struct timespec start;
	struct timespec boot;
	struct timespec now;
	const char *at;
	long long expected;
	long long told;

	CU_ASSERT_FATAL(file && fgets(line, sizeof(line), file) && per_second > 0);
	(void)fclose(file);
	at = strrchr(line, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	CU_ASSERT_FATAL(at != NULL);
	ticks = strtoull(at, NULL, 10);
	pxt_port_process_start(&start);
	(void)clock_gettime(CLOCK_BOOTTIME, &boot);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	expected = (now.tv_sec - boot.tv_sec) * 1000LL + (now.tv_nsec - boot.tv_nsec) / 1000000 +
	           (long long)(ticks * 1000 / (unsigned long)per_second);
	told = start.tv_sec * 1000LL + start.tv_nsec / 1000000;
	PXT_CHECK(
	    told > expected - 200 && told < expected + 200, "%lld ms, not %lld", told, expected);
}

#if CONFIG_PTRACE_LOGRETRIEVAL
PXT_TEST(a_log_that_is_read_is_closed_by_exec)
{
	int fd = temp_file(O_RDWR);
	struct pxt_port_file file;

	CU_ASSERT_FATAL(pxt_port_file_open(&file, fd) == 0);
	CU_ASSERT((fcntl(file.fd, F_GETFD) & FD_CLOEXEC) != 0);
	pxt_port_file_close(&file);
	(void)close(fd);
}

static int read_without_input(void *argument)
{
	struct pxt_port_file file;

	(void)close(STDIN_FILENO);
	PXT_CHILD_CHECK(pxt_port_file_open(&file, *(const int *)argument) == 0);
	PXT_CHILD_CHECK(file.fd >= 3);
	PXT_CHILD_CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
	pxt_port_file_close(&file);
	return 0;
}

/* A program that opens its new input would get another number, and would then close the log. */
PXT_TEST(a_log_that_is_read_does_not_become_the_input_of_a_program_without_one)
{
	int fd = temp_file(O_RDWR);

	PXT_EQ(pxt_in_child(read_without_input, &fd), 0);
	(void)close(fd);
}

PXT_TEST(memory_for_reading_that_there_is_not_leaves_errno_alone)
{
	unsigned char *memory = pxt_port_heap_resize(NULL, 16);
	void *larger;

	if (PXT_SANITIZED) {
		pxt_port_heap_free(memory);
		pxt_skip("a sanitizer ends the program that asks for so much");
		return;
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	memory[15] = 7;
	errno = 77;
	larger = pxt_port_heap_resize(memory, SIZE_MAX - 65536);
	PXT_EQ(errno, 77);
	CU_ASSERT_PTR_NULL_FATAL(larger);
	/* What there was is still there. */
	PXT_EQ(memory[15], 7);
	pxt_port_heap_free(memory);
}
#endif

#if CONFIG_PTRACE_FILE_STREAMS
PXT_TEST(signals_that_were_blocked_stay_so_when_a_file_is_made_longer)
{
	int fd = temp_file(O_RDWR);

	block_one_signal();
	PXT_EQ(pxt_port_filemap_extend(fd, 65536), 0);
	expect_one_signal_blocked();
	(void)close(fd);
}
#endif

struct named {
	uint64_t thread;
	struct pxt_port_thread_info found;
};

static struct named named_threads[4];
static atomic_int named_ready;
static _Atomic uint32_t named_leave;

/* One has all the bytes that the kernel keeps. */
static void name_thread(char name[16], int number)
{
	(void)snprintf(name, 16, number == 3 ? "fifteen-bytes-%d" : "worker-%d", number);
}

static void *named_thread(void *argument)
{
	struct named *named = argument;
	pthread_t self = pthread_self();
	char name[16];

	name_thread(name, (int)((named - named_threads) % 10));
	(void)pthread_setname_np(self, name);
	memcpy(&named->thread, &self, sizeof(self));
	atomic_fetch_add(&named_ready, 1);
	while (atomic_load(&named_leave) == 0)
		(void)pxt_port_wait(&named_leave, 0, NULL, 0);
	return NULL;
}

static void on_thread(void *context, const struct pxt_port_thread_info *thread)
{
	for (int i = 0; i < 4; i++) {
		if (named_threads[i].thread == thread->thread)
			named_threads[i].found = *thread;
	}
}

PXT_TEST(threads_are_found_with_their_names)
{
	pthread_t threads[4];
	char name[16];

	if (pxt_skip_emulated("it does not tell descriptors of threads"))
		return;
	for (int i = 0; i < 4; i++)
		CU_ASSERT_FATAL(
		    pthread_create(&threads[i], NULL, named_thread, &named_threads[i]) == 0);
	while (atomic_load(&named_ready) < 4)
		pxt_port_pause_ns(MS_NS);
	pxt_port_threads(on_thread, NULL);
	atomic_store(&named_leave, 1);
	pxt_port_wake(&named_leave);
	for (int i = 0; i < 4; i++) {
		(void)pthread_join(threads[i], NULL);
		name_thread(name, i);
		CU_ASSERT_STRING_EQUAL(named_threads[i].found.name, name);
		CU_ASSERT(named_threads[i].found.tid > 0);
	}
}

#if CONFIG_PTRACE_LOG_ENVIRONMENT
static int asked_file(const char *path, int *fd)
{
	bool regular;

	return pxt_port_environment_file(path, 0666, fd, &regular);
}

PXT_TEST(a_log_file_that_the_environment_names_is_one_process_s)
{
	char path[200];
	int fd = -1;
	int other = -1;
	int lowest;

	(void)snprintf(path, sizeof(path), "%s/asked", pxt_temp_folder());
	PXT_EQ(asked_file(path, &fd), 0);
	lowest = dup(fd);
	(void)close(lowest);
	PXT_EQ(asked_file(path, &other), EBUSY);
	/* What was opened to be looked at is closed. */
	PXT_EQ(dup(fd), lowest);
	(void)close(lowest);
	pxt_port_environment_close(fd);
	PXT_EQ(asked_file(path, &fd), 0);
	pxt_port_environment_close(fd);
	PXT_EQ(unlink(path), 0);
	PXT_EQ(asked_file("/none/asked", &fd), ENOENT);
	/* Not in place of the standard input that a program has closed. */
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10);

	(void)close(STDIN_FILENO);
	PXT_EQ(asked_file(path, &fd), 0);
	CU_ASSERT(fd > STDERR_FILENO);
	pxt_port_environment_close(fd);
	if (input >= 0) {
		PXT_EQ(dup2(input, STDIN_FILENO), STDIN_FILENO);
		(void)close(input);
	}
	PXT_EQ(unlink(path), 0);
}

static void asked_path(char path[200])
{
	(void)snprintf(path, 200, "%s/asked", pxt_temp_folder());
	(void)unlink(path);
}

/* As other files that a program makes: the mask of the process says who may read it. */
PXT_TEST(a_log_file_that_the_environment_names_has_the_usual_rights)
{
	char path[200];
	struct stat state;
	mode_t before = umask(022);
	int fd = -1;

	asked_path(path);
	PXT_EQ_FATAL(asked_file(path, &fd), 0);
	(void)umask(before);
	CU_ASSERT(fstat(fd, &state) == 0);
	PXT_EQ(state.st_mode & 0777, 0644);
	pxt_port_environment_close(fd);
	PXT_EQ(unlink(path), 0);
}

static int ask_without_input(void *path)
{
	int fd = -1;

	(void)close(STDIN_FILENO);
	PXT_CHILD_CHECK(asked_file(path, &fd) == EBUSY);
	PXT_CHILD_CHECK(fcntl(STDIN_FILENO, F_GETFD) == -1);
	return 0;
}

PXT_TEST(a_log_file_of_another_process_is_not_kept_as_the_first_descriptor)
{
	char path[200];
	int fd = -1;

	asked_path(path);
	PXT_EQ_FATAL(asked_file(path, &fd), 0);
	PXT_EQ(pxt_in_child(ask_without_input, path), 0);
	pxt_port_environment_close(fd);
	PXT_EQ(unlink(path), 0);
}
#endif
