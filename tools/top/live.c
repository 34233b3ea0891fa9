/* SPDX-License-Identifier: MIT */
/* live.c - streams of running programs, reached, asked and read; see top.h. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/top/top.h"

#include "format/logfmt.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/remote/ctlsock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NS_PER_S    INT64_C(1000000000)
#define LOOK_NS     NS_PER_S       /* who is there */
#define ASK_NS      (NS_PER_S / 4) /* how are you? */
#define MUTE_NS     (2 * NS_PER_S) /* so long an answer may take */
#define SHOWN_NS    (3 * NS_PER_S) /* so long one that has ended is shown */
#define LATE_NS     (2 * NS_PER_S) /* who was not read for so long does not count what waits */
#define CATCH_UP_NS NS_PER_S       /* nor is it longer than this */
#define TAKE_EVENTS 50000u         /* of one stream, before the next one's turn */
#define FREE_EVENTS 128u

struct stream {
	char *name;
	uint32_t number;
	bool is_named; /* on the command line */
	struct pxt_model *model;
	/* Asked how it is. */
	struct pxt_remote control;
	bool is_asked;
	int64_t asked_ns;
	bool has_status;
	const char *trouble; /* why nothing new is known; NULL: all is well */
	bool has_ended;
	int64_t ended_ns;
	/* What happens in it. */
	enum {
		UNREAD,  /* not asked for yet */
		WANTED,  /* asked for, and not answered */
		BEGINS,  /* the log's head is to come */
		READ,    /* its events are read */
		LEFT_OUT /* it refused, or what came was no log */
	} reading;
	struct pxt_remote events;
	int memory;
	struct pxt_reader reader;
	struct pxt_behind behind;
	uint64_t older; /* so many events are from before we came */
	int64_t taken_ns;
	int64_t counts_ns; /* what is taken before may have waited for long */
	uint32_t turn;
};

struct pxt_live {
	char *const *names; /* of the command line */
	size_t name_count;
	int64_t slot_ns;
	int64_t begun_ns;
	int64_t now_ns;
	int64_t looked_ns;
	struct stream *streams[PXT_LIVE_STREAMS];
	uint32_t count;
	uint32_t next_number;
};

/* ---- Coming and going ---- */

static void close_reading(struct stream *stream)
{
	pxt_remote_close(&stream->events);
	if (stream->reading == WANTED || stream->reading == BEGINS)
		(void)close(stream->memory);
	/* The reader's memory stays with it: the model has names of it. */
	if (stream->reading != READ)
		stream->reading = LEFT_OUT;
}

static void forget_stream(struct stream *stream)
{
	close_reading(stream);
	pxt_remote_close(&stream->control);
	pxt_model_free(stream->model);
	pxt_reader_close(&stream->reader);
	free(stream->name);
	free(stream);
}

static struct stream *find_stream(const struct pxt_live *live, const char *name)
{
	for (uint32_t i = 0; i < live->count; i++)
		if (strcmp(live->streams[i]->name, name) == 0)
			return live->streams[i];
	return NULL;
}

static void has_ended(struct pxt_live *live, struct stream *stream)
{
	if (stream->has_ended)
		return;
	stream->has_ended = true;
	stream->ended_ns = live->now_ns;
	stream->trouble = "ended";
	pxt_remote_close(&stream->control);
	close_reading(stream);
}

/* Connects; NULL where it is not there, or there is no place for it. */
static struct stream *add_stream(struct pxt_live *live, const char *name, enum pxt_reach *reach)
{
	struct stream *stream;

	if (live->count == PXT_LIVE_STREAMS)
		return NULL;
	stream = pxt_must(calloc(1, sizeof *stream));
	stream->name = pxt_must(strdup(name));
	stream->events.fd = stream->memory = -1;
	*reach = pxt_remote_open(&stream->control, stream->name);
	if (*reach != PXT_REACH_OK) {
		free(stream->name);
		free(stream);
		return NULL;
	}
	stream->number = live->next_number++;
	stream->model = pxt_model_new(live->slot_ns, live->now_ns);
	live->streams[live->count++] = stream;
	return stream;
}

/* A program that was begun anew has its name again. */
static void look_for_named(struct pxt_live *live)
{
	for (uint32_t i = 0; i < live->count; i++) {
		struct stream *old = live->streams[i];
		struct stream *anew;
		enum pxt_reach reach;

		if (!old->has_ended)
			continue;
		anew = add_stream(live, old->name, &reach);
		if (!anew)
			continue;
		anew->is_named = true;
		live->streams[i] = anew;
		live->count--;
		forget_stream(old);
	}
}

static void look_around(struct pxt_live *live)
{
	struct pxt_remote_names names;
	enum pxt_reach reach;

	live->looked_ns = live->now_ns;
	if (live->name_count > 0) {
		look_for_named(live);
		return;
	}
	pxt_remote_list(&names);
	for (size_t i = 0; i < names.count; i++)
		if (!find_stream(live, names.names[i]))
			(void)add_stream(live, names.names[i], &reach);
	pxt_remote_list_free(&names);
}

