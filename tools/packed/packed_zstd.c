/* SPDX-License-Identifier: MIT */
/* packed_zstd.c - compressed logs, by libzstd; see packed.h. */
#include "format/logfmt.h"
#include "tools/output/out.h"
#include "tools/packed/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

/* No log that is written here needs more of its own past to be unpacked: 128 MiB. */
#define WINDOW_LOG_MAX 27

struct pxt_packer {
	ZSTD_CStream *stream;
	size_t room;
	unsigned char bytes[];
};

/* ---- Writing ---- */

struct pxt_packer *pxt_packer_begin(int *error)
{
	size_t room = ZSTD_CStreamOutSize();
	struct pxt_packer *packer = malloc(sizeof *packer + room);

	if (packer) {
		packer->room = room;
		packer->stream = ZSTD_createCStream();
		/* A reader sees which bytes are not what was written, as in a plain log. */
		if (packer->stream &&
		    !ZSTD_isError(ZSTD_CCtx_setParameter(packer->stream, ZSTD_c_checksumFlag, 1)))
			return packer;
		pxt_packer_free(packer);
	}
	*error = ENOMEM;
	return NULL;
}

static int put(struct pxt_packer *packer, int fd, ZSTD_inBuffer *in, ZSTD_EndDirective how)
{
	for (;;) {
		ZSTD_outBuffer out = { packer->bytes, packer->room, 0 };
		size_t left = ZSTD_compressStream2(packer->stream, &out, in, how);
		int error = ZSTD_isError(left) ? ENOMEM : pxt_write_all(fd, packer->bytes, out.pos);

		if (error || (how == ZSTD_e_end ? left == 0 : in->pos == in->size))
			return error;
	}
}

int pxt_packer_put(struct pxt_packer *packer, int fd, const void *bytes, size_t count)
{
	ZSTD_inBuffer in = { bytes, count, 0 };

	return put(packer, fd, &in, ZSTD_e_continue);
}

int pxt_packer_end(struct pxt_packer *packer, int fd)
{
	ZSTD_inBuffer in = { NULL, 0, 0 };

	return put(packer, fd, &in, ZSTD_e_end);
}

void pxt_packer_free(struct pxt_packer *packer)
{
	if (packer)
		(void)ZSTD_freeCStream(packer->stream);
	free(packer);
}

/* ---- Reading ---- */

struct unpacker {
	ZSTD_DStream *stream;
	unsigned char in[65536];
	unsigned char out[65536];
	size_t left; /* 0: between two frames, so the file may end here */
	uint64_t taken;
	uint64_t made;
	bool log;  /* it should be one ... */
	bool over; /* ... and is none */
};

/* Looks at what was made, and counts it: 0 or EFBIG. */
static int judge(struct unpacker *unpacker, size_t taken, size_t made)
{
	static const unsigned char magic[] = PXT_LOG_MAGIC;

	if (unpacker->log && unpacker->made == 0 && made >= sizeof magic)
		unpacker->over = memcmp(unpacker->out, magic, sizeof magic) != 0;
	unpacker->taken += taken;
	unpacker->made += made;
	return unpacker->made > PXT_PACKED_LEAST + PXT_PACKED_RATIO * unpacker->taken ? EFBIG : 0;
}

/* The bytes @count of unpacker->in, wherever frames begin and end in them. */
static int unpack_some(struct unpacker *unpacker, size_t count, int to)
{
	ZSTD_inBuffer in = { unpacker->in, count, 0 };

	for (;;) {
		ZSTD_outBuffer out = { unpacker->out, sizeof unpacker->out, 0 };
		size_t before = in.pos;
		int error;

		unpacker->left = ZSTD_decompressStream(unpacker->stream, &out, &in);
		if (ZSTD_isError(unpacker->left))
			return EPROTO;
		error = judge(unpacker, in.pos - before, out.pos);
		if (!error)
			error = pxt_write_all(to, unpacker->out, out.pos);
		/* After a full buffer there may be more, within a frame. */
		if (error || unpacker->over ||
		    (in.pos == in.size && (unpacker->left == 0 || out.pos < sizeof unpacker->out)))
			return error;
	}
}

static int unpack_all(struct unpacker *unpacker, int from, int to)
{
	off_t at = 0;

	unpacker->left = 1;
	unpacker->taken = unpacker->made = 0;
	unpacker->over = false;
	for (;;) {
		ssize_t bytes = pread(from, unpacker->in, sizeof unpacker->in, at);
		int error;

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0)
			return errno;
		if (bytes == 0)
			return unpacker->left == 0 ? 0 : EPROTO;
		error = unpack_some(unpacker, (size_t)bytes, to);
		if (error || unpacker->over)
			return error;
		at += bytes;
	}
}

int pxt_packed_unpack(int from, int to, bool log)
{
	struct unpacker *unpacker = malloc(sizeof *unpacker);
	int error = ENOMEM;

	if (!unpacker)
		return ENOMEM;
	unpacker->log = log;
	unpacker->stream = ZSTD_createDStream();
	if (unpacker->stream && !ZSTD_isError(ZSTD_DCtx_setParameter(
	                            unpacker->stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
		error = unpack_all(unpacker, from, to);
	(void)ZSTD_freeDStream(unpacker->stream);
	free(unpacker);
	return error;
}
