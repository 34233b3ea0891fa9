/* SPDX-License-Identifier: MIT */
/*
 * link.c - posix_trace_link_np(): what a host orders over a stream's line, and the answer.
 *
 * The answer is a META frame, which goes out between other frames, after a HEAD: so who asked
 * needs to know nothing of the stream.  What does not go out at once is not sent later: the host asks
 * again.
 */
#include "tolog/tolog.h"

#include "core/control/control.h"
#include "format/order.h"

_Static_assert(
    sizeof(struct posix_trace_linkstate_np) == sizeof(struct pxt_order_line), "one thing");
_Static_assert(sizeof(struct pxt_order_answer) == PXT_ORDER_ANSWER_BYTES, "without gaps");

static int filter(trace_id_t trid, const struct pxt_order *order, struct pxt_order_answer *answer)
{
	static const int how[] = { [PXT_ORDER_SET] = POSIX_TRACE_SET_EVENTSET,
		[PXT_ORDER_ADD] = POSIX_TRACE_ADD_EVENTSET,
		[PXT_ORDER_SUB] = POSIX_TRACE_SUB_EVENTSET };
	trace_event_set_t set;

	if (order->how < PXT_ORDER_SET || order->how > PXT_ORDER_SUB)
		return PXT_ORDER_UNKNOWN;
	(void)posix_trace_eventset_empty(&set);
	/* Bound: the text, which ends in a zero. */
	for (uint32_t at = 0; at < order->text_bytes;
	     at += (uint32_t)strlen(order->text + at) + 1u) {
		if (posix_trace_eventset_addgroup_np(order->text + at, &set) != 0)
			return PXT_ORDER_NO_TYPE;
		answer->at++;
	}
	return posix_trace_set_filter(trid, &set, how[order->how]) ? PXT_ORDER_FAILED
	                                                           : PXT_ORDER_DONE;
}

static int obey(trace_id_t trid, const struct pxt_order *order, struct pxt_order_answer *answer)
{
	int error = 0;

	switch (order->what) {
	case PXT_ORDER_STAT:
		break;
	case PXT_ORDER_START:
		error = posix_trace_start(trid);
		break;
	case PXT_ORDER_STOP:
		error = posix_trace_stop(trid);
		break;
	case PXT_ORDER_FLUSH:
		error = posix_trace_flush(trid);
		break;
	case PXT_ORDER_FILTER:
		return filter(trid, order, answer);
	default:
		return PXT_ORDER_UNKNOWN;
	}
	return error ? PXT_ORDER_FAILED : PXT_ORDER_DONE;
}

static void look(struct pxt_stream *stream, struct pxt_order_answer *answer)
{
	struct posix_trace_counts_np counts;

	pxt_status_counts(stream, &counts);
	answer->state = (uint8_t)pxt_block_state(stream->block);
	answer->written = counts.posix_written_np;
	answer->retrieved = counts.posix_retrieved_np;
	answer->lost = counts.posix_lost_np;
}

static void send(struct pxt_tolog *log, const struct pxt_order_answer *answer)
{
	if (pxt_tolog_resume(log) || pxt_tolog_put_head(log))
		return;
	pxt_tolog_new_meta(log);
	memcpy(log->meta.bytes + log->meta.used, answer, sizeof(*answer));
	log->meta.used += (uint32_t)sizeof(*answer);
	log->meta.count++;
	(void)pxt_tolog_put_meta(log, PXT_LOG_ANSWER);
}

static void reply(trace_id_t trid, struct pxt_order_answer *answer)
{
	struct pxt_stream *stream = pxt_tolog_enter(trid);
	struct pxt_tolog *log;

	if (!stream)
		return;
	log = pxt_tolog_of(stream);
	if (pxt_tolog_is_line(log)) {
		look(stream, answer);
		pxt_tolog_let_go(stream, log);
		send(log, answer);
		pxt_tolog_regain(stream, log);
	}
	(void)pxt_tolog_leave(stream, 0);
}

PXT_API size_t posix_trace_link_np(
    trace_id_t trid, struct posix_trace_linkstate_np *link, void *bytes, size_t count)
{
	struct pxt_order_line *line = (struct pxt_order_line *)(void *)link;
	unsigned char *at = bytes;
	size_t texts = 0;

	for (size_t i = 0; i < count; i++) {
		struct pxt_order order;
		enum pxt_order_byte byte = pxt_order_take(line, at[i], &order);

		if (byte == PXT_ORDER_TEXT)
			at[texts++] = at[i];
		if (byte == PXT_ORDER_WHOLE) {
			struct pxt_order_answer answer = { .bytes = sizeof(answer),
				.number = (uint16_t)order.number,
				.what = (uint8_t)order.what };

			answer.result = (uint8_t)obey(trid, &order, &answer);
			reply(trid, &answer);
		}
	}
	return texts;
}
