/* SPDX-License-Identifier: MIT */
/*
 * producer.c - attaching to another process' stream: an ordinary stream of this process in memory that
 * the other one may read, and a thread that starts and stops it as that one says.
 *
 *   concurrency     attach   helper   shutdown   forked child
 *   attach                 -        P         -            -        P: the phase says whose turn it is
 *   helper                 P        -         J            -        J: shutdown waits for its end
 *   shutdown               -        J         -            -
 *   forked child           -        -         -            -        alone; closes descriptors
 *
 * -: each has an entry of producers[] of its own, or comes when the other one is done.
 *
 * The helper only takes locks that any control call takes, and only in those; it holds none while
 * it waits.  The other process can make it start and stop, and nothing else.
 */
#include "attach/attach.h"
#include "core/control/control.h"
#include "port/port_file.h"
#include "port/port_local.h"

#define TIMEOUT_MS 1000u
/* How long the helper thread waits at most: a program that closed the bell cannot ring it. */
#define LOOK_MS    500

enum phase {
	ASKS, /* the owner's answer is not there yet: who attaches hears it */
	HEARS,
	ENDS,
};

/* By the index of the stream, so that a child finds what it has to close. */
static struct producer {
	struct pxt_port_thread thread;
	trace_id_t trid;
	_Atomic int connection; /* descriptors and 1; 0: none */
	_Atomic int bell;       /* rung when the phase has changed, by ... */
	_Atomic int ringer;     /* ... its other end */
	_Atomic int phase;      /* enum phase */
} producers[CONFIG_PTRACE_MAX_STREAMS];

/* A message and what may be after it. */
struct heard {
	struct pxt_ctlsock_reply reply;
	char text[256];
};

/* ---- Descriptors ---- */

static void close_one(_Atomic int *fd)
{
	int kept = atomic_exchange_explicit(fd, 0, memory_order_relaxed);

	if (kept)
		pxt_port_local_close(kept - 1);
}

static void close_bell(struct producer *producer)
{
	close_one(&producer->bell);
	close_one(&producer->ringer);
}

/* A child that kept the connection would keep up the attachment when its parent is gone. */
static void in_child(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		close_one(&producers[i].connection);
		close_bell(&producers[i]);
	}
	pxt_producer_directory_forget();
}

static void watch_forks(void)
{
	static bool watched;

	pxt_process_lock();
	if (!watched)
		pxt_port_at_fork(in_child);
	watched = true;
	pxt_process_unlock();
}

/* ---- The helper ---- */

bool pxt_producer_set_running(trace_id_t trid, bool running)
{
	struct pxt_stream *stream = pxt_stream_control(trid);

	if (!stream)
		return false;
	if (running)
		pxt_control_start(stream, NULL);
	else
		pxt_control_stop(stream, NULL);
	pxt_stream_control_end(stream);
	return true;
}

static bool is_reply(const struct heard *heard, size_t bytes)
{
	return bytes >= sizeof(heard->reply) && heard->reply.magic == PXT_CTLSOCK_MAGIC &&
	       heard->reply.version == PXT_CTLSOCK_VERSION;
}

/* All that was said, in its order.  False: there is nothing to hear any more. */
static bool listen_to(struct producer *producer, int connection)
{
	for (;;) {
		struct heard heard;
		struct pxt_port_passed passed;
		size_t bytes;
		int error =
		    pxt_port_local_receive(connection, &heard, sizeof(heard), &bytes, &passed);

		if (error == EAGAIN)
			return true;
		if (error)
			return false;
		pxt_port_local_drop(&passed);
		if (!is_reply(&heard, bytes))
			return false;
		if ((heard.reply.what == PXT_CTLSOCK_START ||
		        heard.reply.what == PXT_CTLSOCK_STOP) &&
		    !pxt_producer_set_running(
		        producer->trid, heard.reply.what == PXT_CTLSOCK_START))
			return false;
	}
}

static void set_phase(struct producer *producer, enum phase phase)
{
	atomic_store_explicit(&producer->phase, phase, memory_order_release);
	pxt_port_bell_ring(producer->ringer - 1);
}

static bool is_phase(const struct producer *producer, enum phase phase)
{
	return atomic_load_explicit(&producer->phase, memory_order_acquire) == (int)phase;
}

/*
 * While the phase is ASKS, only the bell is looked at.  It is hushed before the phase is read: a
 * change that comes between the two has rung again.  A process that stops listening has stopped the stream.
 *
 * Descriptors may be closed by system calls that no wrapper sees (close_range).  A wait that has begun
 * then goes on, with nobody who could end it: so it is begun anew now and then, and finds that.
 */
