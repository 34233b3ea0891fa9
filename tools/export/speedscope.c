/* SPDX-License-Identifier: MIT */
/*
 * speedscope.c - pxtrace export speedscope: the own form of speedscope.app, a profile for each thread, and one of the
 * functions that its events tell.
 *
 *	{"type":"evented","name":"worker/4711","unit":"nanoseconds",...,
 *	 "events":[{"type":"O","frame":0,"at":1000},{"type":"C","frame":0,"at":7000}]}
 *	{"type":"sampled","name":"worker/4711, who called","unit":"none",...,
 *	 "samples":[[1,2,3]],"weights":[1]}
 *
 * The bars are those of slices.h that lie inside each other: spans, functions, calls, waits.
 *
 * A profile's events stand together, and events of threads come mixed.  So each thread has a chunk in memory;
 * full ones go into a temporary file, each with the place of the next one.
 *
 * Bounded: a chunk and PXT_OPEN_DEPTH bars for each thread, FRAMES_MAX names; what has no place is left out, and
 * counted.
 */
#include "tools/command/command.h"
#include "tools/export/bars.h"
#include "tools/export/export.h"
#include "tools/output/out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace export speedscope - writes what each thread did when, for speedscope.app\n"
	"\n"
	"usage: pxtrace export speedscope [OPTION]... LOG...\n"
	"\n"
	"A profile for each thread that has bars: what was open when, by pairs of events, as for\n"
	"perfetto: job_begin and job_end, a function's enter and exit, calls and waits of\n"
	"`pxtrace run`. Times are nanoseconds since the start of the first log.\n"
	"speedscope.app (nothing is sent anywhere) shows it in the order of time, and added up.\n"
	"\n"
	"Pairs that overlap without being inside each other are left out. At a loss everything\n"
	"that was open ends with its thread's last event: nobody knows how long it went on.\n"
	"\n"
	"Of events that tell which functions called (POSIX_TRACE_DEFINE_STACK_NP, long waits,\n"
	"samples) a thread has a second profile: a sample of its stack for each of them.\n"
	"\n",
	PXT_EXPORT_COMMON_HELP "\n"
	                       "example: the jobs and locks of all threads\n"
	                       "\n"
	                       "  $ pxtrace export speedscope -o run.speedscope.json run.ptl\n"
	                       "\n" PXT_HELP_STATUS,
	NULL,
};

#define FRAMES_MAX  65536u
#define FRAMES_HASH ((size_t)2 * FRAMES_MAX)
#define ENTRIES     255u
#define NO_CHUNK    UINT64_MAX

struct entry {
	uint64_t ns;    /* since the start */
	uint32_t frame; /* of a sample: the one on top, in state.stacks */
	uint32_t opens;
};

struct chunk {
	uint64_t next; /* its place in the file */
	uint64_t used;
	struct entry entries[ENTRIES];
};

/* What is written of a thread. */
struct profile {
	char *name;
	bool of_samples;
	uint64_t samples;
	uint64_t first; /* chunk in the file */
	uint64_t last;
	struct chunk chunk; /* that is not full */
	uint64_t first_ns;
	uint64_t last_ns; /* of its last event */
	uint32_t open[PXT_OPEN_DEPTH];
	uint32_t deep;
	uint32_t missing; /* bars above these that found no place */
	struct profile *next;
};

/* What is kept of each log. */
struct speedscope {
	struct pxt_bars bars;
	struct profile *
	    *profiles; /* by the thread's index; PXT_THREADS_MAX further on: of samples */
};

static struct {
	struct pxt_export *export;
	FILE *file;
	uint64_t bytes; /* in it */
	struct frame {
		char *name;
		bool is_function; /* with its file and line */
	} * frames;
	uint32_t frame_count;
	struct pxt_frames stacks;
	uint32_t *named;   /* of a first reading that stands: the frames in it that samples name */
	uint32_t *by_name; /* hash table of number + 1 */
	struct profile *first;
	struct profile **end;
	uint64_t missing;
} state;

/* ---- Names ---- */

/* The number of a name, the same one each time; FRAMES_MAX: there is no place. */
static uint32_t frame_of(const char *text, size_t bytes, bool is_function)
{
	size_t at = 2166136261u;

	for (size_t i = 0; i < bytes; i++)
		at = ((at ^ (unsigned char)text[i]) * 16777619u) & UINT32_MAX;
	for (at %= FRAMES_HASH; state.by_name[at] != 0; at = (at + 1) % FRAMES_HASH) {
		const char *known = state.frames[state.by_name[at] - 1].name;

		if (strncmp(known, text, bytes) == 0 && known[bytes] == '\0')
			return state.by_name[at] - 1;
	}
	if (state.frame_count == FRAMES_MAX)
		return FRAMES_MAX;
	state.frames[state.frame_count] =
	    (struct frame){ .name = pxt_must(strndup(text, bytes)), .is_function = is_function };
	state.by_name[at] = state.frame_count + 1;
	return state.frame_count++;
}

