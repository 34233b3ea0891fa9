/* SPDX-License-Identifier: MIT */
/* follow.c - look, write what is new, let it run, and again; see target.h. */
#include "tools/recover/target.h"

#include "tools/output/say.h"

#include <poll.h>
#include <signal.h>
#include <string.h>

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
	if (!pxt_target_go_on(target))
		return false;
	(void)poll(NULL, 0, ms);
	return pxt_target_halt(target);
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
		    !pxt_target_read(target, 0, target->bytes))
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
	return !found->wrong &&
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
	const struct pxt_found *found = find_again(follow, &look->finds);

	if (!found)
		return "the target was reset, or its stream has ended";
	if (found->stream.lanes != 1)
		return "a stream of several lanes cannot be followed";
	follow->key = found->header.key;
	follow->created = found->stream.created_ticks;
	return pxt_recover_load(
	    &look->recovered, &look->finds, found, false, follow->begun ? &follow->place : NULL);
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
	return pxt_target_read(follow->target, found->at, bytes);
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
