/* SPDX-License-Identifier: MIT */
/*
 * victim.c - a program that knows nothing of traces: for the tests of `pxtrace run` (run.sh).
 *
 *	victim WORD...     does what each word says, in this order
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;
static volatile int held; /* first_lock, by "holder" */

/* Its own functions, so that a test finds the place by their names. */
static __attribute__((noinline)) void lock_once(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
	(void)pthread_mutex_unlock(mutex);
}

/* Whether a thread waits for it; the word of glibc's mutexes is 2 then. */
static int is_waited_for(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
	return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) == 2;
#else
	return mutex != NULL;
#endif
}

/* Until it was waited for some milliseconds, however late a busy machine lets the other thread come. */
static __attribute__((noinline)) void hold_long(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
	held = 1;
	for (int turn = 0; turn < 100 && (turn == 0 || !is_waited_for(mutex)); turn++)
		(void)usleep(30000);
	(void)usleep(5000);
	(void)pthread_mutex_unlock(mutex);
}

static void lock_five_times(void)
{
	for (int i = 0; i < 5; i++)
		lock_once(&first_lock);
}

/* Threads that end, one after the other: three locks each. */
static void *lock_and_end(void *argument)
{
	for (int i = 0; i < 3; i++)
		lock_once(&first_lock);
	return argument;
}

static void come_and_go(void)
{
	pthread_t thread;

	for (int i = 0; i < 200; i++)
		if (pthread_create(&thread, NULL, lock_and_end, NULL) == 0)
			(void)pthread_join(thread, NULL);
}

/* More locks than are counted one by one, each twice. */
static void lock_many(void)
{
	pthread_mutex_t *many = calloc(5000, sizeof *many);

	for (int i = 0; many && i < 10000; i++)
		lock_once(&many[i % 5000]);
	free(many);
}

static void *holder(void *argument)
{
	(void)pthread_setname_np(pthread_self(), "holder");
	(void)pthread_mutex_lock(&second_lock);
	ready = 1;
	(void)pthread_cond_signal(&changed);
	(void)pthread_mutex_unlock(&second_lock);
	hold_long(&first_lock);
	return argument;
}

/* The main thread waits for what "holder" has. */
static void contend(void)
{
	pthread_t thread;

	(void)pthread_mutex_lock(&second_lock);
	if (pthread_create(&thread, NULL, holder, NULL) != 0)
		exit(3);
	while (!ready)
		(void)pthread_cond_wait(&changed, &second_lock);
	(void)pthread_mutex_unlock(&second_lock);
	while (!held)
		(void)usleep(5000);
	lock_once(&first_lock);
	(void)pthread_join(thread, NULL);
}

static volatile int rounds;

/* Has the lock for so long that a round of "control" is late. */
static __attribute__((noinline)) void hold_up(pthread_mutex_t *mutex)
{
	(void)pthread_mutex_lock(mutex);
	(void)usleep(60000);
	(void)pthread_mutex_unlock(mutex);
}

static void *hinder(void *argument)
{
	(void)pthread_setname_np(pthread_self(), "netsync");
	while (rounds < 40)
		(void)usleep(500);
	hold_up(&first_lock);
	return argument;
}

/* Rounds of a millisecond, of which one is late. */
static void *control(void *argument)
{
	(void)pthread_setname_np(pthread_self(), "control");
	for (rounds = 0; rounds < 100; rounds++) {
		(void)usleep(1000);
		lock_once(&first_lock);
	}
	return argument;
}

/* Takes the lock for good while "control" has its rounds. */
static void *keep_lock(void *argument)
{
	(void)pthread_setname_np(pthread_self(), "netsync");
	while (rounds < 40)
		(void)usleep(500);
	(void)pthread_mutex_lock(&first_lock);
	(void)pause();
	return argument;
}

static void be_stuck(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, keep_lock, NULL) != 0 ||
	    pthread_create(&thread, NULL, control, NULL) != 0)
		exit(3);
	(void)pause();
}

static void be_late(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, hinder, NULL) != 0 ||
	    pthread_create(&threads[1], NULL, control, NULL) != 0)
		exit(3);
	(void)pthread_join(threads[0], NULL);
	(void)pthread_join(threads[1], NULL);
}

