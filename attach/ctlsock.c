/* SPDX-License-Identifier: MIT */
/*
 * ctlsock.c - a stream with a name: its socket, and the helper thread that answers there.
 *
 * The helper sleeps in poll(): on the bell, which open, close, start and stop ring, on the socket and on all connections.
 * While there are producers and the stream runs it also wakes up by itself, to take their events; and now and
 * then in any case, for a program that closed the descriptors cannot ring.  Guests wait for no answer: those that
 * come or end within a period after another guest are heard when the period ends.
 */
#include "attach/owner.h"

#include "core/control/control.h"
#include "port/port_sysinfo.h"

/* Between two looks at those who could not be told, and at what those left who have gone. */
#define LATER_MS  20
/* Between two looks for those who follow. */
#define FOLLOW_MS 50
#define SOON_MS   1
/* At most: a wait that has begun goes on when its descriptors are closed. */
#define LOOK_MS   500

static struct pxt_ctlsock_files files[CONFIG_PTRACE_MAX_STREAMS] PXT_SELDOM;

/* ---- Forked children ---- */

static void close_bell(struct pxt_ctlsock_files *open)
{
	if (open->bell) {
		pxt_port_local_close(open->bell);
		pxt_port_local_close(open->ringer);
	}
	open->bell = 0;
	open->ringer = 0;
}

static void close_door(struct pxt_ctlsock_files *open)
{
	if (open->door)
		pxt_port_local_close(open->door);
	open->door = 0;
}

/* Closing is all: a process that hangs up ends the connections of the parent as well. */
static void forget(unsigned index)
{
	struct pxt_ctlsock_files *open = &files[index];

	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++) {
		if (open->connection[i])
			pxt_port_local_close(open->connection[i]);
		open->connection[i] = 0;
	}
	if (open->listener)
		pxt_port_local_close(open->listener);
	close_bell(open);
	close_door(open);
	open->listener = 0;
	atomic_store_explicit(&open->left, 0u, memory_order_relaxed);
}

/* ---- The helper ---- */

/* How long the helper is waited for. */
#define CLOSE_LOCKS    3u /* as long as so many locks */
#define CLOSE_SLICE_NS 200000u

static bool turn_fate(struct pxt_ctlsock *ctlsock, uint32_t to)
{
	uint32_t runs = PXT_HELPER_RUNS;

	return atomic_compare_exchange_strong_explicit(
	    &ctlsock->fate, &runs, to, memory_order_acq_rel, memory_order_acquire);
}

static void give_back(struct pxt_ctlsock *ctlsock)
{
	struct pxt_ctlsock_files *open = ctlsock->files;

	pxt_producers_end(ctlsock);
	close_bell(open);
	close_door(open);
	pxt_port_free(ctlsock, sizeof(*ctlsock));
	/* Last: another stream may take them now. */
	atomic_store_explicit(&open->left, 0u, memory_order_release);
}

static void close_connections(struct pxt_ctlsock *ctlsock)
{
	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++)
		pxt_connections_close(ctlsock, i);
	if (turn_fate(ctlsock, PXT_HELPER_DONE))
		return;
	pxt_port_thread_leave();
	give_back(ctlsock);
}

static int sooner(int one, int other)
{
	return other < one ? other : one;
}

static int patience(const struct pxt_ctlsock *ctlsock)
{
	bool runs = pxt_block_state(ctlsock->stream->block) != PXT_GATE_OFF;
	int ms = LOOK_MS;

	if (pxt_connections_count(ctlsock, PXT_CONNECTION_PRODUCER) && runs)
		ms = sooner(ms, CONFIG_PTRACE_ATTACH_PERIOD_MS);
	if (ctlsock->learns)
		ms = sooner(ms, SOON_MS);
	if (ctlsock->deaf || ctlsock->late || pxt_producers_left(ctlsock))
		ms = sooner(ms, LATER_MS);
	if (pxt_connections_count(ctlsock, PXT_CONNECTION_FOLLOWS) && runs)
		ms = sooner(ms, FOLLOW_MS);
	return ms;
}

static int descriptor(int stored)
{
	return stored ? stored : -1;
}

/* A process that starts, sends its message and ends would wake the helper by each of them. */
static void rest(struct pxt_ctlsock *ctlsock, int ms)
{
	struct pxt_port_watch bell = { .fd =
		                           ctlsock->mute ? -1 : descriptor(ctlsock->files->bell) };

	ctlsock->crowd = false;
	pxt_port_local_watch(&bell, 1, ms);
}

static void sleep_until_called(struct pxt_ctlsock *ctlsock)
{
	struct pxt_ctlsock_files *open = ctlsock->files;
	int ms = patience(ctlsock);

	if (ctlsock->crowd) {
		rest(ctlsock, sooner(ms, CONFIG_PTRACE_ATTACH_PERIOD_MS));
		ms = 0;
	}
	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++)
		ctlsock->watch[i].fd = descriptor(open->connection[i]);
	ctlsock->watch[PXT_CTLSOCK_PLACES].fd =
	    ctlsock->deaf || ctlsock->closed ? -1 : descriptor(open->listener);
	ctlsock->watch[PXT_CTLSOCK_PLACES + 1u].fd = ctlsock->mute ? -1 : descriptor(open->bell);
	ctlsock->deaf = false;
	ctlsock->late = false;
	ctlsock->learns = false;
	ctlsock->looked = pxt_port_ticks_ordered();
	pxt_port_local_watch(ctlsock->watch, PXT_CTLSOCK_PLACES + 2u, ms);
	if (ctlsock->watch[PXT_CTLSOCK_PLACES + 1u].ready)
		ctlsock->mute = !pxt_port_bell_hush(open->bell);
}

