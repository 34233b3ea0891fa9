/* SPDX-License-Identifier: MIT */
/*
 * behave.c - a program that knows nothing of traces, and tells what the C library answers it: with
 * wrappers before that, it has to say the same (tool/wrap.sh).
 *
 *	behave WORD...     does what each word says, in this order
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define SAY(...)  (void)printf(__VA_ARGS__)
/* A call, and what it said. */
#define ASK(call) SAY("%s: %d\n", #call, (int)(call))

/* That much later than now (behave.c). */
struct timespec in_ms(clockid_t clock, long ms);
/* Does what @word says, if it is one of behave_calls.c. */
void behave_call(const char *word);

struct timespec in_ms(clockid_t clock, long ms)
{
	struct timespec time;

	(void)clock_gettime(clock, &time);
	time.tv_sec += ms / 1000;
	time.tv_nsec += ms % 1000 * 1000000;
	if (time.tv_nsec >= 1000000000) {
		time.tv_sec++;
		time.tv_nsec -= 1000000000;
	}
	return time;
}

static void *in_thread(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, function, argument) != 0 ||
	    pthread_join(thread, &result) != 0)
		SAY("no thread\n");
	return result;
}

/* ---- Kinds of mutexes ---- */

static pthread_mutex_t mutex;

static void *tries(void *argument)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);
	struct timespec soon_too = in_ms(CLOCK_MONOTONIC, 5);

	ASK(pthread_mutex_trylock(&mutex));
	ASK(pthread_mutex_unlock(&mutex));
	ASK(pthread_mutex_timedlock(&mutex, &soon));
	ASK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon_too));
	soon.tv_nsec = 1000000000;
	ASK(pthread_mutex_timedlock(&mutex, &soon));
	return argument;
}

static void *dies_with_it(void *argument)
{
	ASK(pthread_mutex_lock(&mutex));
	return argument;
}

