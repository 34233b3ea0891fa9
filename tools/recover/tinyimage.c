/* SPDX-License-Identifier: MIT */
/* tinyimage.c - a smallest Core's stream (tiny/tiny.h) out of an image: its label, its records, the log of them. */
#include "tools/recover/recover.h"

#include "tools/output/out.h"
#include "tools/write/logwrite.h"

#include "format/position.h"
#include "format/ticks.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define SLOTS_MAX   (1u << 26)
#define TASKS_MAX   4096u /* so many are followed */
#define ENDED       4u
#define TASK_NAME   16u
#define INTERRUPT   0x8000u
#define SECONDS_MAX ((int64_t)1 << 40)
#define STAMP_BITS  48u /* of a stamp with a task's number */
#define SHORT_BYTES 6u
/* Of `who`. */
#define SEEN        1u /* it left a record */
#define TOLD        2u

static const char magic[16] = PXT_SMALL_MAGIC;

#define LABEL(member) offsetof(struct pxt_small_label, member)

static const struct pxt_logblocks_swap label_runs[] = { { LABEL(order), 4, 4 }, { LABEL(hz), 8, 1 },
	{ LABEL(clock_source), 4, 4 }, { LABEL(names_bytes), 2, 4 + PXT_SMALL_PLACES } };

static const char *check_label(const struct pxt_small_label *label)
{
	if (label->version != PXT_SMALL_VERSION)
		return "it was made by another libptrace: take the pxtrace of that one";
	if (label->word_bytes != 4 && label->word_bytes != 8)
		return "its pointers have neither 4 nor 8 bytes";
	if (label->second_bytes != 4 && label->second_bytes != 8)
		return "its time has neither 4 nor 8 bytes";
	if (label->hz > PXT_HZ_MAX)
		return "the stamp clock's rate is impossible";
	if (label->first_user_id < PXT_ID_USER_FIRST || label->first_user_id >= PXT_LOG_IDS)
		return "its names do not fit";
	return NULL;
}

bool pxt_small_look(const struct pxt_image *image, uint64_t at, struct pxt_found *found)
{
	struct pxt_small_label *label = &found->label;

	memset(found, 0, sizeof *found);
	found->image = image;
	found->at = at;
	found->small = true;
	if (pxt_image_read(image, at, label, sizeof *label) < sizeof *label ||
	    memcmp(label->magic, magic, sizeof magic) != 0)
		return false;
	found->swapped = label->order != PXT_IMAGEHEADER_ORDER;
	if (found->swapped)
		pxt_logblocks_swap(
		    (unsigned char *)label, label_runs, sizeof label_runs / sizeof *label_runs);
	/* A program that never created a stream, or the file that it is loaded from. */
	if (label->order != PXT_IMAGEHEADER_ORDER || label->hz == 0)
		return false;
	found->wrong = check_label(label);
	return true;
}

/* ---- Numbers and texts out of the image ---- */

/* 0 where the image has it not. */
static uint64_t number(const struct pxt_found *found, uint64_t at, unsigned bytes)
{
	unsigned char raw[8] = { 0 };
	uint64_t value = 0;
	uint32_t order = 1;
	bool little = (*(unsigned char *)&order == 1) != found->swapped;

	if (pxt_image_read(found->image, at, raw, bytes) < bytes)
		return 0;
	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)raw[i] << 8 * (little ? i : bytes - 1 - i);
	return value;
}

static uint64_t pointer(const struct pxt_found *found, enum pxt_small_part part)
{
	const uint32_t bytes = found->label.word_bytes;

	return number(found, found->at + sizeof found->label + (uint64_t)part * bytes, bytes);
}

/* Where the image has an address of the target; far outside where it cannot have it. */
static uint64_t place(const struct pxt_found *found, uint64_t address)
{
	uint64_t away = address - pointer(found, PXT_SMALL_SELF);

	if (found->label.word_bytes == 4)
		away = (uint64_t)(int64_t)(int32_t)(uint32_t)away;
	return found->at + away;
}

static uint64_t part(const struct pxt_found *found, enum pxt_small_part which)
{
	return place(found, pointer(found, which));
}

static uint64_t state(const struct pxt_found *found, enum pxt_small_place which, unsigned bytes)
{
	return number(found, part(found, PXT_SMALL_STATE) + found->label.at[which], bytes);
}

/* As port/bare/port_atomic.h keeps it. */
static uint64_t counter(const struct pxt_found *found, enum pxt_small_place which)
{
	const uint64_t at = part(found, PXT_SMALL_STATE) + found->label.at[which];
	const uint32_t low = (uint32_t)number(found, at, 4);
	const uint32_t turns = (uint32_t)number(found, at + 4, 4);

	return found->label.contents & PXT_SMALL_HALVES ? pxt_count_of(low, turns)
	                                                : (uint64_t)turns << 32 | low;
}

