/* SPDX-License-Identifier: MIT */
/*
 * ctf2.c - pxtrace export ctf --ctf2: traces as CTF2-SPEC-2.0 has them, a folder with `metadata` and `stream` for
 * each log.
 *
 * Fields have no alignment, so an event's data is its payload as it was recorded.  What has no description, or not
 * all that its description tells of, or more, or text that is no UTF-8, is of a class of its own with the same name,
 * whose payload is a blob: nothing is made up.  A loss lies between two packets: by their counts of discarded events.
 *
 * Metadata comes last, when all types and threads were met.
 */
#include "tools/event/event.h"
#include "tools/export/export.h"
#include "tools/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES   4200u
#define MAGIC        UINT32_C(0xc1fc1fc1)
#define PACKET_BYTES 65536u
/* An event at most: its header and context, a length, its data. */
#define EVENT_BYTES  4352u
#define NAME_BYTES   16u
/* The class of a type whose payload is a blob. */
#define AS_BLOB      PXT_TYPES_MAX

/* Head and context of a packet, as describe_stream() says. */
struct head {
	uint32_t magic;
	unsigned char uuid[16];
	uint32_t class;
	uint64_t total_bits;
	uint64_t content_bits;
	uint64_t begin;
	uint64_t end;
	uint64_t discarded;
	uint64_t sequence;
};
#define HEAD_BYTES 72u
_Static_assert(sizeof(struct head) == HEAD_BYTES, "written as it is");

struct ctf2 {
	const struct pxt_source *source;
	int fd; /* of the stream */
	int error;
	size_t used; /* of the packet */
	uint64_t begin;
	uint64_t end;
	uint64_t discarded;
	uint64_t sequence;
	const struct pxt_type *classes[2 * AS_BLOB]; /* those that have events */
	unsigned char packet[PACKET_BYTES];
};

/* ---- The stream ---- */

static void end_packet(struct ctf2 *ctf2)
{
	struct head head = { .magic = MAGIC,
		.total_bits = (uint64_t)ctf2->used * 8,
		.content_bits = (uint64_t)ctf2->used * 8,
		.begin = ctf2->begin,
		.end = ctf2->end,
		.discarded = ctf2->discarded,
		.sequence = ctf2->sequence++ };

	memcpy(head.uuid, ctf2->source->info.posix_uuid_np, sizeof head.uuid);
	memcpy(ctf2->packet, &head, sizeof head);
	if (!ctf2->error)
		ctf2->error = pxt_write_all(ctf2->fd, ctf2->packet, ctf2->used);
	ctf2->used = 0;
}

static void put(struct ctf2 *ctf2, const void *bytes, size_t count)
{
	memcpy(ctf2->packet + ctf2->used, bytes, count);
	ctf2->used += count;
}

static void put_short(struct ctf2 *ctf2, size_t number)
{
	uint16_t value = (uint16_t)number;

	put(ctf2, &value, sizeof value);
}

/* Whether a reader of strings gets all of it: UTF-8 with no NUL but at its end. */
static bool is_string(const unsigned char *text, size_t bytes)
{
	const char *at = (const char *)text;
	const char *end = at + pxt_text_bytes(text, bytes);
	char escaped[16];
	size_t taken;

	if (memchr(at, 0, (size_t)(end - at)))
		return false;
	for (at += pxt_escape_plain(at, (size_t)(end - at)); at < end; at += taken) {
		(void)pxt_escape_one(at, (size_t)(end - at), escaped, &taken);
		if ((unsigned char)*at >= 0x80 && taken == 1)
			return false;
	}
	return true;
}

static bool has_strings(const struct pxt_event *event)
{
	size_t bytes;

	for (unsigned i = 0; i < event->type->field_count; i++) {
		const struct pxt_layout *field = &event->type->fields[i];

		if (field->kind == POSIX_TRACE_FIELD_TEXT_NP &&
		    (!pxt_layout_present(field, event->bytes, &bytes) ||
		        !is_string(event->data + field->offset, bytes)))
			return false;
	}
	return true;
}