/* ---- The temporary file ---- */

static void fail(int error)
{
	if (state.export->out.error == 0)
		state.export->out.error = error ? error : EIO;
}

static void keep(const void *from, size_t bytes, uint64_t place)
{
	errno = 0;
	if (!state.file)
		state.file = tmpfile();
	if (!state.file || pwrite(fileno(state.file), from, bytes, (off_t)place) != (ssize_t)bytes)
		fail(errno);
}

static void put_away(struct profile *profile)
{
	uint64_t place = state.bytes;

	profile->chunk.next = NO_CHUNK;
	keep(&profile->chunk, sizeof profile->chunk, place);
	if (profile->last != NO_CHUNK)
		keep(&place, sizeof place, profile->last);
	else
		profile->first = place;
	profile->last = place;
	state.bytes += sizeof profile->chunk;
	profile->chunk.used = 0;
}

static void put_entry(struct profile *profile, uint32_t frame, bool opens)
{
	if (profile->chunk.used == ENTRIES)
		put_away(profile);
	profile->chunk.entries[profile->chunk.used++] =
	    (struct entry){ .ns = profile->last_ns, .frame = frame, .opens = opens };
}

/* ---- Bars ---- */

static void open_bar(struct speedscope *log, struct profile *profile, const struct pxt_event *event,
    const struct pxt_slice *slice)
{
	size_t bytes;
	const char *own = pxt_bars_own_name(&log->bars, slice, event);
	const char *name = pxt_slices_name(log->bars.slices, slice->pair, &bytes);
	uint32_t frame = FRAMES_MAX;

	if (profile->missing == 0 && profile->deep < PXT_OPEN_DEPTH)
		frame = frame_of(own ? own : name, own ? strlen(own) : bytes, false);
	if (frame == FRAMES_MAX) {
		profile->missing++;
		state.missing++;
		return;
	}
	profile->open[profile->deep++] = frame;
	put_entry(profile, frame, true);
}

static void close_bar(struct profile *profile)
{
	if (profile->missing > 0)
		profile->missing--;
	else if (profile->deep > 0)
		put_entry(profile, profile->open[--profile->deep], false);
}

static void close_all(struct profile *profile)
{
	profile->missing = 0;
	while (profile->deep > 0)
		close_bar(profile);
}

/* ---- Events ---- */

/* Of several logs each thread has its process before its name. */
static char *name_of(const struct pxt_event *event, bool of_samples)
{
	const char *label = event->thread->label;
	char process[PXT_EXPORT_PROCESS_ROOM] = "";
	size_t room = strlen(label) + sizeof process + sizeof " , who called";
	char *name = pxt_must(malloc(room));

	if (state.export->reader.count > 1)
		pxt_export_process(state.export, event->source, process);
	(void)snprintf(name, room, "%s%s%s%s", process, *process ? " " : "", label,
	    of_samples ? ", who called" : "");
	return name;
}

static struct profile *profile_of(
    struct speedscope *log, const struct pxt_event *event, bool of_samples)
{
	struct profile **profile =
	    &log->profiles[event->thread->index + (of_samples ? PXT_THREADS_MAX : 0)];

	if (!*profile) {
		*profile = pxt_must(calloc(1, sizeof **profile));
		(*profile)->name = name_of(event, of_samples);
		(*profile)->of_samples = of_samples;
		(*profile)->first = (*profile)->last = NO_CHUNK;
		*state.end = *profile;
		state.end = &(*profile)->next;
	}
	return *profile;
}

/* Whatever is open may have ended among the lost events. */
static void forget(struct speedscope *log)
{
	pxt_slices_cut(log->bars.slices, NULL, NULL);
	for (uint32_t i = 0; i < PXT_THREADS_MAX; i++)
		if (log->profiles[i])
			close_all(log->profiles[i]);
}

static void put_sample(struct speedscope *log, const struct pxt_event *event)
{
	uint32_t top = pxt_bars_stack(&log->bars, event, &state.stacks, 0, true);
	struct profile *profile;

	if (top == 0)
		return;
	profile = profile_of(log, event, true);
	profile->samples++;
	put_entry(profile, top, true);
}

