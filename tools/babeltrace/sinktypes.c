/* SPDX-License-Identifier: MIT */
/* sinktypes.c - babeltrace2's event classes as types of a log, their fields as data. */
#include "tools/babeltrace/sink.h"

#include "format/ids.h"

#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_TYPE 32u
#define LAST_TYPE  1023u
#define SLOTS      4096u /* of the hash table: more than classes that get a number */
/* Texts before the last field have one length. */
#define TEXT_BYTES 64u
#define COMM_BYTES 16u /* the kernel's names of threads */
/* Arrays of so many elements become as many fields. */
#define ARRAY_MAX  8u

struct pxt_sink_types {
	unsigned count; /* numbers in use */
	unsigned refused;
	const struct pxt_sink_type *last;
	struct pxt_sink_type *slots[SLOTS];
	char names[LAST_TYPE + 1][TRACE_EVENT_NAME_MAX + 1];
};

/* A description that grows. */
struct making {
	struct pxt_sink_type *type;
	const char *name;
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	size_t used;
	size_t bytes; /* of the data so far */
	unsigned left_out;
	char first_left_out[64];
	char words[POSIX_TRACE_FIELDS_MAX_NP][64]; /* names that are taken */
	size_t last; /* where the last field's type begins in @format */
};

/* ---- Parts of an event ---- */

const bt_field *pxt_sink_part(const bt_event *event, enum pxt_sink_part part)
{
	if (part == PXT_SINK_PAYLOAD)
		return bt_event_borrow_payload_field_const(event);
	return part == PXT_SINK_SPECIFIC ? bt_event_borrow_specific_context_field_const(event)
	                                 : bt_event_borrow_common_context_field_const(event);
}

static const bt_field_class *class_of_part(const bt_event_class *class, enum pxt_sink_part part)
{
	if (part == PXT_SINK_PAYLOAD)
		return bt_event_class_borrow_payload_field_class_const(class);
	if (part == PXT_SINK_SPECIFIC)
		return bt_event_class_borrow_specific_context_field_class_const(class);
	return bt_stream_class_borrow_event_common_context_field_class_const(
	    bt_event_class_borrow_stream_class_const(class));
}

static const bt_field *member(const bt_field *structure, const char *name)
{
	return structure ? bt_field_structure_borrow_member_field_by_name_const(structure, name)
	                 : NULL;
}

bool pxt_sink_number(const bt_field *structure, const char *name, int64_t *value)
{
	const bt_field *field = member(structure, name);
	bt_field_class_type type;

	if (!field)
		return false;
	type = bt_field_get_class_type(field);
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		*value = bt_field_integer_signed_get_value(field);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		*value = (int64_t)bt_field_integer_unsigned_get_value(field);
	else
		return false;
	return true;
}

const char *pxt_sink_text(const bt_field *structure, const char *name)
{
	const bt_field *field = member(structure, name);

	return field && bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRING
	           ? bt_field_string_get_value(field)
	           : NULL;
}

