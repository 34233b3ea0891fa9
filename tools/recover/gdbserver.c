/* SPDX-License-Identifier: MIT */
/*
 * gdbserver.c - a target behind a debugger's server: GDB's remote protocol, as far as memory needs it,
 * and a stream that is followed by it; see recover.h.
 */
#define _GNU_SOURCE
#include "tools/recover/recover.h"

#include "format/hexdigit.h"
#include "tools/output/out.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- GDB's remote protocol, as far as memory needs it ---- */

#define PREFIX    "gdb:"
#define WAIT_MS   100
#define WAITS     100u  /* so often, without a byte */
#define PIECE     1024u /* of memory in one answer; any server takes as much */
#define ANSWER    (2u * PIECE + 16u)
#define BYTES_MAX (UINT64_C(1) << 30)
#define BREAK     0x03 /* a byte outside of packets: halt */

bool pxt_gdbserver_is(const char *text)
{
	return strncmp(text, PREFIX, sizeof PREFIX - 1) == 0;
}

/* ---- Bytes ---- */

/* False: none came in time, or the connection is over. */
static bool next_byte(struct pxt_target *target, unsigned char *byte)
{
	for (unsigned i = 0; target->used == target->count; i++) {
		enum pxt_linkdevice_news news;

		if (i == WAITS)
			return false;
		target->used = target->count = 0;
		news = pxt_linkdevice_read(
		    &target->link, target->came, sizeof target->came, &target->count, WAIT_MS);
		if (news == PXT_FROM_BROKEN || news == PXT_FROM_END || news == PXT_FROM_ERROR) {
			target->over = true;
			return false;
		}
		if (news != PXT_FROM_BYTES)
			target->count = 0;
	}
	*byte = target->came[target->used++];
	return true;
}

static bool send_bytes(struct pxt_target *target, const void *bytes, size_t count)
{
	return pxt_linkdevice_write(&target->link, bytes, count, WAIT_MS * (int)WAITS);
}

/* ---- Packets: "$", text, "#" and the sum of the text as two digits ---- */

static unsigned sum_of(const char *text)
{
	unsigned sum = 0;

	while (*text)
		sum += (unsigned char)*text++;
	return sum & 0xffu;
}

static bool send_packet(struct pxt_target *target, const char *text)
{
	char packet[64];
	int length = snprintf(packet, sizeof packet, "$%s#%02x", text, sum_of(text));

	return send_bytes(target, packet, (size_t)length);
}

/* The next one; those that were spoilt are asked for again.  False: none came, or it is too long. */
static bool take_packet(struct pxt_target *target, char *text, size_t room)
{
	unsigned char byte;
	char sum[3] = { 0 };
	size_t used;
	bool sound;

	do {
		used = 0;
		do {
			if (!next_byte(target, &byte))
				return false;
		} while (byte != '$');
		while (next_byte(target, &byte) && byte != '#') {
			if (used + 1 == room)
				return false;
			text[used++] = (char)byte;
		}
		text[used] = '\0';
		for (unsigned i = 0; i < 2; i++) {
			if (!next_byte(target, &byte))
				return false;
			sum[i] = (char)byte;
		}
		sound = strtoul(sum, NULL, 16) == sum_of(text);
		if (!send_bytes(target, sound ? "+" : "-", 1))
			return false;
	} while (!sound);
	return true;
}

/* Why it stands still; false: it does not, or has ended. */
static bool take_stop(struct pxt_target *target)
{
	char text[ANSWER];

	/* Text of the target's own console comes in between. */
	do {
		if (!take_packet(target, text, sizeof text))
			return false;
	} while (*text == 'O');
	target->over = *text == 'W' || *text == 'X';
	target->running = false;
	return *text == 'T' || *text == 'S';
}

bool pxt_gdbserver_halt(struct pxt_target *target)
{
	const unsigned char stop = BREAK;

	return !target->running || (send_bytes(target, &stop, 1) && take_stop(target));
}

static bool let_go_on(struct pxt_target *target)
{
	target->running = send_packet(target, "c");
	return target->running;
}

/* QEMU tells twice that it stands still. */
static bool take_answer(struct pxt_target *target, char *text)
{
	do {
		if (!take_packet(target, text, ANSWER))
			return false;
	} while (*text == 'T' || *text == 'S' || *text == 'O');
	return true;
}

/* It runs on.  A server that GDB was connected to before may want a process's number, as QEMU does. */
static void let_go(struct pxt_target *target)
{
	char text[ANSWER];

	if (send_packet(target, "D") && take_answer(target, text) && *text == 'E' &&
	    send_packet(target, "D;1"))
		(void)take_answer(target, text);
}

/* ---- Memory ---- */