/* Those that have ended are seen for a while, so that somebody sees it. */
static void drop_ended(struct pxt_live *live)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < live->count; i++) {
		struct stream *stream = live->streams[i];

		if (stream->has_ended && !stream->is_named &&
		    live->now_ns - stream->ended_ns >= SHOWN_NS)
			forget_stream(stream);
		else
			live->streams[kept++] = stream;
	}
	live->count = kept;
}

/* ---- How it is ---- */

static void take_answer(struct pxt_live *live, struct stream *stream, enum pxt_reach reach)
{
	const struct pxt_ctlsock_status *status = &stream->control.status;

	stream->is_asked = false;
	if (reach == PXT_REACH_OK) {
		stream->has_status = true;
		stream->trouble = NULL;
		pxt_model_status(stream->model, status->written, status->lost);
	} else if (reach == PXT_REACH_REFUSED || reach == PXT_REACH_DENIED) {
		stream->trouble = "refuses";
	} else {
		has_ended(live, stream);
		/* After a malformed reply it is unknown where the next one begins. */
		if (reach != PXT_REACH_GONE)
			stream->trouble = "unknown";
	}
}

static void ask(struct pxt_live *live, struct stream *stream)
{
	const struct pxt_ask question = { .what = PXT_CTLSOCK_STATUS, .fd = -1 };
	enum pxt_reach reach;

	if (stream->is_asked && pxt_remote_answered(&stream->control, PXT_CTLSOCK_STATUS, &reach))
		take_answer(live, stream, reach);
	if (stream->is_asked && live->now_ns - stream->asked_ns >= MUTE_NS)
		stream->trouble = "no answer";
	if (stream->has_ended || stream->is_asked || live->now_ns - stream->asked_ns < ASK_NS)
		return;
	stream->asked_ns = live->now_ns;
	reach = pxt_remote_send(&stream->control, &question);
	stream->is_asked = reach == PXT_REACH_OK;
	if (!stream->is_asked)
		take_answer(live, stream, reach);
}

/* ---- What happens in it ---- */

static uint32_t followed(const struct pxt_live *live)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < live->count; i++)
		count +=
		    live->streams[i]->reading != UNREAD && live->streams[i]->reading != LEFT_OUT;
	return count;
}

