/* SPDX-License-Identifier: MIT */
/* roles.c - what the types of a log mean: by a roles file, else by their names. */
#include "tools/why/roles.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

/*
 * A longer suffix is before one that it ends in.  Those that make pairs for other commands are in
 * tools/spans/pairs.c.
 */
static const struct suffix {
	const char *text;
	enum pxt_deed deed;
	const char *beside[2]; /* only where the log has one of these, too */
} suffixes[] = {
	{ "_begin", PXT_JOB_START, { NULL, NULL } },
	{ "_start", PXT_JOB_START, { NULL, NULL } },
	{ "_enter", PXT_JOB_START, { NULL, NULL } },
	{ "_end", PXT_JOB_END, { NULL, NULL } },
	{ "_stop", PXT_JOB_END, { NULL, NULL } },
	{ "_exit", PXT_JOB_END, { NULL, NULL } },
	{ "_release", PXT_JOB_RELEASE, { "_begin", "_start" } },
	{ "_unlock", PXT_LOCK_RELEASE, { NULL, NULL } },
	{ "_lock", PXT_LOCK_ACQUIRE, { NULL, NULL } },
	{ "_wait", PXT_LOCK_WAIT, { "_lock", NULL } },
	{ "_unblock", PXT_WAKE, { NULL, NULL } },
	{ "_block", PXT_BLOCK, { "_unblock", "_wake" } },
	{ "_wake", PXT_WAKE, { "_block", NULL } },
};

static const struct suffix *suffix_of(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		size_t bytes = strlen(suffixes[i].text);

		if (length > bytes && strcmp(name + length - bytes, suffixes[i].text) == 0)
			return &suffixes[i];
	}
	return NULL;
}

size_t pxt_roles_stem(const char *name)
{
	const struct suffix *suffix = suffix_of(name);

	return strlen(name) - (suffix ? strlen(suffix->text) : 0);
}

struct pxt_roles_book *pxt_roles_new(void)
{
	return pxt_must(calloc(1, sizeof(struct pxt_roles_book)));
}

void pxt_roles_free(struct pxt_roles_book *book)
{
	for (uint32_t i = 0; i < book->name_count; i++)
		free(book->names[i]);
	free(book->types);
	pxt_places_free(book->places);
	free(book->text);
	free(book);
}

void pxt_roles_bind(struct pxt_roles_book *book, const struct pxt_reader *reader)
{
	book->source_count = reader->count;
	book->places = pxt_places_new(reader);
	book->types = pxt_must(calloc((size_t)reader->count * PXT_TYPES_MAX, sizeof *book->types));
}

uint32_t pxt_roles_name(struct pxt_roles_book *book, const char *name, size_t bytes)
{
	for (uint32_t i = 0; i < book->name_count; i++)
		if (strncmp(book->names[i], name, bytes) == 0 && book->names[i][bytes] == '\0')
			return i;
	if (book->name_count == PXT_ROLE_NAMES_MAX)
		return PXT_NO_NAME;
	char *copy = pxt_must(malloc(bytes + 1));
	memcpy(copy, name, bytes);
	copy[bytes] = '\0';
	book->names[book->name_count] = copy;
	return book->name_count++;
}

/* ---- By a line of the file ---- */

static void no_field(struct pxt_roles_book *book, const struct pxt_role_line *line,
    const struct pxt_type *type, const char *field)
{
	char text[256] = "";
	size_t used = 0;

	pxt_complain("%s:%u: the event \"%s\" has no field \"%s\"", book->path, line->number,
	    type->name, field);
	for (unsigned i = 0; i < type->field_count; i++) {
		size_t bytes = strlen(type->fields[i].name);

		if (used + bytes + 2 > sizeof text)
			break;
		text[used++] = ' ';
		memcpy(text + used, type->fields[i].name, bytes + 1);
		used += bytes;
	}
	if (used > 0)
		pxt_explain("it has:%s", text);
	else
		pxt_explain("its data has no description (posix_trace_eventid_setformat_np)");
	book->failed = true;
}

static const struct pxt_layout *first_field(const struct pxt_type *type)
{
	return type->field_count > 0 ? &type->fields[0] : NULL;
}

/* What a lock's event calls the lock, wherever that is; else its first field. */
static const struct pxt_layout *lock_field(const struct pxt_type *type)
{
	static const char *const names[] = { "lock", "mutex", "mtx", "sem" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct pxt_layout *field = pxt_field_named(type, names[i]);

		if (field)
			return field;
	}
	return first_field(type);
}

static bool is_lock(enum pxt_deed deed)
{
	return deed >= PXT_LOCK_WAIT && deed <= PXT_LOCK_RELEASE;
}

static void add_line(struct pxt_roles_book *book, struct pxt_type_roles *roles,
    struct pxt_role_line *line, const struct pxt_type *type)
{
	struct pxt_role role = { .deed = line->deed, .name = PXT_NO_NAME };
	const char *name = line->name;

