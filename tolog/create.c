/* SPDX-License-Identifier: MIT */
/*
 * create.c - the log's attributes, and streams with log: what is needed is taken and begun before anybody can
 * find them.
 */
#include "core/control/control.h"
#include "core/control/filestream.h"
#include "core/stream/share.h"
#include "port/port_sysinfo.h"
#include "tolog/policies.h"

const struct pxt_ops pxt_tolog_ops = {
	.get_status = pxt_tolog_get_status,
	PXT_STATUS_OPS,
};

/* NULL: a full policy of logs that this build has not. */
static const struct pxt_tolog_policy *policy_of(int policy)
{
	static const struct pxt_tolog_policy *const policies[] = PXT_TOLOG_POLICIES;

	for (size_t i = 0; policies[i]; i++) {
		if (policies[i]->policy == policy)
			return policies[i];
	}
	return NULL;
}

/* What nobody chose: what cannot be written at a position takes one policy alone. */
static int default_policy(const struct pxt_port_log *out)
{
	return out->kind != PXT_LOG_FILE && pxt_attr_log_policy_built(POSIX_TRACE_APPEND)
	           ? POSIX_TRACE_APPEND
	           : pxt_attr_default_log_policy();
}

static size_t round_up(size_t value)
{
	return (value + PXT_CACHE_LINE - 1) / PXT_CACHE_LINE * PXT_CACHE_LINE;
}

/* One piece of memory: the log's own words, both blocks, and what policy, flusher and line need. */
static struct pxt_tolog *make_log(const struct pxt_tolog_policy *policy,
    const struct _pxt_attr *attr, const struct pxt_port_log *out, const trace_attr_t *asked)
{
	size_t describe_at = round_up(sizeof(struct pxt_tolog));
	size_t notes_at = round_up(describe_at + pxt_tolog_describe_bytes());
	size_t flusher_at = round_up(notes_at + pxt_tolog_notes_bytes());
	size_t line_at = round_up(flusher_at + pxt_tolog_flusher_bytes());
	size_t line_bytes = pxt_tolog_line_bytes(out, attr);
	size_t turns_at = round_up(line_at + line_bytes);
	size_t turns_bytes = pxt_tolog_turns_bytes(asked);
	size_t told_at = round_up(turns_at + turns_bytes);
	size_t meta_at = round_up(told_at + pxt_tolog_told_bytes());
	size_t data_at = round_up(meta_at + PXT_TOLOG_META_BYTES);
	size_t policy_at = data_at + pxt_tolog_block_bytes(attr);
	size_t bytes = policy_at + policy->memory(attr);
	unsigned char *memory = pxt_port_alloc(bytes);
	struct pxt_tolog *log = (struct pxt_tolog *)(void *)memory;

	if (!log)
		return NULL;
	log->bytes = bytes;
	log->policy = policy;
	log->describe = (struct pxt_tolog_describe *)(void *)(memory + describe_at);
	log->notes = (struct pxt_tolog_notes *)(void *)(memory + notes_at);
	log->flusher = (struct pxt_tolog_flusher *)(void *)(memory + flusher_at);
	log->line = line_bytes ? (struct pxt_tolog_line *)(void *)(memory + line_at) : NULL;
	log->turns = turns_bytes ? (struct pxt_tolog_turns *)(void *)(memory + turns_at) : NULL;
	log->told = (struct pxt_compress_told *)(void *)(memory + told_at);
	log->meta_bytes = memory + meta_at;
	log->data_bytes = memory + data_at;
	log->frame_records = (uint16_t *)(void *)(memory + policy_at);
	return log;
}

static int put_beginning(struct pxt_tolog *log, const struct pxt_block *block)
{
	int error = 0;

	pxt_tolog_fill_header(log, block);
	pxt_tolog_line_start(log);
	log->policy->lay_out(log, &block->attr);
	pxt_tolog_new_data(log);
	pxt_tolog_new_meta(log);
	if (log->out.kind == PXT_LOG_FILE)
		error = pxt_port_log_truncate(&log->out, 0);
	PXT_TESTPOINT(PXT_TP_LOG_EMPTIED);
	return error ? error : pxt_tolog_put_head(log);
}

int pxt_tolog_begin(struct pxt_stream *stream, const struct pxt_tolog_policy *policy,
    const struct pxt_port_log *out, const trace_attr_t *asked)
{
	struct pxt_tolog *log = make_log(policy, &stream->block->attr, out, asked);
	int error;

	if (!log)
		return ENOMEM;
	log->out = *out;
	stream->log = log;
	pxt_tolog_turns_start(log, asked, stream->ticks.hz);
	error = put_beginning(log, stream->block);
	if (error)
		pxt_tolog_drop(stream);
	return error;
}

void pxt_tolog_drop(struct pxt_stream *stream)
{
	pxt_port_free(stream->log, pxt_tolog_of(stream)->bytes);
	stream->log = NULL;
}

