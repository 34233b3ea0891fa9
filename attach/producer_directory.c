/* SPDX-License-Identifier: MIT */
/*
 * producer_directory.c - the names, descriptions and threads of this process, as the owners of the streams
 * that it is attached to read them.
 *
 *   concurrency: takes the process lock; forget() in a forked child, which is alone.
 *
 * One copy of the directory serves all attachments: the first one makes it, core/process/replica.h keeps it
 * up to date, and it stays, with its descriptor, as long as the process, as the directory itself
 * does.  A program may close all descriptors that it does not know; so this one is looked at each time.
 */
#include "attach/attach.h"
#include "core/process/replica.h"
#include "port/port_file.h"
#include "port/port_local.h"

static struct {
	struct pxt_directory *memory;
	uint32_t epoch;   /* of the process that made it */
	_Atomic int file; /* descriptor and 1; 0: none */
} ours;

void pxt_producer_directory_forget(void)
{
	int kept = atomic_exchange_explicit(&ours.file, 0, memory_order_relaxed);

	if (kept)
		pxt_port_local_close(kept - 1);
	/* The memory is the parent's alone. */
	ours.memory = NULL;
}

/* Somebody has closed its descriptor, whose number may be another file's by now. */
static void give_up(void)
{
	pxt_replica_end(PXT_REPLICA_PRODUCERS);
	/* Under a thread's feet it is kept rather than given back. */
	if (pxt_threads_wait_left(pxt_holdback_ns, PXT_OWN))
		pxt_port_free(ours.memory, sizeof(*ours.memory));
	ours.memory = NULL;
	pxt_port_local_close(ours.file - 1);
	ours.file = 0;
}

static int map(int fd, struct pxt_directory **memory)
{
	void *at;
	int error = pxt_port_filemap_fill(fd, sizeof(**memory));

	if (!error)
		error = pxt_port_filemap(fd, sizeof(**memory), false, &at);
	if (error)
		return error;
	error = pxt_port_filemap_settle(fd);
	if (error)
		pxt_port_free(at, sizeof(**memory));
	else
		*memory = at;
	return error;
}

static int make(void)
{
	int fd;
	int error = pxt_port_local_memory(&fd);

	if (error)
		return error;
	error = map(fd, &ours.memory);
	if (error) {
		pxt_port_local_close(fd);
		return error;
	}
	ours.file = fd + 1;
	ours.epoch = (uint32_t)pxt_fork_epoch();
	pxt_replica_begin(PXT_REPLICA_PRODUCERS, ours.memory);
	return 0;
}

/* The one that there is, or a new one.  [process lock held] */
static int ready(void)
{
	int error = pxt_directory_start();

	if (error)
		return error;
	/* A child that no fork handler knows of. */
	if (ours.memory && !pxt_process_owns(ours.epoch))
		pxt_producer_directory_forget();
	if (ours.memory && !pxt_port_local_kept(ours.file - 1))
		give_up();
	return ours.memory ? 0 : make();
}

int pxt_producer_directory(int *fd)
{
	int error;

	pxt_process_lock();
	error = ready();
	*fd = ours.file - 1;
	pxt_process_unlock();
	/* Files in memory that will not do are no fault of the caller's. */
	return error == EINVAL ? EAGAIN : error;
}