static void put_event(struct pxt_export *export, const struct pxt_event *event, uint64_t lost)
{
	struct speedscope *log = pxt_export_of(event->source);
	int64_t since = event->ns - export->reader.start_ns;
	struct pxt_slice slice;
	struct profile *profile;

	if (pxt_bars_spoilt(&log->bars)) {
		pxt_bars_look(export, event, lost);
		return;
	}
	if (lost > 0)
		forget(log);
	slice = pxt_slices_take(log->bars.slices, event);
	if (event->thread->index == PXT_INDEX_NONE || !event->thread->recorded)
		return;
	put_sample(log, event);
	profile = profile_of(log, event, false);
	profile->last_ns = since > 0 ? (uint64_t)since : 0;
	if (slice.lane != 0 || slice.bar == PXT_BAR_NONE)
		return;
	if (profile->first == NO_CHUNK && profile->chunk.used == 0)
		profile->first_ns = profile->last_ns;
	if (slice.bar == PXT_BAR_BEGIN)
		open_bar(log, profile, event, &slice);
	else
		close_bar(profile);
}

static void put_lost(struct pxt_export *export, const struct pxt_source *source, uint64_t lost)
{
	(void)export;
	(void)lost;
	forget(pxt_export_of(source));
}

/* ---- The whole ---- */

static void begin_state(struct pxt_export *export)
{
	memset(&state, 0, sizeof state);
	state.export = export;
	state.end = &state.first;
	state.stacks.late = true;
	state.frames = pxt_must(calloc(FRAMES_MAX, sizeof *state.frames));
	state.by_name = pxt_must(calloc(FRAMES_HASH, sizeof *state.by_name));
}

static void end_state(void)
{
	struct profile *next;

	for (struct profile *profile = state.first; profile; profile = next) {
		next = profile->next;
		free(profile->name);
		free(profile);
	}
	for (uint32_t i = 0; i < state.frame_count; i++)
		free(state.frames[i].name);
	pxt_bars_frames_free(&state.stacks);
	free(state.named);
	free(state.frames);
	free(state.by_name);
	if (state.file)
		(void)fclose(state.file);
}

static bool stands(struct pxt_export *export, struct pxt_reader *reader)
{
	if (pxt_bars_stand(export, reader))
		state.named = pxt_bars_name_frames(&state.stacks, reader, true);
	return state.named != NULL;
}

static void looked(struct pxt_export *export, struct pxt_reader *reader)
{
	pxt_bars_looked(export, reader);
	if (!pxt_bars_tried())
		return;
	end_state();
	begin_state(export);
	for (unsigned i = 0; i < reader->count; i++) {
		struct speedscope *log = pxt_export_of(reader->sources[i]);

		memset(log->profiles, 0, (size_t)2 * PXT_THREADS_MAX * sizeof(struct profile *));
	}
}

static void begin(struct pxt_export *export, struct pxt_reader *reader)
{
	begin_state(export);
	for (unsigned i = 0; i < reader->count; i++) {
		struct pxt_export_log *of = reader->sources[i]->user;
		struct speedscope *log = pxt_must(calloc(1, sizeof *log));

		pxt_bars_begin(&log->bars, reader->sources[i], true);
		log->profiles =
		    pxt_must(calloc((size_t)2 * PXT_THREADS_MAX, sizeof(struct profile *)));
		of->format = log;
	}
}

static void put_stack(struct pxt_out *out, uint32_t top)
{
	uint32_t path[PXT_STACK_MAX];
	uint32_t deep =
	    pxt_bars_path(&state.stacks, state.named ? state.named[top] : top, path, PXT_STACK_MAX);

	pxt_json_open(out, NULL, '[');
	for (uint32_t i = 0; i < deep; i++) {
		struct pxt_frame *frame = &state.stacks.list[path[i]];

		/* The number of its name, + 1. */
		if (frame->sum == 0)
			frame->sum = frame_of(frame->name, strlen(frame->name), true) + 1u;
		if (frame->sum <= FRAMES_MAX)
			pxt_json_number(out, NULL, frame->sum - 1);
	}
	pxt_json_close(out, "]");
}

static void put_chunk(struct pxt_out *out, const struct profile *profile, const struct chunk *chunk)
{
	for (uint64_t i = 0; i < chunk->used && i < ENTRIES; i++) {
		const struct entry *entry = &chunk->entries[i];

		pxt_json_line(out);
		if (profile->of_samples) {
			put_stack(out, entry->frame);
			continue;
		}
		pxt_json_open(out, NULL, '{');
		pxt_json_text(out, "type", entry->opens ? "O" : "C");
		pxt_json_number(out, "frame", entry->frame);
		pxt_json_number(out, "at", entry->ns);
		pxt_json_close(out, "}");
	}
}

