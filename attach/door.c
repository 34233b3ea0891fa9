/* SPDX-License-Identifier: MIT */
/*
 * door.c - a stream with a name: its socket, and the helper thread that answers there.
 *
 * The helper sleeps in poll(): on the bell, which open, close, start and stop ring, on the socket and on all connections.
 * While there are guests and the stream runs it also wakes up by itself, to take their events.
 */
#include "attach/owner.h"

#include "core/control/control.h"
#include "port/port_sysinfo.h"

#include <errno.h>

/* Between two looks at those who could not be told, and at what those left who have gone. */
#define LATER_MS  20
/* Between two looks for those who follow. */
#define FOLLOW_MS 50
#define SOON_MS   1
#define FOR_EVER  (-1)

static struct pxt_door_files files[CONFIG_PTRACE_MAX_STREAMS];

/* ---- Forked children ---- */

/* Closing is all: whoever hangs up ends the connections of the parent as well. */
static void forget(unsigned index)
{
	struct pxt_door_files *open = &files[index];

	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		if (open->caller[i])
			pxt_port_local_close(open->caller[i]);
		open->caller[i] = 0;
	}
	if (open->listener)
		pxt_port_local_close(open->listener);
	if (open->bell)
		pxt_port_local_close(open->bell);
	open->listener = 0;
	open->bell = 0;
}

/* ---- The helper ---- */

static bool ending(const struct pxt_door *door)
{
	return atomic_load_explicit(&door->ending, memory_order_acquire) != 0;
}

static int sooner(int one, int other)
{
	return one == FOR_EVER || (other != FOR_EVER && other < one) ? other : one;
}

static int patience(const struct pxt_door *door)
{
	bool runs = pxt_block_state(door->stream->block) != PXT_GATE_OFF;
	int ms = FOR_EVER;

	if (pxt_door_count(door, PXT_CALLER_GUEST) && runs)
		ms = CONFIG_PTRACE_ATTACH_PERIOD_MS;
	if (door->learns)
		ms = sooner(ms, SOON_MS);
	if (door->deaf || door->late || pxt_door_count(door, PXT_CALLER_GONE))
		ms = sooner(ms, LATER_MS);
	if (pxt_door_count(door, PXT_CALLER_FOLLOWS) && runs)
		ms = sooner(ms, FOLLOW_MS);
	return ms;
}

static int descriptor(int stored)
{
	return stored ? stored : -1;
}

static void sleep_until_called(struct pxt_door *door)
{
	struct pxt_door_files *open = door->files;
	int ms = patience(door);

	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++)
		door->watch[i].fd = descriptor(open->caller[i]);
	door->watch[PXT_DOOR_PLACES].fd = door->deaf ? -1 : descriptor(open->listener);
	door->watch[PXT_DOOR_PLACES + 1u].fd = descriptor(open->bell);
	door->deaf = false;
	door->late = false;
	door->learns = false;
	pxt_port_local_watch(door->watch, PXT_DOOR_PLACES + 2u, ms);
	if (door->watch[PXT_DOOR_PLACES + 1u].ready)
		pxt_port_bell_hush(open->bell);
}

/* Each turn is bounded, whatever callers do: one message of each, so many new ones, one pull. */
static void answer(void *argument)
{
	struct pxt_door *door = argument;

	while (!ending(door)) {
		sleep_until_called(door);
		door->turn++;
		for (unsigned i = 0; i < PXT_DOOR_PLACES && !ending(door); i++) {
			if (door->watch[i].ready)
				pxt_door_hear(door, i);
		}
		if (door->watch[PXT_DOOR_PLACES].ready)
			pxt_door_let_in(door);
		pxt_door_tell_guests(door);
		pxt_door_collect(door);
		pxt_door_follow_all(door);
	}
}

/* ---- Open, close ---- */

static struct pxt_door *make(struct pxt_stream *stream)
{
	struct pxt_door *door = pxt_port_alloc(sizeof(*door));

	if (!door)
		return NULL;
	door->stream = stream;
	door->trid = stream->trid;
	door->files = &files[stream->index];
	pxt_port_executable(door->executable, sizeof(door->executable));
	return door;
}

/* Back to where nothing was begun.  The helper does not run. */
static void unmake(struct pxt_door *door)
{
	struct pxt_door_files *open = door->files;

	pxt_port_mutex_lock(&door->stream->mutex);
	door->stream->share = NULL;
	pxt_stream_unlock(door->stream);
	if (open->listener)
		pxt_door_give_up(door->path, open->listener, &door->place);
	open->listener = 0;
	if (open->bell)
		pxt_port_local_close(open->bell);
	open->bell = 0;
	pxt_port_free(door, sizeof(*door));
}

static int begin(struct pxt_door *door, const char *name)
{
	struct pxt_door_files *open = door->files;
	int error = pxt_door_path(name, true, door->path);
	int fd;

	if (error)
		return error == ENOENT ? EINVAL : error;
	error = pxt_door_claim(door->path, &fd, &door->place);
	if (error)
		return error;
	open->listener = fd;
	error = pxt_port_bell_open(&fd);
	if (error)
		return error;
	open->bell = fd;
	pxt_port_mutex_lock(&door->stream->mutex);
	door->stream->share = door;
	pxt_stream_unlock(door->stream);
	return pxt_port_thread_start(&door->thread, answer, door, PXT_THREAD_ORDINARY) ? EAGAIN : 0;
}

static int open_door(struct pxt_stream *stream, const char *name)
{
	struct pxt_door *door;
	int error;

	/* The text may have changed since it was set. */
	if (!pxt_door_name_valid(name))
		return EINVAL;
	door = make(stream);
	if (!door)
		return ENOMEM;
	error = begin(door, name);
	if (error)
		unmake(door);
	return error;
}

static void close_door(struct pxt_stream *stream)
{
	struct pxt_door *door = stream->share;

	atomic_store_explicit(&door->ending, 1u, memory_order_release);
	pxt_port_bell_ring(door->files->bell);
	pxt_port_thread_join(&door->thread);
	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++)
		pxt_door_hang_up(door, i);
	pxt_door_guests_end(door);
	unmake(door);
}

/* ---- What Core calls with the stream's mutex ---- */

static uint64_t pull(struct pxt_stream *stream, uint64_t clock, bool all)
{
	struct pxt_door *door = stream->share;

	return pxt_intake_pull(
	    stream, door->present, CONFIG_PTRACE_ATTACH_MAX, &door->payload, clock, all);
}

/* Guests hear of it from the helper; what they recorded before counts from now on as not recorded. */
static void state(struct pxt_stream *stream)
{
	struct pxt_door *door = stream->share;

	if (pxt_block_state(stream->block) == PXT_GATE_RUNNING) {
		uint64_t now = pxt_port_ticks_ordered();

		for (unsigned i = 0; i < CONFIG_PTRACE_ATTACH_MAX; i++) {
			if (door->present[i])
				pxt_intake_started(door->present[i], now);
		}
	}
	pxt_port_bell_ring(door->files->bell);
}

const struct pxt_share_ops pxt_attach_share = {
	.open = open_door,
	.close = close_door,
	.pull = pull,
	.state = state,
	.forget = forget,
};