static void fork_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		lock_once(&first_lock);
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
}

/* Each of them does a thing and ends at once. */
static void fork_many(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t child = fork();

		if (child == 0) {
			lock_once(&first_lock);
			_exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
}

static void close_all(void)
{
	for (int fd = 3; fd < 2048; fd++)
		(void)close(fd);
	closefrom(3);
	(void)close_range(3, ~0u, 0);
}

/* By a system call, which no wrapper of a function sees. */
static void close_all_below(void)
{
	(void)syscall(SYS_close_range, 3, ~0u, 0);
}

/* All numbers are the program's then, also those that were the library's. */
static void take_all_below(void)
{
	struct rlimit limit;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = 3; fd < 1024 && (rlim_t)fd < limit.rlim_cur; fd++)
		if (dup2(0, fd) != fd || close(fd) != 0)
			exit(9);
}

static void print_descriptors(void)
{
	int fd = open("/dev/null", O_RDONLY);

	printf("next descriptor %d\n", fd);
	(void)close(fd);
}

/* Threads, signals and descriptors, as the system tells of them. */
static void print_state(void)
{
	DIR *folder = opendir("/proc/self/fd");
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];

	while (status && fgets(line, sizeof line, status))
		if (strncmp(line, "Threads:", 8) == 0 ||
		    (strncmp(line, "Sig", 3) == 0 && line[3] != 'Q'))
			(void)fputs(line, stdout);
	if (status)
		(void)fclose(status);
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.')
			printf("descriptor %s\n", entry->d_name);
	if (folder)
		(void)closedir(folder);
	(void)fflush(stdout);
}

static void print_states(void)
{
	pid_t child;

	print_state();
	child = fork();
	if (child == 0) {
		print_state();
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	lock_once(&first_lock);
	print_state();
}

/* No wrapper sees it. */
static long call_by_hand(long number, long first, long second, long third)
{
#if defined(__x86_64__)
	register long fourth __asm__("r10") = 0;
	register long fifth __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(first), "S"(second), "d"(third), "r"(fourth), "r"(fifth)
	                 : "rcx", "r11", "memory");
	return result;
#else
	return syscall(number, first, second, third, 0L, 0L);
#endif
}

static long call_library(long number, long first, long second, long third)
{
	return syscall(number, first, second, third, 0L, 0L);
}

/*
 * From now on the system ends the process for all but what plain threads need that wait and end, and a parent that
 * waits for its child.
 */
static void allow_little(long (*call)(long, long, long, long))
{
	static const unsigned allowed[] = { SYS_futex, SYS_clock_nanosleep, SYS_exit,
		SYS_exit_group, SYS_madvise, SYS_munmap, SYS_rt_sigprocmask, SYS_restart_syscall,
		SYS_clone, SYS_wait4, SYS_set_robust_list };
	enum {
		COUNT = sizeof allowed / sizeof *allowed
	};
	struct sock_filter filter[COUNT + 3];
	struct sock_fprog program = { COUNT + 3, filter };

	filter[0] = (struct sock_filter)BPF_STMT(
	    BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < COUNT; i++)
		filter[i + 1] = (struct sock_filter)BPF_JUMP(
		    BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (unsigned char)(COUNT - i), 0);
	filter[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	filter[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) != 0 ||
	    call(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, (long)&program) !=
	        0)
		perror("seccomp");
}

static pthread_barrier_t all_there;

static void *lock_in_turn(void *argument)
{
	(void)pthread_barrier_wait(&all_there);
	(void)pthread_barrier_wait(&all_there);
	for (int i = 0; i < 3; i++) {
		(void)pthread_mutex_lock(&second_lock);
		(void)usleep(1000);
		(void)pthread_mutex_unlock(&second_lock);
	}
	return argument;
}

static void be_confined(void)
{
	pthread_t threads[2];

	(void)pthread_barrier_init(&all_there, NULL, 3);
	for (int i = 0; i < 2; i++)
		(void)pthread_create(&threads[i], NULL, lock_in_turn, NULL);
	(void)pthread_barrier_wait(&all_there);
	allow_little(call_library);
	(void)pthread_barrier_wait(&all_there);
	for (int i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	_exit(4);
}

/* In a child that does nothing before; 4: it was not ended for a call that it did not make. */
static void confine_child(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		allow_little(call_library);
		lock_five_times();
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? 4 : 5);
}