	line->met = true;
	for (unsigned i = 0; i < PXT_USES; i++) {
		if (!line->fields[i])
			continue;
		role.fields[i] = pxt_field_named(type, line->fields[i]);
		if (!role.fields[i])
			no_field(book, line, type, line->fields[i]);
	}
	role.key_named = line->fields[PXT_USE_KEY] != NULL;
	if (line->deed <= PXT_BLOCK && !role.key_named)
		role.fields[PXT_USE_KEY] =
		    is_lock(line->deed) ? lock_field(type) : first_field(type);
	if (name)
		role.name = pxt_roles_name(book, name, strlen(name));
	else if (line->deed <= PXT_JOB_END)
		role.name = pxt_roles_name(book, type->name, pxt_roles_stem(type->name));
	else if (is_lock(line->deed))
		role.name = pxt_roles_name(book, "lock", 4);
	else if (line->deed == PXT_BLOCK)
		role.name = pxt_roles_name(book, type->name, strlen(type->name));
	if (roles->count < PXT_ROLES_OF_TYPE)
		roles->list[roles->count++] = role;
}

/* ---- By the name ---- */

static const struct pxt_layout *either(
    const struct pxt_type *type, const char *name, const char *other)
{
	const struct pxt_layout *field = pxt_field_named(type, name);

	return field ? field : pxt_field_named(type, other);
}

/* Whether the log has a type of this stem with one of the suffixes. */
static bool has_beside(
    const struct pxt_source *source, const char *name, size_t stem, const struct suffix *suffix)
{
	trace_event_id_t id;
	int unavailable = 0;

	if (!suffix->beside[0])
		return true;
	(void)posix_trace_eventtypelist_rewind(source->trid);
	while (posix_trace_eventtypelist_getnext_id(source->trid, &id, &unavailable) == 0 &&
	       !unavailable) {
		char other[TRACE_EVENT_NAME_MAX + 1];

		if (posix_trace_eventid_get_name(source->trid, id, other) != 0 ||
		    strncmp(other, name, stem) != 0)
			continue;
		for (unsigned i = 0; i < 2; i++)
			if (suffix->beside[i] && strcmp(other + stem, suffix->beside[i]) == 0)
				return true;
	}
	return false;
}

static bool add_scheduler(struct pxt_type_roles *roles, const struct pxt_type *type)
{
	struct pxt_role role = { .name = PXT_NO_NAME };

	if (strcmp(type->name, "sched_switch") == 0) {
		role.deed = PXT_SWITCH;
		role.fields[PXT_USE_CPU] = either(type, "cpu", "cpu_id");
		role.fields[PXT_USE_FROM] = either(type, "prev_tid", "prev_pid");
		role.fields[PXT_USE_TO] = either(type, "next_tid", "next_pid");
		role.fields[PXT_USE_STATE] = pxt_field_named(type, "prev_state");
		role.fields[PXT_USE_FROM_PRIO] = pxt_field_named(type, "prev_prio");
		role.fields[PXT_USE_TO_PRIO] = pxt_field_named(type, "next_prio");
		role.fields[PXT_USE_FROM_NAME] = pxt_field_named(type, "prev_comm");
		role.fields[PXT_USE_TO_NAME] = pxt_field_named(type, "next_comm");
		if (!role.fields[PXT_USE_FROM] || !role.fields[PXT_USE_TO])
			return false;
	} else if (strcmp(type->name, "sched_wakeup") == 0 ||
	           strcmp(type->name, "sched_wakeup_new") == 0 ||
	           strcmp(type->name, "sched_waking") == 0) {
		role.deed = PXT_WAKE;
		role.is_new = strcmp(type->name, "sched_wakeup_new") == 0;
		role.fields[PXT_USE_THREAD] = either(type, "tid", "pid");
		role.fields[PXT_USE_CPU] = pxt_field_named(type, "target_cpu");
		if (!role.fields[PXT_USE_THREAD])
			return false;
	} else if (strcmp(type->name, "thread_state") == 0) {
		role.deed = PXT_THREAD;
		role.fields[PXT_USE_THREAD] = pxt_field_named(type, "tid");
		role.fields[PXT_USE_TO_PRIO] = pxt_field_named(type, "prio");
		role.fields[PXT_USE_TO_NAME] = pxt_field_named(type, "name");
		if (!role.fields[PXT_USE_THREAD])
			return false;
	} else if (strcmp(type->name, "task_rename") == 0) {
		role.deed = PXT_THREAD;
		role.fields[PXT_USE_THREAD] = either(type, "tid", "pid");
		role.fields[PXT_USE_FROM_NAME] = pxt_field_named(type, "oldcomm");
		role.fields[PXT_USE_TO_NAME] = pxt_field_named(type, "newcomm");
		if (!role.fields[PXT_USE_THREAD] || !role.fields[PXT_USE_FROM_NAME])
			return false;
	} else if (strcmp(type->name, "sched_process_fork") == 0) {
		role.deed = PXT_THREAD;
		role.is_new = true;
		role.fields[PXT_USE_THREAD] = either(type, "child_tid", "child_pid");
		role.fields[PXT_USE_TO_NAME] = pxt_field_named(type, "child_comm");
		if (!role.fields[PXT_USE_THREAD])
			return false;
	} else {
		return false;
	}
	roles->list[roles->count++] = role;
	return true;
}

