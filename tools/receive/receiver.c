/* SPDX-License-Identifier: MIT */
/* receiver.c - which run a piece belongs to, and the logs that are made of them. */
#include "tools/receive/receiver.h"

#include "format/crc32.h"
#include "format/logfmt_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const unsigned char file_magic[8] = PXT_LOG_MAGIC;

bool pxt_receiver_init(struct pxt_receiver *in, const char *path)
{
	memset(in, 0, sizeof *in);
	in->path = path;
	in->logs_most = PXT_RECEIVER_LOGS;
	in->waiting = malloc(PXT_RECEIVER_WAIT);
	return in->waiting != NULL;
}

static void tell(struct pxt_receiver *in, enum pxt_receiver_event event,
    const struct pxt_receive_run *run, const char *text)
{
	if (in->tell)
		in->tell(in->context, event, run, text);
}

/* ---- Runs ---- */

static void add_run(struct pxt_receive_sums *sums, const struct pxt_receive_run *run)
{
	sums->events += run->kept;
	sums->frames_missing += run->frames_missing;
	sums->frames_again += run->frames_again;
	sums->events_missing += run->missing - run->early;
	sums->target_lost += run->target_lost;
	sums->early += run->early;
	sums->odd += run->odd;
	sums->ends_unknown += run->end_unknown;
}

void pxt_receiver_sums(const struct pxt_receiver *in, struct pxt_receive_sums *sums)
{
	*sums = in->done;
	sums->open = in->open;
	sums->bad += in->plain.bad;
	for (unsigned i = 0; i < in->open; i++)
		add_run(sums, in->runs[i]);
}

static void to_front(struct pxt_receiver *in, unsigned place)
{
	struct pxt_receive_run *run = in->runs[place];

	memmove(in->runs + 1, in->runs, place * sizeof(void *));
	in->runs[0] = run;
}

/* The log is ended, and what it counted is kept. */
static void end_run(struct pxt_receiver *in, unsigned place)
{
	struct pxt_receive_run *run = in->runs[place];
	int error = pxt_receive_run_end(run);

	in->error = in->error ? in->error : error;
	tell(in, PXT_RECEIVER_ENDED, run, run->path);
	add_run(&in->done, run);
	if (run == in->plain_run)
		in->plain_run = NULL;
	in->open--;
	memmove(in->runs + place, in->runs + place + 1, (in->open - place) * sizeof(void *));
	free(run);
}

/* "run.ptl", then "run-2.ptl" and so on: what is there under such a name stays. */
static bool path_of_run(const struct pxt_receiver *in, char *path, size_t room)
{
	const char *slash = strrchr(in->path, '/');
	const char *dot = strrchr(in->path, '.');
	size_t stem = dot && (!slash || dot > slash + 1) && dot != in->path
	                  ? (size_t)(dot - in->path)
	                  : strlen(in->path);
	unsigned number = in->done.logs + 1u;
	struct stat st;
	int length = snprintf(path, room, "%s", in->path);

	while (number > 1u && length > 0 && (size_t)length < room) {
		length = snprintf(
		    path, room, "%.*s-%u%s", (int)stem, in->path, number++, in->path + stem);
		/* A link that leads nowhere is there, too. */
		if (lstat(path, &st) != 0)
			break;
	}
	return length > 0 && (size_t)length < room;
}

/* A sender of many gets one message. */
static struct pxt_receive_run *refuse(struct pxt_receiver *in, const char *why)
{
	if (in->done.refused++ == 0)
		tell(in, PXT_RECEIVER_REFUSED, NULL, why);
	return NULL;
}

/* ---- Senders ---- */

static bool is_sent_by(const struct pxt_receiver *in, const unsigned char *sender)
{
	return !in->sender || memcmp(in->sender, sender, PXT_RECEIVE_SENDER_BYTES) == 0;
}

static void note_sender(const struct pxt_receiver *in, struct pxt_receive_run *run)
{
	if (in->sender)
		memcpy(run->sender, in->sender, PXT_RECEIVE_SENDER_BYTES);
	run->heard_ms = in->now_ms;
}