/* Contexts that say who recorded, and where: sink.c takes them, and sink.c the address. */
static bool is_of_thread(enum pxt_sink_part part, const char *name)
{
	static const char *const names[] = { "vtid", "tid", "vpid", "pid", "procname", "cpu_id",
		"ip" };

	for (size_t i = 0; part != PXT_SINK_PAYLOAD && i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* ---- Descriptions ---- */

static void leave_out(struct making *making, const char *name)
{
	if (making->left_out++ == 0)
		(void)snprintf(making->first_left_out, sizeof making->first_left_out, "%s", name);
}

/* A C identifier that no other field has; false: there is none. */
static bool name_field(struct making *making, const char *name)
{
	char *word = making->words[making->type->field_count];
	const size_t room = sizeof making->words[0];
	size_t length = 0;

	for (; *name && length < room - 1; name++) {
		bool letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		              *name == '_';
		bool digit = *name >= '0' && *name <= '9';

		if (digit && length == 0)
			word[length++] = '_';
		word[length++] = (char)(letter || digit ? *name : '_');
		if (length == room - 1)
			break;
	}
	word[length] = '\0';
	for (unsigned i = 0; i < making->type->field_count; i++)
		if (strcmp(making->words[i], word) == 0)
			return false;
	return length > 0;
}

static const char *word_of(const struct pxt_sink_field *field, bool hex, char *word, size_t room)
{
	static const char letters[] = { 'u', 'i', 'u' };

	if (field->kind == PXT_SINK_SINGLE || field->kind == PXT_SINK_DOUBLE)
		return field->kind == PXT_SINK_SINGLE ? "f32" : "f64";
	if (field->kind == PXT_SINK_TEXT)
		(void)snprintf(word, room, "char[%zu]", field->bytes);
	else
		(void)snprintf(word, room, "%c%zu",
		    hex && field->kind == PXT_SINK_UNSIGNED ? 'x' : letters[field->kind],
		    8 * field->bytes);
	return word;
}

static void put_field(
    struct making *making, const struct pxt_sink_field *field, const char *name, bool hex)
{
	struct pxt_sink_type *type = making->type;
	size_t room = sizeof making->format - making->used;
	char word[32];
	char own[sizeof making->words[0]];
	int length;

	if (type->field_count == POSIX_TRACE_FIELDS_MAX_NP ||
	    making->bytes + field->bytes > PXT_SINK_DATA_BYTES || !name_field(making, name)) {
		leave_out(making, name);
		return;
	}
	memcpy(own, making->words[type->field_count], sizeof own);
	length = snprintf(&making->format[making->used], room, "%s%s %s", making->used ? ", " : "",
	    word_of(field, hex, word, sizeof word), own);
	if (length < 0 || (size_t)length >= room) {
		making->format[making->used] = '\0';
		leave_out(making, name);
		return;
	}
	making->last = making->used + (making->used ? 2 : 0);
	making->used += (size_t)length;
	making->bytes += field->bytes;
	type->fields[type->field_count++] = *field;
}

static size_t bytes_of(const bt_field_class *class)
{
	uint64_t bits = bt_field_class_integer_get_field_value_range(class);

	return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

static bool ends_in(const char *text, const char *end)
{
	size_t bytes = strlen(text);

	return bytes >= strlen(end) && strcmp(text + bytes - strlen(end), end) == 0;
}

/* One that is no structure and no array; false: a log has no such field. */
static bool put_scalar(struct making *making, struct pxt_sink_field field,
    const bt_field_class *class, const char *name)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	bool hex = false;

	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		field.kind = PXT_SINK_BOOL;
		field.bytes = 1;
	} else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER)) {
		field.kind = bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER)
		                 ? PXT_SINK_SIGNED
		                 : PXT_SINK_UNSIGNED;
		field.bytes = bytes_of(class);
		hex = bt_field_class_integer_get_preferred_display_base(class) ==
		      BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL;
	} else if (type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL) {
		field.kind = PXT_SINK_SINGLE;
		field.bytes = 4;
	} else if (type == BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL) {
		field.kind = PXT_SINK_DOUBLE;
		field.bytes = 8;
	} else if (type == BT_FIELD_CLASS_TYPE_STRING) {
		field.kind = PXT_SINK_TEXT;
		field.bytes = ends_in(name, "comm") ? COMM_BYTES : TEXT_BYTES;
	} else {
		return false;
	}
	put_field(making, &field, name, hex);
	return true;
}

/* NOLINTBEGIN(misc-no-recursion): at most PXT_SINK_DEPTH deep */
static void put_class(struct making *making, const struct pxt_sink_field *field,
    const bt_field_class *class, const char *name);

/* The @place-th below @field. */
static void put_below(struct making *making, const struct pxt_sink_field *field, uint64_t place,
    const bt_field_class *class, const char *name)
{
	struct pxt_sink_field below = *field;

	if (below.depth == PXT_SINK_DEPTH) {
		leave_out(making, name);
		return;
	}
	below.path[below.depth++] = (unsigned)place;
	put_class(making, &below, class, name);
}

static void put_structure(struct making *making, const struct pxt_sink_field *field,
    const bt_field_class *class, const char *name)
{
	uint64_t count = bt_field_class_structure_get_member_count(class);

	for (uint64_t i = 0; i < count; i++) {
		const bt_field_class_structure_member *one =
		    bt_field_class_structure_borrow_member_by_index_const(class, i);
		const char *own = bt_field_class_structure_member_get_name(one);
		char whole[128];

		if (is_of_thread(field->part, own))
			continue;
		(void)snprintf(whole, sizeof whole, "%s%s%s", name, *name ? "_" : "", own);
		put_below(making, field, i,
		    bt_field_class_structure_member_borrow_field_class_const(one), whole);
	}
}

