/* SPDX-License-Identifier: MIT */
/*
 * environment_value.h - what the value of PXTRACE_OUT says: PATH[,size=BYTES][,policy=WORD][,lanes=NUMBER][,mode=OCTAL]
 * [,box=no][,rotate=BYTES][,rotate=TIME][,files=NUMBER].
 *
 *   concurrency: none.
 */
#ifndef PXT_ASKED_H
#define PXT_ASKED_H

#include "port/port_sysinfo.h"

#include <errno.h>
#include <trace_np.h>

/* Beside the path. */
#define PXT_ASKED_OPTIONS 256u

struct pxt_asked {
	char folder[PXT_ENVIRONMENT_PATH]; /* where a relative path begins, with a slash */
	char text[PXT_ENVIRONMENT_PATH + PXT_ASKED_OPTIONS]; /* all of it, for complaints */
	char pattern[PXT_ENVIRONMENT_PATH];
	trace_attr_t attr; /* of the stream: size, policy and lanes */
	uint32_t mode;     /* of new files, before the umask */
	bool box;
	bool rotates;     /* the log is several files: of ... */
	uint64_t rotate;  /* ... so many bytes, ... */
	uint32_t seconds; /* ... or so old; 0: whatever */
	uint32_t files;   /* that are kept */
};

/*
 * Reads @text.  NULL; or what is wrong in it, and *why: "" and the same text, where it is all of it.  The answer
 * is good until the next call.
 */
const char *pxt_environment_value_read(struct pxt_asked *asked, const char *text, const char **why);

/* The files of @name that are asked for. */
#if CONFIG_PTRACE_LOG_ROTATE
PXT_INLINE int pxt_environment_value_rotation(
    trace_attr_t *attr, const struct pxt_asked *asked, const char *name)
{
	const struct posix_trace_rotation_np rotation = { .posix_name_np = name,
		.posix_bytes_np = asked->rotate,
		.posix_seconds_np = asked->seconds,
		.posix_files_np = asked->files,
		.posix_mode_np = asked->mode };
	return posix_trace_attr_setrotation_np(attr, &rotation, sizeof(rotation));
}
#else
/* environment_value.c takes none. */
PXT_OFF_RETURNS(ENOTSUP, int, pxt_environment_value_rotation, trace_attr_t *attr,
    const struct pxt_asked *asked, const char *name);
#endif

#endif