static void behave_as(int type, int robust, int protocol, int shared)
{
	pthread_mutexattr_t attr;
	struct timespec past = { 1, 0 };
	bool twice = type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK;

	SAY("type %d robust %d protocol %d shared %d\n", type, robust, protocol, shared);
	(void)pthread_mutexattr_init(&attr);
	ASK(pthread_mutexattr_settype(&attr, type));
	ASK(pthread_mutexattr_setrobust(&attr, robust));
	ASK(pthread_mutexattr_setprotocol(&attr, protocol));
	ASK(pthread_mutexattr_setpshared(&attr, shared));
	if (pthread_mutex_init(&mutex, &attr) != 0)
		return;
	ASK(pthread_mutex_lock(&mutex));
	ASK(pthread_mutex_trylock(&mutex));
	if (twice)
		ASK(pthread_mutex_lock(&mutex));
	if (type == PTHREAD_MUTEX_RECURSIVE) {
		ASK(pthread_mutex_unlock(&mutex));
		ASK(pthread_mutex_unlock(&mutex));
	}
	/* Another thread may give it back where nobody looks. */
	if (twice || robust == PTHREAD_MUTEX_ROBUST)
		(void)in_thread(tries, NULL);
	ASK(pthread_mutex_unlock(&mutex));
	if (twice || robust == PTHREAD_MUTEX_ROBUST)
		ASK(pthread_mutex_unlock(&mutex));
	/* A free one is got whatever the time; a clock that is none is an error. */
	ASK(pthread_mutex_timedlock(&mutex, &past));
	ASK(pthread_mutex_unlock(&mutex));
	ASK(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
	if (robust == PTHREAD_MUTEX_ROBUST) {
		(void)in_thread(dies_with_it, NULL);
		ASK(pthread_mutex_lock(&mutex));
		ASK(pthread_mutex_consistent(&mutex));
		ASK(pthread_mutex_unlock(&mutex));
		(void)in_thread(dies_with_it, NULL);
		ASK(pthread_mutex_trylock(&mutex));
		ASK(pthread_mutex_unlock(&mutex));
		ASK(pthread_mutex_lock(&mutex));
		ASK(pthread_mutex_trylock(&mutex));
	}
	ASK(pthread_mutex_destroy(&mutex));
}

static void kinds(void)
{
	static const int types[] = { PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE,
		PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP };
	static const int protocols[] = { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT,
		PTHREAD_PRIO_PROTECT };

	for (unsigned type = 0; type < 4; type++)
		for (unsigned protocol = 0; protocol < 3; protocol++)
			for (int robust = 0; robust < 2; robust++)
				for (int shared = 0; shared < 2; shared++)
					behave_as(types[type], robust, protocols[protocol], shared);
}

/* ---- Condition variables, of both ages where there are two ---- */

#if defined(__x86_64__) && defined(__LP64__) && !defined(BEHAVE_STATIC)
extern int old_wait(pthread_cond_t *cond, pthread_mutex_t *with);
extern int old_timedwait(pthread_cond_t *cond, pthread_mutex_t *with, const struct timespec *limit);
extern int old_signal(pthread_cond_t *cond);
extern int old_broadcast(pthread_cond_t *cond);
__asm__(".symver old_wait,pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait,pthread_cond_timedwait@GLIBC_2.2.5");
__asm__(".symver old_signal,pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver old_broadcast,pthread_cond_broadcast@GLIBC_2.2.5");
#else
#define old_wait      pthread_cond_wait
#define old_timedwait pthread_cond_timedwait
#define old_signal    pthread_cond_signal
#define old_broadcast pthread_cond_broadcast
#endif

/* An old one is a pointer, which its first user fills. */
static union {
	pthread_cond_t now;
	void *old[8];
} cond;
static pthread_mutex_t with = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static bool is_old;

static void *takes_turns(void *argument)
{
	(void)pthread_mutex_lock(&with);
	turn = 1;
	(void)(is_old ? old_signal : pthread_cond_signal)(&cond.now);
	while (turn != 2)
		(void)(is_old ? old_wait : pthread_cond_wait)(&cond.now, &with);
	turn = 3;
	(void)(is_old ? old_broadcast : pthread_cond_broadcast)(&cond.now);
	(void)pthread_mutex_unlock(&with);
	return argument;
}

static void take_turns(void)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 10);
	struct timespec soon_too = in_ms(CLOCK_MONOTONIC, 10);
	pthread_t thread;

	memset(&cond, 0, sizeof cond);
	turn = 0;
	(void)pthread_mutex_lock(&with);
	if (pthread_create(&thread, NULL, takes_turns, NULL) != 0)
		return;
	while (turn != 1)
		(void)(is_old ? old_wait : pthread_cond_wait)(&cond.now, &with);
	turn = 2;
	(void)(is_old ? old_signal : pthread_cond_signal)(&cond.now);
	while (turn != 3)
		(void)(is_old ? old_wait : pthread_cond_wait)(&cond.now, &with);
	SAY("timedwait: %d\n",
	    (is_old ? old_timedwait : pthread_cond_timedwait)(&cond.now, &with, &soon));
	if (!is_old)
		ASK(pthread_cond_clockwait(&cond.now, &with, CLOCK_MONOTONIC, &soon_too));
	(void)pthread_mutex_unlock(&with);
	(void)pthread_join(thread, NULL);
	SAY("turn %d\n", turn);
	if (is_old)
		SAY("has memory of its own: %d\n", cond.old[0] && !cond.old[1]);
}

static void conditions(void)
{
	take_turns();
	is_old = true;
	take_turns();
}

/* ---- Cancellation and errno ---- */

static sem_t sem;
static int ends[2];
static int clean_ups;

static void clean_up(void *argument)
{
	clean_ups++;
	if (argument)
		(void)pthread_mutex_unlock(argument);
}

