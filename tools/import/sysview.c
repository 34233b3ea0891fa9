/* SPDX-License-Identifier: MIT */
/*
 * sysview.c - recordings of SEGGER SystemView (.SVDat, or the bytes that the target sent), as a log.
 *
 *	lines that begin with ';', ten zeros, then packets: ID, DATA, ticks since the packet before
 *	                                      from ID 24 on: ID, bytes of DATA, DATA, ticks
 *
 * Numbers are sent by 7 bits, the lowest first; a text has its length in front.  Tasks become threads, and what is
 * said of them sched_switch and sched_waking, without priorities: which one is more urgent is not told.  The file is
 * read twice: once for rate and names.
 */
#include "tools/import/import.h"

#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/write/logwrite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYNC_BYTES 10u
#define DATA_MAX   2048u
#define WORDS      4u
#define NAME_BYTES 16u
#define TASKS_MAX  1024u
#define DEPTH_MAX  32u

enum packet {
	OVERFLOW = 1,
	ISR_ENTER,
	ISR_EXIT,
	TASK_START_EXEC,
	TASK_STOP_EXEC,
	TASK_START_READY,
	TASK_STOP_READY,
	TASK_INFO = 9,
	BEGINS,
	MARK_START = 15,
	MARK_STOP,
	IDLE,
	ISR_TO_SCHEDULER,
	TIMER_ENTER,
	TIMER_EXIT,
	WITH_LENGTH = 24,
	INIT = 24,
	NAME_RESOURCE,
	PRINT,
	NUMMODULES,
	END_CALL,
	TASK_TERMINATE,
	FIRST_CALL = 32
};

/* What is in a packet without length: numbers (n) and a text (t). */
static const char *const forms[WITH_LENGTH] = { "", "n", "n", "", "n", "", "n", "nn", "n", "nnt",
	"", "", "n", "nn", "t", "n", "n", "", "", "n", "", "nnnn", "nnt", NULL };

enum type {
	SWITCH = 32,
	WAKING,
	ISR_BEGIN,
	ISR_END,
	TIMER_BEGIN,
	TIMER_END,
	MARK_BEGIN,
	MARK_END,
	CALL,
	RETURN,
	MESSAGE,
	TYPES_END
};

static const struct {
	const char *name;
	const char *format;
} types[TYPES_END - SWITCH] = {
	{ "sched_switch", "char[16] prev_comm, i32 prev_tid, i64 prev_state, char[16] next_comm, "
	                  "i32 next_tid" },
	{ "sched_waking", "char[16] comm, i32 tid" },
	{ "isr_enter", "u32 isr" },
	{ "isr_exit", "u32 isr" },
	{ "timer_enter", "u32 timer" },
	{ "timer_exit", "u32 timer" },
	{ "mark_start", "u32 mark" },
	{ "mark_stop", "u32 mark" },
	{ "api_call", "u32 event" },
	{ "api_return", "u32 event" },
	{ "print", "text message" },
};

struct task {
	uint32_t id;
	bool blocked;
	char name[NAME_BYTES];
};

struct sysview {
	FILE *file;
	const char *path;
	struct pxt_logwrite *log; /* NULL: the first reading */
	uint64_t hz;
	uint64_t ticks;
	uint64_t lost;    /* in all, as the target counts */
	uint64_t packets; /* of tasks and interrupts */
	uint64_t others;  /* that are not taken */
	uint32_t unknown; /* the number of a packet whose form is not known; 0: none */
	uint32_t task_count;
	struct task tasks[TASKS_MAX]; /* 0: no task; 1: interrupts */
	uint32_t running;
	uint32_t depth;
	uint32_t isrs[DEPTH_MAX];
	uint32_t timer;
	/* The packet at hand */
	uint32_t id;
	uint32_t words[WORDS];
	uint32_t bytes; /* of the text, or of data whose length was told */
	unsigned char data[DATA_MAX];
};

/* ---- Packets ---- */