static void put_class(struct making *making, const struct pxt_sink_field *field,
    const bt_field_class *class, const char *name)
{
	bt_field_class_type type = bt_field_class_get_type(class);
	uint64_t count;
	char whole[160];

	if (type == BT_FIELD_CLASS_TYPE_STRUCTURE) {
		put_structure(making, field, class, name);
		return;
	}
	if (type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY) {
		count = bt_field_class_array_static_get_length(class);
		for (uint64_t i = 0; i < count && count <= ARRAY_MAX; i++) {
			(void)snprintf(whole, sizeof whole, "%s_%u", name, (unsigned)i);
			put_below(making, field, i,
			    bt_field_class_array_borrow_element_field_class_const(class), whole);
		}
		if (count > ARRAY_MAX)
			leave_out(making, name);
		return;
	}
	if (!put_scalar(making, *field, class, name))
		leave_out(making, name);
}
/* NOLINTEND(misc-no-recursion) */

/* The last text may be as long as it is. */
static void open_end(struct making *making)
{
	struct pxt_sink_type *type = making->type;
	unsigned last = type->field_count - 1;
	char own[sizeof making->words[0]];

	if (type->field_count == 0 || type->fields[last].kind != PXT_SINK_TEXT)
		return;
	type->fields[last].bytes = 0;
	memcpy(own, making->words[last], sizeof own);
	(void)snprintf(
	    &making->format[making->last], sizeof making->format - making->last, "text %s", own);
}

static void describe(struct making *making, const bt_event_class *class)
{
	for (unsigned part = 0; part < PXT_SINK_PARTS; part++) {
		const struct pxt_sink_field field = { .part = (enum pxt_sink_part)part };
		const bt_field_class *structure = class_of_part(class, field.part);

		if (structure)
			put_structure(making, &field, structure, "");
	}
	open_end(making);
	if (making->left_out)
		pxt_complain("%s: %u of its fields %s left out, among them %s: a log has no such "
		             "fields, or no room for more",
		    making->name, making->left_out, making->left_out == 1 ? "is" : "are",
		    making->first_left_out);
}

/* ---- Types ---- */

/* A name that no other type has: one of the standard's, or of a class with other fields, gets a number. */
static void name_type(struct pxt_sink_types *types, trace_event_id_t id, const char *wanted)
{
	char *name = types->names[id];
	unsigned number = 1;
	bool again;

	(void)snprintf(name, sizeof types->names[id], "%s", *wanted ? wanted : "event");
	do {
		again = pxt_logwrite_system_type(name) != 0;
		for (unsigned i = FIRST_TYPE; i < id && !again; i++)
			again = strcmp(types->names[i], name) == 0;
		if (again)
			(void)snprintf(name, sizeof types->names[id], "%.*s#%u",
			    (int)(sizeof types->names[id] - 8), wanted, ++number);
	} while (again);
}

/*
 * A log's own type of System Events, exported: its number, by which `pxtrace why` knows it; 0: it is none, or its
 * fields are other ones.  An event may have fewer fields than its type.
 */
static trace_event_id_t own_type(const char *name, const char *format)
{
	trace_event_id_t id = pxt_logwrite_system_type(name);
	const char *own = id ? pxt_sysspecific_format(id) : NULL;

	for (; own && *format; format++) {
		if (*format == ' ' && format[-1] == ',')
			continue;
		if (*format != *own++)
			return 0;
	}
	return own && (*own == ',' || *own == '\0') ? id : 0;
}

static struct pxt_sink_type *new_type(
    struct pxt_sink_types *types, struct pxt_logwrite *log, const bt_event_class *class)
{
	struct pxt_sink_type *type = calloc(1, sizeof *type);
	struct making *making = calloc(1, sizeof *making);
	const char *name = bt_event_class_get_name(class);

	if (type && making) {
		type->class = class;
		bt_event_class_get_ref(class);
		type->switches = name && strcmp(name, "sched_switch") == 0;
		making->type = type;
		making->name = name ? name : "";
		describe(making, class);
		type->id = own_type(making->name, making->format);
		if (type->id) {
			pxt_logwrite_type(
			    log, type->id, making->name, pxt_sysspecific_format(type->id));
		} else if (FIRST_TYPE + types->count <= LAST_TYPE) {
			type->id = FIRST_TYPE + types->count++;
			name_type(types, type->id, making->name);
			making->name = types->names[type->id];
			pxt_logwrite_type(
			    log, type->id, making->name, *making->format ? making->format : NULL);
		} else {
			types->refused++;
		}
	} else {
		free(type);
		type = NULL;
	}
	free(making);
	return type;
}

