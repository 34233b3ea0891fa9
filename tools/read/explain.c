/* SPDX-License-Identifier: MIT */
/* explain.c - what is wrong with a file that should be a log, what it seems to be instead, what can be done. */
#include "tools/read/source.h"

#include "tools/line/frame.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace_hooks_np.h>
#include <unistd.h>

bool pxt_explain_is_growing(int fd)
{
	trace_id_t trid;

	if (posix_trace_log_open_np(&fd, 1, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0) != 0)
		return false;
	(void)posix_trace_close(trid);
	return true;
}

/* Whether the whole file says that bytes of it are not what was written: no program will mend it. */
static bool is_damaged(int fd)
{
	enum {
		ROOM = 64
	};
	struct posix_trace_logfinding_np findings[ROOM];
	struct posix_trace_logcheck_np sum;

	if (posix_trace_log_check_np(
	        fd, &sum, sizeof sum, findings, sizeof *findings, ROOM, NULL, NULL) != 0)
		return false;
	for (uint64_t i = 0; i < sum.posix_findings_np && i < ROOM; i++)
		if (findings[i].posix_kind_np == POSIX_TRACE_FINDING_DAMAGE_NP)
			return true;
	return sum.posix_findings_np > ROOM;
}

void pxt_explain_damage(const char *path, bool read)
{
	pxt_explain("the log is damaged: bytes of it are not what was written; copy it again from "
	            "where it was written");
	pxt_explain("`pxtrace check %s` shows all that is wrong; --incomplete reads what stands in "
	            "front of it%s",
	    path, read ? ", as this did, and what stands behind it" : "");
	pxt_explain("`pxtrace recover %s -o NEW.ptl` makes a log of every sound block", path);
}

/* Where a line's trace is looked for: after what a system says before it begins to trace. */
#define LINE_BYTES_MAX (1u << 20)
/* No text has zeros, a log's head has, and is so long. */
#define NO_ZEROS       512u

/* What a file that is no log seems to be instead, from its first bytes; NULL: no idea. */
static const char *looks_like(const unsigned char *head, size_t bytes)
{
	static const struct {
		const char *magic;
		size_t bytes;
		const char *advice;
	} known[] = {
		{ "PXTRACE\x01", 8,
		    "it is the memory of a stream: `pxtrace recover` makes a log of it" },
		{ "\x7f"
		  "ELF",
		    4, "it is a program or library; a log is what the program wrote" },
		{ "\x1f\x8b", 2, "it is compressed: gunzip it first" },
		{ "\xfd"
		  "7zXZ",
		    5, "it is compressed: unxz it first" },
		{ "BZh", 3, "it is compressed: bunzip2 it first" },
		{ "PK\x03\x04", 4, "it is a zip archive: unpack it first" },
		{ "\xc1\x1f\xfc\xc1", 4, "it is a CTF trace of LTTng: babeltrace2 reads it" },
	};
	/* Of an ELF file's head: byte order, and in that the type. */
	if (bytes >= 18 &&
	    memcmp(head,
	        "\x7f"
	        "ELF",
	        4) == 0 &&
	    head[head[5] == 2 ? 17 : 16] == 4)
		return "it is a core file: `pxtrace recover` finds the streams in it";
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (bytes >= known[i].bytes && memcmp(head, known[i].magic, known[i].bytes) == 0)
			return known[i].advice;
	return NULL;
}

static bool looks_like_text(const unsigned char *head, size_t bytes)
{
	size_t printable = 0;

	while (printable < bytes && ((head[printable] >= 0x20 && head[printable] < 0x7f) ||
	                                (head[printable] >= '\t' && head[printable] <= '\r')))
		printable++;
	return bytes >= 8 && printable == bytes;
}

/* Whether there is a frame in it that is sound whatever its stream: a HEAD. */
static bool has_frames(const unsigned char *bytes, size_t count)
{
	static struct pxt_linkcut cut;
	const unsigned char *at = bytes;
	struct pxt_linkpiece piece;
	struct pxt_linkframe frame;

	pxt_linkcut_reset(&cut);
	while (pxt_linkcut_next(&cut, &at, bytes + count, &piece))
		if (piece.bytes && pxt_linkframe_parse(&frame, piece.bytes, piece.count) &&
		    frame.kind == PXT_FRAME_HEAD && pxt_linkframe_sound(&frame, 0))
			return true;
	return false;
}

/* What came over a target's line and was kept as it came; false, with no word: it is none. */
static bool explain_line(const char *path, int fd)
{
	unsigned char *bytes = pxt_must(malloc(LINE_BYTES_MAX));
	ssize_t got = pread(fd, bytes, LINE_BYTES_MAX, 0);
	size_t count = got > 0 ? (size_t)got : 0;
	/* A damaged log may hold such words, too; but zeros among its first bytes. */
	bool text = !memchr(bytes, 0, count < NO_ZEROS ? count : NO_ZEROS) &&
	            pxt_linktext_is_in(bytes, count);
	bool frames = !text && has_frames(bytes, count);

	free(bytes);
	if (text)
		pxt_explain("it is the text of a console with a trace in it: `pxtrace receive "
		            "--console %s -o NEW.ptl` makes a log of it",
		    path);
	else if (frames)
		pxt_explain("it is what a target sent over its line: `pxtrace receive %s -o "
		            "NEW.ptl` makes a log of it",
		    path);
	return text || frames;
}

bool pxt_explain_content(const char *path, int fd)
{
	unsigned char head[64];
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
		pxt_explain("the file is empty: nothing was flushed to it yet, or the copy failed");
		return true;
	}
	ssize_t got = pread(fd, head, sizeof head, 0);
	size_t bytes = got > 0 ? (size_t)got : 0;
	const char *advice = looks_like(head, bytes);
	if (!advice && explain_line(path, fd))
		return true;
	if (!advice && looks_like_text(head, bytes))
		advice =
		    "it looks like a text file; a log is what posix_trace_create_withlog() writes";
	if (advice)
		pxt_explain("%s", advice);
	return advice != NULL;
}

void pxt_explain_log(const struct pxt_source *source, const struct posix_trace_logerror_np *error)
{
	pxt_complain("%s: byte %llu: %s", source->path, (unsigned long long)error->posix_offset_np,
	    *error->posix_reason_np ? error->posix_reason_np : "not a trace log");
	if (pxt_explain_content(source->path, source->fd))
		return;
	if (is_damaged(source->fd)) {
		pxt_explain_damage(source->path, false);
	} else if (pxt_explain_is_growing(source->fd)) {
		pxt_explain(
		    "the log is incomplete: the traced program still runs, or it died before"
		    " posix_trace_shutdown()");
		pxt_explain("--incomplete reads what is there; print --follow waits for the rest");
		pxt_explain(
		    "`pxtrace recover %s -o NEW.ptl` makes a complete log of it", source->path);
		pxt_say_box(source->path);
	}
}