/* A text of less than @room bytes; false: it is not there, or has no end. */
static bool text(
    const struct pxt_found *found, uint64_t at, char *to, uint64_t room, uint64_t there)
{
	const uint64_t got = pxt_image_read(found->image, at, to, room < there ? room : there);

	if (memchr(to, '\0', (size_t)got))
		return true;
	to[got < room ? got : room - 1] = '\0';
	return false;
}

/* ---- The stream ---- */

const char *pxt_small_load(struct pxt_small *small, const struct pxt_found *found)
{
	uint64_t slots_at;
	uint64_t bytes;

	*small = (struct pxt_small){ .found = found };
	if (found->wrong)
		return found->wrong;
	slots_at = part(found, PXT_SMALL_SLOTS);
	small->mask = (uint32_t)state(found, PXT_SMALL_MASK, 4);
	small->head = (uint32_t)state(found, PXT_SMALL_HEAD, 4);
	small->tail = (uint32_t)state(found, PXT_SMALL_TAIL, 4);
	small->max_data = (uint32_t)state(found, PXT_SMALL_MAX_DATA, 4);
	small->anchor = state(found, PXT_SMALL_ANCHOR, 8);
	small->retrieved = counter(found, PXT_SMALL_RETRIEVED);
	small->cleared = counter(found, PXT_SMALL_CLEARED);
	small->lost = counter(found, PXT_SMALL_GONE) - small->retrieved - small->cleared;
	(void)text(found, part(found, PXT_SMALL_STATE) + found->label.at[PXT_SMALL_NAME],
	    small->name, sizeof small->name, found->label.name_bytes);
	if (small->mask < 31u || small->mask >= SLOTS_MAX || small->mask & (small->mask + 1u) ||
	    small->head - small->tail > small->mask + 1u || small->max_data > PXT_DATA_MAX)
		return "its state is not in the file, or damaged";
	if (small->lost >> 62 || small->cleared >> 62)
		return "its counts are impossible";
	bytes = (uint64_t)(small->mask + 1u) * PXT_SLOT_BYTES;
	if (pxt_image_row(found->image, slots_at) < bytes)
		return "its records are not in the file";
	small->slots = pxt_must(malloc(bytes));
	if (pxt_image_read(found->image, slots_at, small->slots, bytes) < bytes) {
		pxt_small_free(small);
		return "its records are not in the file";
	}
	for (uint64_t i = 0; found->swapped && i < bytes / 4u; i++)
		small->slots[i / 4u].word[i % 4u] =
		    __builtin_bswap32(small->slots[i / 4u].word[i % 4u]);
	pxt_small_walk(small, NULL);
	return NULL;
}

void pxt_small_free(struct pxt_small *small)
{
	free(small->slots);
	small->slots = NULL;
}

const char *pxt_small_state(const struct pxt_small *small)
{
	if (!state(small->found, PXT_SMALL_TRID, 4))
		return "ended";
	return state(small->found, PXT_SMALL_RUNNING, 1) ? "running" : "stopped";
}

/* ---- Records ---- */

static const struct pxt_slot *slot(const struct pxt_small *small, uint32_t at)
{
	return &small->slots[at & small->mask];
}

static bool has(const struct pxt_small *small, uint32_t what)
{
	return small->found->label.contents & what;
}

/* The stamp: later than the last one, or, where the counter was set back, somewhat earlier. */
static uint64_t stamp(const struct pxt_small *small, const struct pxt_slot *begin, bool first)
{
	const unsigned above = 64u - STAMP_BITS;
	uint64_t away;

	if (!has(small, PXT_SMALL_THREAD))
		return pxt_slot_ticks(begin);
	away = (pxt_slot_ticks(begin) - small->last) << above;
	return small->last + (first ? away >> above : (uint64_t)((int64_t)away >> above));
}

/* The data, of a context switch in one slot, too; returns how many bytes. */
static uint32_t get_data(
    const struct pxt_small *small, uint32_t at, bool packed, unsigned char *data)
{
	const uint32_t info = slot(small, at)->word[0];
	const uint32_t bytes = packed ? SHORT_BYTES : pxt_info_bytes(info);

	for (uint32_t i = 0; i < bytes; i++)
		data[i] =
		    (unsigned char)(packed ? (i < 4u       ? slot(small, at)->word[1] >> 8u * i
		                                 : i == 4u ? pxt_info_bytes(info)
		                                           : pxt_info_cpu(info))
		                           : slot(small, at + 1u + i / 16u)->word[i / 4u % 4u] >>
		                                 8u * (i % 4u));
	return bytes;
}

