/* SPDX-License-Identifier: MIT */
/*
 * spaces.c - a forked process in a pid namespace of its own.  Its pid is nobody's here, or somebody else's:
 * it tells nothing about whether the forked process lives.
 */
#define _GNU_SOURCE
#include "core/control/control.h"
#include "core/kit.h"
#include "core/process/directory.h"
#include "core/process/forks.h"
#include "core/process/process.h"
#include "port/port.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANOTHER_SPACE 77u
#define PATIENT_NS    UINT64_C(100000000000)

uint32_t __real_pxt_port_pid_space(void);
uint32_t __wrap_pxt_port_pid_space(void);

/* What a child is told; 0: the truth. */
static uint32_t told_space;

uint32_t __wrap_pxt_port_pid_space(void)
{
	return told_space ? told_space : __real_pxt_port_pid_space();
}

static trace_event_id_t type;

static trace_id_t inherited(void)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 4096), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 1), 0);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_eventid_open("forked", &type), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	return trid;
}

static unsigned take(trace_id_t trid)
{
	struct posix_trace_event_info event;
	unsigned char data[64];
	unsigned found = 0;
	int none = 0;
	size_t bytes;

	while (posix_trace_trygetnext_event(trid, &event, data, sizeof(data), &bytes, &none) == 0 &&
	       !none)
		found += event.posix_event_id == type;
	return found;
}

/* A number that no process has. */
static pid_t nobodys_pid(void)
{
	for (pid_t pid = 30000; pid > 300; pid--) {
		if (kill(pid, 0) != 0 && errno == ESRCH)
			return pid;
	}
	return 0;
}

/* ---- A forked process that is inside until it is told to go on ---- */

static int news[2];
static int orders[2];

static char heard(void)
{
	char word = 0;

	return read(news[0], &word, 1) == 1 ? word : 0;
}

static void order(void)
{
	CU_ASSERT(write(orders[1], "g", 1) == 1);
}

static void say(char word)
{
	char go;

	if (write(news[1], &word, 1) != 1 || read(orders[0], &go, 1) != 1)
		_exit(2);
}

static void stand_inside(void *argument)
{
	say('i');
}

static void be_the_forked_process(void)
{
	posix_trace_event(type, "before", 6);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_RESERVED, stand_inside, NULL);
	posix_trace_event(type, "inside", 6);
	say('o');
	posix_trace_event(type, "after", 5);
	_exit(0);
}

static void open_pipes(void)
{
	PXT_EQ_FATAL(pipe(news), 0);
	PXT_EQ_FATAL(pipe(orders), 0);
}

static void close_pipes(void)
{
	for (unsigned i = 0; i < 2; i++) {
		(void)close(news[i]);
		(void)close(orders[i]);
	}
}

static struct pxt_thread *last_entry(void)
{
	return &pxt_threads->entry[atomic_load(&pxt_threads->count)];
}

/* It is inside, and lives: nobody leaves for it. */
static void expect_that_it_is_left_alone(trace_id_t trid, struct pxt_thread *entry)
{
	uint32_t passes = atomic_load(&entry->passes);

	CU_ASSERT(passes & 1u);
	PXT_EQ(pxt_forks_foreign(entry), true);
	PXT_EQ(pxt_forks_gone(entry), false);
	PXT_EQ(pxt_threads_none_inside(PXT_FORKED), false);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(atomic_load(&entry->passes), passes);
	PXT_EQ(posix_trace_start(trid), 0);
	order();
	PXT_EQ(heard(), 'o');
	PXT_EQ(atomic_load(&entry->passes), passes + 1u);
	pxt_holdback_ns = PATIENT_NS;
	PXT_EQ(pxt_threads_none_inside(PXT_FORKED), true);
	PXT_EQ(posix_trace_stop(trid), 0);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	PXT_EQ(posix_trace_start(trid), 0);
	order();
}

/* DEC-42, DEC-43; the namespace is a number that the test makes up. */
PXT_TEST_FRESH(a_forked_process_whose_number_is_nobodys_is_taken_for_a_living_one)
{
	trace_id_t trid = inherited();
	struct pxt_thread *entry;
	pid_t child;
	int status = 0;

	open_pipes();
	told_space = ANOTHER_SPACE;
	child = fork();
	if (child == 0)
		be_the_forked_process();
	told_space = 0;
	PXT_EQ(heard(), 'i');
	entry = last_entry();
	PXT_EQ(atomic_load(&entry->space), ANOTHER_SPACE);
	atomic_store(&entry->pid, nobodys_pid());
	expect_that_it_is_left_alone(trid, entry);
	PXT_EQ(waitpid(child, &status, 0), child);
	PXT_EQ(status, 0);
	CU_ASSERT(take(trid) >= 2);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close_pipes();
}