/* False: the answer is an error, or shorter. */
static bool take_memory(struct pxt_target *target, unsigned char *bytes, size_t count)
{
	char text[ANSWER];

	if (!take_answer(target, text) || strlen(text) != 2 * count)
		return false;
	for (size_t i = 0; i < count; i++) {
		int high = pxt_hexdigit(text[2 * i]);
		int low = pxt_hexdigit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

bool pxt_gdbserver_read(struct pxt_target *target, uint64_t offset, uint64_t bytes)
{
	unsigned char piece[PIECE];

	for (uint64_t end = offset + bytes; offset < end;) {
		size_t count = end - offset < PIECE ? (size_t)(end - offset) : PIECE;
		char ask[48];

		(void)snprintf(
		    ask, sizeof ask, "m%llx,%zx", (unsigned long long)(target->at + offset), count);
		if (!send_packet(target, ask) || !take_memory(target, piece, count) ||
		    pwrite(target->fd, piece, count, (off_t)offset) != (ssize_t)count)
			return false;
		offset += count;
	}
	return true;
}

/* ---- Open and close ---- */

/* "HOST:PORT,ADDRESS,BYTES"; @link: "tcp:HOST:PORT". */
static bool parse(struct pxt_target *target, const char *text, char *link, size_t room)
{
	const char *comma = strchr(text, ',');
	char *end = NULL;
	int length;

	if (!comma)
		return false;
	length = snprintf(link, room, "tcp:%.*s", (int)(comma - text), text);
	target->at = strtoull(comma + 1, &end, 0);
	if (length < 0 || (size_t)length >= room || end == comma + 1 || *end != ',')
		return false;
	comma = end;
	target->bytes = strtoull(comma + 1, &end, 0);
	return end != comma + 1 && !*end && target->bytes > 0 && target->bytes <= BYTES_MAX;
}

/* A connection is made by the first reading. */
static bool reach(struct pxt_target *target)
{
	for (unsigned i = 0; i < WAITS && target->link.fd < 0; i++) {
		if (pxt_linkdevice_read(&target->link, target->came, sizeof target->came,
		        &target->count, WAIT_MS) == PXT_FROM_ERROR)
			return false;
	}
	return target->link.fd >= 0;
}

bool pxt_gdbserver_open(struct pxt_target *target, const char *text)
{
	char link[300];

	memset(target, 0, sizeof *target);
	target->fd = -1;
	if (!parse(target, text + sizeof PREFIX - 1, link, sizeof link)) {
		pxt_complain("recover: \"%s\": where is its memory? gdb:HOST:PORT,ADDRESS,BYTES, "
		             "e.g. gdb:localhost:3333,0x20000000,0x10000",
		    text);
		return false;
	}
	if (!pxt_linkdevice_parse(&target->link, "recover", link))
		return false;
	target->link.writes = true;
	target->link.text = text;
	target->fd = memfd_create("target", MFD_CLOEXEC);
	if (target->fd < 0 || ftruncate(target->fd, (off_t)target->bytes) != 0) {
		pxt_complain("recover: %s", strerror(errno));
		pxt_gdbserver_close(target);
		return false;
	}
	if (reach(target) && send_packet(target, "?") && take_stop(target))
		return true;
	pxt_complain("recover: %s: no debugger's server answers", text);
	pxt_gdbserver_close(target);
	return false;
}

void pxt_gdbserver_close(struct pxt_target *target)
{
	if (target->link.fd >= 0 && !target->over && pxt_gdbserver_halt(target))
		let_go(target);
	pxt_linkdevice_close(&target->link);
	if (target->fd >= 0)
		(void)close(target->fd);
	target->fd = -1;
}

/* ---- Look, write what is new, let it run, and again ---- */

/* Between two looks: as long as the stream is mostly new at each, or hardly. */
#define PAUSE_MS     50
#define PAUSE_MS_MIN 1
#define PAUSE_MS_MAX 200

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	(void)number;
	stopped = 1;
}

static void heed_signals(void)
{
	struct sigaction action = { .sa_handler = stop };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
}

/* It runs for a while, and stands still again.  False: it has ended. */
static bool let_run(struct pxt_target *target, int ms)
{
	if (!let_go_on(target))
		return false;
	(void)poll(NULL, 0, ms);
	return pxt_gdbserver_halt(target);
}

bool pxt_follow_appear(struct pxt_target *target, const struct pxt_image *image)
{
	struct pxt_finds finds = { 0 };
	bool there = false;

	heed_signals();
	while (!stopped && pxt_find(&finds, image)) {
		there = finds.stream_count > 0;
		pxt_find_free(&finds);
		if (there || !let_run(target, PAUSE_MS_MAX) ||
		    !pxt_gdbserver_read(target, 0, target->bytes))
			return there;
	}
	pxt_find_free(&finds);
	return false;
}

/* ---- One image ---- */

struct look {
	struct pxt_finds finds;
	struct pxt_recovered recovered;
};

struct follow {
	struct pxt_target *target;
	const struct pxt_image *image;
	uint64_t at;
	uint64_t key; /* of the stream; a reset makes another one */
	uint64_t created;
	bool begun;
	int pause_ms;
	struct look last;
	struct pxt_streamimage_place place;
	struct pxt_streamimage_place stuck;
};

/* Any one, before it has begun. */
static bool is_same(const struct follow *follow, const struct pxt_found *found)
{
	return !found->wrong && !found->small &&
	       (!follow->begun || (follow->key == found->header.key &&
	                              follow->created == found->stream.created_ticks));
}

static const struct pxt_found *find_again(const struct follow *follow, struct pxt_finds *finds)
{
	if (!pxt_find(finds, follow->image))
		return NULL;
	for (size_t i = 0; i < finds->stream_count; i++)
		if (finds->streams[i].at == follow->at && is_same(follow, &finds->streams[i]))
			return &finds->streams[i];
	return NULL;
}

static const char *load(struct follow *follow, struct look *look)
{
	static const char reset[] = "the target was reset, or its stream has ended";
	const struct pxt_found *found = find_again(follow, &look->finds);
	const char *wrong;

	if (!found)
		return reset;
	if (found->stream.lanes != 1)
		return "a stream of several lanes cannot be followed";
	follow->key = found->header.key;
	follow->created = found->stream.created_ticks;
	wrong = pxt_recover_load(
	    &look->recovered, &look->finds, found, false, follow->begun ? &follow->place : NULL);
	/* A board that has nothing random may create its stream with the same key, at the same tick. */
	if (!wrong && follow->begun &&
	    look->recovered.streamimage.lanes[0].head_pos < follow->place.pos)
		return reset;
	return wrong;
}

/* @slots: that are new; the stream has @all. */
static int pause_after(int ms, uint64_t slots, uint64_t all)
{
	if (slots > all / 2u)
		return ms / 2 > PAUSE_MS_MIN ? ms / 2 : PAUSE_MS_MIN;
	if (slots < all / 8u)
		return ms * 2 < PAUSE_MS_MAX ? ms * 2 : PAUSE_MS_MAX;
	return ms;
}

/* NULL; or why it is the last one. */
static const char *take(struct follow *follow, const char *output, struct pxt_written *written)
{
	const uint64_t before = follow->place.pos;
	struct look look;
	const char *wrong;

	memset(&look, 0, sizeof look);
	wrong = load(follow, &look);
	if (!wrong && !follow->begun)
		wrong = pxt_recover_begin(&look.recovered, output, written);
	if (wrong) {
		pxt_recover_free(&look.recovered);
		pxt_find_free(&look.finds);
		return wrong;
	}
	pxt_recover_add(&look.recovered, &follow->place, &follow->stuck);
	pxt_recover_free(&follow->last.recovered);
	pxt_find_free(&follow->last.finds);
	follow->last = look;
	if (follow->begun)
		follow->pause_ms = pause_after(follow->pause_ms, follow->place.pos - before,
		    look.recovered.streamimage.header->slots);
	follow->begun = true;
	return NULL;
}

/* ---- All of them ---- */

static bool read_block(const struct follow *follow, const struct pxt_found *found)
{
	uint64_t bytes = found->header.bytes;

	if (found->at >= follow->target->bytes)
		return false;
	if (bytes > follow->target->bytes - found->at)
		bytes = follow->target->bytes - found->at;
	return pxt_gdbserver_read(follow->target, found->at, bytes);
}

/* The stream's block and its directory alone, where they were. */
static bool read_again(const struct follow *follow)
{
	const struct pxt_found *directory;
	struct pxt_found found;

	if (!pxt_find_stream_at(follow->image, follow->at, &found))
		return false;
	directory = pxt_find_directory(&follow->last.finds, &found);
	return read_block(follow, &found) && (!directory || read_block(follow, directory));
}

const char *pxt_follow(struct pxt_target *target, const struct pxt_image *image, uint64_t at,
    const char *output, struct pxt_written *written, int *error)
{
	static struct follow follow;
	const char *wrong;

	memset(&follow, 0, sizeof follow);
	follow.target = target;
	follow.image = image;
	follow.at = at;
	follow.pause_ms = PAUSE_MS;
	*error = 0;
	do
		wrong = take(&follow, output, written);
	while (!wrong && !stopped && let_run(target, follow.pause_ms) && read_again(&follow));
	if (!follow.begun)
		return wrong;
	if (wrong)
		pxt_explain("%s", wrong);
	*error = pxt_recover_end(&follow.last.recovered);
	pxt_recover_free(&follow.last.recovered);
	pxt_find_free(&follow.last.finds);
	return NULL;
}