static void put_record(struct pxt_small *small, uint32_t at, bool packed, struct pxt_logwrite *log)
{
	unsigned char data[PXT_DATA_MAX + 1u];
	const struct pxt_slot *begin = slot(small, at);
	const uint32_t info = begin->word[0];
	const uint32_t who = has(small, PXT_SMALL_THREAD) ? begin->word[3] >> 16 : 0;
	const struct pxt_logevent event = { .id = (trace_event_id_t)pxt_info_id(info),
		.ticks = small->last,
		.thread_index = who == PXT_LOGWRITE_NO_INDEX ? 0 : who,
		.address = has(small, PXT_SMALL_ADDRESS) && !packed ? begin->word[1] : 0,
		.cpu = has(small, PXT_SMALL_CPU) ? 0 : -1,
		.cut = !packed && pxt_info_cut(info),
		.bytes = get_data(small, at, packed, data),
		.data = data };

	pxt_logwrite_event(log, &event);
}

void pxt_small_walk(struct pxt_small *small, struct pxt_logwrite *log)
{
	const uint32_t gone = (uint32_t)(small->lost + small->retrieved + small->cleared);
	const uint32_t held = (uint32_t)state(small->found, PXT_SMALL_PUT, 4) - gone;
	uint32_t at = small->tail;

	small->last = small->anchor;
	small->events = small->torn = 0;
	while (at != small->head) {
		const uint32_t info = slot(small, at)->word[0];
		const uint32_t id = pxt_info_id(info);
		const bool packed = has(small, PXT_SMALL_SHORT) && pxt_info_extra(info);
		const uint32_t bytes = packed ? 0 : pxt_info_bytes(info);
		const uint32_t slots = 1u + (bytes + PXT_SLOT_BYTES - 1u) / PXT_SLOT_BYTES;

		/* Only where the target ran on while its memory was taken. */
		if (id == 0 || id == PXT_ID_MARK || id == PXT_ID_VOID || bytes > small->max_data ||
		    slots > small->head - at) {
			small->torn = held > small->events ? held - small->events : 1;
			break;
		}
		small->last = stamp(small, slot(small, at), small->events == 0);
		if (has(small, PXT_SMALL_THREAD))
			small->who[slot(small, at)->word[3] >> 16] |= SEEN;
		if (log)
			put_record(small, at, packed, log);
		small->events++;
		at += slots;
	}
}

/* ---- What a log says before them ---- */

static void put_types(const struct pxt_small *small, struct pxt_logwrite *log)
{
	const struct pxt_found *found = small->found;
	const struct pxt_small_label *label = &found->label;
	const uint32_t count = (uint32_t)number(found, part(found, PXT_SMALL_COUNT), 4);
	const uint64_t names = part(found, PXT_SMALL_NAMES);
	uint32_t used = 0;

	if (has(small, PXT_SMALL_SHORT))
		pxt_logwrite_type(log, POSIX_TRACE_CONTEXT_SWITCH_NP,
		    pxt_system_event_name(POSIX_TRACE_CONTEXT_SWITCH_NP), PXT_SHORT_SWITCH_FORMAT);
	for (uint32_t i = 0; i < count && label->first_user_id + i < PXT_LOG_IDS; i++) {
		struct pxt_log_typename type = { .id = label->first_user_id + i };
		const uint32_t at =
		    (uint32_t)number(found, part(found, PXT_SMALL_FORMAT_AT) + 2u * (uint64_t)i, 2);

		if (used >= label->names_bytes || !text(found, names + used, type.name,
		                                      sizeof type.name, label->names_bytes - used))
			break;
		if (at && (at > label->formats_bytes ||
		              !text(found, part(found, PXT_SMALL_FORMATS) + at - 1u, type.format,
		                  sizeof type.format, label->formats_bytes - at + 1u)))
			type.format[0] = '\0';
		if (type.name[0])
			pxt_logwrite_type(log, (trace_event_id_t)type.id, type.name, type.format);
		used += (uint32_t)strlen(type.name) + 1u;
	}
}

static void put_who(
    struct pxt_small *small, uint32_t index, const char *name, struct pxt_logwrite *log)
{
	struct posix_trace_logthread_np thread = { .posix_thread_np = index,
		.posix_pid_np = small->found->label.pid,
		.posix_tid_np = (pid_t)index };

	if (index == 0 || index > PXT_LOGWRITE_THREADS || small->who[index] & TOLD)
		return;
	memcpy(thread.posix_name_np, name, strnlen(name, TASK_NAME - 1u));
	small->who[index] |= TOLD;
	pxt_logwrite_thread(log, index, &thread);
}

