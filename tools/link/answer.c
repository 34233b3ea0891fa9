/* SPDX-License-Identifier: MIT */
/* answer.c - what a target answers to an order, among all else that its line brings; see frame.h. */
#include "tools/link/frame.h"

#include "format/crc32.h"
#include "format/logfmt.h"
#include "format/logfmt_fields.h"

static void take_answer(struct pxt_linkanswer *link, const unsigned char *entry)
{
	struct pxt_order_answer *answer = &link->answer;
	bool swapped = link->swapped;

	answer->number = (uint16_t)pxt_get16(entry + 2, swapped);
	answer->what = entry[4];
	answer->result = entry[5];
	answer->state = entry[6];
	answer->at = entry[7];
	answer->written = pxt_get64(entry + 8, swapped);
	answer->retrieved = pxt_get64(entry + 16, swapped);
	answer->lost = pxt_get64(entry + 24, swapped);
	link->answered = answer->number == (link->order[0] | (uint32_t)link->order[1] << 8) &&
	                 answer->what == link->order[2];
}

static void take_frame(struct pxt_linkanswer *link, const struct pxt_linkframe *frame)
{
	const unsigned char *contents = frame->contents;

	if (frame->kind == PXT_FRAME_HEAD && frame->bytes >= PXT_FRAME_HEAD_BYTES &&
	    pxt_linkframe_sound(frame, 0)) {
		link->swapped = pxt_get32(contents + 8, false) != PXT_LOG_ORDER_MARK;
		link->seed = pxt_crc32(0, contents + PXT_FRAME_UUID_AT, PXT_LOG_UUID_BYTES);
		link->has_head = true;
	} else if (link->has_head && frame->kind == PXT_FRAME_META &&
	           frame->bytes >= PXT_FRAME_META_START + PXT_ORDER_ANSWER_BYTES &&
	           pxt_get16(contents, link->swapped) == PXT_LOG_ANSWER &&
	           pxt_linkframe_sound(frame, link->seed)) {
		take_answer(link, contents + PXT_FRAME_META_START);
	}
}

static void take_bytes(void *context, const unsigned char *bytes, size_t count)
{
	struct pxt_linkanswer *link = context;
	const unsigned char *at = bytes;
	struct pxt_linkpiece piece;
	struct pxt_linkframe frame;

	while (!link->answered && pxt_linkcut_next(&link->cut, &at, bytes + count, &piece))
		if (piece.bytes && pxt_linkframe_parse(&frame, piece.bytes, piece.count))
			take_frame(link, &frame);
}

static void pass_over_text(void *context, const char *text, size_t count)
{
	(void)context;
	(void)text;
	(void)count;
}

static void pass_over(void *context)
{
	(void)context;
}

void pxt_linkanswer_begin(struct pxt_linkanswer *link, const unsigned char *order)
{
	link->order = order;
	link->text.trace = take_bytes;
	link->text.text = pass_over_text;
	link->text.spoilt = pass_over;
	link->text.context = link;
}

void pxt_linkanswer_bytes(struct pxt_linkanswer *link, const unsigned char *bytes, size_t count)
{
	if (link->console)
		pxt_linktext_bytes(&link->text, bytes, count);
	else
		take_bytes(link, bytes, count);
}
