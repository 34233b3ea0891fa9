/* SPDX-License-Identifier: MIT */
/*
 * event.h - an event as the subcommands see it, with its type and its thread; where fields lie, and
 * words for what they say.
 */
#ifndef PXT_EVENT_H
#define PXT_EVENT_H

#include "tools/output/out.h"

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
 * @fields has room for), 0 if it is not a description.
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

struct pxt_event;
/* A field's text as far as the event has it, up to a NUL; returns its bytes. */
size_t pxt_field_text(
    const struct pxt_event *event, const struct pxt_layout *field, const char **text);

/* ---- The event sets that START and FILTER carry, as one text ---- */

/* Room for all 1,024 types. */
#define PXT_EVENTSET_TEXT 5120u

struct pxt_eventset {
	const char *name;
	char text[PXT_EVENTSET_TEXT]; /* "none", or the numbers of its types: "32 33 40" */
};

/*
 * The sets in the data of an event of type @id: START has one ("filter"), FILTER two ("old", "new").
 * Returns their number; 0: it is another type, or its data is malformed.
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
	bool is_rename;                      /* the kernel's task_rename, ... */
	bool is_fork;                        /* ... sched_process_fork */
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
	/* As its process numbers it, which may have a pid namespace of its own; 0: not said. */
	pid_t own_tid;
	pid_t pid; /* as the log's table says, without an entry as its events say; 0: unknown */
	bool selected;
	bool recorded;            /* the log says which thread it was */
	struct pxt_thread *alike; /* the next one of its source in the chain of its number */
	uint64_t newest_ticks;    /* the stamp of its last event */
	size_t bytes;
	size_t width;
	char name[64];
	char label[96]; /* "name/tid", escaped */
};

/*
 * A number that no other thread of the log has.  A pthread_t is not unique: when a thread has ended,
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

/* "flush failed", for people; "failed" if the cause is unknown. */
const char *pxt_failure_what(int32_t data);
/* One word for programs: log, record, types, attach; "" where it is not known. */
const char *pxt_failure_word(int32_t data);

/* ---- An event's data as text: by its description, by what the standard says, as bytes, or as JSON ---- */

struct pxt_fields {
	const char *only[POSIX_TRACE_FIELDS_MAX_NP]; /* names to show; none: all */
	unsigned only_count;
	size_t dump_limit; /* most bytes shown as hex; 0: all */
	bool no_callers;   /* callers (below) are shown in another way */
};

/* "job,late_ns": false, with a word to the user, if it is not a list of names.  Changes @list. */
bool pxt_fields_only(struct pxt_fields *fields, char *list);

/*
 * What the recorder wanted to be read in place of the fields, with their values; NULL: the type has no
 * message.  Good until the next call.
 */
const char *pxt_fields_message(const struct pxt_event *event);

/* Whether it stands for bytes without a description instead of a field. */
bool pxt_fields_is_bytes(const char *name);

bool pxt_fields_wanted(const struct pxt_fields *fields, const char *name);

/* Two spaces and the fields; nothing for an event without data. */
void pxt_out_fields(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event);

/* The same without the two spaces in front. */
void pxt_out_fields_bare(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event);

/*
 * Fields as numbers that are equal when the fields are equal; false where there is no such field
 * in this event, or where its type cannot tell things apart (float).
 */
bool pxt_field_key(const struct pxt_event *event, const struct pxt_layout *field, uint64_t *key);
const struct pxt_layout *pxt_field_named(const struct pxt_type *type, const char *name);

/* A field's value.  A text is where the event's data is, without padding, and has no NUL after it. */
struct pxt_value {
	int kind;       /* POSIX_TRACE_FIELD_..._NP */
	uint32_t bytes; /* of the text, or of the number as it was recorded */
	union {
		uint64_t u; /* unsigned, hex */
		int64_t i;
		double f;
		const char *text;
	};
};
/* False where this event has no such field (it was cut). */
bool pxt_field_value(
    const struct pxt_event *event, const struct pxt_layout *field, struct pxt_value *value);
/* The value's usual form; a text without quotes, escaped. */
void pxt_out_value(struct pxt_out *out, const struct pxt_value *value);

/* Bytes after the last field that is there: their number, and where they begin in *@offset. */
size_t pxt_fields_rest(const struct pxt_event *event, size_t *offset);