/* The unit's part of a stream that nobody knows yet.  Takes @out over if it succeeds. */
static int attach(struct pxt_stream *stream, const struct pxt_tolog_policy *policy,
    const struct pxt_port_log *out, const trace_attr_t *asked)
{
	int error = pxt_tolog_begin(stream, policy, out, asked);

	if (error)
		return error;
	stream->at_shutdown = pxt_tolog_at_shutdown;
	stream->at_exit = pxt_tolog_at_exit;
	stream->at_clear = pxt_tolog_at_clear;
	stream->before_clear = pxt_tolog_before_clear;
	if (pxt_tolog_seals())
		error = pxt_tolog_tell(stream, PXT_WHEN_FLUSH);
	if (!error)
		error = pxt_tolog_flusher_start(stream);
	if (error)
		pxt_tolog_drop(stream);
	return error;
}

static int create(const struct pxt_create *request, const struct _pxt_attr *attr,
    const struct pxt_tolog_policy *policy, const struct pxt_port_log *out, trace_id_t *trid)
{
	struct pxt_stream *stream;
	int error = pxt_create_stream(request, attr, &stream);

	if (error)
		return error;
	error = attach(stream, policy, out, request->attr);
	PXT_TESTPOINT(PXT_TP_LOG_BEGUN);
	if (!error) {
		error = pxt_create_publish(stream, pxt_share_asked(request->attr), trid);
		if (error) {
			pxt_tolog_flusher_end(stream);
			pxt_tolog_drop(stream);
		}
	}
	if (error)
		pxt_shutdown_abandon(stream);
	return error;
}

/* A file, or a folder in which files are made. */
static int open_output(
    struct pxt_port_log *out, const trace_attr_t *asked, struct _pxt_attr *attr, int file_desc)
{
	int error;

	if (!pxt_tolog_rotates(asked))
		return pxt_port_log_open(out, file_desc);
	error = pxt_tolog_turns_check(attr);
	if (error)
		return error;
	return pxt_tolog_turns_open(out, asked, attr, file_desc);
}

static void close_output(struct pxt_port_log *out, const trace_attr_t *asked)
{
	if (pxt_tolog_rotates(asked))
		pxt_tolog_turns_abandon(out);
	pxt_port_log_close(out);
}

PXT_API int posix_trace_create_withlog(
    pid_t pid, const trace_attr_t *restrict attr, int file_desc, trace_id_t *restrict trid)
{
	const struct pxt_create request = {
		.pid = pid, .attr = attr, .with_log = true, .ops = &pxt_tolog_ops
	};
	const struct pxt_tolog_policy *policy = NULL;
	struct pxt_port_log out;
	struct _pxt_attr used;
	int error;

	if (!trid)
		return EINVAL;
	error = pxt_create_attr(&request, &used);
	if (error)
		return error;
	error = open_output(&out, attr, &used, file_desc);
	if (error)
		return error;
	if (!used._pxt_log_policy)
		used._pxt_log_policy = default_policy(&out);
	policy = policy_of(used._pxt_log_policy);
	error = EINVAL;
	if (policy && pxt_tolog_line_possible(&out, &used))
		error = policy->check(&out, &used);
	/* The log would begin by emptying the stream's memory. */
	if (!error && pxt_filestream_is(&used, file_desc))
		error = EINVAL;
	if (!error)
		error = create(&request, &used, policy, &out, trid);
	if (error)
		close_output(&out, attr);
	return error;
}

/* ---- Status ---- */

/* Read and reset in one step each (STA-03). */
int pxt_tolog_get_status(void *object, struct posix_trace_status_info *status)
{
	struct pxt_stream *stream = object;
	struct pxt_tolog *log = pxt_tolog_of(stream);

	pxt_status_take(stream, status);
	status->posix_stream_flush_status =
	    log->flushing ? POSIX_TRACE_FLUSHING : POSIX_TRACE_NOT_FLUSHING;
	status->posix_stream_flush_error =
	    atomic_exchange_explicit(&log->error, 0, memory_order_acq_rel);
	status->posix_log_overrun_status =
	    atomic_exchange_explicit(&log->overrun, 0u, memory_order_acq_rel)
	        ? POSIX_TRACE_OVERRUN
	        : POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = atomic_load_explicit(&log->full, memory_order_acquire)
	                                    ? POSIX_TRACE_FULL
	                                    : POSIX_TRACE_NOT_FULL;
	return 0;
}

/*
 * ---- What a log's header says ----
 *
 * The clocks, the stream's attributes, what each record holds.
 */

void pxt_tolog_fill_header(struct pxt_tolog *log, const struct pxt_block *block)
{
	struct pxt_log_header *header = &log->header;

	header->word_bytes = sizeof(void *);
	header->ctx_bytes = PXT_CTX_BYTES;
	header->contents = (CONFIG_PTRACE_RECORD_THREAD ? PXT_LOG_HAS_THREAD : 0u) |
	                   (CONFIG_PTRACE_RECORD_ADDRESS ? PXT_LOG_HAS_ADDRESS : 0u) |
	                   (CONFIG_PTRACE_RECORD_CPU ? PXT_LOG_HAS_CPU : 0u) |
	                   (CONFIG_PTRACE_LARGER_PRIORITY ? PXT_LOG_LARGER_PRIORITY : 0u);
	pxt_port_random(header->uuid, sizeof(header->uuid));
	memcpy(log->sums.uuid, header->uuid, sizeof(header->uuid));
	header->rate = pxt_clock;
	header->created = block->created;
	header->largest_block = pxt_tolog_block_bytes(&block->attr);
	header->set_bytes = PXT_START_BYTES;
	header->attr = block->attr;
}