static bool read_number(struct sysview *sysview, uint32_t *number)
{
	uint64_t value = 0;
	int byte = 0x80;

	for (unsigned shift = 0; shift < 35 && (byte & 0x80); shift += 7) {
		byte = fgetc(sysview->file);
		if (byte == EOF)
			return false;
		value |= (uint64_t)(byte & 0x7f) << shift;
	}
	*number = (uint32_t)value;
	return (byte & 0x80) == 0;
}

static bool read_bytes(struct sysview *sysview, uint32_t bytes)
{
	sysview->bytes = bytes;
	return bytes <= DATA_MAX && fread(sysview->data, 1, bytes, sysview->file) == bytes;
}

/* Its length is a byte, or 255 and two bytes. */
static bool read_text(struct sysview *sysview)
{
	int low = fgetc(sysview->file);
	int high = 0;

	if (low == 255) {
		low = fgetc(sysview->file);
		high = fgetc(sysview->file);
	}
	return low != EOF && high != EOF &&
	       read_bytes(sysview, (uint32_t)low | (uint32_t)high << 8);
}

static bool read_form(struct sysview *sysview, const char *form)
{
	bool good = true;

	for (unsigned i = 0; form[i] && good; i++)
		good =
		    form[i] == 't' ? read_text(sysview) : read_number(sysview, &sysview->words[i]);
	return good;
}

/* False: the file ends, or what follows is not known. */
static bool read_packet(struct sysview *sysview)
{
	uint32_t delta;
	uint32_t bytes = 0;
	bool good;

	sysview->bytes = 0;
	if (!read_number(sysview, &sysview->id))
		return false;
	if (sysview->id < WITH_LENGTH && !forms[sysview->id]) {
		sysview->unknown = sysview->id;
		return false;
	}
	if (sysview->id < WITH_LENGTH)
		good = read_form(sysview, forms[sysview->id]);
	else
		good = read_number(sysview, &bytes) && read_bytes(sysview, bytes);
	if (bytes > DATA_MAX)
		sysview->unknown = sysview->id;
	if (!good || !read_number(sysview, &delta))
		return false;
	sysview->ticks += delta;
	return true;
}

/* A number out of data whose length was told; *at goes behind it. */
static uint32_t number_in(const struct sysview *sysview, uint32_t *at)
{
	uint64_t value = 0;
	unsigned char byte = 0x80;

	for (unsigned shift = 0; shift < 35 && (byte & 0x80) && *at < sysview->bytes; shift += 7) {
		byte = sysview->data[(*at)++];
		value |= (uint64_t)(byte & 0x7f) << shift;
	}
	return (uint32_t)value;
}

/* To the first packet; false: it is no such file. */
static bool find_begin(struct sysview *sysview)
{
	int byte;

	while ((byte = fgetc(sysview->file)) == ';')
		while (byte != '\n' && byte != EOF)
			byte = fgetc(sysview->file);
	for (unsigned i = 0; i < SYNC_BYTES; i++) {
		if (byte != 0)
			return false;
		byte = fgetc(sysview->file);
	}
	(void)ungetc(byte, sysview->file);
	return byte == BEGINS || byte == INIT;
}

/* ---- Tasks ---- */

/* Its place; 0: there is none for it. */
static uint32_t task_of(struct sysview *sysview, uint32_t id)
{
	uint32_t i = 2;

	while (i < sysview->task_count && sysview->tasks[i].id != id)
		i++;
	if (i < sysview->task_count)
		return i;
	if (i == TASKS_MAX)
		return 0;
	sysview->tasks[i] = (struct task){ .id = id };
	(void)snprintf(sysview->tasks[i].name, NAME_BYTES, "%x", (unsigned)id);
	sysview->task_count++;
	return i;
}

static void name_task(struct sysview *sysview, uint32_t id)
{
	struct task *task = &sysview->tasks[task_of(sysview, id)];
	uint32_t bytes = sysview->bytes < NAME_BYTES - 1 ? sysview->bytes : NAME_BYTES - 1;

	if (task == sysview->tasks || bytes == 0)
		return;
	memset(task->name, 0, sizeof task->name);
	memcpy(task->name, sysview->data, bytes);
}

/* ---- Events ---- */