/* Some run of this sender has events in its log. */
static bool is_known(const struct pxt_receiver *in)
{
	for (unsigned i = 0; i < in->open; i++)
		if (in->runs[i]->kept && is_sent_by(in, in->runs[i]->sender))
			return true;
	return false;
}

/* The run that was silent longest of those that may be ended for a new one; in->open: none. */
static unsigned may_go(const struct pxt_receiver *in)
{
	for (unsigned i = in->open; i--;)
		if (is_sent_by(in, in->runs[i]->sender) ||
		    in->now_ms - in->runs[i]->heard_ms >= PXT_RECEIVER_SILENT_MS)
			return i;
	return in->open;
}

static bool is_room_for_log(const struct pxt_receiver *in)
{
	return in->done.logs < in->logs_most ||
	       (in->sender && in->done.logs < 2u * in->logs_most && is_known(in));
}

static struct pxt_receive_run *new_run(struct pxt_receiver *in, const unsigned char *head)
{
	char path[sizeof in->runs[0]->path];
	struct pxt_receive_run *run;
	const char *wrong;

	if (!is_room_for_log(in))
		return refuse(in, "too many logs were begun already");
	if (in->open == PXT_RECEIVER_RUNS && may_go(in) == in->open)
		return refuse(in, "as many others as can be received at once are being received");
	if (!path_of_run(in, path, sizeof path))
		return refuse(in, "the name of its log is too long");
	run = malloc(sizeof *run);
	wrong = run ? pxt_receive_run_begin(run, path, PXT_LOG_GROWING, head) : "out of memory";
	if (wrong) {
		free(run);
		return refuse(in, wrong);
	}
	if (in->open == PXT_RECEIVER_RUNS)
		end_run(in, may_go(in));
	note_sender(in, run);
	in->runs[in->open++] = run;
	to_front(in, in->open - 1u);
	in->done.logs++;
	in->error = in->error ? in->error : run->error;
	tell(in, PXT_RECEIVER_BEGUN, run, run->path);
	return run;
}

/* ---- Frames that wait for their head ---- */

static void let_wait(struct pxt_receiver *in, const unsigned char *bytes, size_t count)
{
	size_t keep;

	while (PXT_RECEIVER_WAIT - in->waiting_bytes < count + 2u) {
		size_t at = 0;

		/* The older half goes, so that not every frame moves all others. */
		while (at < in->waiting_bytes / 2u)
			at += 2u + ((size_t)in->waiting[at] | (size_t)in->waiting[at + 1] << 8);
		at = at ? at : in->waiting_bytes;
		keep = in->waiting_bytes - at;
		memmove(in->waiting, in->waiting + at, keep);
		in->waiting_bytes = keep;
	}
	in->waiting[in->waiting_bytes] = (unsigned char)count;
	in->waiting[in->waiting_bytes + 1] = (unsigned char)(count >> 8);
	memcpy(in->waiting + in->waiting_bytes + 2, bytes, count);
	in->waiting_bytes += count + 2u;
}

static void deliver(struct pxt_receive_run *run, const struct pxt_linkframe *frame)
{
	bool swapped = run->header.swapped;

	if (!pxt_receive_run_expect(run, frame->number, frame->records))
		return;
	if (frame->kind == PXT_FRAME_DATA)
		pxt_receive_run_slots(run, frame->contents, frame->bytes / PXT_SLOT_BYTES);
	else if (frame->kind == PXT_FRAME_COMPACT)
		pxt_receive_run_compact(run, frame->contents, frame->bytes);
	else if (frame->bytes >= PXT_FRAME_META_START)
		pxt_receive_run_entries(run, pxt_get16(frame->contents, swapped),
		    pxt_get16(frame->contents + 2, swapped), frame->contents + PXT_FRAME_META_START,
		    frame->bytes - PXT_FRAME_META_START);
}

