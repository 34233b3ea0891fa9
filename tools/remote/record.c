/* SPDX-License-Identifier: MIT */
/* record.c - what another process writes into memory, into a log; see ctlsock.h. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "tools/remote/ctlsock.h"

#include "tools/output/out.h"
#include "tools/receive/receiver.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS    50
#define FLUSH_NS   INT64_C(200000000)
#define READ_BYTES 65536u
#define PIECE      ((uint64_t)1 << 20) /* is worth a call of the system */
#define NS_PER_S   INT64_C(1000000000)

struct recording {
	const struct pxt_record *record;
	const struct pxt_remote *remote;
	struct pxt_receiver in;
	int memory;
	uint64_t at;    /* so much of it was read, ... */
	uint64_t freed; /* ... and so much given back */
	int64_t begun_ns;
	int64_t flushed_ns;
	bool refused;  /* what came is no log that can be taken */
	bool begun;    /* a log was begun, ... */
	bool ended;    /* ... the stream ended it, ... */
	bool gone;     /* ... or its process is gone */
	bool unknown;  /* how much was recorded at last */
	uint64_t kept; /* of the log */
	uint64_t lost;
};

static void told(void *context, enum pxt_receiver_event event, const struct pxt_receive_run *run,
    const char *text)
{
	struct recording *recording = context;

	if (event == PXT_RECEIVER_REFUSED) {
		recording->refused = true;
		pxt_complain("attach: %s: a trace was refused: %s", recording->remote->name, text);
	}
	if (event == PXT_RECEIVER_BEGUN)
		recording->begun = true;
	if (event != PXT_RECEIVER_ENDED)
		return;
	recording->ended = true;
	recording->unknown = run->end_unknown;
	recording->kept = run->kept;
	recording->lost = run->target_lost + (run->missing - run->early);
}

/* ---- While it goes on ---- */

static void give_back(struct recording *recording)
{
	uint64_t end = recording->at / PIECE * PIECE;

	if (end <= recording->freed)
		return;
	(void)fallocate(recording->memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
	    (off_t)recording->freed, (off_t)(end - recording->freed));
	recording->freed = end;
}

/* No more than the size that was asked for: what is behind it is not taken. */
static size_t wanted(const struct recording *recording)
{
	uint64_t size = recording->record->size;
	uint64_t left = size > recording->at ? size - recording->at : 0;

	return size == 0 || left > READ_BYTES ? READ_BYTES : (size_t)left;
}

/* False: nothing more is there. */
static bool take_some(struct recording *recording)
{
	static unsigned char bytes[READ_BYTES];
	ssize_t got = pread(recording->memory, bytes, wanted(recording), (off_t)recording->at);

	if (got <= 0)
		return false;
	pxt_receiver_bytes(&recording->in, bytes, (size_t)got);
	recording->at += (uint64_t)got;
	give_back(recording);
	return true;
}

static bool is_full(const struct recording *recording)
{
	return recording->record->size != 0 && recording->at >= recording->record->size;
}

static bool is_over(const struct recording *recording, int64_t now)
{
	int64_t limit = recording->record->for_ns;

	return limit != 0 && now - recording->begun_ns >= limit;
}

static int wait_ms(const struct recording *recording, int64_t now)
{
	int64_t limit = recording->record->for_ns;
	int64_t left = limit == 0 ? INT64_MAX : recording->begun_ns + limit - now;

	return left < WAIT_MS * (NS_PER_S / 1000) ? (int)(left / 1000000) + 1 : WAIT_MS;
}

/* A log's head is there at once, or never. */
static bool is_mute(const struct recording *recording, int64_t now)
{
	return !recording->begun &&
	       now - recording->begun_ns >= PXT_REMOTE_WAIT_MS * (NS_PER_S / 1000);
}

static bool has_ended(const struct recording *recording, int64_t now)
{
	return recording->ended || recording->refused || recording->in.error != 0 ||
	       is_full(recording) || is_over(recording, now) || is_mute(recording, now);
}

/* The owner says nothing any more: whatever comes is the end, and all it wrote is there. */
static void go_on(struct recording *recording, const volatile sig_atomic_t *stop)
{
	struct pollfd connection = { .fd = recording->remote->fd, .events = POLLIN };

	for (;;) {
		bool more = take_some(recording);
		int64_t now = pxt_when_monotonic();

		if (*stop || has_ended(recording, now) || (recording->gone && !more))
			return;
		if (now - recording->flushed_ns >= FLUSH_NS) {
			pxt_receiver_flush(&recording->in);
			recording->flushed_ns = now;
		}
		if (!more && !recording->gone)
			recording->gone = poll(&connection, 1, wait_ms(recording, now)) > 0;
	}
}

/* ---- The end ---- */

static int conclude(const struct recording *recording, int error, bool by_itself)
{
	const struct pxt_record *record = recording->record;
	const char *name = recording->remote->name;

	if (error != 0) {
		pxt_complain("attach: %s: %s", record->output, strerror(error));
		return PXT_EXIT_OUTPUT;
	}
	if (!recording->begun) {
		pxt_complain("attach: %s: its process wrote no log", name);
		return PXT_EXIT_LOG;
	}
	if (!record->quiet || recording->lost > 0)
		pxt_complain("%s: %llu events in %.3f s, %llu lost", record->output,
		    (unsigned long long)recording->kept,
		    (double)(pxt_when_monotonic() - recording->begun_ns) / 1e9,
		    (unsigned long long)recording->lost);
	if (by_itself && recording->unknown) {
		pxt_complain(
		    "attach: %s: its process ended without shutting the stream down", name);
		pxt_explain("what it recorded last may be in its black box or core file: "
		            "`pxtrace recover`");
		return PXT_EXIT_LOG;
	}
	if (recording->refused)
		return PXT_EXIT_LOG;
	return record->strict && recording->lost > 0 ? PXT_EXIT_LOST : PXT_EXIT_OK;
}

int pxt_record_run(const struct pxt_record *record, const struct pxt_remote *remote, int memory,
    const volatile sig_atomic_t *stop)
{
	struct recording recording = { .record = record,
		.remote = remote,
		.memory = memory,
		.begun_ns = pxt_when_monotonic() };
	int error;

	(void)pxt_must(pxt_receiver_init(&recording.in, record->output) ? &recording : NULL);
	recording.in.tell = told;
	recording.in.context = &recording;
	recording.in.logs_most = 1;
	go_on(&recording, stop);
	bool by_itself = recording.gone && !recording.ended;

	/* The time or the room that was asked for is over, or a signal says so: not the process'. */
	if (!by_itself)
		pxt_receiver_cut(&recording.in);
	error = pxt_receiver_end(&recording.in);
	(void)close(memory);
	return conclude(&recording, error, by_itself);
}