/* Fills in the layout of a type from its description in the log @trid, if it has one. */
void pxt_fields_learn(trace_id_t trid, struct pxt_type *type);

/* ---- The functions that called, which long waits carry, and types that were defined so ---- */

#define PXT_CALLERS_MAX 8u

/* Innermost first; returns how many there are. */
unsigned pxt_callers_of(const struct pxt_event *event, uint64_t callers[PXT_CALLERS_MAX]);
/* Whether that field of a type is one of them. */
bool pxt_callers_is(const struct pxt_type *type, unsigned field);

/*
 * ---- Locks that were free when they were taken ----
 *
 * A traced program counts them, and tells that of each lock and thread (FORMAT.md 5.1: taken).
 */

#define PXT_LOCKCOUNTS_KINDS 8u /* the last: all beyond */

struct pxt_lockcounts_kind {
	char name[24]; /* mutex, escaped; "": here and behind there is none */
	uint64_t times;
};

struct pxt_lockcounts {
	struct pxt_lockcounts_kind kinds[PXT_LOCKCOUNTS_KINDS];
};

/* Any event. */
void pxt_lockcounts_add(struct pxt_lockcounts *taken, const struct pxt_event *event);

/*
 * A field's value as JSON, and an event's data as an object, for a cell of a table.
 *
 * 	{"job":5,"late_ns":-5000,"label":"warm"}
 *
 * Fields in the order of the description.  Integers, also hexadecimal ones, are decimal numbers, exact
 * up to 64 bits; floats read back as the same number, and those that JSON has no number for are the
 * strings "nan", "inf", "-inf".  Text is a string, see pxt_escape_json(); a NUL within it is U+FFFD.
 * Columns that are not fields begin with @, which no field's name can: "@data" (data without description) and
 * "@rest" (after the description) are bytes in hexadecimal, "@cut" is 1 where the data was cut.  The
 * standard's STOP and ERROR have "automatic" and "error".  An event without data: {}.
 */

/* Its members.  @renamed: a field of the first of these names gets the second one; NULL: none does. */
void pxt_json_payload(
    struct pxt_out *out, const struct pxt_event *event, const char *const renamed[2]);
/*
 * What the standard says of the data of its own events, as members; false: it says nothing.
 * @as_number: 0 and 1 for false and true.
 */
bool pxt_json_standard(struct pxt_out *out, const struct pxt_event *event, bool as_number);
/* A number, or a string, behind its name. */
void pxt_json_value(struct pxt_out *out, const struct pxt_value *value);
/* The word that a number of a system event stands for, behind it as "call_name". */
void pxt_json_word(struct pxt_out *out, const struct pxt_type *type, unsigned field,
    const struct pxt_value *value);

/* Of forked processes without places, threads have the same numbers. */
static inline bool pxt_thread_is(
    const struct pxt_thread *thread, uint64_t id, uint32_t entry, pid_t pid)
{
	return thread->id == id && thread->entry == entry &&
	       (entry != UINT32_MAX || id == 0 || thread->pid == pid);
}

/*
 * ---- What --only of `pxtrace run` and `attach` names: groups of system events, as their types, calls
 * and kinds of locks ----
 */

/* The kernel's scheduler, and what is recorded beside it (tools/sched/sched.h has the same bits). */
#define PXT_GROUP_SCHED     1u
#define PXT_GROUP_IRQ       2u
#define PXT_GROUP_BLOCK     4u
#define PXT_GROUP_FREQUENCY 8u
#define PXT_GROUP_SOFTIRQ   16u

/* Bit by bit, by the numbers of trace_hooks_np.h. */
struct pxt_groups {
	uint64_t types;
	uint64_t calls;
	uint64_t kinds;  /* of read-write and spin locks */
	unsigned kernel; /* no types of the library's: PXT_GROUP_... */
};

/* All but what is too much for most programs: allocation. */
void pxt_groups_usual(struct pxt_groups *usual);
/*
 * The groups of @list ("locks,io"; "+alloc": the usual ones and that); what tells of processes and threads is always among them.  False, with
 * a word to the user, where a group is not known.
 */
bool pxt_groups_parse(struct pxt_groups *groups, const char *list, const char *command);
/* Whether the event is of one of them. */
bool pxt_groups_has(const struct pxt_groups *groups, const struct pxt_event *event);

#endif