static void help(void *argument)
{
	struct producer *producer = argument;
	int connection = producer->connection - 1;
	int bell = producer->bell - 1;
	bool rings = true;
	bool hears;

	do {
		struct pxt_port_watch watch[2] = { { .fd = rings ? bell : -1 },
			{ .fd = is_phase(producer, HEARS) ? connection : -1 } };

		pxt_port_local_watch(watch, 2, LOOK_MS);
		if (watch[0].ready)
			rings = pxt_port_bell_hush(bell);
		hears = !is_phase(producer, ENDS) &&
		        (!watch[1].ready || listen_to(producer, connection));
	} while (hears);
	(void)pxt_producer_set_running(producer->trid, false);
	/* The other side shall see the end now, not when this side is shut down. */
	close_one(&producer->connection);
}

/* The end of the stream, without any lock.  [the stream is stopped, and found by nobody] */
static int end_attachment(struct pxt_stream *stream)
{
	struct producer *producer = &producers[stream->index];

	if (!producer->bell)
		return 0;
	set_phase(producer, ENDS);
	pxt_port_thread_join(&producer->thread);
	close_bell(producer);
	return 0;
}

/* ---- Attaching ---- */

static const struct pxt_ops producer_ops = {
	.get_status = pxt_status_get,
	PXT_STATUS_OPS,
};

/* Of @given, what matters: size, lanes, largest data. */
static int producers_attr(const trace_attr_t *given, struct _pxt_attr *attr)
{
	trace_attr_t plain;
	int error = posix_trace_attr_init(&plain);

	if (given && pxt_attr_check(given, given))
		return EINVAL;
	if (given) {
		plain._pxt_kept._pxt_stream_size = given->_pxt_kept._pxt_stream_size;
		plain._pxt_kept._pxt_max_data = given->_pxt_kept._pxt_max_data;
		plain._pxt_kept._pxt_lanes = given->_pxt_kept._pxt_lanes;
	}
	plain._pxt_kept._pxt_stream_policy = POSIX_TRACE_LOOP;
	error = pxt_create_attr(
	    &(const struct pxt_create){ .attr = &plain, .ops = &producer_ops }, attr);
	/* The owner would not map it. */
	if (!error && attr->_pxt_stream_size > PXT_CTLSOCK_MEMORY / attr->_pxt_lanes)
		error = ENOMEM;
	return error;
}

int pxt_producer_make(const trace_attr_t *given, int *memory, struct pxt_stream **stream)
{
	struct pxt_create request = { .attr = given, .ops = &producer_ops };
	struct _pxt_attr attr;
	int error = producers_attr(given, &attr);

	if (error)
		return error;
	error = pxt_port_local_memory(memory);
	if (error)
		return error;
	attr._pxt_file = *memory + 1;
	attr._pxt_flags |= PXT_ATTR_PRODUCER;
	if (given)
		attr._pxt_flags |= given->_pxt_kept._pxt_flags & (PXT_ATTR_GUEST | PXT_ATTR_COUNTS);
	if (attr._pxt_lanes > PXT_LANES_MAX(&attr))
		attr._pxt_lanes = PXT_LANES_MAX(&attr);
	error = pxt_create_stream(&request, &attr, stream);
	if (error)
		pxt_port_local_close(*memory);
	/* A new file in memory that will not do is no fault of the caller's. */
	return error == EINVAL ? EAGAIN : error;
}

int pxt_producer_publish(struct pxt_stream *stream, trace_id_t *trid)
{
	int error = pxt_create_publish(stream, NULL, trid);

	if (error)
		pxt_shutdown_abandon(stream);
	return error == ENOMEM ? EAGAIN : error;
}

/* So that the owner maps it. */
static int publish_settled(struct pxt_stream *stream, int memory, trace_id_t *trid)
{
	int error = pxt_producer_publish(stream, trid);

	if (error)
		return error;
	error = pxt_port_filemap_settle(memory);
	if (error)
		(void)pxt_shutdown_stream(*trid, NULL);
	return error;
}

int pxt_producer_request(
    int connection, uint32_t what, int how, const struct pxt_port_passed *files)
{
	const struct pxt_ctlsock_request request = { .magic = PXT_CTLSOCK_MAGIC,
		.version = PXT_CTLSOCK_VERSION,
		.what = what,
		.how = how,
		.hz = pxt_clock.hz,
		.clock_source = (uint32_t)pxt_clock.source };
	int error = pxt_port_local_send(connection, &request, sizeof(request), files);

	return error == EPIPE ? ENOENT : error ? ENOTSUP : 0;
}

/*
 * The stream is this process' own, or one that it inherited: its events are there already, and would come twice.
 * Whose it is and when it was made tells it from all others; a pid alone is used again.
 */
static bool traces_already(const struct pxt_ctlsock_status *status)
{
	bool found = false;

	/* Blocks are given back under it. */
	pxt_process_lock();
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_block *block = pxt_stream_block(i);

		found |= block && !pxt_attr_producer(&block->attr) && block->pid == status->pid &&
		         block->created.realtime.tv_sec == status->created_sec &&
		         (uint32_t)block->created.realtime.tv_nsec == status->created_nsec;
	}
	pxt_process_unlock();
	return found;
}

