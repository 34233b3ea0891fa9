/* SPDX-License-Identifier: MIT */
/* logfmt_entry.c - reading: names, threads, modules, notes, clocks, and the trailer. */
#include "format/logfmt_fields.h"

const char *pxt_logfmt_get_entry(const unsigned char *block, const struct pxt_log_blockhead *head,
    bool swapped, uint32_t least, uint32_t *offset, const unsigned char **entry)
{
	uint32_t room = head->length - *offset;
	uint32_t bytes;

	if (room < 8u)
		return "the block does not hold as many entries as it says";
	bytes = pxt_get16(block + *offset, swapped);
	if (bytes > room || bytes < least || bytes % 8u || bytes == 0)
		return "an entry has an impossible length";
	*entry = block + *offset;
	*offset += bytes;
	return NULL;
}

const char *pxt_logfmt_get_type(
    const unsigned char *entry, bool swapped, struct pxt_log_typename *type)
{
	uint32_t name = pxt_get16(entry + 4, swapped);
	uint32_t format = pxt_get16(entry + 6, swapped);

	type->id = pxt_get16(entry + 2, swapped);
	if (type->id == 0 || type->id >= PXT_LOG_IDS)
		return "an event type has an impossible number";
	if (name >= sizeof(type->name) || format >= sizeof(type->format) ||
	    PXT_LOG_TYPE_BYTES + name + format > pxt_get16(entry, swapped))
		return "an event type's name does not fit its entry";
	memcpy(type->name, entry + PXT_LOG_TYPE_BYTES, name);
	type->name[name] = '\0';
	memcpy(type->format, entry + PXT_LOG_TYPE_BYTES + name, format);
	type->format[format] = '\0';
	if (memchr(type->name, '\0', name) || memchr(type->format, '\0', format))
		return "an event type's name holds a zero byte";
	return NULL;
}

void pxt_logfmt_get_thread(const unsigned char *entry, bool swapped, struct pxt_log_thread *thread)
{
	pxt_logfmt_get_fields(entry, swapped, pxt_log_thread_fields, thread);
	memcpy(thread->name, entry + 32, sizeof(thread->name));
	thread->name[sizeof(thread->name) - 1] = '\0';
}

/* Of minor version 2. */
static const char *get_system(
    const unsigned char *entry, bool swapped, struct pxt_log_process *process)
{
	process->cpus = 0;
	process->system[0] = '\0';
	if (pxt_get16(entry, swapped) < PXT_LOG_PROCESS_1_2)
		return NULL;
	process->cpus = pxt_get32(entry + PXT_LOG_PROCESS_1_1, swapped);
	if (!pxt_get_text(
	        entry + PXT_LOG_PROCESS_1_1 + 8, process->system, sizeof(process->system)))
		return "the name of the system in the process' entry has no end";
	return NULL;
}

const char *pxt_logfmt_get_process(
    const unsigned char *entry, bool swapped, struct pxt_log_process *process)
{
	process->pid = pxt_get_int(entry + 4, swapped);
	if (!pxt_logfmt_get_time(entry + 8, swapped, &process->start))
		return "the process was started at an impossible time";
	if (!pxt_get_text(entry + 24, process->executable, sizeof(process->executable)) ||
	    !pxt_get_text(entry + 280, process->host, sizeof(process->host)))
		return "a name in the process' entry has no end";
	memset(process->boot_id, 0, sizeof(process->boot_id));
	if (pxt_get16(entry, swapped) >= PXT_LOG_PROCESS_1_1)
		memcpy(process->boot_id, entry + PXT_LOG_PROCESS_BYTES, sizeof(process->boot_id));
	return get_system(entry, swapped, process);
}

const char *pxt_logfmt_get_module(
    const unsigned char *entry, bool swapped, struct pxt_log_module *module)
{
	uint32_t path = pxt_get16(entry + 2, swapped);

	pxt_logfmt_get_fields(entry, swapped, pxt_log_module_fields, module);
	if (module->build_id_bytes > sizeof(module->build_id) || path >= sizeof(module->path) ||
	    PXT_LOG_MODULE_BYTES + path > pxt_get16(entry, swapped))
		return "a module's path or build-id does not fit its entry";
	memcpy(module->build_id, entry + 32, sizeof(module->build_id));
	memcpy(module->path, entry + PXT_LOG_MODULE_BYTES, path);
	module->path[path] = '\0';
	return NULL;
}

const char *pxt_logfmt_get_note(const unsigned char *entry, bool swapped, struct pxt_log_note *note)
{
	uint32_t name = pxt_get16(entry + 2, swapped);
	uint32_t text = pxt_get16(entry + 4, swapped);

	if (name == 0 || name >= sizeof(note->name) || text >= sizeof(note->text) ||
	    PXT_LOG_NOTE_BYTES + name + text > pxt_get16(entry, swapped))
		return "a note's name or text does not fit its entry";
	memcpy(note->name, entry + PXT_LOG_NOTE_BYTES, name);
	note->name[name] = '\0';
	memcpy(note->text, entry + PXT_LOG_NOTE_BYTES + name, text);
	note->text[text] = '\0';
	if (memchr(note->name, '\0', name) || memchr(note->text, '\0', text))
		return "a note holds a zero byte";
	return NULL;
}

void pxt_logfmt_get_set(const unsigned char *entry, bool swapped, struct pxt_log_set *set)
{
	set->records = pxt_get64(entry + 8, swapped);
	set->lost = pxt_get64(entry + 16, swapped);
	set->repeated = pxt_get64(entry + 24, swapped);
}

const char *pxt_logfmt_get_clock(
    const unsigned char *entry, bool swapped, struct pxt_log_clock *clock)
{
	clock->moment = pxt_get16(entry + 2, swapped);
	if (!pxt_logfmt_get_clocks(entry + 8, swapped, &clock->clock))
		return "a clock reading shows an impossible time";
	return NULL;
}

/* Of minor version 1; a shorter trailer has no signal. */
static void get_crash(const unsigned char *entry, bool swapped, struct pxt_crash *crash)
{
	memset(crash, 0, sizeof(*crash));
	if (pxt_get16(entry, swapped) < PXT_LOG_CRASH_BYTES)
		return;
	pxt_logfmt_get_fields(entry, swapped, pxt_log_crash_fields, crash);
}

const char *pxt_logfmt_get_trailer(
    const unsigned char *entry, bool swapped, struct pxt_log_trailer *trailer)
{
	pxt_logfmt_get_fields(entry, swapped, pxt_log_trailer_fields, trailer);
	trailer->counts.posix_stable_np = 1;
	get_crash(entry, swapped, &trailer->crash);
	if (!pxt_logfmt_get_clocks(entry + 104, swapped, &trailer->end))
		return "the clocks at shutdown show an impossible time";
	return pxt_logfmt_get_attr(entry + 160, swapped, &trailer->attr);
}