const struct pxt_sink_type *pxt_sink_types_of(
    struct pxt_sink_types *types, struct pxt_logwrite *log, const bt_event_class *class)
{
	size_t slot = (size_t)((uintptr_t) class >> 4) % SLOTS;

	if (types->last && types->last->class == class)
		return types->last;
	for (unsigned tries = 0; types->slots[slot] && tries < SLOTS; tries++) {
		if (types->slots[slot]->class == class)
			return types->last = types->slots[slot];
		slot = (slot + 1) % SLOTS;
	}
	/* A full table: more classes than ever get a number. */
	if (types->slots[slot])
		return NULL;
	types->slots[slot] = new_type(types, log, class);
	return types->last = types->slots[slot];
}

struct pxt_sink_types *pxt_sink_types_new(void)
{
	return calloc(1, sizeof(struct pxt_sink_types));
}

void pxt_sink_types_free(struct pxt_sink_types *types)
{
	for (unsigned i = 0; types && i < SLOTS; i++) {
		if (types->slots[i])
			bt_event_class_put_ref(types->slots[i]->class);
		free(types->slots[i]);
	}
	free(types);
}

unsigned pxt_sink_types_refused(const struct pxt_sink_types *types)
{
	return types->refused;
}

/* ---- Data ---- */

static const bt_field *find(const bt_field *field, const struct pxt_sink_field *where)
{
	for (unsigned i = 0; field && i < where->depth; i++)
		field =
		    bt_field_get_class_type(field) == BT_FIELD_CLASS_TYPE_STRUCTURE
		        ? bt_field_structure_borrow_member_field_by_index_const(
		              field, where->path[i])
		        : bt_field_array_borrow_element_field_by_index_const(field, where->path[i]);
	return field;
}

/* The low bytes of a number, in this machine's order. */
static void put_number(unsigned char *to, size_t bytes, uint64_t value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;

	memcpy(to,
	    bytes == 1   ? (const void *)&u8
	    : bytes == 2 ? (const void *)&u16
	    : bytes == 4 ? (const void *)&u32
	                 : (const void *)&value,
	    bytes);
}

static size_t put_text(
    const struct pxt_sink_field *field, const char *text, unsigned char *to, size_t room, bool *cut)
{
	size_t most = field->bytes ? field->bytes : room;
	size_t bytes = strlen(text);

	*cut |= bytes > most;
	bytes = bytes > most ? most : bytes;
	memset(to, 0, field->bytes);
	/* Of a field, or of its length: NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
	memcpy(to, text, bytes);
	return field->bytes ? field->bytes : bytes;
}

static size_t put_value(const struct pxt_sink_field *field, const bt_field *value,
    unsigned char *to, size_t room, bool *cut)
{
	double real;
	float single;

	switch (field->kind) {
	case PXT_SINK_UNSIGNED:
		put_number(to, field->bytes, bt_field_integer_unsigned_get_value(value));
		break;
	case PXT_SINK_SIGNED:
		put_number(to, field->bytes, (uint64_t)bt_field_integer_signed_get_value(value));
		break;
	case PXT_SINK_BOOL:
		put_number(to, field->bytes, bt_field_bool_get_value(value) ? 1 : 0);
		break;
	case PXT_SINK_SINGLE:
		single = bt_field_real_single_precision_get_value(value);
		memcpy(to, &single, sizeof single);
		break;
	case PXT_SINK_DOUBLE:
		real = bt_field_real_double_precision_get_value(value);
		memcpy(to, &real, sizeof real);
		break;
	case PXT_SINK_TEXT:
	default:
		return put_text(field, bt_field_string_get_value(value), to, room, cut);
	}
	return field->bytes;
}

size_t pxt_sink_types_data(
    const struct pxt_sink_type *type, const bt_event *event, unsigned char *data, bool *cut)
{
	const bt_field *parts[PXT_SINK_PARTS];
	size_t used = 0;

	for (unsigned part = 0; part < PXT_SINK_PARTS; part++)
		parts[part] = pxt_sink_part(event, (enum pxt_sink_part)part);
	*cut = false;
	for (unsigned i = 0; i < type->field_count; i++) {
		const struct pxt_sink_field *field = &type->fields[i];

		used += put_value(field, find(parts[field->part], field), &data[used],
		    PXT_SINK_DATA_BYTES - used, cut);
	}
	return used;
}