static void want_events(struct stream *stream)
{
	struct pxt_ask question = { .what = PXT_CTLSOCK_FOLLOW };

	stream->reading = WANTED;
	question.fd = memfd_create("pxtrace-top", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	stream->memory = question.fd;
	if (question.fd < 0)
		stream->reading = LEFT_OUT;
	else if (pxt_remote_open(&stream->events, stream->name) != PXT_REACH_OK ||
	         pxt_remote_send(&stream->events, &question) != PXT_REACH_OK)
		close_reading(stream);
}

static void take_leave(struct stream *stream)
{
	enum pxt_reach reach;

	if (!pxt_remote_answered(&stream->events, PXT_CTLSOCK_FOLLOW, &reach))
		return;
	if (reach == PXT_REACH_OK) {
		stream->reading = BEGINS;
		stream->older = stream->events.status.held;
	} else {
		close_reading(stream);
	}
}

/* The owner may still be writing the log's head. */
static void open_log(struct pxt_live *live, struct stream *stream)
{
	unsigned char raw[PXT_LOG_HEADER_BYTES];

	if (pread(stream->memory, raw, sizeof raw, 0) != (ssize_t)sizeof raw)
		return;
	stream->behind.fd = stream->memory;
	/* The reader closes the memory in any case. */
	stream->reading = LEFT_OUT;
	if (pxt_reader_open_growing(&stream->reader, stream->name, stream->memory, NULL) !=
	    PXT_EXIT_OK) {
		pxt_reader_close(&stream->reader);
		pxt_remote_close(&stream->events);
		return;
	}
	stream->reading = READ;
	stream->taken_ns = live->now_ns;
	stream->reader.sources[0]->let_go = true;
	pxt_model_open(stream->model, &stream->reader);
}

/* True: there is more. */
static bool take_events(struct pxt_live *live, struct stream *stream)
{
	struct pxt_event *event;

	if (live->now_ns - stream->taken_ns >= LATE_NS)
		stream->counts_ns = live->now_ns + CATCH_UP_NS;
	stream->taken_ns = live->now_ns;
	for (unsigned i = 0; i < TAKE_EVENTS; i++) {
		event = pxt_reader_next(&stream->reader);
		if (!event) {
			stream->counts_ns = live->now_ns;
			(void)pxt_reader_again(&stream->reader);
			return false;
		}
		pxt_model_take(
		    stream->model, event, stream->older == 0 && live->now_ns >= stream->counts_ns);
		stream->older -= stream->older > 0;
		if (++stream->turn % FREE_EVENTS == 0)
			pxt_behind_read(&stream->behind, event->extra.posix_number_np);
	}
	return true;
}

static bool read_on(struct pxt_live *live, struct stream *stream)
{
	if (stream->reading == UNREAD && stream->has_status && !stream->has_ended &&
	    followed(live) < PXT_LIVE_FOLLOWED)
		want_events(stream);
	if (stream->reading == WANTED)
		take_leave(stream);
	if (stream->reading == BEGINS)
		open_log(live, stream);
	return stream->reading == READ && take_events(live, stream);
}

/* ---- All of them ---- */

struct pxt_live *pxt_live_new(char *const *names, size_t count, int64_t slot_ns, int64_t now_ns)
{
	struct pxt_live *live = pxt_must(calloc(1, sizeof *live));

	live->names = names;
	live->name_count = count;
	live->slot_ns = slot_ns;
	live->begun_ns = live->now_ns = now_ns;
	return live;
}

void pxt_live_free(struct pxt_live *live)
{
	for (uint32_t i = 0; i < live->count; i++)
		forget_stream(live->streams[i]);
	free(live);
}

static int add_named(struct pxt_live *live, const char *name)
{
	struct pxt_remote remote = { .name = name };
	enum pxt_reach reach = PXT_REACH_OK;
	struct stream *stream;

	if (find_stream(live, name))
		return PXT_EXIT_OK;
	stream = add_stream(live, name, &reach);
	if (stream) {
		stream->is_named = true;
		return PXT_EXIT_OK;
	}
	if (reach == PXT_REACH_OK) {
		pxt_complain("top: %s: no more than %u streams at once", name, PXT_LIVE_STREAMS);
		return PXT_EXIT_USAGE;
	}
	/* Once more, for the words about it. */
	reach = pxt_remote_open(&remote, name);
	pxt_remote_close(&remote);
	return pxt_remote_complain("top", &remote, reach);
}

int pxt_live_begin(struct pxt_live *live)
{
	int status = PXT_EXIT_OK;

	if (live->name_count == 0 && !pxt_remote_look("top"))
		status = PXT_EXIT_LOG;
	for (size_t i = 0; i < live->name_count && status == PXT_EXIT_OK; i++)
		status = add_named(live, live->names[i]);
	look_around(live);
	return status;
}

bool pxt_live_step(struct pxt_live *live, int64_t now_ns)
{
	bool more = false;

	live->now_ns = now_ns;
	if (now_ns - live->looked_ns >= LOOK_NS)
		look_around(live);
	for (uint32_t i = 0; i < live->count; i++) {
		struct stream *stream = live->streams[i];

		pxt_model_tick(stream->model, now_ns);
		ask(live, stream);
		more = read_on(live, stream) || more;
	}
	drop_ended(live);
	return more;
}

uint32_t pxt_live_count(const struct pxt_live *live)
{
	return live->count;
}

bool pxt_live_over(const struct pxt_live *live)
{
	for (uint32_t i = 0; i < live->count; i++)
		if (!live->streams[i]->has_ended)
			return false;
	return live->name_count > 0;
}

const char *pxt_live_name(const struct pxt_live *live, uint32_t stream)
{
	for (uint32_t i = 0; i < live->count; i++)
		if (live->streams[i]->number == stream)
			return live->streams[i]->name;
	return NULL;
}

static void add_row(const struct stream *stream, struct pxt_numbers *numbers)
{
	const struct pxt_ctlsock_status *status = &stream->control.status;
	struct pxt_numbers_row *row =
	    pxt_numbers_add(numbers, PXT_NUMBERS_STREAMS, pxt_model_rate(stream->model));

	if (!row)
		return;
	(void)pxt_escape(stream->name, strlen(stream->name), row->label, sizeof row->label, NULL);
	row->stream = stream->number;
	row->state = stream->trouble      ? stream->trouble
	             : stream->has_status ? pxt_status_state(status)
	                                  : "...";
	row->pid = status->pid;
	row->values[PXT_NUMBERS_FILL] = pxt_status_fill(status);
	(void)pxt_escape(status->executable,
	    pxt_remote_bytes(status->executable, sizeof status->executable), row->program,
	    sizeof row->program, NULL);
	pxt_model_rates(stream->model, row);
}

void pxt_live_numbers(struct pxt_live *live, struct pxt_numbers *numbers)
{
	int64_t all = live->now_ns - live->begun_ns;
	int64_t most = PXT_MODEL_SLOTS * live->slot_ns;

	pxt_numbers_clear(numbers);
	numbers->seconds = (double)(all < most ? all : most) / 1e9;
	for (uint32_t i = 0; i < live->count; i++) {
		add_row(live->streams[i], numbers);
		pxt_model_rows(live->streams[i]->model, live->streams[i]->number, numbers);
	}
}
