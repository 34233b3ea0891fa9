/* SPDX-License-Identifier: MIT */
/* event.h - an event as the subcommands see it, with its type and its thread; where fields lie, and words for what they say. */
#ifndef PXT_EVENT_H
#define PXT_EVENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>

/*
 * Where the fields of a type's events lie: its description taken apart once, so that
 * not every event needs it.  Stands alone: also for those who read no pxt_source.
 */

struct pxt_layout {
	char name[64];
	int kind;        /* POSIX_TRACE_FIELD_..._NP */
	uint32_t bytes;  /* 0 when @trailing */
	uint32_t offset; /* in the event's data */
	bool trailing;   /* text up to the end of the data */
};

/*
 * What a description says; returns the number of fields (at most POSIX_TRACE_FIELDS_MAX_NP, which
 * @fields has room for), 0 where it is none.
 */
unsigned pxt_fields_of(const char *format, struct pxt_layout *fields);

/* Whether data of @length bytes holds the field; *@bytes is its length there. */
static inline bool pxt_layout_present(const struct pxt_layout *field, size_t length, size_t *bytes)
{
	if (field->offset > length || field->bytes > length - field->offset)
		return false;
	*bytes = field->trailing ? length - field->offset : field->bytes;
	return true;
}

/* ---- Values: getnext hands described data out in this machine's byte order ---- */

static inline uint64_t pxt_load_unsigned(const unsigned char *from, size_t bytes)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;

	switch (bytes) {
	case 1:
		return *from;
	case 2:
		memcpy(&u16, from, sizeof u16);
		return u16;
	case 4:
		memcpy(&u32, from, sizeof u32);
		return u32;
	default:
		memcpy(&u64, from, sizeof u64);
		return u64;
	}
}

static inline int64_t pxt_load_signed(const unsigned char *from, size_t bytes)
{
	uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
	uint64_t value = (pxt_load_unsigned(from, bytes) ^ sign) - sign;
	int64_t result;

	memcpy(&result, &value, sizeof result);
	return result;
}

static inline double pxt_load_float(const unsigned char *from, size_t bytes)
{
	double value;
	float single;

	if (bytes == sizeof single) {
		memcpy(&single, from, sizeof single);
		return (double)single;
	}
	memcpy(&value, from, sizeof value);
	return value;
}

/* A text's bytes without the NULs that fill its field up. */
static inline size_t pxt_text_bytes(const unsigned char *text, size_t bytes)
{
	while (bytes > 0 && text[bytes - 1] == 0)
		bytes--;
	return bytes;
}

/* ---- The event sets that START and FILTER carry, as one text ---- */

/* Room for all 1,024 types. */
#define PXT_EVENTSET_TEXT 5120u

struct pxt_eventset {
	const char *name;
	char text[PXT_EVENTSET_TEXT]; /* "none", or the numbers of its types: "32 33 40" */
};

/*
 * The sets in the data of an event of type @id: START has one ("filter"), FILTER two ("old", "new").
 * Returns their number; 0: it is another type, or its data is none.
 */
unsigned pxt_eventset_count(trace_event_id_t id, size_t bytes);
/* The @index-th of @count; @data: of the whole event, numbers in this machine's byte order. */
void pxt_eventset_of(struct pxt_eventset *set, const unsigned char *data, size_t bytes,
    unsigned index, unsigned count);

#define PXT_TYPES_MAX   1024u
#define PXT_THREADS_MAX 65536u
#define PXT_INDEX_NONE  UINT32_MAX

struct pxt_type {
	trace_event_id_t id;
	uint32_t index; /* in order of appearance; PXT_INDEX_NONE: the shared entry */
	bool selected;
	bool is_rename;                      /* the kernel's task_rename */
	size_t bytes;                        /* of label */
	size_t width;                        /* its columns on the screen */
	char name[TRACE_EVENT_NAME_MAX + 1]; /* as the log has it */
	uint32_t asked;                      /* growing logs: when the description was asked for */
	unsigned field_count;                /* 0: no description */
	struct pxt_layout *fields;
	char *message;                            /* the description, if it has one; NULL: not */
	char label[4 * TRACE_EVENT_NAME_MAX + 1]; /* escaped */
};

struct pxt_thread {
	uint64_t id;    /* the pthread_t as a number; one that ended may have had the same */
	uint32_t entry; /* in the log's table; UINT32_MAX: none, that table was full */
	uint32_t index;
	pid_t tid; /* 0: unknown */
	pid_t
	    own_tid; /* as its process numbers it, which may have a pid namespace of its own; 0: not said */
	pid_t pid; /* as the log's table says, without an entry as its events say; 0: unknown */
	bool selected;
	bool recorded; /* the log says which thread it was */
	size_t bytes;
	size_t width;
	char name[64];
	char label[96]; /* "name/tid", escaped */
};

/*
 * A number that no other thread of the log has.  A pthread_t alone is no such: when a thread has ended,
 * the next one may get it; the log's table has an entry for each.
 */
static inline uint64_t pxt_thread_key(const struct pxt_thread *thread)
{
	const uint64_t by_number = thread->id ^ (uint64_t)(uint32_t)thread->pid << 41;

	return thread->entry == UINT32_MAX ? by_number & UINT64_MAX >> 1
	                                   : UINT64_C(1) << 63 | thread->entry;
}

struct pxt_source;

/*
 * An event.  @data is where the library read it and is good, as all of this, until the next event
 * of the same reader is asked for: who keeps an event copies what it needs of it.
 */
struct pxt_event {
	struct {
		trace_event_id_t posix_event_id;
		pid_t posix_pid;
		void *posix_prog_address;
		int posix_truncation_status;
	} info;
	struct posix_trace_eventextra_np extra;
	int64_t ns; /* since 1970 */
	struct pxt_type *type;
	struct pxt_thread *thread;
	struct pxt_source *source;
	size_t bytes;
	const unsigned char *data;
};

/* ---- A thread's identifier as the number that logs list it by ---- */

static inline uint64_t pxt_thread_number(pthread_t thread)
{
	uint64_t number = 0;
	size_t bytes = sizeof thread < sizeof number ? sizeof thread : sizeof number;
	const uint16_t one = 1;

	/* pthread_t is a number or a pointer everywhere we know, but need not be either. */
	if (*(const unsigned char *)&one == 1)
		memcpy(&number, &thread, bytes);
	else
		memcpy((unsigned char *)&number + sizeof number - bytes, &thread, bytes);
	return number;
}

/* ---- Words for what fields of system events say by numbers (FORMAT.md 5.1) ---- */

/* The word for @value of the field @name of a system event of type @id; NULL: it has none. */
const char *pxt_sysnames_word(trace_event_id_t id, const char *name, uint64_t value);
/* Whether that value of the field says that there was none: a call without a size. */
bool pxt_sysnames_is_none(trace_event_id_t id, const char *name, uint64_t value);
/* How many values of that field have words, from 0 on; 0: none has. */
size_t pxt_sysnames_count(trace_event_id_t id, const char *name);

/* Whether the object of that call is a descriptor: of some it may be, if it is a number like one. */
bool pxt_sysnames_has_descriptor(const char *call, uint64_t object);

/* ---- What the data of a POSIX_TRACE_ERROR event says ---- */

/* "flush failed", for people; "failed" where the cause is one that is not known here. */
const char *pxt_failure_what(int32_t data);
/* One word for programs: log, record, types, attach; "" where it is not known. */
const char *pxt_failure_word(int32_t data);

#endif
