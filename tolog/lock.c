/* SPDX-License-Identifier: MIT */
/* lock.c - who may take records out of the stream and write: one at a time. */
#include "tolog/tolog.h"

#include "port/port.h"

void pxt_tolog_lock(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);

	log->users++;
	while (atomic_load_explicit(&log->busy, memory_order_acquire)) {
		pxt_stream_unlock(stream);
		(void)pxt_port_wait(&log->busy, 1u, NULL, 0);
		pxt_port_mutex_lock(&stream->mutex);
	}
	log->holder = pxt_port_thread();
	atomic_store_explicit(&log->busy, 1u, memory_order_release);
}

void pxt_tolog_unlock(struct pxt_stream *stream)
{
	struct pxt_tolog *log = pxt_tolog_of(stream);

	log->users--;
	atomic_fetch_add_explicit(&log->unlocks, 1u, memory_order_relaxed);
	atomic_store_explicit(&log->busy, 0u, memory_order_release);
	pxt_port_wake(&log->busy);
}