/* The next of those that wait that is of the stream of @seed, from *@at on. */
static bool next_waiting(
    const struct pxt_receiver *in, uint32_t seed, size_t *at, struct pxt_linkframe *frame)
{
	while (*at < in->waiting_bytes) {
		const unsigned char *bytes = in->waiting + *at;
		size_t count = (size_t)bytes[0] | (size_t)bytes[1] << 8;

		*at += 2u + count;
		if (pxt_linkframe_parse(frame, bytes + 2, count) &&
		    pxt_linkframe_sound(frame, seed))
			return true;
	}
	return false;
}

/* A number whose lowest bits are @low, at most @reference. */
static uint64_t back_from(uint64_t reference, uint64_t low, uint64_t mask)
{
	uint64_t back = (reference - low) & mask;

	return back <= reference ? reference - back : 0;
}

/* What came before the head of @run and belongs to it, in its order. */
static void adopt(
    struct pxt_receiver *in, struct pxt_receive_run *run, uint64_t frames, uint64_t records)
{
	struct pxt_linkframe frame;
	bool started = false;
	size_t at = 0;

	while (next_waiting(in, run->seed, &at, &frame)) {
		if (!started)
			pxt_receive_run_start(run,
			    back_from(frames, frame.number, PXT_FRAME_NUMBER_MASK),
			    back_from(records, frame.records, 0xffffu));
		started = true;
		deliver(run, &frame);
		in->done.bad--;
	}
	in->waiting_bytes = 0;
	if (!started)
		pxt_receive_run_start(run, frames, records);
}

/* ---- Frames ---- */

static bool is_gone(const struct pxt_receiver *in, const unsigned char *uuid)
{
	for (unsigned i = 0; i < PXT_RECEIVER_RUNS; i++)
		if (memcmp(in->gone[i], uuid, PXT_LOG_UUID_BYTES) == 0)
			return true;
	return false;
}

/* Its own trailer ended it. */
static void let_go(struct pxt_receiver *in)
{
	memcpy(in->gone[in->gone_next++ % PXT_RECEIVER_RUNS], in->runs[0]->header.uuid,
	    PXT_LOG_UUID_BYTES);
	end_run(in, 0);
}

static struct pxt_receive_run *find_run(struct pxt_receiver *in, const unsigned char *uuid)
{
	for (unsigned i = 0; i < in->open; i++) {
		if (memcmp(in->runs[i]->header.uuid, uuid, PXT_LOG_UUID_BYTES) != 0)
			continue;
		to_front(in, i);
		return in->runs[0];
	}
	return NULL;
}

/* A number of a HEAD, in the order that its file head tells. */
static uint64_t count_at(const unsigned char *contents, uint32_t at)
{
	bool swapped = pxt_get32(contents + 8, false) != PXT_LOG_ORDER_MARK;

	return pxt_get64(contents + PXT_FRAME_COUNTS_AT + at, swapped);
}

/* ---- Heads that wait for another frame ---- */

static uint32_t seed_of(const unsigned char *uuid)
{
	return pxt_crc32(0, uuid, PXT_LOG_UUID_BYTES);
}

/* A frame of the stream came before its head. */
static bool is_awaited(const struct pxt_receiver *in, const unsigned char *uuid)
{
	struct pxt_linkframe frame;
	size_t at = 0;

	return next_waiting(in, seed_of(uuid), &at, &frame);
}

/* One of each sender: the oldest goes for a new one. */
static void keep_head(struct pxt_receiver *in, const unsigned char *contents)
{
	struct pxt_receiver_head *head = NULL;

	for (unsigned i = 0; i < PXT_RECEIVER_RUNS && !head; i++)
		if (in->heads[i].used && is_sent_by(in, in->heads[i].sender))
			head = &in->heads[i];
	if (!head)
		head = &in->heads[in->heads_next++ % PXT_RECEIVER_RUNS];
	if (!head->used || !is_sent_by(in, head->sender) ||
	    memcmp(head->first + PXT_FRAME_UUID_AT, contents + PXT_FRAME_UUID_AT,
	        PXT_LOG_UUID_BYTES) != 0)
		memcpy(head->first, contents, PXT_FRAME_HEAD_BYTES);
	memcpy(head->sender, in->sender, PXT_RECEIVE_SENDER_BYTES);
	memcpy(head->latest, contents, PXT_FRAME_HEAD_BYTES);
	head->used = true;
}

