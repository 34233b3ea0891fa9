/* SPDX-License-Identifier: MIT */
/*
 * producers.c - attached processes, as their owner sees them: from the descriptor that each sends to
 * the last record in its memory.
 *
 * The helper alone begins, learns and ends; a pull, in any thread, finds in `present` those that are complete.
 */
#include "attach/owner.h"

#include "core/read/consumer.h"

static struct pxt_producer_memory *memory_of(struct pxt_ctlsock *ctlsock, uint32_t producer)
{
	return ctlsock->producers[producer];
}

/* Nobody pulls from it any more; the place is free. */
static void forget(struct pxt_ctlsock *ctlsock, uint32_t producer)
{
	pxt_intake_end(ctlsock->producers[producer], &ctlsock->spare);
	ctlsock->producers[producer] = NULL;
}

/* Also of types that the owner alone filters: a pull drops the rest. */
static uint32_t unwanted(struct pxt_block *block)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	uint32_t bits = (gate & PXT_GATE_STATE) == PXT_GATE_OFF ? PXT_WISH_NOTHING : 0u;

	for (uint32_t id = 1; id < 32u; id++)
		bits |= pxt_admit(block, gate, id) ? 0u : UINT32_C(1) << id;
	return bits;
}

void pxt_producers_wish(struct pxt_ctlsock *ctlsock)
{
	uint32_t bits = unwanted(ctlsock->stream->block);

	for (unsigned i = 0; i < ctlsock->memories; i++) {
		if (ctlsock->present[i])
			pxt_intake_wish(ctlsock->present[i], bits);
	}
}

/* From here on others pull from it. */
static int present(struct pxt_ctlsock *ctlsock, struct pxt_connection *connection)
{
	struct pxt_producer_memory *memory = memory_of(ctlsock, connection->producer);
	uint32_t state;

	if (!pxt_stream_enter(ctlsock->stream))
		return ECANCELED;
	state = pxt_block_state(ctlsock->stream->block);
	connection->runs = state != PXT_GATE_OFF;
	if (connection->runs)
		pxt_intake_started(
		    memory, connection->guest ? ctlsock->started : pxt_port_ticks_ordered());
	ctlsock->present[connection->producer] = memory;
	if (ctlsock->memories <= connection->producer)
		ctlsock->memories = connection->producer + 1u;
	pxt_producers_wish(ctlsock);
	pxt_stream_unlock(ctlsock->stream);
	PXT_TESTPOINT(PXT_TP_OWNER_PRESENT);
	return 0;
}

static void take_what_there_is(struct pxt_ctlsock *ctlsock);

static uint32_t free_place(const struct pxt_ctlsock *ctlsock)
{
	uint32_t producer = 0;

	while (producer < PXT_CTLSOCK_MEMORIES && ctlsock->producers[producer])
		producer++;
	return producer;
}

static unsigned count_living(const struct pxt_ctlsock *ctlsock)
{
	unsigned count = 0;

	for (unsigned i = 0; i < ctlsock->memories; i++)
		count += ctlsock->producers[i] && !pxt_intake_has_gone(ctlsock->producers[i]);
	return count;
}

/* One attached process more; refused where there are as many as the configuration allows. */
int pxt_producers_add(struct pxt_ctlsock *ctlsock, unsigned i, const struct pxt_intake_files *files)
{
	const struct pxt_ctlsock_request *request = &ctlsock->in.request;
	struct pxt_connection *connection = &ctlsock->connection[i];
	uint32_t producer;
	int error;

	/*
	 * Stamps of both are compared: they must come from one counter.  Its rate, which each process may
	 * have measured for itself, is looked at in the header.
	 */
	if (request->clock_source != (uint32_t)pxt_clock.source)
		return ENOTSUP;
	if (count_living(ctlsock) == CONFIG_PTRACE_ATTACH_MAX)
		return EAGAIN;
	producer = free_place(ctlsock);
	/* Many short processes in a row: those that have left make room. */
	if (producer == PXT_CTLSOCK_MEMORIES) {
		take_what_there_is(ctlsock);
		producer = free_place(ctlsock);
	}
	if (producer == PXT_CTLSOCK_MEMORIES)
		return EAGAIN;
	error = pxt_intake_begin(
	    files, connection->pid, &ctlsock->producers[producer], &ctlsock->spare);
	if (error)
		return error;
	pxt_intake_goes_on(memory_of(ctlsock, producer), &connection->life);
	PXT_TESTPOINT(PXT_TP_OWNER_MAPPED);
	pxt_intake_numbers_learn(memory_of(ctlsock, producer));
	connection->producer = producer;
	error = present(ctlsock, connection);
	if (error)
		forget(ctlsock, producer);
	else
		connection->kind = PXT_CONNECTION_PRODUCER;
	return error;
}