/* Those that live first: of two tasks with one number, it is theirs.  Then who only left records. */
static void put_tasks(struct pxt_small *small, struct pxt_logwrite *log)
{
	const struct pxt_found *found = small->found;
	const struct pxt_small_label *label = &found->label;
	uint64_t task = number(found, part(found, PXT_SMALL_TASKS), label->word_bytes);
	const uint64_t ended = part(found, PXT_SMALL_ENDED);
	char name[TASK_NAME];

	for (uint32_t i = 0; task && i < TASKS_MAX; i++) {
		const uint64_t at = place(found, task);
		const uint64_t name_at =
		    number(found, at + label->at[PXT_SMALL_TASK_NAME], label->word_bytes);

		name[0] = '\0';
		if (name_at)
			(void)text(found, place(found, name_at), name, sizeof name, sizeof name);
		small->unnamed += name_at && !name[0];
		put_who(small, (uint32_t)number(found, at + label->at[PXT_SMALL_TASK_NUMBER], 4),
		    name, log);
		task = number(found, at, 8);
	}
	for (uint32_t i = 0; pointer(found, PXT_SMALL_ENDED) && i < ENDED; i++) {
		const uint64_t at = ended + (uint64_t)i * (4u + TASK_NAME);
		const uint32_t index = (uint32_t)number(found, at, 4);

		if (index > PXT_LOGWRITE_THREADS || !(small->who[index] & SEEN))
			continue;
		(void)text(found, at + 4u, name, sizeof name, sizeof name);
		put_who(small, index, name, log);
	}
	for (uint32_t index = 1; index <= PXT_LOGWRITE_THREADS; index++)
		if (small->who[index] == SEEN)
			put_who(small, index, index & INTERRUPT ? "interrupt" : "", log);
}

static void set_head(const struct pxt_small *small, trace_attr_t *attr, struct pxt_loghead *head)
{
	const struct pxt_small_label *label = &small->found->label;
	const unsigned bytes = label->second_bytes;
	int64_t seconds = (int64_t)state(small->found, PXT_SMALL_SECONDS, bytes);
	const uint64_t ns = state(small->found, PXT_SMALL_NANOSECONDS, label->word_bytes);
	const uint32_t resolution = pxt_ticks_resolution_ns(label->hz, 0);

	if (bytes == 4)
		seconds = (int32_t)(uint32_t)seconds;
	*head = (struct pxt_loghead){ .name = small->name,
		.attr = attr,
		.clock_source = (int)label->clock_source,
		.clock_error_ppm = label->clock_error_ppm,
		.hz = label->hz,
		.larger_priority = has(small, PXT_SMALL_LARGER),
		.created.ticks = small->anchor };
	if (seconds >= 0 && seconds < SECONDS_MAX && ns < PXT_NS_PER_S) {
		head->created.realtime.tv_sec = (time_t)seconds;
		head->created.realtime.tv_nsec = (long)ns;
	}
	(void)posix_trace_attr_init(attr);
	attr->_pxt_kept._pxt_stream_policy = POSIX_TRACE_LOOP;
	attr->_pxt_kept._pxt_stream_size = (uint64_t)(small->mask + 1u) * PXT_SLOT_BYTES;
	attr->_pxt_kept._pxt_max_data = small->max_data;
	attr->_pxt_kept._pxt_lanes = 1;
	attr->_pxt_kept._pxt_clockres_sec = resolution / PXT_NS_PER_S;
	attr->_pxt_kept._pxt_clockres_nsec = (int32_t)(resolution % PXT_NS_PER_S);
}

int pxt_small_write(struct pxt_small *small, const char *path)
{
	struct pxt_logend end = { 0 };
	struct posix_trace_loginfo_np process = { .posix_pid_np = small->found->label.pid };
	struct pxt_loghead head;
	trace_attr_t attr;
	struct pxt_logwrite *log;

	set_head(small, &attr, &head);
	log = pxt_must(pxt_logwrite_begin(path, PXT_LOG_WHOLE, &head));
	pxt_logwrite_process(log, &process);
	put_types(small, log);
	put_tasks(small, log);
	if (small->lost)
		pxt_logwrite_loss(log, small->lost);
	pxt_small_walk(small, log);
	if (small->torn)
		pxt_logwrite_loss(log, small->torn);
	end.counts.posix_retrieved_np = small->events;
	end.counts.posix_lost_np = small->lost + small->torn;
	end.counts.posix_cleared_np = small->cleared;
	end.counts.posix_written_np = small->events + small->lost + small->torn + small->cleared;
	return pxt_logwrite_end(log, &end);
}
