/* SPDX-License-Identifier: MIT */
/*
 * fuzz_line.c - whatever arrives on a line, the receiver neither crashes nor hangs, and every log
 * that it makes can be opened and is sound.
 *
 * The first byte of an input says what the rest is:
 *
 *	RAW     bytes of a line, given in pieces of a size that the byte says
 *	FRAMES  frames without COBS and checksum, each after its length (2 bytes): both are made
 *	        right here, so that a fuzzer comes after them
 *	PLAIN   a plain log, whose checksums are made right
 *	FORGED  choices of a sender that makes its numbers up: whole frames in any order
 */
#define _GNU_SOURCE
#include "tests/fuzz/input.h"
#include "tests/logs.h"
#include "tests/suite.h"

#include "tools/receive/receiver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

/* forge.c has what tests of the receiver check, too: nobody checks it here. */
CU_BOOL CU_assertImplementation(CU_BOOL ok, unsigned line, const char *text, const char *file,
    const char *function, CU_BOOL fatal)
{
	(void)line;
	(void)text;
	(void)file;
	(void)function;
	(void)fatal;
	if (!ok)
		abort();
	return ok;
}

void pxt_equal(
    long long got, long long want, bool fatal, int line, const char *text, const char *file)
{
	(void)CU_assertImplementation(got == want, (unsigned)line, text, file, "", fatal);
}

enum {
	RAW,
	FRAMES,
	PLAIN,
	PACKETS
};

#define FORGED 128u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/fuzz-line-XXXXXX";

static void told(void *context, enum pxt_receiver_event event, const struct pxt_receive_run *run,
    const char *text)
{
	(void)context;
	if (event != PXT_RECEIVER_ENDED)
		return;
	if (run->error)
		abort();
	check_log(text);
}

/* ---- What the fuzzer cannot guess ---- */

static void put_little(unsigned char *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

/* Each piece of the input becomes a frame of the stream whose head came last. */
static void give_frames(struct pxt_receiver *in, const uint8_t *data, size_t size, bool packets)
{
	uint32_t seed = 0;

	while (size >= 2) {
		unsigned char frame[PXT_LINKFRAME_BYTES + 64];
		unsigned char stuffed[sizeof frame + sizeof frame / 254 + 8];
		size_t count = (size_t)data[0] | (size_t)data[1] << 8;
		bool head;

		data += 2;
		size -= 2;
		count = count < size ? count : size;
		count = count < sizeof frame - 4 ? count : sizeof frame - 4;
		memcpy(frame, data, count);
		data += count;
		size -= count;
		head = count >= 2 && frame[1] >> 6 == PXT_FRAME_HEAD;
		put_little(frame + count, pxt_crc32(head ? 0 : seed, frame, count));
		if (head && count >= 4 + 48)
			seed = pxt_crc32(0, frame + 4 + 32, 16);
		if (packets)
			pxt_receiver_packet(in, NULL, frame, count + 4);
		else
			pxt_receiver_bytes(
			    in, stuffed, pxt_linkframe_stuff(frame, count + 4, stuffed));
	}
}

static void give_bytes(struct pxt_receiver *in, const unsigned char *data, size_t size, size_t most)
{
	for (size_t at = 0; at < size;) {
		size_t count = size - at < most ? size - at : most;

		pxt_receiver_bytes(in, data + at, count);
		at += count;
	}
}

static void give(struct pxt_receiver *in, unsigned mode, const uint8_t *data, size_t size)
{
	unsigned char *copy;

	if (mode & FORGED) {
		forge_play(in, data, size, (mode & 1u) != 0);
		return;
	}
	switch (mode & 3u) {
	case FRAMES:
	case PACKETS:
		give_frames(in, data, size, (mode & 3u) == PACKETS);
		break;
	case PLAIN:
		copy = malloc(size + 1);
		if (!copy)
			abort();
		memcpy(copy, data, size);
		sign(copy, size);
		give_bytes(in, copy, size, 1u << (mode >> 2 & 15u));
		free(copy);
		break;
	default:
		give_bytes(in, data, size, 1u << (mode >> 2 & 15u));
		break;
	}
	/* The device went away in the middle, and some of it comes again. */
	if (mode & 64u) {
		pxt_receiver_flush(in);
		pxt_receiver_break(in);
		give_bytes(in, data, size / 2, 4096);
	}
}

static void remove_folder(void)
{
	(void)rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pxt_receiver in;
	static bool ready;
	char path[64];
	struct pxt_receive_sums sums;

	if (!ready && (!mkdtemp(folder) || atexit(remove_folder)))
		abort();
	ready = true;
	(void)snprintf(path, sizeof path, "%s/run.ptl", folder);
	if (size < 1 || !pxt_receiver_init(&in, path))
		return 0;
	in.tell = told;
	give(&in, data[0], data + 1, size - 1);
	if (pxt_receiver_end(&in))
		abort();
	pxt_receiver_sums(&in, &sums);
	if (sums.open || sums.logs > PXT_RECEIVER_LOGS)
		abort();
	return 0;
}