static struct pxt_receive_run *begin_run(struct pxt_receiver *in, const unsigned char *contents)
{
	struct pxt_receive_run *run = new_run(in, contents);

	if (run)
		adopt(in, run, count_at(contents, 0), count_at(contents, 8));
	return run;
}

/* The frame's sender sent a head before, and the frame is of the same stream: now it is one. */
static bool begin_kept(struct pxt_receiver *in, const struct pxt_linkframe *frame)
{
	for (unsigned i = 0; in->sender && i < PXT_RECEIVER_RUNS; i++) {
		struct pxt_receiver_head *head = &in->heads[i];
		uint32_t seed = seed_of(head->first + PXT_FRAME_UUID_AT);
		struct pxt_receive_run *run;

		if (!head->used || !is_sent_by(in, head->sender) ||
		    !pxt_linkframe_sound(frame, seed))
			continue;
		head->used = false;
		run = begin_run(in, head->first);
		if (run)
			(void)(pxt_receive_run_head(run, head->first) &&
			       pxt_receive_run_head(run, head->latest));
		return run != NULL;
	}
	return false;
}

static void take_head(struct pxt_receiver *in, const struct pxt_linkframe *frame)
{
	const unsigned char *contents = frame->contents;
	const unsigned char *uuid = contents + PXT_FRAME_UUID_AT;
	uint64_t frames = count_at(contents, 0);
	struct pxt_receive_run *run = find_run(in, uuid);

	if (run && !is_sent_by(in, run->sender)) {
		in->done.strange++;
		return;
	}

	/* A board that has nothing random may begin anew under its old UUID. */
	if (run && frames + PXT_RECEIVE_RUN_LATE < run->frames) {
		end_run(in, 0);
		run = NULL;
	}
	if (!run && frames && is_gone(in, uuid)) {
		in->done.frames_again++;
		return;
	}
	if (!run && in->sender && !is_awaited(in, uuid)) {
		keep_head(in, contents);
		return;
	}
	if (!run)
		run = begin_run(in, contents);
	if (!run)
		return;
	run->heard_ms = in->now_ms;
	(void)pxt_receive_run_head(run, contents);
	/* The trailer was among what waited. */
	if (run->ended)
		let_go(in);
}

/* True: it belongs to a run. */
static bool take_other(struct pxt_receiver *in, const struct pxt_linkframe *frame)
{
	for (unsigned i = 0; i < in->open; i++) {
		if (!pxt_linkframe_sound(frame, in->runs[i]->seed))
			continue;
		if (!is_sent_by(in, in->runs[i]->sender)) {
			in->done.strange++;
			return true;
		}
		to_front(in, i);
		in->runs[0]->heard_ms = in->now_ms;
		deliver(in->runs[0], frame);
		if (in->runs[0]->ended)
			let_go(in);
		return true;
	}
	return false;
}

static void take_frame(
    struct pxt_receiver *in, const unsigned char *bytes, size_t count, bool torso)
{
	struct pxt_linkframe frame;

	if (!pxt_linkframe_parse(&frame, bytes, count)) {
		in->done.bad += !torso;
	} else if (frame.kind == PXT_FRAME_HEAD) {
		if (frame.bytes >= PXT_FRAME_HEAD_BYTES && pxt_linkframe_sound(&frame, 0))
			take_head(in, &frame);
		else
			in->done.bad += !torso;
	} else if (!take_other(in, &frame) && !(begin_kept(in, &frame) && take_other(in, &frame)) &&
	           !torso) {
		in->done.bad++;
		let_wait(in, bytes, count);
	}
}

void pxt_receiver_packet(
    struct pxt_receiver *in, const unsigned char *sender, const unsigned char *bytes, size_t count)
{
	in->sender = sender;
	take_frame(in, bytes, count, false);
	in->sender = NULL;
}

static void take_frames(struct pxt_receiver *in, const unsigned char *bytes, size_t count)
{
	const unsigned char *at = bytes;
	struct pxt_linkpiece piece;

	while (pxt_linkcut_next(&in->cut, &at, bytes + count, &piece)) {
		if (piece.bytes)
			take_frame(in, piece.bytes, piece.count, piece.torso);
		else
			in->done.bad += !piece.torso;
	}
}

