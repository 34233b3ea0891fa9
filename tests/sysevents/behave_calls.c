/* SPDX-License-Identifier: MIT */
/* behave_calls.c - what wrappers pass on, or tell: modes, limits, the kernel's locks, signals. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SAY(...)  (void)printf(__VA_ARGS__)
/* A call, and what it said. */
#define ASK(call) SAY("%s: %d\n", #call, (int)(call))

/* That much later than now (behave.c). */
struct timespec in_ms(clockid_t clock, long ms);
/* Does what @word says, if it is one of behave_calls.c. */
void behave_call(const char *word);

/* ---- Modes ---- */

static void say_mode(const char *how, int fd)
{
	struct stat is = { 0 };

	SAY("%s: %d\n", how, fstat(fd, &is));
	SAY("mode %o\n", (unsigned)is.st_mode & 07777u);
	(void)close(fd);
}

static void behave_modes(void)
{
	(void)umask(0);
	(void)unlink("made");
	say_mode("made", open("made", O_CREAT | O_RDWR, 0610));
	(void)unlink("made");
	say_mode("made there", openat(AT_FDCWD, "made", O_CREAT | O_RDWR, 0620));
	(void)unlink("made");
	say_mode("without a name", open(".", O_TMPFILE | O_RDWR, 0630));
	say_mode("without a name there", openat(AT_FDCWD, ".", O_TMPFILE | O_RDWR, 0640));
}

/* ---- Limits of waits: what is waited for is there ---- */

static void behave_limits(void)
{
	struct timespec limit = { 1, 20999999 };
	struct timeval limit_too = { 1, 20999 };
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd one = { .events = POLLIN };
	int ends[2];
	int set = epoll_create1(0);
	fd_set in;

	if (pipe(ends) != 0 || write(ends[1], "", 1) != 1)
		return;
	one.fd = ends[0];
	ASK(poll(&one, 1, 1020));
	ASK(ppoll(&one, 1, &limit, NULL));
	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	ASK(select(ends[0] + 1, &in, NULL, NULL, &limit_too));
	ASK(pselect(ends[0] + 1, &in, NULL, NULL, &limit, NULL));
	ASK(epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	ASK(epoll_wait(set, &event, 1, 1020));
	(void)close(set);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/* ---- Dates and times that waits ask for ---- */

static void wait_for_condition(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_condattr_t attributes;
	struct timespec date;
	pthread_cond_t cond;

	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&cond, &attributes);
	(void)pthread_mutex_lock(&mutex);
	date = in_ms(CLOCK_MONOTONIC, 4);
	ASK(pthread_cond_timedwait(&cond, &mutex, &date));
	(void)pthread_mutex_unlock(&mutex);
}

/* Goes off every 10 ms, and is read first when it has for the third time. */
static void read_a_timer(void)
{
	struct itimerspec every = { { 0, 10000000 }, { 0, 0 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	uint64_t times;

	every.it_value = in_ms(CLOCK_MONOTONIC, 10);
	ASK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &every, NULL));
	(void)usleep(35000);
	ASK(read(fd, &times, sizeof(times)));
	ASK(read(fd, &times, sizeof(times)));
	(void)close(fd);
	/* The number is another file's. */
	ASK(open("/dev/zero", O_RDONLY) == fd);
	ASK(read(fd, &times, sizeof(times)));
	(void)close(fd);
}

static void behave_dates(void)
{
	const struct timespec half_ms = { 0, 500000 };
	struct timespec date = in_ms(CLOCK_MONOTONIC, 8);
	sem_t none;

	ASK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &date, NULL));
	ASK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &date, NULL));
	ASK(nanosleep(&half_ms, NULL));
	(void)sem_init(&none, 0, 0);
	date = in_ms(CLOCK_REALTIME, 6);
	ASK(sem_timedwait(&none, &date));
	wait_for_condition();
	read_a_timer();
}

/* ---- What descriptors are ---- */

/* A child sends late by a descriptor that it has from its parent, which waits for it. */
static void read_from_child(int near, int far)
{
	char byte;
	pid_t child = fork();

	if (child == 0) {
		(void)usleep(20000);
		(void)!write(far, "", 1);
		_exit(0);
	}
	(void)close(far);
	ASK(read(near, &byte, 1));
	(void)waitpid(child, NULL, 0);
}

