/* SPDX-License-Identifier: MIT */
/*
 * threadids.c - which pthread_t is which of the system's threads, told without asking the threads.
 *
 * glibc registers a list head inside each thread's descriptor with the kernel (for robust
 * mutexes) as the thread begins, and the kernel tells its address to any code in the process.  How
 * far it lies from the pthread_t is the same for all threads, so it is measured on the caller.
 *
 * musl registers that list only with the first robust mutex, so its descriptors are visited
 * instead: each begins with its own address, holds its tid at the same place, and is linked with
 * the others.  They are read through the kernel: a thread that ends in the middle of the walk
 * makes a reading fail, not the process.
 */
#define _GNU_SOURCE
#include "port/port_sysinfo.h"
#include "port/posix/owncalls.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTOR_WORDS 64
#define LINK_WORDS       6
#define THREADS_MAX      100000

struct enumeration {
	void (*each)(void *context, const struct pxt_port_thread_info *thread);
	void *context;
	uint64_t offset; /* from the descriptor to the registered list head */
};

static uint64_t self_number(void)
{
	pthread_t self = pthread_self();
	uint64_t number = 0;

	memcpy(&number, &self, sizeof(self));
	return number;
}

static int32_t self_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

static uint64_t list_head(int32_t tid)
{
	void *head = NULL;
	size_t bytes;

	if (syscall(SYS_get_robust_list, (long)tid, &head, &bytes) != 0)
		return 0;
	return (uint64_t)(uintptr_t)head;
}

/* False when there is no such thread any more. */
static bool name_of(int32_t tid, char name[16])
{
	char path[48];
	long got;

	(void)snprintf(path, sizeof(path), "/proc/self/task/%ld/comm", (long)tid);
	memset(name, 0, 16);
	got = pxt_descriptor_text(path, name, 16);
	if (got > 0 && name[got - 1] == '\n')
		name[got - 1] = '\0';
	return got > 0;
}

static void report(const struct enumeration *all, uint64_t thread, int32_t tid)
{
	struct pxt_port_thread_info info = { .thread = thread, .tid = tid };

	if (name_of(tid, info.name))
		all->each(all->context, &info);
}

/* ---- glibc ---- */

/* False: fewer threads than there are were seen; the kernel ends its list where one just ends. */
static bool walk_tasks(const struct enumeration *all, DIR *tasks)
{
	uintmax_t seen = 0;
	struct stat now;

	for (;;) {
		/* Safe beside other threads: the directory stream is this function's own. */
		const struct dirent *entry = readdir(tasks); /* NOLINT(concurrency-mt-unsafe) */

		if (entry == NULL)
			break;
		int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);
		uint64_t head = tid > 0 ? list_head(tid) : 0;

		if (tid > 0)
			report(all, head > all->offset ? head - all->offset : 0, tid);
		seen += tid > 0;
	}
	/* A link for each thread, and two of its own. */
	return fstat(dirfd(tasks), &now) != 0 || seen + 2u >= (uintmax_t)now.st_nlink;
}

static void each_task(const struct enumeration *all)
{
	int fd = pxt_descriptor_open(AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY, 0);
	DIR *tasks = fd >= 0 ? fdopendir(fd) : NULL;

	if (tasks == NULL) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	for (int round = 0; round < 3 && !walk_tasks(all, tasks); round++)
		rewinddir(tasks);
	(void)closedir(tasks);
}

/* ---- musl ---- */

/* NOLINTNEXTLINE(readability-non-const-parameter): the kernel writes the words */
static bool read_words(uint64_t from, uint64_t *words, size_t count)
{
	struct iovec local = { words, count * sizeof(words[0]) };

	/* An address in this process that came as a number. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	struct iovec remote = { (void *)(uintptr_t)from, count * sizeof(words[0]) };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
	       (ssize_t)(count * sizeof(words[0]));
}

/* The word of the caller's descriptor whose low half is its tid; 0 = not found. */
static size_t find_tid_word(uint64_t self)
{
	uint64_t words[DESCRIPTOR_WORDS];
	uint32_t tid = (uint32_t)self_tid();

	if (!read_words(self, words, DESCRIPTOR_WORDS))
		return 0;
	for (size_t i = 1; i < DESCRIPTOR_WORDS; i++) {
		if ((uint32_t)words[i] == tid)
			return i;
	}
	return 0;
}

/* The last of the first words that leads to a descriptor is the link to the next one. */
static uint64_t next_descriptor(const uint64_t *words)
{
	for (size_t i = LINK_WORDS - 1; i > 0; i--) {
		uint64_t first;

		if (words[i] % sizeof(void *) == 0 && read_words(words[i], &first, 1) &&
		    first == words[i])
			return words[i];
	}
	return 0;
}

static void each_descriptor(const struct enumeration *all)
{
	uint64_t self = self_number();
	uint64_t at = self;
	size_t tid_word = find_tid_word(self);

	for (int count = 0; tid_word != 0 && count < THREADS_MAX; count++) {
		uint64_t words[DESCRIPTOR_WORDS];

		if (!read_words(at, words, tid_word + 1))
			return;
		if ((int32_t)words[tid_word] > 0)
			report(all, at, (int32_t)words[tid_word]);
		at = next_descriptor(words);
		if (at == 0 || at == self)
			return;
	}
}

/* ---- Both ---- */

void pxt_port_threads(
    void (*each)(void *context, const struct pxt_port_thread_info *thread), void *context)
{
	struct enumeration all = { each, context, 0 };
	PXT_OWNCALLS();
	uint64_t head = list_head(0);

	if (head > self_number()) {
		all.offset = head - self_number();
		each_task(&all);
	} else {
		each_descriptor(&all);
	}
}

void pxt_port_thread_self(struct pxt_port_thread_info *self)
{
	PXT_OWNCALLS();

	memset(self, 0, sizeof(*self));
	self->thread = self_number();
	self->tid = self_tid();
	(void)prctl(PR_GET_NAME, self->name, 0, 0, 0);
}