/* Whether the data is what the description says, no less and no more. */
static bool is_described(const struct pxt_event *event)
{
	const struct pxt_type *type = event->type;
	size_t bytes;
	size_t at = 0;

	return type->index != PXT_INDEX_NONE && type->field_count > 0 &&
	       event->info.posix_truncation_status == POSIX_TRACE_NOT_TRUNCATED &&
	       pxt_layout_present(&type->fields[type->field_count - 1], event->bytes, &bytes) &&
	       pxt_fields_rest(event, &at) == 0 && has_strings(event);
}

static void put_context(struct ctf2 *ctf2, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	const int32_t numbers[3] = { event->extra.posix_cpu_np, (int32_t)event->info.posix_pid,
		(int32_t)thread->tid };
	char name[NAME_BYTES] = "";
	uint64_t address = (uint64_t)(uintptr_t)event->info.posix_prog_address;

	if (thread->recorded)
		(void)pxt_escape(thread->name, strlen(thread->name), name, sizeof name, NULL);
	put(ctf2, numbers, sizeof numbers);
	put(ctf2, name, sizeof name);
	put(ctf2, &address, sizeof address);
}

static void put_payload(struct ctf2 *ctf2, const struct pxt_event *event, bool described)
{
	const struct pxt_type *type = event->type;
	size_t before = event->bytes;

	if (!described) {
		unsigned char cut =
		    event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED;

		put(ctf2, &cut, 1);
		before = 0;
	} else if (type->fields[type->field_count - 1].trailing) {
		before = type->fields[type->field_count - 1].offset;
	}
	put(ctf2, event->data, before);
	if (before < event->bytes || !described || type->fields[type->field_count - 1].trailing)
		put_short(ctf2, event->bytes - before);
	put(ctf2, event->data + before, event->bytes - before);
}

static void put_event(struct ctf2 *ctf2, const struct pxt_event *event)
{
	uint64_t ns = event->ns < 0 ? 0 : (uint64_t)event->ns;
	bool described = is_described(event);
	uint32_t class = event->type->id % PXT_TYPES_MAX + (described ? 0 : AS_BLOB);

	if (ctf2->used > 0 &&
	    (event->extra.posix_lost_before_np > 0 || ctf2->used + EVENT_BYTES > PACKET_BYTES))
		end_packet(ctf2);
	ctf2->discarded += event->extra.posix_lost_before_np;
	if (ctf2->used == 0) {
		ctf2->used = HEAD_BYTES;
		ctf2->begin = ns;
	}
	ctf2->end = ns;
	ctf2->classes[class] = event->type;
	put_short(ctf2, class);
	put(ctf2, &ns, sizeof ns);
	put_context(ctf2, event);
	put_payload(ctf2, event, described);
}

/* ---- Metadata: a sequence of JSON texts, a fragment each ---- */

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ORDER "little-endian"
#else
#define ORDER "big-endian"
#endif

static void begin_fragment(struct pxt_out *out, const char *type)
{
	pxt_out_char(out, '\x1e');
	pxt_json_begin(out);
	pxt_json_text(out, "type", type);
}

/* A member of a structure, up to what is of its type alone. */
static void begin_member(struct pxt_out *out, const char *name, const char *type)
{
	pxt_json_open(out, NULL, '{');
	pxt_json_text(out, "name", name);
	pxt_json_open(out, "field-class", '{');
	pxt_json_text(out, "type", type);
}

static void put_role(struct pxt_out *out, const char *role)
{
	pxt_json_open(out, "roles", '[');
	pxt_json_text(out, NULL, role);
	pxt_json_close(out, "]");
}

/* What is as long as @length says. */
static void put_fixed(struct pxt_out *out, const char *name, const char *type, unsigned length)
{
	begin_member(out, name, type);
	pxt_json_number(out, "length", length);
	pxt_json_close(out, "}}");
}

static void begin_number(struct pxt_out *out, const char *name, const char *type, unsigned bits)
{
	begin_member(out, name, type);
	pxt_json_number(out, "length", bits);
	pxt_json_text(out, "byte-order", ORDER);
}

/* An integer; @role "": none, "hex": none, and to be shown so. */
static void put_integer(
    struct pxt_out *out, const char *name, bool is_signed, unsigned bits, const char *role)
{
	begin_number(out, name,
	    is_signed ? "fixed-length-signed-integer" : "fixed-length-unsigned-integer", bits);
	if (strcmp(role, "hex") == 0)
		pxt_json_number(out, "preferred-display-base", 16);
	else if (*role)
		put_role(out, role);
	pxt_json_close(out, "}}");
}