static void put(
    struct sysview *sysview, enum type type, uint32_t thread, const void *data, size_t bytes)
{
	const struct pxt_logevent event = { .id = (trace_event_id_t)type,
		.ticks = sysview->ticks,
		.thread_index = thread,
		.cpu = 0,
		.data = data,
		.bytes = bytes };

	if (sysview->log)
		pxt_logwrite_event(sysview->log, &event);
	else
		sysview->packets++;
}

static void put_number(struct sysview *sysview, enum type type, uint32_t thread, uint32_t number)
{
	put(sysview, type, thread, &number, sizeof number);
}

static size_t pack_task(unsigned char *to, const struct sysview *sysview, uint32_t place)
{
	int32_t tid = (int32_t)place;

	memcpy(to, sysview->tasks[place].name, NAME_BYTES);
	memcpy(to + NAME_BYTES, &tid, sizeof tid);
	return NAME_BYTES + sizeof tid;
}

static void go_to(struct sysview *sysview, uint32_t next)
{
	unsigned char data[64];
	int64_t state = sysview->tasks[sysview->running].blocked;

	if (next == sysview->running)
		return;
	size_t used = pack_task(data, sysview, sysview->running);
	memcpy(data + used, &state, sizeof state);
	used += sizeof state;
	used += pack_task(data + used, sysview, next);
	put(sysview, SWITCH, sysview->running, data, used);
	sysview->running = next;
}

static void wake(struct sysview *sysview, uint32_t id)
{
	unsigned char data[64];
	uint32_t place = task_of(sysview, id);

	sysview->tasks[place].blocked = false;
	put(sysview, WAKING, sysview->depth ? 1 : sysview->running, data,
	    pack_task(data, sysview, place));
}

static void lose(struct sysview *sysview)
{
	/* The packet after which the target noticed is not among those that it counts. */
	uint64_t lost = sysview->words[0] > sysview->lost ? sysview->words[0] - sysview->lost : 0;

	sysview->lost = sysview->words[0];
	if (sysview->log)
		pxt_logwrite_loss(sysview->log, lost + 1);
}

static void leave_interrupt(struct sysview *sysview)
{
	if (sysview->depth == 0)
		return;
	sysview->depth--;
	put_number(sysview, ISR_END, 1, sysview->isrs[sysview->depth % DEPTH_MAX]);
}

static void take_short(struct sysview *sysview)
{
	const uint32_t word = sysview->words[0];

	switch (sysview->id) {
	case OVERFLOW:
		lose(sysview);
		break;
	case ISR_ENTER:
		put_number(sysview, ISR_BEGIN, 1, word);
		sysview->isrs[sysview->depth++ % DEPTH_MAX] = word;
		break;
	case ISR_EXIT:
	case ISR_TO_SCHEDULER:
		leave_interrupt(sysview);
		break;
	case TASK_START_EXEC:
		go_to(sysview, task_of(sysview, word));
		break;
	case TASK_STOP_EXEC:
		sysview->tasks[sysview->running].blocked = true;
		go_to(sysview, 0);
		break;
	case IDLE:
		go_to(sysview, 0);
		break;
	case TASK_START_READY:
		wake(sysview, word);
		break;
	case TASK_STOP_READY:
		sysview->tasks[task_of(sysview, word)].blocked = true;
		break;
	case TASK_INFO:
		name_task(sysview, word);
		break;
	case MARK_START:
	case MARK_STOP:
		put_number(sysview, sysview->id == MARK_START ? MARK_BEGIN : MARK_END,
		    sysview->running, word);
		break;
	case TIMER_ENTER:
		sysview->timer = word;
		put_number(sysview, TIMER_BEGIN, sysview->running, word);
		break;
	case TIMER_EXIT:
		put_number(sysview, TIMER_END, sysview->running, sysview->timer);
		break;
	default:
		break;
	}
}

/* A message as the target made it: its numbers are not put into it. */
static void print(struct sysview *sysview)
{
	uint32_t bytes = sysview->bytes ? sysview->data[0] : 0;
	if (bytes < sysview->bytes)
		put(sysview, MESSAGE, sysview->running, sysview->data + 1, bytes);
}