/* DEC-42, DEC-43 */
PXT_TEST_FRESH(one_that_has_this_process_number_elsewhere_is_another_process)
{
	trace_id_t trid = inherited();
	struct pxt_thread *entry;
	pid_t child;

	open_pipes();
	told_space = ANOTHER_SPACE;
	child = fork();
	if (child == 0)
		be_the_forked_process();
	told_space = 0;
	PXT_EQ(heard(), 'i');
	entry = last_entry();
	atomic_store(&entry->pid, getpid());
	/* Own threads alone are waited for. */
	pxt_holdback_ns = PATIENT_NS;
	PXT_EQ(pxt_threads_wait_left(pxt_holdback_ns, PXT_OWN), true);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	expect_that_it_is_left_alone(trid, entry);
	PXT_EQ(waitpid(child, NULL, 0), child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close_pipes();
}

/* Where it is not known which namespace it is, nobody is said to be dead. */
PXT_TEST_FRESH(without_a_known_namespace_nobody_is_gone)
{
	trace_id_t trid = inherited();
	struct pxt_thread entry = { .passes = 1u };

	atomic_store(&entry.pid, nobodys_pid());
	PXT_EQ(pxt_forks_gone(&entry), false);
	atomic_store(&entry.space, __real_pxt_port_pid_space());
	PXT_EQ(pxt_forks_gone(&entry), true);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static bool lock_names(void)
{
	struct pxt_patience patience;

	pxt_patience_begin(&patience, 1000000);
	return pxt_forks_lock(&patience);
}

/* DEC-42, DEC-43: a living holder in another namespace keeps the lock. */
PXT_TEST_FRESH(the_lock_is_taken_over_from_the_dead_of_the_own_namespace_alone)
{
	trace_id_t trid = inherited();
	uint32_t nobody = (uint32_t)nobodys_pid();
	uint32_t held;

	CU_ASSERT(lock_names());
	held = atomic_load(&pxt_directory->lock);
	PXT_EQ(held & 0x3fffffu, (uint32_t)getpid());
	PXT_EQ(pxt_directory->spaces[(held >> 22) - 1u], __real_pxt_port_pid_space());
	atomic_store(&pxt_directory->lock, nobody | held >> 22 << 22);
	CU_ASSERT(lock_names());
	PXT_EQ(atomic_load(&pxt_directory->lock), held);
	pxt_forks_unlock();
	atomic_store(&pxt_directory->lock, nobody | ((held >> 22) + 1u) << 22);
	CU_ASSERT_FALSE(lock_names());
	atomic_store(&pxt_directory->lock, nobody);
	CU_ASSERT_FALSE(lock_names());
	pxt_forks_unlock();
	CU_ASSERT(lock_names());
	pxt_forks_unlock();
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- A real namespace ---- */

/* The first process of a namespace, whose child has the number @pid there. */
static void begin_namespace(pid_t pid)
{
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	int status = 0;
	pid_t forked;

	if (!last || fprintf(last, "%d", (int)pid - 1) < 0 || fclose(last) != 0)
		_exit(77);
	forked = fork();
	if (forked == 0) {
		if (getpid() != pid)
			_exit(77);
		be_the_forked_process();
	}
	_exit(waitpid(forked, &status, 0) == forked && WIFEXITED(status) ? WEXITSTATUS(status) : 3);
}

static void enter_namespace(pid_t pid)
{
	int status = 0;
	pid_t first;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		_exit(77);
	first = fork();
	if (first == 0)
		begin_namespace(pid);
	_exit(waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : 4);
}

/* DEC-42, DEC-43 */
PXT_TEST_FRESH(a_forked_process_in_a_namespace_of_its_own_is_left_alone)
{
	trace_id_t trid = inherited();
	pid_t pid = nobodys_pid();
	struct pxt_thread *entry;
	int status = 0;
	pid_t child;
	char word;

	open_pipes();
	child = fork();
	if (child == 0)
		enter_namespace(pid);
	(void)close(news[1]);
	word = heard();
	if (word == 'i') {
		entry = last_entry();
		PXT_EQ(atomic_load(&entry->pid), pid);
		expect_that_it_is_left_alone(trid, entry);
	}
	PXT_EQ(waitpid(child, &status, 0), child);
	if (word == 'i')
		PXT_EQ(status, 0);
	else
		printf("skipped: this user may make no pid namespaces (status %#x) ",
		    (unsigned)status);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(news[0]);
	(void)close(orders[0]);
	(void)close(orders[1]);
}
