/* SPDX-License-Identifier: MIT */
/*
 * guest.c - attaching as a guest: a program that did not ask to be traced keeps no thread and no descriptor of
 * ours.
 */
#include "attach/attach.h"
#include "core/control/control.h"
#include "core/stream/wanted.h"
#include "format/locktally.h"
#include "port/port_file.h"
#include "port/port_local.h"

/* Nothing waits for the owner, which sees the process' end, and takes what was recorded until then. */
static bool stays(PXT_UNUSED struct pxt_stream *stream)
{
	return false;
}

struct pxt_locktally *_pxt_attach_counts;

/* Behind the stream and its directory (blackbox/blackbox.h), and still there when these are given back. */
static void find_counts(const struct pxt_stream *stream)
{
	unsigned char *memory = (unsigned char *)stream->block;
	void *counts = memory + PXT_LOCKTALLY_AT(stream->block_bytes);

	_pxt_attach_counts = stream->block->attr._pxt_flags & PXT_ATTR_COUNTS ? counts : NULL;
}

/* In one go, when all is there: the owner wakes up once. */
static int send_guest(const char *name, int how, const struct pxt_port_passed *files)
{
	int connection;
	int error = pxt_producer_connect(name, &connection);

	if (error)
		return error;
	error = pxt_producer_request(connection, PXT_CTLSOCK_GUEST, how, files);
	pxt_port_local_close(connection);
	return error;
}

static int hand_over(struct pxt_stream *stream, const struct pxt_port_passed *files,
    const char *name, bool *asked, trace_id_t *trid)
{
	int error = pxt_producer_publish(stream, trid);

	if (error)
		return error;
	pxt_port_filemap_seal(files->fd[0]);
	*asked = true;
	error = send_guest(name, 0, files);
	if (error) {
		(void)pxt_shutdown_stream(*trid, NULL);
		return error;
	}
	stream->at_exit = stays;
	(void)pxt_producer_set_running(*trid, true);
	return 0;
}

static int make_and_hand_over(
    const char *name, const trace_attr_t *attr, bool *asked, trace_id_t *trid)
{
	struct pxt_port_passed files = { .count = 1 };
	struct pxt_stream *stream;
	int error = pxt_producer_make(attr, &files.fd[0], &stream);

	if (error)
		return error;
	find_counts(stream);
	error = hand_over(stream, &files, name, asked, trid);
	pxt_port_local_close(files.fd[0]);
	return error;
}

/*
 * It records from now on; what the owner wants stands in the page behind its directory, and the owner drops what
 * was recorded before the guest looked there.
 */
int pxt_guest_attach(const char *name, const trace_attr_t *attr, trace_id_t *trid)
{
	bool asked = false;
	int error;

	pxt_process_lock();
	pxt_directory_sparse = true;
	pxt_process_unlock();
	pxt_port_local_begin();
	error = make_and_hand_over(name, attr, &asked, trid);
	if (error && !asked)
		(void)send_guest(name, error, NULL);
	pxt_port_local_end();
	return error;
}

PXT_API bool _pxt_attach_late(bool (*begin)(void), uint64_t system)
{
	bool (*other)(void) = atomic_load_explicit(&pxt_process_late, memory_order_acquire);
	static bool (*_Atomic guest)(void);

	if (!begin) {
		pxt_wanted_none();
		return true;
	}
	if (pxt_fork_epoch() || (other && other != atomic_load(&guest)))
		return false;
	atomic_store(&guest, begin);
	atomic_store_explicit(&pxt_process_late, begin, memory_order_release);
	pxt_wanted_late(system);
	return true;
}
