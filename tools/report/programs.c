/* SPDX-License-Identifier: MIT */
/* programs.c - the traced processes of a log; see programs.h. */
#include "tools/report/programs.h"

#include "tools/output/say.h"
#include "tools/report/json.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define NAME_AT 21u /* FORMAT.md 5.1: behind what, number, address and size */

static struct pxt_program *find(struct pxt_programs *programs, pid_t pid)
{
	for (uint32_t i = 0; i < programs->count; i++)
		if (programs->list[i].pid == pid)
			return &programs->list[i];
	return NULL;
}

static struct pxt_program *add(struct pxt_programs *programs, pid_t pid)
{
	if (programs->count == PXT_PROGRAMS_MAX)
		return NULL;
	if (!programs->list)
		programs->list = pxt_must(calloc(PXT_PROGRAMS_MAX, sizeof *programs->list));
	programs->list[programs->count].pid = pid;
	return &programs->list[programs->count++];
}

void pxt_programs_take(struct pxt_programs *programs, const struct pxt_event *event)
{
	struct pxt_program *program;

	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || event->bytes <= NAME_AT ||
	    event->data[0] != POSIX_TRACE_PROCESS_TRACED_NP)
		return;
	program = find(programs, event->info.posix_pid);
	if (!program)
		program = add(programs, event->info.posix_pid);
	if (!program)
		return;
	free(program->path);
	program->path =
	    pxt_must(strndup((const char *)event->data + NAME_AT, event->bytes - NAME_AT));
}

void pxt_programs_put(const struct pxt_programs *programs, struct pxt_out *out)
{
	pxt_out_char(out, '[');
	for (uint32_t i = 0; i < programs->count; i++) {
		pxt_out_format(out, i == 0 ? "[%ld," : ",[%ld,", (long)programs->list[i].pid);
		pxt_json_text(out, programs->list[i].path);
		pxt_out_char(out, ']');
	}
	pxt_out_char(out, ']');
}

void pxt_programs_free(struct pxt_programs *programs)
{
	for (uint32_t i = 0; i < programs->count; i++)
		free(programs->list[i].path);
	free(programs->list);
}