static void confine_child_by_hand(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		allow_little(call_by_hand);
		lock_five_times();
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? 4 : 5);
}

/* The child has its parent's filter from the beginning. */
static void confine_parent(void)
{
	int status = 0;
	pid_t child;

	allow_little(call_library);
	child = fork();
	if (child == 0) {
		lock_five_times();
		_exit(0);
	}
	(void)waitpid(child, &status, 0);
	_exit(WIFEXITED(status) ? 4 : 5);
}

/* Of the family's children all but the last execute a program; that one locks, beneath a limit of descriptors. */
static void limit_child(void)
{
	const struct rlimit none = { 3, 3 };

	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0 && i == 0)
			(void)execlp("true", "true", (char *)NULL);
		if (child == 0) {
			(void)setrlimit(RLIMIT_NOFILE, &none);
			lock_five_times();
			_exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
}

/* As a shell's children do before a program. */
static void run_twice(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0) {
			(void)dup2(STDERR_FILENO, 7);
			(void)close(STDIN_FILENO);
			(void)execlp("true", "true", (char *)NULL);
		}
		(void)waitpid(child, NULL, 0);
	}
}

/* The second one writes through a copy that it made before its first event. */
static void copy_then_write(void)
{
	int file = open("copied", O_WRONLY | O_CREAT | O_TRUNC, 0666);

	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (child == 0) {
			(void)dup2(file, 9);
			if (i == 0)
				(void)execlp("true", "true", (char *)NULL);
			_exit(write(9, "word", 4) != 4);
		}
		(void)waitpid(child, NULL, 0);
	}
}

/* As a user who may lock as much memory as Debian lets all. */
static void lock_memory(void)
{
	const struct rlimit limit = { 8u << 20, 8u << 20 };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (geteuid() == 0 && setuid(65534) != 0))
		puts("not allowed");
	printf("mlockall() %d\n", mlockall(MCL_CURRENT | MCL_FUTURE));
}

/* Whoever reads the counter from now on gets a signal, also behind clock_gettime(). */
static void forbid_counter(void)
{
#ifdef PR_SET_TSC
	(void)prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#endif
}

/* One thread holds a lock for 60 and for 30 milliseconds, under two names, while the first one wants it. */
static void *hold_under_two_names(void *unused)
{
	static const char *const names[] = { "reader", "writer" };

	for (int i = 0; i < 2; i++) {
		(void)prctl(PR_SET_NAME, names[i]);
		(void)pthread_mutex_lock(&first_lock);
		held = i + 1;
		(void)usleep(60000 / (i + 1));
		(void)pthread_mutex_unlock(&first_lock);
		(void)usleep(30000);
	}
	return unused;
}

static void wait_for_two_names(void)
{
	pthread_t holder;

	held = 0;
	(void)pthread_create(&holder, NULL, hold_under_two_names, NULL);
	for (int i = 1; i <= 2; i++) {
		while (held < i)
			(void)usleep(1000);
		lock_once(&first_lock);
	}
	(void)pthread_join(holder, NULL);
}

/* As libseccomp asks whether there is the call: by a flag that strict mode does not have. */
static void ask_for_strict_mode(void)
{
	(void)syscall(SYS_seccomp, 0, 1, NULL);
}

static int leave_at_once(void *argument)
{
	(void)argument;
	_exit(3);
}

/* A child in this memory, whose thread variables are a piece of zeros, as Chromium makes one. */
static void lend_memory(void)
{
	static char stack[65536];
	static long variables[8192];
	int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
	void *tls = &variables[4096];

#if defined(__x86_64__)
	flags |= CLONE_SETTLS;
	variables[4096] = (long)tls;
#endif
	(void)waitpid(
	    clone(leave_at_once, stack + sizeof stack, flags, NULL, NULL, tls, NULL), NULL, 0);
}