/*
 * Who has sent a message before this is answered: a guest records from then on, and does not wait for the
 * answer.  So nothing is delivered that may be newer than what a guest at the door has recorded.
 */
static void hear_all(struct pxt_ctlsock *ctlsock)
{
	const struct pxt_port_watch *listener = &ctlsock->watch[PXT_CTLSOCK_PLACES];
	/* Nobody stood there when all were looked at. */
	bool nobody = listener->fd >= 0 && !listener->ready;
	uint64_t before = nobody ? ctlsock->looked : pxt_port_ticks_ordered();

	/* What guests bring is many descriptors: the lowest numbers are looked at once for all of them. */
	if (ctlsock->files->door)
		pxt_port_local_begin();
	/* Release, and seq_cst against the receipt: pairs with awaits(). */
	atomic_store_explicit(&ctlsock->hears, 1u, memory_order_seq_cst);
	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES && !pxt_ctlsock_ending(ctlsock); i++) {
		if (ctlsock->watch[i].ready || ctlsock->connection[i].kind == PXT_CONNECTION_ASKS)
			pxt_connections_receive(ctlsock, i);
	}
	if (!pxt_ctlsock_ending(ctlsock) && !ctlsock->closed &&
	    (nobody || pxt_connections_accept(ctlsock)))
		pxt_wide_set(&ctlsock->known_until, before);
	atomic_store_explicit(&ctlsock->hears, 0u, memory_order_release);
	if (ctlsock->files->door)
		pxt_port_local_end();
}

/* Each turn is bounded, whatever connections do: one message of each, so many new ones, one pull. */
static void answer(void *argument)
{
	struct pxt_ctlsock *ctlsock = argument;

	/* Programs that did not ask to be traced record faster than a thread among theirs gets to run. */
	if (ctlsock->files->door)
		pxt_port_thread_hurry();
	atomic_store_explicit(&ctlsock->helper, pxt_port_tid(), memory_order_relaxed);
	while (!pxt_ctlsock_ending(ctlsock)) {
		sleep_until_called(ctlsock);
		ctlsock->turn++;
		hear_all(ctlsock);
		if (pxt_ctlsock_ending(ctlsock))
			break;
		pxt_connections_notify(ctlsock);
		pxt_producers_collect(ctlsock);
		pxt_follow_all(ctlsock);
	}
	close_connections(ctlsock);
}

/* ---- Open, close ---- */

static struct pxt_ctlsock *make(struct pxt_stream *stream)
{
	struct pxt_ctlsock *ctlsock = pxt_port_alloc(sizeof(*ctlsock));

	if (!ctlsock)
		return NULL;
	ctlsock->stream = stream;
	ctlsock->trid = stream->trid;
	ctlsock->files = &files[stream->index];
	pxt_port_executable(ctlsock->executable, sizeof(ctlsock->executable));
	return ctlsock;
}

/* Nobody finds it by the stream or by the name any more. */
static void hide(struct pxt_ctlsock *ctlsock)
{
	struct pxt_ctlsock_files *open = ctlsock->files;

	pxt_port_mutex_lock(&ctlsock->stream->mutex);
	ctlsock->stream->share = NULL;
	pxt_stream_unlock(ctlsock->stream);
	if (open->listener)
		pxt_name_give_up(ctlsock->path, open->listener, &ctlsock->place);
	open->listener = 0;
}

static int open_door(struct pxt_ctlsock *ctlsock)
{
	struct pxt_ctlsock_files *open = ctlsock->files;
	int fd;
	int error;

	if (!(ctlsock->stream->block->attr._pxt_flags & PXT_ATTR_GUEST))
		return 0;
	error = pxt_port_local_door(open->listener, &fd);
	if (!error)
		open->door = fd;
	return error;
}

static int begin(struct pxt_ctlsock *ctlsock, const char *name)
{
	struct pxt_ctlsock_files *open = ctlsock->files;
	int error = pxt_name_path(name, true, ctlsock->path);
	int ringer;
	int fd;

	if (error)
		return error == ENOENT ? EINVAL : error;
	error = pxt_name_claim(ctlsock->path, &fd, &ctlsock->place);
	if (error)
		return error;
	open->listener = fd;
	error = open_door(ctlsock);
	if (error)
		return error;
	error = pxt_port_bell_open(&fd, &ringer);
	if (error)
		return error;
	open->bell = fd;
	open->ringer = ringer;
	pxt_port_mutex_lock(&ctlsock->stream->mutex);
	ctlsock->stream->share = ctlsock;
	pxt_stream_unlock(ctlsock->stream);
	return pxt_port_thread_start(&ctlsock->thread, answer, ctlsock, PXT_THREAD_ORDINARY)
	           ? EAGAIN
	           : 0;
}