static void begin_structure(struct pxt_out *out, const char *scope)
{
	pxt_json_open(out, scope, '{');
	pxt_json_text(out, "type", "structure");
	pxt_json_open(out, "member-classes", '[');
}

static void describe_trace(struct pxt_out *out, const struct posix_trace_loginfo_np *info)
{
	begin_fragment(out, "preamble");
	pxt_json_number(out, "version", 2);
	pxt_json_open(out, "uuid", '[');
	for (unsigned i = 0; i < 16; i++)
		pxt_json_number(out, NULL, info->posix_uuid_np[i]);
	pxt_json_close(out, "]");
	pxt_json_end(out);
	begin_fragment(out, "trace-class");
	pxt_json_open(out, "environment", '{');
	pxt_json_text(out, "domain", "ust");
	pxt_json_text(out, "tracer_name", "libptrace");
	pxt_json_text(out, "hostname", info->posix_host_np);
	pxt_json_text(out, "procname", pxt_path_name(info->posix_executable_np));
	pxt_json_signed(out, "vpid", info->posix_pid_np);
	pxt_json_close(out, "}");
	begin_structure(out, "packet-header-field-class");
	put_integer(out, "magic", false, 32, "packet-magic-number");
	begin_member(out, "uuid", "static-length-blob");
	pxt_json_number(out, "length", 16);
	put_role(out, "metadata-stream-uuid");
	pxt_json_close(out, "}}");
	put_integer(out, "stream_id", false, 32, "data-stream-class-id");
	pxt_json_close(out, "]}");
	pxt_json_end(out);
	begin_fragment(out, "clock-class");
	pxt_json_text(out, "id", "realtime");
	pxt_json_text(out, "name", "realtime");
	pxt_json_number(out, "frequency", 1000000000);
	pxt_json_text(out, "origin", "unix-epoch");
	pxt_json_open(out, "offset-from-origin", '{');
	pxt_json_number(out, "seconds", 0);
	pxt_json_number(out, "cycles", 0);
	pxt_json_close(out, "}");
	pxt_json_end(out);
}

static void describe_stream(struct pxt_out *out)
{
	static const struct {
		const char *name;
		const char *role;
	} context[] = { { "packet_size", "packet-total-length" },
		{ "content_size", "packet-content-length" },
		{ "timestamp_begin", "default-clock-timestamp" },
		{ "timestamp_end", "packet-end-default-clock-timestamp" },
		{ "events_discarded", "discarded-event-record-counter-snapshot" },
		{ "packet_seq_num", "packet-sequence-number" } };

	begin_fragment(out, "data-stream-class");
	pxt_json_number(out, "id", 0);
	pxt_json_text(out, "default-clock-class-id", "realtime");
	begin_structure(out, "packet-context-field-class");
	for (size_t i = 0; i < sizeof context / sizeof *context; i++)
		put_integer(out, context[i].name, false, 64, context[i].role);
	pxt_json_close(out, "]}");
	begin_structure(out, "event-record-header-field-class");
	put_integer(out, "id", false, 16, "event-record-class-id");
	put_integer(out, "timestamp", false, 64, "default-clock-timestamp");
	pxt_json_close(out, "]}");
	begin_structure(out, "event-record-common-context-field-class");
	put_integer(out, "cpu_id", true, 32, "");
	put_integer(out, "vpid", true, 32, "");
	put_integer(out, "vtid", true, 32, "");
	put_fixed(out, "procname", "static-length-string", NAME_BYTES);
	put_integer(out, "ip", false, 64, "hex");
	pxt_json_close(out, "]}");
	pxt_json_end(out);
}

/* What is as long as the number before it says. */
static void describe_long(struct pxt_out *out, const char *name, const char *type)
{
	char length[80];

	(void)snprintf(length, sizeof length, "_%s_length", name);
	put_integer(out, length, false, 16, "");
	begin_member(out, name, type);
	pxt_json_open(out, "length-field-location", '{');
	pxt_json_text(out, "origin", "event-record-payload");
	pxt_json_open(out, "path", '[');
	pxt_json_text(out, NULL, length);
	pxt_json_close(out, "]}}}");
}