/* A lock that its parent has taken before, and the end of one. */
static int lock_in_child(void *unused)
{
	pthread_mutex_t mutex;

	(void)unused;
	lock_once(&first_lock);
	(void)pthread_mutex_init(&mutex, NULL);
	lock_once(&mutex);
	return pthread_mutex_destroy(&first_lock);
}

/* Children in which no handler of a fork runs: by clone(), and by the call itself. */
static void clone_children(void)
{
	static char stack[65536];
	int statuses[2] = { 1, 1 };
	pid_t child;

	lock_once(&first_lock);
	child = clone(lock_in_child, stack + sizeof stack, SIGCHLD, NULL);
	(void)waitpid(child, &statuses[0], 0);
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (child == 0)
		_exit(lock_in_child(NULL));
	(void)waitpid(child, &statuses[1], 0);
	(void)printf("%x %x\n", (unsigned)statuses[0], (unsigned)statuses[1]);
	lock_once(&first_lock);
}

static void *say_last(void *argument)
{
	(void)usleep(50000);
	(void)puts("last");
	return argument;
}

static void leave_to_another(void)
{
	pthread_t last;

	(void)pthread_create(&last, NULL, say_last, NULL);
	(void)pthread_detach(last);
	pthread_exit(NULL);
}

static void say_got(int signo)
{
	static const char text[] = "got it\n";

	(void)signo;
	(void)!write(STDOUT_FILENO, text, sizeof text - 1);
	_exit(9);
}

static void await_signal(void)
{
	(void)signal(SIGUSR1, say_got);
	(void)signal(SIGTERM, say_got);
	/* Where the test was killed nobody else ends it. */
	(void)alarm(120);
	printf("waiting\n");
	(void)fflush(stdout);
	for (;;)
		(void)pause();
}

static void run_child(void)
{
	(void)!system("exec \"$VICTIM\" locks");
}

static void kill_self(void)
{
	(void)kill(getpid(), SIGKILL);
}

static void forget_environment(void)
{
	(void)clearenv();
}

static void print_word(void)
{
	printf("out\n");
	(void)fflush(stdout);
	(void)fputs("err\n", stderr);
}

/* One of each kind of lock, and of each kind of call. */
static void do_each(void)
{
	pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
	pthread_spinlock_t spin;
	sem_t sem;
	struct pollfd none = { .fd = -1 };
	int fd = open("/dev/null", O_WRONLY);

	(void)pthread_rwlock_rdlock(&rwlock);
	(void)pthread_rwlock_unlock(&rwlock);
	(void)pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	(void)pthread_spin_lock(&spin);
	(void)pthread_spin_unlock(&spin);
	(void)sem_init(&sem, 0, 1);
	(void)sem_wait(&sem);
	(void)!write(fd, "", 1);
	(void)poll(&none, 1, 1);
	(void)close(fd);
	(void)usleep(1000);
}

static sem_t posted;
static pthread_rwlock_t written = PTHREAD_RWLOCK_INITIALIZER;

/* The other one waits for both by then, and for nothing after it. */
static void *hold_and_post(void *unused)
{
	(void)pthread_rwlock_wrlock(&written);
	(void)sem_post(&posted);
	(void)usleep(20000);
	(void)pthread_rwlock_unlock(&written);
	(void)usleep(20000);
	(void)sem_post(&posted);
	return unused;
}

static void wait_for_both(void)
{
	pthread_t thread;

	(void)sem_init(&posted, 0, 0);
	(void)pthread_create(&thread, NULL, hold_and_post, NULL);
	while (sem_trywait(&posted) != 0)
		(void)usleep(100);
	(void)pthread_rwlock_rdlock(&written);
	(void)pthread_rwlock_unlock(&written);
	(void)sem_wait(&posted);
	(void)pthread_join(thread, NULL);
	for (int i = 0; i < 5; i++) {
		(void)sem_post(&posted);
		(void)sem_wait(&posted);
	}
}

static void await_line(void)
{
	int got;

	do {
		got = getchar();
	} while (got != '\n' && got != EOF);
}