static void take_long(struct sysview *sysview)
{
	uint32_t thread = sysview->depth ? 1 : sysview->running;
	uint32_t at = 0;
	uint32_t first = number_in(sysview, &at);

	if (sysview->id == INIT && sysview->hz == 0)
		sysview->hz = first;
	else if (sysview->id == PRINT)
		print(sysview);
	else if (sysview->id == END_CALL)
		put_number(sysview, RETURN, thread, first);
	else if (sysview->id == TASK_TERMINATE)
		sysview->tasks[task_of(sysview, first)].blocked = true;
	else if (sysview->id >= FIRST_CALL)
		put_number(sysview, CALL, thread, sysview->id);
	else if (sysview->id != INIT && sysview->id != NAME_RESOURCE && sysview->id != NUMMODULES)
		sysview->others++;
}

static void take_all(struct sysview *sysview)
{
	rewind(sysview->file);
	sysview->ticks = sysview->lost = sysview->others = sysview->running = sysview->depth = 0;
	if (!find_begin(sysview))
		return;
	while (read_packet(sysview)) {
		if (sysview->id < WITH_LENGTH)
			take_short(sysview);
		else
			take_long(sysview);
	}
}

/* ---- The log ---- */

static int write_log(struct sysview *sysview, const char *output)
{
	struct pxt_loghead head = {
		.name = "systemview", .clock_source = POSIX_TRACE_CLOCK_PORT_NP, .hz = sysview->hz
	};

	sysview->log = pxt_must(pxt_logwrite_begin(output, PXT_LOG_WHOLE, &head));
	for (unsigned i = 0; i < TYPES_END - SWITCH; i++)
		pxt_logwrite_type(
		    sysview->log, (trace_event_id_t)(SWITCH + i), types[i].name, types[i].format);
	for (uint32_t i = 1; i < sysview->task_count; i++) {
		struct posix_trace_logthread_np thread = { .posix_thread_np =
			                                       PXT_LOGWRITE_KERNEL_THREAD + i,
			.posix_pid_np = 1,
			.posix_tid_np = (pid_t)i };

		memcpy(thread.posix_name_np, sysview->tasks[i].name,
		    strnlen(sysview->tasks[i].name, NAME_BYTES - 1));
		sysview->tasks[i].blocked = false;
		pxt_logwrite_thread(sysview->log, i, &thread);
	}
	take_all(sysview);
	return pxt_import_end(sysview->log, NULL, "import", output);
}

static int import(struct sysview *sysview, const char *output)
{
	sysview->tasks[0] = (struct task){ .name = "idle" };
	sysview->tasks[1] = (struct task){ .name = "interrupts" };
	sysview->task_count = 2;
	take_all(sysview);
	if (ferror(sysview->file)) {
		pxt_complain("import: %s: %s", sysview->path, strerror(errno));
		return PXT_EXIT_LOG;
	}
	if (sysview->unknown)
		pxt_complain("import: %s: has a packet with number %u, whose form is not known",
		    sysview->path, (unsigned)sysview->unknown);
	else if (sysview->packets == 0)
		pxt_complain(
		    "import: %s: no recording of SystemView that has events", sysview->path);
	else if (sysview->hz == 0)
		pxt_complain("import: %s: does not say the rate of its stamps: say it by --hz",
		    sysview->path);
	if (sysview->unknown || sysview->packets == 0 || sysview->hz == 0)
		return PXT_EXIT_LOG;
	if (sysview->others)
		pxt_complain("%s: %llu extended events are left out", sysview->path,
		    (unsigned long long)sysview->others);
	return write_log(sysview, output);
}

int pxt_sysview_import(const char *path, uint64_t hz, const char *output)
{
	struct sysview *sysview = pxt_must(calloc(1, sizeof *sysview));
	int fd = pxt_open_plain(path); /* it is read twice */
	int status = PXT_EXIT_LOG;

	sysview->path = path;
	sysview->hz = hz;
	sysview->file = fd < 0 ? NULL : fdopen(fd, "rb");
	if (sysview->file) {
		status = import(sysview, output);
		(void)fclose(sysview->file);
	} else {
		pxt_complain("import: %s: %s", path, pxt_open_error(errno));
	}
	free(sysview);
	return status;
}