static void *waits_in(void *argument)
{
	static char byte;
	const char *where = argument;
	struct pollfd one = { .fd = ends[0], .events = POLLIN };
	struct timespec long_time = { 100, 0 };
	bool locks = strcmp(where, "cond") == 0;

	if (locks)
		(void)pthread_mutex_lock(&with);
	pthread_cleanup_push(clean_up, locks ? &with : NULL);
	if (locks)
		(void)pthread_cond_wait(&cond.now, &with);
	else if (strcmp(where, "read") == 0)
		(void)!read(ends[0], &byte, 1);
	else if (strcmp(where, "sem") == 0)
		(void)sem_wait(&sem);
	else if (strcmp(where, "sleep") == 0)
		(void)nanosleep(&long_time, NULL);
	else if (strcmp(where, "poll") == 0)
		(void)poll(&one, 1, -1);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancelled(void)
{
	static const char *const places[] = { "cond", "read", "sem", "sleep", "poll" };

	memset(&cond, 0, sizeof cond);
	if (pipe(ends) != 0 || sem_init(&sem, 0, 0) != 0)
		return;
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		union {
			const char *from;
			void *to;
		} place = { places[i] };
		pthread_t thread;
		void *result = NULL;

		if (pthread_create(&thread, NULL, waits_in, place.to) != 0)
			return;
		(void)usleep(20000);
		(void)pthread_cancel(thread);
		(void)pthread_join(thread, &result);
		SAY("%s: cancelled %d, cleaned up %d\n", places[i], result == PTHREAD_CANCELED,
		    clean_ups);
	}
	ASK(pthread_mutex_trylock(&with));
	ASK(pthread_mutex_unlock(&with));
}