/* A child that goes on after this process has ended. */
/* It goes on when this process has ended; where there is a FIFO ./go, when somebody opens that, too. */
static void leave_child(void)
{
	const pid_t parent = getpid();

	if (fork() == 0) {
		while (getppid() == parent)
			(void)usleep(1000);
		(void)open("go", O_WRONLY | O_CLOEXEC);
		lock_five_times();
		_exit(0);
	}
}

static void go_on(void)
{
	(void)signal(SIGTERM, SIG_IGN);
	(void)sleep(9);
}

/* More events than a small log takes. */
static void lock_often(void)
{
	for (int i = 0; i < 100000; i++)
		lock_once(&first_lock);
}

/* What traces this program does not run meanwhile. */
static void halt_recorder(void)
{
	(void)kill(getppid(), SIGSTOP);
}

static void resume_recorder(void)
{
	(void)kill(getppid(), SIGCONT);
}

#if defined(__x86_64__)
static int futex_word;

static void *wake_futex(void *unused)
{
	(void)usleep(20000);
	__atomic_store_n(&futex_word, 1, __ATOMIC_SEQ_CST);
	(void)syscall(SYS_futex, &futex_word, 1, 1, NULL);
	return unused;
}

/*
 * Waits by syscall() with the numbers that the call needs, all in registers, as GLib does: what lies above its
 * frame is the caller's own.
 */
static void wait_by_syscall(void)
{
	const unsigned long own = 0x1234567;
	unsigned long after = 0;
	long result;
	pthread_t waker;
	register long limit __asm__("r8") = 0;

	(void)pthread_create(&waker, NULL, wake_futex, NULL);
	__asm__ volatile("mov %%rsp, %%rbx\n\tsub $256, %%rsp\n\tand $-16, %%rsp\n\t"
	                 "push %[own]\n\tpush %[own]\n\txor %%eax, %%eax\n\t"
	                 "call syscall@plt\n\tmov (%%rsp), %[after]\n\tmov %%rbx, %%rsp"
	                 : "=&a"(result), [after] "=&r"(after), "+r"(limit)
	                 : "D"((long)SYS_futex), "S"(&futex_word), "d"(0L), "c"(0L), [own] "r"(own)
	                 : "rbx", "r9", "r10", "r11", "memory", "cc");
	(void)pthread_join(waker, NULL);
	(void)puts(after == own ? "kept" : "written to");
}
#else
static void wait_by_syscall(void)
{
	(void)puts("kept");
}
#endif

static const struct deed {
	const char *word;
	void (*deed)(void);
} deeds[] = {
	{ "locks", lock_five_times },
	{ "contend", contend },
	{ "late", be_late },
	{ "stuck", be_stuck },
	{ "fork", fork_child },
	{ "forks", fork_many },
	{ "close", close_all },
	{ "closebelow", close_all_below },
	{ "takebelow", take_all_below },
	{ "descriptors", print_descriptors },
	{ "await", await_signal },
	{ "child", run_child },
	{ "kill", kill_self },
	{ "forget", forget_environment },
	{ "print", print_word },
	{ "each", do_each },
	{ "line", await_line },
	{ "leave", leave_child },
	{ "stay", go_on },
	{ "often", lock_often },
	{ "comeandgo", come_and_go },
	{ "halt", halt_recorder },
	{ "resume", resume_recorder },
	{ "many", lock_many },
	{ "futex", wait_by_syscall },
	{ "states", print_states },
	{ "last", leave_to_another },
	{ "confined", be_confined },
	{ "confinedchild", confine_child },
	{ "confinedbyhand", confine_child_by_hand },
	{ "confinedparent", confine_parent },
	{ "limitedchild", limit_child },
	{ "runtwice", run_twice },
	{ "copythenwrite", copy_then_write },
	{ "lockmemory", lock_memory },
	{ "blind", forbid_counter },
	{ "ask", ask_for_strict_mode },
	{ "twonames", wait_for_two_names },
	{ "lend", lend_memory },
	{ "clone", clone_children },
	{ "both", wait_for_both },
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		for (size_t k = 0; k < sizeof deeds / sizeof *deeds; k++)
			if (strcmp(argv[i], deeds[k].word) == 0)
				deeds[k].deed();
		if (strncmp(argv[i], "exit=", 5) == 0)
			return atoi(argv[i] + 5);
	}
	return 0;
}