/* What the owner says, or what is wrong with it. */
static int hear_answer(int connection, bool *running)
{
	struct pxt_port_passed passed;
	struct heard heard;
	size_t bytes;
	int error =
	    pxt_port_local_await(connection, &heard, sizeof(heard), TIMEOUT_MS, &bytes, &passed);

	if (error == EPIPE)
		return ENOENT;
	if (error)
		return error == ETIMEDOUT ? ETIMEDOUT : ENOTSUP;
	pxt_port_local_drop(&passed);
	if (!is_reply(&heard, bytes) || heard.reply.what != PXT_CTLSOCK_ATTACH)
		return ENOTSUP;
	*running = heard.reply.status.state != PXT_CTLSOCK_STOPPED;
	switch (heard.reply.error) {
	case 0:
		return traces_already(&heard.reply.status) ? EEXIST : 0;
	case EAGAIN:
	case EACCES:
	case ENOMEM:
		return heard.reply.error;
	case ECANCELED:
		return ENOENT;
	default:
		return ENOTSUP;
	}
}

/* The connection is the helper's from now on, to close as well. */
static int begin_help(struct pxt_stream *stream, trace_id_t trid, int connection)
{
	struct producer *producer = &producers[stream->index];
	int bell;
	int ringer;
	int error = pxt_port_bell_open(&bell, &ringer);

	if (error)
		return error;
	producer->trid = trid;
	producer->connection = connection + 1;
	producer->bell = bell + 1;
	producer->ringer = ringer + 1;
	producer->phase = ASKS;
	error = pxt_port_thread_start(&producer->thread, help, producer, PXT_THREAD_ORDINARY);
	if (error) {
		producer->connection = 0;
		close_bell(producer);
		return EAGAIN;
	}
	stream->at_shutdown = end_attachment;
	return 0;
}

/* A thread takes time to make, as much as the owner takes to answer. */
static int ask(
    struct pxt_stream *stream, const struct pxt_port_passed *files, trace_id_t trid, int connection)
{
	struct producer *producer = &producers[stream->index];
	bool running = false;
	int error = pxt_producer_request(connection, PXT_CTLSOCK_ATTACH, 0, files);

	PXT_TESTPOINT(PXT_TP_PRODUCER_ASKED);
	if (!error)
		error = begin_help(stream, trid, connection);
	if (error) {
		pxt_port_local_close(connection);
		return error;
	}
	PXT_TESTPOINT(PXT_TP_PRODUCER_HELPED);
	error = hear_answer(connection, &running);
	PXT_TESTPOINT(PXT_TP_PRODUCER_HEARD);
	/* Before the helper, which hears what comes after that answer. */
	if (!error && running)
		(void)pxt_producer_set_running(trid, true);
	if (!error)
		set_phase(producer, HEARS);
	return error;
}

/* @connection is closed, or the helper's. */
static int attach(struct pxt_stream *stream, const struct pxt_port_passed *files, int connection,
    trace_id_t *trid)
{
	int error = publish_settled(stream, files->fd[0], trid);

	if (error) {
		pxt_port_local_close(connection);
		return error;
	}
	error = ask(stream, files, *trid, connection);
	if (error)
		(void)pxt_shutdown_stream(*trid, NULL);
	return error;
}

int pxt_producer_connect(const char *name, int *connection)
{
	char path[PXT_CTLSOCK_PATH];
	int error = pxt_name_path(name, false, path);

	if (!error)
		error = pxt_port_local_connect(path, TIMEOUT_MS, connection);
	/* A socket that its process has left. */
	return error == ECONNREFUSED ? ENOENT : error;
}

static int attach_program(const trace_attr_t *attr, int connection, trace_id_t *trid)
{
	struct pxt_port_passed files = { .count = 2 };
	struct pxt_stream *stream;
	int error;

	watch_forks();
	error = pxt_producer_directory(&files.fd[1]);
	if (!error)
		error = pxt_producer_make(attr, &files.fd[0], &stream);
	if (error) {
		pxt_port_local_close(connection);
		return error;
	}
	error = attach(stream, &files, connection, trid);
	/* Mapped where it is needed. */
	pxt_port_local_close(files.fd[0]);
	return error;
}

PXT_API int posix_trace_attach_np(const char *name, const trace_attr_t *attr, trace_id_t *trid)
{
	trace_id_t attached;
	int connection;
	int error;

	if (!pxt_arg_given(name) || !pxt_arg_given(trid) || !pxt_name_valid(name))
		return EINVAL;
	if (attr && attr->_pxt_kept._pxt_flags & PXT_ATTR_GUEST) {
		error = pxt_guest_attach(name, attr, &attached);
	} else {
		error = pxt_producer_connect(name, &connection);
		if (!error)
			error = attach_program(attr, connection, &attached);
	}
	if (!error)
		*trid = attached;
	return error;
}