#define FAILS(call)                                                                                \
	do {                                                                                       \
		errno = 0;                                                                         \
		SAY("%s: %d", #call, (int)(call));                                                 \
		SAY(" errno %d\n", errno);                                                         \
	} while (0)

static void priorities(void)
{
	const struct sched_param none = { .sched_priority = 0 };
	const struct sched_param too_high = { .sched_priority = 1000 };

	SAY("%d\n", sched_setscheduler(0, SCHED_OTHER, &none));
	SAY("%d\n", sched_setparam(0, &none));
	SAY("%d\n", pthread_setschedparam(pthread_self(), SCHED_OTHER, &none));
	SAY("%d\n", pthread_setschedprio(pthread_self(), 0));
	SAY("%d\n", setpriority(PRIO_PROCESS, 0, 7));
	SAY("%d\n", nice(1));
	FAILS(sched_setscheduler(0, SCHED_FIFO, &too_high));
}

static void errors(void)
{
	static char byte;
	struct timespec none = { 0, -1 };
	struct pollfd one = { .fd = -1 };
	int status;

	FAILS(read(-1, &byte, 1));
	FAILS(write(-1, &byte, 1));
	FAILS(open("/nowhere/at/all", O_RDONLY));
	FAILS(close(-1));
	FAILS(close(1000000));
	FAILS(dup2(0, -1));
	FAILS(nanosleep(&none, NULL));
	FAILS(waitpid(-1, &status, 0));
	FAILS(kill(0x7ffffff0, 0));
	FAILS(poll(&one, 1, 0));
	FAILS(syscall(SYS_futex, &turn, 0, turn + 1, NULL, NULL, 0));
	FAILS(syscall(-1));
	FAILS(fcntl(-1, F_GETFD));
	FAILS(sem_trywait(&sem));
	FAILS(execl("/nowhere/at/all", "all", (char *)NULL));
	errno = 77;
	(void)pthread_mutex_lock(&with);
	(void)pthread_mutex_unlock(&with);
	(void)sem_post(&sem);
	(void)sem_wait(&sem);
	SAY("errno left alone: %d\n", errno);
}

/* ---- Signals ---- */

static volatile sig_atomic_t ran;
static sigjmp_buf away;

static void plain(int signo)
{
	ran = signo;
}

static void jumps(int signo)
{
	siglongjmp(away, signo);
}

static void informed(int signo, siginfo_t *info, void *context)
{
	ran = signo + (info->si_pid == getpid() ? 100 : 0) + (context ? 1000 : 0);
}

static const char *name_of(const struct sigaction *action)
{
	if (action->sa_flags & SA_SIGINFO)
		return action->sa_sigaction == informed ? "informed" : "?";
	return action->sa_handler == SIG_DFL   ? "default"
	       : action->sa_handler == SIG_IGN ? "ignored"
	       : action->sa_handler == plain   ? "plain"
	       : action->sa_handler == jumps   ? "jumps"
	                                       : "?";
}

static void set(int signo, const struct sigaction *action)
{
	struct sigaction old = { 0 };
	int result = sigaction(signo, action, &old);

	SAY("sigaction %d: was %s, flags %x\n", result, name_of(&old),
	    (unsigned)old.sa_flags & ~0x04000000u);
}

static void handlers(void)
{
	struct sigaction action = { .sa_handler = plain };

	set(SIGUSR1, &action);
	(void)raise(SIGUSR1);
	SAY("ran %d\n", (int)ran);
	action.sa_flags = SA_SIGINFO;
	action.sa_sigaction = informed;
	set(SIGUSR1, &action);
	(void)kill(getpid(), SIGUSR1);
	SAY("ran %d\n", (int)ran);
	action.sa_flags = (int)SA_RESETHAND;
	action.sa_handler = plain;
	set(SIGUSR1, &action);
	(void)pthread_kill(pthread_self(), SIGUSR1);
	SAY("ran %d\n", (int)ran);
	set(SIGUSR1, NULL);
	SAY("signal: %d\n", signal(SIGUSR1, plain) == SIG_DFL);
	SAY("signal: %d\n", signal(SIGUSR1, SIG_IGN) == plain);
	SAY("signal: %d\n", signal(SIGUSR1, jumps) == SIG_IGN);
	if (sigsetjmp(away, 1) == 0)
		(void)raise(SIGUSR1);
	SAY("came back\n");
	set(SIGUSR1, NULL);
	set(SIGKILL, &action);
	set(0, &action);
}

/* ---- Processes ---- */

static void ended(pid_t child)
{
	int status = 0;

	SAY("child: %d\n", waitpid(child, &status, 0) == child);
	SAY("status %x\n", (unsigned)status);
}

/* The child has the parent's memory until it is another program. */
static void borrowed(void)
{
	static char *const args[] = { "sh", "-c", "exit 9", NULL };
	struct sigaction action = { .sa_handler = plain };
	volatile int shared = 1;
	pid_t child;

	(void)sigaction(SIGUSR2, &action, NULL);
	child = vfork();
	if (child == 0) {
		struct sigaction other = { .sa_handler = jumps };

		shared = 2;
		(void)sigaction(SIGUSR2, &other, NULL);
		(void)close(0);
		(void)execv("/bin/sh", args);
		_exit(1);
	}
	ended(child);
	SAY("shared %d, 0 is %s\n", shared, fcntl(0, F_GETFD) >= 0 ? "open" : "closed");
	set(SIGUSR2, NULL);
	(void)raise(SIGUSR2);
	SAY("ran %d\n", ran == SIGUSR2);
}

static void spawned(void)
{
	static char *const args[] = { "sh", "-c", "exit 8", NULL };
	pid_t child = 0;

	ASK(posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ));
	ended(child);
	ASK(posix_spawnp(&child, "sh", NULL, NULL, args, environ));
	ended(child);
	ASK(posix_spawn(NULL, "/nowhere", NULL, NULL, args, environ));
	(void)fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(execlp("sh", "sh", "-c", "exit 7", (char *)NULL));
	ended(child);
}

#ifndef BEHAVE_STATIC
/* A library that is found by the program's own path alone. */
static void plugin(void)
{
	void *handle = dlopen("libbehaveplugin.so", RTLD_NOW);
	void *found = handle ? dlsym(handle, "plugged_in") : NULL;

	SAY("plugin %s\n", found ? "found" : "missing");
	if (found)
		ASK(dlclose(handle));
	ASK(dlopen("libnowhere.so", RTLD_NOW) != NULL);
}
#endif

int main(int count, char **words)
{
	static const struct {
		const char *word;
		void (*does)(void);
	} all[] = {
		{ "kinds", kinds },
		{ "conditions", conditions },
		{ "cancelled", cancelled },
		{ "errors", errors },
		{ "priorities", priorities },
		{ "handlers", handlers },
		{ "borrowed", borrowed },
		{ "spawned", spawned },
#ifndef BEHAVE_STATIC
		{ "plugin", plugin },
#endif
	};

	for (int i = 1; i < count; i++) {
		behave_call(words[i]);
		for (unsigned word = 0; word < sizeof all / sizeof *all; word++)
			if (strcmp(words[i], all[word].word) == 0)
				all[word].does();
	}
	return 5;
}