static bool is_miss(const char *name)
{
	static const char word[] = "deadline_miss";
	size_t length = strlen(name);
	size_t bytes = sizeof word - 1;

	return length >= bytes && strcmp(name + length - bytes, word) == 0 &&
	       (length == bytes || name[length - bytes - 1] == '_');
}

static void add_named(struct pxt_roles_book *book, struct pxt_type_roles *roles,
    const struct pxt_type *type, const struct pxt_source *source)
{
	struct pxt_role role = { .name = PXT_NO_NAME };
	const struct suffix *suffix = suffix_of(type->name);
	size_t stem = pxt_roles_stem(type->name);

	role.fields[PXT_USE_KEY] = first_field(type);
	if (is_miss(type->name)) {
		role.deed = PXT_DEADLINE_MISS;
		role.fields[PXT_USE_TIME] = either(type, "late_ns", "late");
		role.fields[PXT_USE_THREAD] = pxt_field_named(type, "tid");
	} else if (suffix && has_beside(source, type->name, stem, suffix)) {
		role.deed = suffix->deed;
		role.name = pxt_roles_name(book, type->name, stem);
		if (is_lock(role.deed))
			role.fields[PXT_USE_KEY] = lock_field(type);
		if (role.deed == PXT_JOB_START)
			role.fields[PXT_USE_TIME] = either(type, "start_ns", "delay_ns");
		if (role.deed == PXT_JOB_START || role.deed == PXT_JOB_END)
			role.fields[PXT_USE_RAN] = pxt_field_named(type, "cpu_ns");
		if (role.deed == PXT_WAKE)
			role.fields[PXT_USE_THREAD] = either(type, "tid", "thread");
	} else {
		return;
	}
	roles->list[roles->count++] = role;
}

/* ---- Both ---- */

static bool is_of_kernel(const char *name)
{
	static const char *const names[] = { "sched_process_exit", "sched_migrate_task",
		"task_rename" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static enum pxt_kernel_event kernel_event(const struct pxt_type *type)
{
	static const char *const names[PXT_KERNEL_EVENTS] = { "", "page_faults", "cpu_sample",
		"interrupts", "block_io", "cpu_frequency", "cpu_throttled" };
	enum pxt_kernel_event event = PXT_KERNEL_EVENTS - 1;

	while (event > PXT_KERNEL_NONE && strcmp(type->name, names[event]) != 0)
		event--;
	return event;
}

static void learn(struct pxt_roles_book *book, struct pxt_type_roles *roles,
    const struct pxt_type *type, const struct pxt_source *source)
{
	roles->learnt = true;
	for (unsigned i = 0; i < book->line_count; i++)
		if (strcmp(book->lines[i].event, type->name) == 0)
			add_line(book, roles, &book->lines[i], type);
	if (roles->count > 0)
		return;
	if (type->id <= POSIX_TRACE_UNNAMED_USEREVENT) {
		pxt_rolesystem_add(book, roles, type);
		return;
	}
	roles->kernel = kernel_event(type);
	book->throttles = book->throttles || roles->kernel == PXT_KERNEL_THROTTLED;
	roles->of_kernel = is_of_kernel(type->name) || roles->kernel != PXT_KERNEL_NONE;
	if (add_scheduler(roles, type))
		return;
	if (roles->of_kernel)
		return;
	add_named(book, roles, type, source);
}

const struct pxt_type_roles *pxt_roles_of(
    struct pxt_roles_book *book, const struct pxt_event *event, unsigned source)
{
	static const struct pxt_type_roles none;

	if (event->type->index >= PXT_TYPES_MAX)
		return &none;
	struct pxt_type_roles *roles =
	    &book->types[(size_t)source * PXT_TYPES_MAX + event->type->index];
	if (!roles->learnt)
		learn(book, roles, event->type, event->source);
	return roles;
}

void pxt_roles_review(const struct pxt_roles_book *book, const struct pxt_reader *reader)
{
	for (unsigned i = 0; i < book->line_count; i++) {
		if (book->lines[i].met)
			continue;
		pxt_complain("%s:%u: no event \"%s\" was read", book->path, book->lines[i].number,
		    book->lines[i].event);
		if (reader->count == 1)
			pxt_explain(
			    "`pxtrace stat %s` lists what there is", reader->sources[0]->path);
	}
}