static void describe_field(struct pxt_out *out, const struct pxt_layout *field)
{
	switch (field->kind) {
	case POSIX_TRACE_FIELD_FLOAT_NP:
		begin_number(
		    out, field->name, "fixed-length-floating-point-number", 8 * field->bytes);
		pxt_json_close(out, "}}");
		break;
	case POSIX_TRACE_FIELD_TEXT_NP:
		if (field->trailing)
			describe_long(out, field->name, "dynamic-length-string");
		else
			put_fixed(out, field->name, "static-length-string", field->bytes);
		break;
	default:
		put_integer(out, field->name, field->kind == POSIX_TRACE_FIELD_SIGNED_NP,
		    8 * field->bytes, field->kind == POSIX_TRACE_FIELD_HEX_NP ? "hex" : "");
	}
}

static void describe_event(struct pxt_out *out, unsigned class, const struct pxt_type *type)
{
	begin_fragment(out, "event-record-class");
	pxt_json_number(out, "id", class);
	pxt_json_number(out, "data-stream-class-id", 0);
	pxt_json_text(out, "name", class % AS_BLOB == type->id ? type->name : "?");
	begin_structure(out, "payload-field-class");
	for (unsigned i = 0; class < AS_BLOB && i < type->field_count; i++)
		describe_field(out, &type->fields[i]);
	if (class >= AS_BLOB) {
		put_integer(out, "cut", false, 8, "");
		describe_long(out, "data", "dynamic-length-blob");
	}
	pxt_json_close(out, "]}");
	pxt_json_end(out);
}

/* ---- Files ---- */

static int make_file(const char *folder, const char *name)
{
	char path[PATH_BYTES];

	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
}

/* 0 or an errno. */
static int write_metadata(const struct ctf2 *ctf2, const char *folder)
{
	static struct pxt_out out;

	out = (struct pxt_out){ .fd = make_file(folder, "metadata") };
	if (out.fd < 0)
		return errno;
	describe_trace(&out, &ctf2->source->info);
	describe_stream(&out);
	for (unsigned i = 0; i < 2 * AS_BLOB; i++)
		if (ctf2->classes[i])
			describe_event(&out, i, ctf2->classes[i]);
	pxt_out_flush(&out);
	return close(out.fd) != 0 && !out.error ? errno : out.error;
}

/* One log; 0 or an errno. */
static int write_trace(struct pxt_source *source, int64_t start_ns, const char *folder)
{
	struct pxt_reader reader = { .sources = &source, .count = 1, .start_ns = start_ns };
	struct ctf2 *ctf2 = pxt_must(calloc(1, sizeof *ctf2));
	struct pxt_event *event;

	ctf2->source = source;
	ctf2->fd = mkdir(folder, 0777) == 0 ? make_file(folder, "stream") : -1;
	ctf2->error = ctf2->fd < 0 ? errno : 0;
	while (!ctf2->error && (event = pxt_reader_next(&reader)) != NULL)
		put_event(ctf2, event);
	if (ctf2->used > 0)
		end_packet(ctf2);
	/* Behind the last event: a packet without one. */
	ctf2->discarded += pxt_source_lost_rest(source);
	if (!ctf2->error && pxt_source_lost_rest(source) > 0) {
		ctf2->used = HEAD_BYTES;
		ctf2->begin = ctf2->end;
		end_packet(ctf2);
	}
	if (ctf2->fd >= 0 && close(ctf2->fd) != 0 && !ctf2->error)
		ctf2->error = errno;
	if (!ctf2->error)
		ctf2->error = write_metadata(ctf2, folder);
	int error = ctf2->error;
	free(ctf2);
	return error;
}

int pxt_ctf2_write(struct pxt_reader *reader, const char *folder)
{
	char path[PATH_BYTES];
	int error = 0;

	if (reader->count > 1 && mkdir(folder, 0777) != 0)
		error = errno;
	for (unsigned i = 0; i < reader->count && !error; i++) {
		if (reader->count > 1)
			(void)snprintf(path, sizeof path, "%s/trace-%u", folder, i + 1);
		else
			(void)snprintf(path, sizeof path, "%s", folder);
		error = write_trace(reader->sources[i], reader->start_ns, path);
	}
	if (error)
		pxt_complain("export ctf: %s: cannot be written: %s", folder, strerror(error));
	return error ? PXT_EXIT_OUTPUT : PXT_EXIT_OK;
}