/* ---- Plain logs ---- */

static void end_plain(struct pxt_receiver *in)
{
	for (unsigned i = 0; i < in->open; i++) {
		if (in->runs[i] == in->plain_run) {
			end_run(in, i);
			return;
		}
	}
}

/* False: what follows is no continuation of this log. */
static bool take_blocks(struct pxt_receiver *in)
{
	for (;;) {
		switch (pxt_receive_plain_next(&in->plain, in->plain_run)) {
		case PXT_RECEIVE_PLAIN_HEAD:
			in->plain_run = new_run(in, in->plain.bytes);
			pxt_receive_plain_drop(&in->plain, PXT_LOG_HEADER_BYTES);
			if (!in->plain_run)
				return false;
			break;
		case PXT_RECEIVE_PLAIN_END:
			end_plain(in);
			return false;
		case PXT_RECEIVE_PLAIN_MORE:
		default:
			return true;
		}
	}
}

/* Returns how many bytes belong to this log. */
static size_t take_plain(struct pxt_receiver *in, const unsigned char *bytes, size_t count)
{
	size_t taken = pxt_receive_plain_add(&in->plain, bytes, count);

	if (!taken) {
		in->plain.bad++;
		in->plain.used = 0;
		return count;
	}
	if (take_blocks(in))
		return taken;
	/* What is left behind its end came with these bytes, and is looked at again. */
	if (in->plain.used < taken)
		taken -= in->plain.used;
	in->plain.used = 0;
	in->form = PXT_RECEIVER_UNDECIDED;
	return taken;
}

/* ---- Bytes ---- */

/* A plain log begins with its magic, frames do not. */
static size_t decide(struct pxt_receiver *in, const unsigned char *bytes, size_t count)
{
	size_t taken = 0;

	while (taken < count && in->form == PXT_RECEIVER_UNDECIDED) {
		in->peek[in->peeked++] = bytes[taken++];
		if (memcmp(in->peek, file_magic, in->peeked) != 0)
			in->form = PXT_RECEIVER_FRAMES;
		else if (in->peeked == sizeof in->peek)
			in->form = PXT_RECEIVER_PLAIN;
	}
	if (in->form == PXT_RECEIVER_FRAMES)
		take_frames(in, in->peek, in->peeked);
	else if (in->form == PXT_RECEIVER_PLAIN)
		(void)pxt_receive_plain_add(&in->plain, in->peek, in->peeked);
	if (in->form != PXT_RECEIVER_UNDECIDED)
		in->peeked = 0;
	return taken;
}

void pxt_receiver_bytes(struct pxt_receiver *in, const unsigned char *bytes, size_t count)
{
	while (count) {
		size_t taken = count;

		if (in->form == PXT_RECEIVER_UNDECIDED)
			taken = decide(in, bytes, count);
		else if (in->form == PXT_RECEIVER_FRAMES)
			take_frames(in, bytes, count);
		else
			taken = take_plain(in, bytes, count);
		bytes += taken;
		count -= taken;
	}
}

void pxt_receiver_break(struct pxt_receiver *in)
{
	pxt_linkcut_reset(&in->cut);
	end_plain(in);
	in->plain.used = 0;
	in->peeked = 0;
	in->form = PXT_RECEIVER_UNDECIDED;
}

void pxt_receiver_cut(struct pxt_receiver *in)
{
	for (unsigned i = 0; i < in->open; i++)
		in->runs[i]->cut = true;
}

void pxt_receiver_flush(struct pxt_receiver *in)
{
	for (unsigned i = 0; i < in->open; i++) {
		pxt_receive_run_flush(in->runs[i]);
		in->error = in->error ? in->error : in->runs[i]->error;
	}
}

int pxt_receiver_end(struct pxt_receiver *in)
{
	while (in->open)
		end_run(in, in->open - 1u);
	free(in->waiting);
	free(in->plain.bytes);
	in->waiting = NULL;
	in->plain.bytes = NULL;
	return in->error;
}