static int open_ctlsock(struct pxt_stream *stream, const char *name)
{
	struct pxt_ctlsock *ctlsock;
	int error;

	/* The text may have changed since it was set. */
	if (!pxt_name_valid(name))
		return EINVAL;
	if (atomic_load_explicit(&files[stream->index].left, memory_order_acquire))
		return EAGAIN;
	ctlsock = make(stream);
	if (!ctlsock)
		return ENOMEM;
	error = begin(ctlsock, name);
	if (error) {
		hide(ctlsock);
		give_back(ctlsock);
	}
	return error;
}

/* The stream's memory goes after this, whatever keeps the helper. */
static void close_ctlsock(struct pxt_stream *stream)
{
	struct pxt_ctlsock *ctlsock = stream->share;
	struct pxt_ctlsock_files *open = ctlsock->files;
	struct pxt_patience patience;

	atomic_store_explicit(&ctlsock->ending, 1u, memory_order_release);
	pxt_port_bell_ring(open->ringer);
	pxt_patience_begin(&patience, CLOSE_LOCKS * pxt_lock_patience_ns);
	while (atomic_load_explicit(&ctlsock->fate, memory_order_acquire) == PXT_HELPER_RUNS &&
	       pxt_patience_pause(&patience, CLOSE_SLICE_NS))
		;
	hide(ctlsock);
	atomic_store_explicit(&open->left, 1u, memory_order_release);
	if (turn_fate(ctlsock, PXT_HELPER_LEFT))
		return;
	pxt_port_thread_join(&ctlsock->thread);
	give_back(ctlsock);
}

/* ---- What Core calls with the stream's mutex ---- */

/* The helper does what a message asks, and takes no other one until that is done: it would wait for itself. */
static bool is_helper_hearing(const struct pxt_ctlsock *ctlsock)
{
	return atomic_load_explicit(&ctlsock->helper, memory_order_relaxed) == pxt_port_tid() &&
	       atomic_load_explicit(&ctlsock->hears, memory_order_relaxed);
}

/*
 * Up to when all who may have recorded something are attached.  The helper is waited for like an unfinished
 * record: longer than the hold-back time it holds nobody up.
 */
static uint64_t known_until(struct pxt_ctlsock *ctlsock, uint64_t clock)
{
	uint64_t known;

	if (!ctlsock->files->door || !pxt_port_local_door_awaits(ctlsock->files->door) ||
	    is_helper_hearing(ctlsock))
		return clock;
	known = pxt_wide_load(&ctlsock->known_until);
	return known < clock && clock - known < pxt_share_patience_ticks(ctlsock->stream->block)
	           ? known
	           : clock;
}

/*
 * A message waits at the door until the helper takes it, and from before that on `hears` is set: so a message is
 * seen in one of the two, if they are looked at in this order.
 */
static bool has_message(const struct pxt_ctlsock *ctlsock)
{
	if (!ctlsock->files->door ||
	    atomic_load_explicit(&ctlsock->helper, memory_order_relaxed) == pxt_port_tid())
		return false;
	return pxt_port_local_door_awaits(ctlsock->files->door) ||
	       atomic_load_explicit(&ctlsock->hears, memory_order_acquire);
}

static bool awaits(struct pxt_stream *stream, bool last)
{
	if (!has_message(stream->share))
		return false;
	if (last)
		pxt_sysevent_error(stream->block, POSIX_TRACE_ERROR_ATTACH_NP, ETIMEDOUT);
	return true;
}

static uint64_t pull(struct pxt_stream *stream, uint64_t clock, bool all)
{
	struct pxt_ctlsock *ctlsock = stream->share;

	return pxt_intake_pull(stream, ctlsock->present, ctlsock->memories, &ctlsock->payload,
	    known_until(ctlsock, clock), all);
}

/* Producers hear of it from the helper; what they recorded before counts from now on as not recorded. */
static void state(struct pxt_stream *stream)
{
	struct pxt_ctlsock *ctlsock = stream->share;

	if (pxt_block_state(stream->block) == PXT_GATE_OFF)
		ctlsock->started = 0;
	if (pxt_block_state(stream->block) == PXT_GATE_RUNNING) {
		uint64_t now = pxt_port_ticks_ordered();

		ctlsock->started = now;

		for (unsigned i = 0; i < ctlsock->memories; i++) {
			if (ctlsock->present[i])
				pxt_intake_started(ctlsock->present[i], now);
		}
	}
	pxt_producers_wish(ctlsock);
	pxt_port_bell_ring(ctlsock->files->ringer);
}

static void filter(struct pxt_stream *stream)
{
	pxt_producers_wish(stream->share);
}

const struct pxt_share_ops pxt_attach_share = {
	.open = open_ctlsock,
	.close = close_ctlsock,
	.pull = pull,
	.awaits = awaits,
	.state = state,
	.filter = filter,
	.forget = forget,
};