static void put_chunks(struct pxt_out *out, const struct profile *profile)
{
	static struct chunk chunk;
	uint64_t place = profile->first;

	while (place != NO_CHUNK && out->error == 0) {
		errno = 0;
		if (pread(fileno(state.file), &chunk, sizeof chunk, (off_t)place) !=
		    (ssize_t)sizeof chunk) {
			fail(errno);
			break;
		}
		put_chunk(out, profile, &chunk);
		place = chunk.next;
	}
	put_chunk(out, profile, &profile->chunk);
}

static void put_profile(struct pxt_out *out, const struct profile *profile)
{
	bool of_samples = profile->of_samples;

	pxt_json_open(out, NULL, '{');
	pxt_json_text(out, "type", of_samples ? "sampled" : "evented");
	pxt_json_text(out, "name", profile->name);
	pxt_json_text(out, "unit", of_samples ? "none" : "nanoseconds");
	pxt_json_number(out, "startValue", of_samples ? 0 : profile->first_ns);
	pxt_json_number(out, "endValue", of_samples ? profile->samples : profile->last_ns);
	pxt_json_open(out, of_samples ? "samples" : "events", '[');
	put_chunks(out, profile);
	pxt_out_char(out, '\n');
	pxt_json_close(out, "]");
	if (of_samples) {
		pxt_json_open(out, "weights", '[');
		for (uint64_t i = 0; i < profile->samples; i++)
			pxt_json_number(out, NULL, 1);
		pxt_out_char(out, '\n');
		pxt_json_close(out, "]");
	}
	pxt_json_close(out, "}");
}

/* Names with file and line are in parts, as the viewer links them. */
static void put_frame(struct pxt_out *out, const struct frame *frame)
{
	struct pxt_place place = { .function = strlen(frame->name) };

	if (frame->is_function)
		place = pxt_bars_place(frame->name);
	pxt_json_open(out, NULL, '{');
	pxt_json_part(out, "name", frame->name, place.function);
	if (place.file_bytes > 0)
		pxt_json_part(out, "file", place.file, place.file_bytes);
	if (place.line > 0)
		pxt_json_number(out, "line", place.line);
	pxt_json_close(out, "}");
}

static void put_all(struct pxt_out *out)
{
	bool any = false;

	pxt_json_begin(out);
	pxt_json_text(out, "$schema", "https://www.speedscope.app/file-format-schema.json");
	pxt_json_text(out, "exporter", "pxtrace " PXTRACE_VERSION);
	pxt_json_line(out);
	pxt_json_open(out, "profiles", '[');
	for (struct profile *profile = state.first; profile; profile = profile->next) {
		close_all(profile);
		if (profile->first == NO_CHUNK && profile->chunk.used == 0)
			continue;
		pxt_json_line(out);
		put_profile(out, profile);
		any = true;
	}
	if (!any)
		pxt_complain(
		    "export speedscope: no bars, and no event tells who called; speedscope "
		    "refuses a file without profiles");
	pxt_json_close(out, "]");
	pxt_json_line(out);
	pxt_json_open(out, "shared", '{');
	pxt_json_open(out, "frames", '[');
	for (uint32_t i = 0; i < state.frame_count; i++) {
		pxt_json_line(out);
		put_frame(out, &state.frames[i]);
	}
	pxt_json_close(out, "]}");
	pxt_json_end(out);
}

static void end(struct pxt_export *export, struct pxt_reader *reader)
{
	put_all(&export->out);
	state.missing += state.stacks.missing;
	if (state.missing > 0)
		pxt_complain(
		    "%llu bars or stacks are left out: there are too many names, or too many "
		    "inside each other",
		    (unsigned long long)state.missing);
	for (unsigned i = 0; i < reader->count; i++) {
		struct speedscope *log = pxt_export_of(reader->sources[i]);

		pxt_bars_end(&log->bars);
		free(log->profiles);
		free(log);
	}
	end_state();
}

static const struct pxt_export_format format = {
	.name = "speedscope",
	.help = help,
	.late = true,
	.begin = begin,
	PXT_BARS_CALLS(stands),
	.looked = looked,
	.event = put_event,
	.lost = put_lost,
	.end = end,
};

PXT_EXPORT_COMMAND(speedscope, "what each thread did when, for speedscope.app")