static void behave_names(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_un local = { .sun_family = AF_UNIX, .sun_path = "behave.socket" };
	struct sockaddr_in peer;
	socklen_t bytes = sizeof(address);
	int file = open("made", O_CREAT | O_RDWR, 0600);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int near = socket(AF_INET, SOCK_STREAM, 0);
	int far;
	int ends[2];
	FILE *stream = fopen("/dev/null", "r");
	eventfd_t value = 0;

	ASK(fileno(stream));
	ASK(fclose(stream));
	ASK(epoll_create1(0)); /* the number of the file that was closed */
	ASK(fsync(file));
	ASK(fcntl(file, F_DUPFD, 100));
	(void)close(file);
	ASK(bind(listener, (struct sockaddr *)&address, bytes));
	ASK(getsockname(listener, (struct sockaddr *)&address, &bytes));
	ASK(listen(listener, 2));
	ASK(connect(near, (struct sockaddr *)&address, bytes));
	far = accept(listener, NULL, NULL);
	read_from_child(near, far);
	(void)close(near);
	near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ASK(connect(near, (struct sockaddr *)&address, bytes));
	bytes = 4; /* what does not fit is cut, and its length told */
	ASK(accept4(listener, (struct sockaddr *)&peer, &bytes, SOCK_CLOEXEC) > 0);
	ASK((int)bytes);
	ASK(pipe(ends));
	(void)unlink(local.sun_path);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	ASK(bind(listener, (struct sockaddr *)&local, sizeof(local)));
	ASK(connect(listener, NULL, 0));
	(void)unlink(local.sun_path);
	file = eventfd(0, EFD_NONBLOCK);
	ASK(eventfd_write(file, 3));
	ASK(eventfd_read(file, &value));
	ASK((int)value);
	ASK(eventfd_read(file, &value));
}

/* ---- Names of threads ---- */

static sem_t is_named;

static void *thread_of_two_names(void *argument)
{
	(void)sem_wait(&is_named);
	ASK(prctl(PR_SET_NAME, "by itself, at length"));
	return argument;
}

static void behave_renamed(void)
{
	pthread_t thread;

	(void)sem_init(&is_named, 0, 0);
	ASK(pthread_create(&thread, NULL, thread_of_two_names, NULL));
	ASK(pthread_setname_np(thread, "by another"));
	ASK(pthread_setname_np(thread, "by another, at length"));
	(void)sem_post(&is_named);
	(void)pthread_join(thread, NULL);
}

/* ---- A mutex of two processes, at another address in each ---- */

static __attribute__((noinline)) void have_shared(pthread_mutex_t *mutex, int told)
{
	(void)pthread_mutex_lock(mutex);
	(void)!write(told, "", 1);
	/* Until somebody waits for it. */
	for (int turn = 0; turn < 3000 && *(volatile int *)mutex < 2; turn++)
		(void)usleep(10000);
	(void)usleep(5000);
	(void)pthread_mutex_unlock(mutex);
}

static void behave_shared(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t *here;
	pthread_mutex_t *there;
	char byte;
	int ends[2];
	int fd = memfd_create("shared", 0);

	if (ftruncate(fd, 4096) != 0 || pipe(ends) != 0)
		return;
	here = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	there = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	(void)pthread_mutexattr_init(&attributes);
	ASK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
	ASK(pthread_mutex_init(here, &attributes));
	if (fork() == 0) {
		(void)!read(ends[0], &byte, 1);
		(void)pthread_mutex_lock(there);
		(void)pthread_mutex_unlock(there);
		_exit(0);
	}
	have_shared(here, ends[1]);
	(void)wait(NULL);
}

/* ---- What System V has ---- */

static void behave_queues(void)
{
	const struct timespec two_ms = { 0, 2000000 };
	struct sembuf operation = { .sem_op = 1 };
	struct {
		long kind;
		char text[8];
	} message = { 1, "message" };
	int set = semget(IPC_PRIVATE, 1, 0600);
	int queue = msgget(IPC_PRIVATE, 0600);

	ASK(semop(set, &operation, 1));
	operation.sem_op = -1;
	ASK(semop(set, &operation, 1));
	ASK(semtimedop(set, &operation, 1, &two_ms));
	ASK(errno);
	ASK(msgsnd(queue, &message, 8, 0));
	ASK(msgrcv(queue, &message, 8, 1, 0));
	ASK(msgrcv(queue, &message, 8, 1, IPC_NOWAIT));
	ASK(errno);
	(void)semctl(set, 0, IPC_RMID);
	(void)msgctl(queue, IPC_RMID, NULL);
}

/* ---- A lock of the kernel's with priority inheritance: its word is the holder's number ---- */