uint32_t pxt_producers_main(struct pxt_ctlsock *ctlsock, const struct pxt_connection *guest)
{
	uint32_t main = 0;

	pxt_port_mutex_lock(&ctlsock->stream->mutex);
	for (unsigned i = 0; i < ctlsock->memories && !main; i++) {
		if (ctlsock->present[i])
			main = pxt_intake_main(ctlsock->present[i], guest->pid, &guest->life);
	}
	pxt_stream_unlock(ctlsock->stream);
	return main;
}

int pxt_producers_add_guest(
    struct pxt_ctlsock *ctlsock, unsigned i, const struct pxt_intake_files *files)
{
	struct pxt_connection *connection = &ctlsock->connection[i];
	int *kept = &ctlsock->files->connection[i];
	int error;

	if (connection->unknown)
		return connection->unknown;
	connection->guest = true;
	error = pxt_producers_add(ctlsock, i, files);
	if (error) {
		connection->guest = false;
		return error;
	}
	pxt_port_local_close(*kept);
	*kept = connection->end;
	connection->end = 0;
	if (!*kept)
		pxt_producers_remove(ctlsock, i);
	return 0;
}

void pxt_producers_remove(struct pxt_ctlsock *ctlsock, unsigned i)
{
	struct pxt_connection *connection = &ctlsock->connection[i];

	pxt_port_mutex_lock(&ctlsock->stream->mutex);
	pxt_intake_gone(memory_of(ctlsock, connection->producer));
	pxt_stream_unlock(ctlsock->stream);
	connection->kind = PXT_CONNECTION_NONE;
}

/* ---- Taking ---- */

bool pxt_producers_left(const struct pxt_ctlsock *ctlsock)
{
	bool any = false;

	for (unsigned i = 0; i < ctlsock->memories; i++)
		any |= ctlsock->producers[i] && pxt_intake_has_gone(ctlsock->producers[i]);
	return any;
}

/* Names are defined under the process lock, which comes before the stream's: so not in a pull. */
bool pxt_producers_learn(struct pxt_ctlsock *ctlsock)
{
	bool any = false;

	for (unsigned i = 0; i < ctlsock->memories; i++) {
		if (ctlsock->producers[i])
			pxt_intake_numbers_learn(ctlsock->producers[i]);
		any |= ctlsock->producers[i] != NULL;
	}
	return any;
}

/* With the mutex. */
static void pull(struct pxt_ctlsock *ctlsock)
{
	ctlsock->pulled = pxt_port_ticks_ordered();
	(void)pxt_share_pull(ctlsock->stream->block, ctlsock->pulled, false);
}

/* Not more often than once in half a period, however often somebody rings or asks. */
static bool is_due(const struct pxt_ctlsock *ctlsock)
{
	uint64_t half = pxt_clock.hz * CONFIG_PTRACE_ATTACH_PERIOD_MS / 2000u;

	return pxt_port_ticks_ordered() - ctlsock->pulled >= half;
}

static void take_what_there_is(struct pxt_ctlsock *ctlsock)
{
	if (!pxt_producers_learn(ctlsock) || !pxt_stream_enter(ctlsock->stream))
		return;
	pull(ctlsock);
	for (unsigned i = 0; i < ctlsock->memories; i++) {
		struct pxt_producer_memory *memory = ctlsock->present[i];

		if (memory && pxt_intake_empty(memory))
			ctlsock->present[i] = NULL;
		ctlsock->learns |=
		    memory && !pxt_intake_has_gone(memory) && pxt_intake_numbers_wanted(memory);
	}
	pxt_stream_unlock(ctlsock->stream);
	for (unsigned i = 0; i < ctlsock->memories; i++) {
		if (ctlsock->producers[i] && !ctlsock->present[i])
			forget(ctlsock, i);
	}
}

void pxt_producers_collect(struct pxt_ctlsock *ctlsock)
{
	if (is_due(ctlsock))
		take_what_there_is(ctlsock);
}

void pxt_producers_end(struct pxt_ctlsock *ctlsock)
{
	pxt_port_mutex_lock(&ctlsock->stream->mutex);
	for (unsigned i = 0; i < PXT_CTLSOCK_MEMORIES; i++)
		ctlsock->present[i] = NULL;
	pxt_stream_unlock(ctlsock->stream);
	for (unsigned i = 0; i < PXT_CTLSOCK_MEMORIES; i++) {
		if (ctlsock->producers[i])
			forget(ctlsock, i);
	}
	pxt_intake_free(ctlsock->spare);
	ctlsock->spare = NULL;
}