static void behave_inherited(void)
{
	static int word;

	ASK(syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
	/* The holder would wait for itself. */
	ASK(syscall(SYS_futex, &word, FUTEX_LOCK_PI, 0, NULL, NULL, 0));
	ASK(syscall(SYS_futex, &word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0));
}

/* ---- The signal with the highest number ---- */

static volatile sig_atomic_t ran;

static void handler(int signo)
{
	ran = signo;
}

static void behave_last_signal(void)
{
	struct sigaction action = { .sa_handler = handler };

	ASK(sigaction(SIGRTMAX, &action, NULL));
	(void)raise(SIGRTMAX);
	SAY("ran %d\n", ran == SIGRTMAX);
}

/* ---- The locks and threads of <threads.h> ---- */

static mtx_t c11_mutex;
static cnd_t cond;
static int turn;
static once_flag flag = ONCE_FLAG_INIT;
static int times;

static int tries(void *argument)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);

	(void)argument;
	ASK(mtx_trylock(&c11_mutex));
	ASK(mtx_timedlock(&c11_mutex, &soon));
	return 7;
}

static void ask_of(int type)
{
	struct timespec past = { 1, 0 };
	thrd_t thread;
	int value = 0;

	SAY("type %d\n", type);
	ASK(mtx_init(&c11_mutex, type));
	ASK(mtx_lock(&c11_mutex));
	if (type & mtx_recursive) {
		ASK(mtx_trylock(&c11_mutex));
		ASK(mtx_unlock(&c11_mutex));
	}
	if (type & mtx_timed) {
		/* It speaks, too. */
		if (thrd_create(&thread, tries, NULL) == thrd_success)
			ASK(thrd_join(thread, &value));
		SAY("value %d\n", value);
	}
	ASK(mtx_unlock(&c11_mutex));
	ASK(mtx_timedlock(&c11_mutex, &past));
	ASK(mtx_unlock(&c11_mutex));
	/* Of a recursive one that nobody has. */
	if (type & mtx_recursive)
		ASK(mtx_unlock(&c11_mutex));
	mtx_destroy(&c11_mutex);
}

static int takes_turns(void *argument)
{
	(void)argument;
	(void)mtx_lock(&c11_mutex);
	turn = 1;
	(void)cnd_signal(&cond);
	while (turn != 2)
		(void)cnd_wait(&cond, &c11_mutex);
	turn = 3;
	(void)cnd_broadcast(&cond);
	(void)mtx_unlock(&c11_mutex);
	thrd_exit(9);
}

static void take_turns(void)
{
	struct timespec soon;
	thrd_t thread;
	int value = 0;

	ASK(mtx_init(&c11_mutex, mtx_plain));
	ASK(cnd_init(&cond));
	ASK(mtx_lock(&c11_mutex));
	ASK(thrd_create(&thread, takes_turns, NULL));
	while (turn != 1)
		(void)cnd_wait(&cond, &c11_mutex);
	turn = 2;
	(void)cnd_signal(&cond);
	while (turn != 3)
		(void)cnd_wait(&cond, &c11_mutex);
	soon = in_ms(CLOCK_REALTIME, 10);
	ASK(cnd_timedwait(&cond, &c11_mutex, &soon));
	ASK(mtx_unlock(&c11_mutex));
	ASK(thrd_join(thread, &value));
	SAY("value %d\n", value);
}

static void count(void)
{
	times++;
}

static void behave_c11(void)
{
	struct timespec short_time = { 0, 1000000 };
	struct timespec wrong = { 0, -1 };

	ask_of(mtx_plain | mtx_recursive);
	ask_of(mtx_timed);
	ask_of(mtx_timed | mtx_recursive);
	take_turns();
	ASK(thrd_sleep(&short_time, NULL));
	SAY("wrong time: %d\n", thrd_sleep(&wrong, NULL) < -1);
	call_once(&flag, count);
	call_once(&flag, count);
	SAY("%d time\n", times);
}

void behave_call(const char *word)
{
	static const struct {
		const char *word;
		void (*does)(void);
	} all[] = {
		{ "modes", behave_modes },
		{ "limits", behave_limits },
		{ "dates", behave_dates },
		{ "names", behave_names },
		{ "renamed", behave_renamed },
		{ "queues", behave_queues },
		{ "shared", behave_shared },
		{ "inherited", behave_inherited },
		{ "last_signal", behave_last_signal },
		{ "c11", behave_c11 },
	};

	for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(word, all[i].word) == 0)
			all[i].does();
}
