/* SPDX-License-Identifier: MIT */
/*
 * hostile.c - whole frames that nobody honest sends in this order, or with these numbers: anybody
 * who reaches the port can.  What waits when a trailer comes, and what comes after one, changes no
 * log and no memory; and each log that was made is sound.
 */
#include "suite.h"

#include "forge.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#define FINDINGS  8u
#define SEQUENCES 3000u
#define CHOICES   400u

static char path[300];
static struct pxt_receiver in;
static struct forge forge;
static unsigned ended;
static uint64_t kept;
static unsigned unsound;

/* What the log that has just ended says of itself. */
static void check_log(const char *log)
{
	struct posix_trace_logfinding_np findings[FINDINGS];
	struct posix_trace_logcheck_np sum;
	int fd = open(log, O_RDONLY | O_CLOEXEC);

	CU_ASSERT_FATAL(fd >= 0);
	PXT_EQ(posix_trace_log_check_np(
	           fd, &sum, sizeof(sum), findings, sizeof(*findings), FINDINGS, NULL, NULL),
	    0);
	unsound += sum.posix_findings_np > 0;
	for (uint64_t i = 0; i < sum.posix_findings_np && i < FINDINGS; i++)
		PXT_CHECK(false, "byte %llu: %s", (unsigned long long)findings[i].posix_offset_np,
		    findings[i].posix_reason_np);
	(void)close(fd);
}

static void told(void *context, enum pxt_receiver_event event, const struct pxt_receive_run *run,
    const char *text)
{
	if (event != PXT_RECEIVER_ENDED)
		return;
	ended++;
	kept = run->kept;
	PXT_EQ(run->error, 0);
	check_log(text);
	(void)unlink(text);
}

static void begin(void)
{
	(void)snprintf(path, sizeof path, "%s/run.ptl", pxt_temp_folder());
	CU_ASSERT_FATAL(pxt_receiver_init(&in, path));
	in.tell = told;
	ended = 0;
	kept = 0;
	forge_begin(&forge, 0);
}

static void give(const struct forged *forged)
{
	pxt_receiver_packet(&in, NULL, forged->bytes, forged->count);
}

static void give_data(uint64_t frame)
{
	struct forged forged;

	forge.frames = frame;
	forge_data(&forge, &forged, 32, 2);
	give(&forged);
	forge.records += 2;
}

static void give_trailer(uint64_t frame)
{
	struct forged forged;

	forge.frames = frame;
	forge_entry(&forge, &forged, PXT_LOG_TRAILER, 0);
	give(&forged);
}

static void give_head(uint64_t frame)
{
	struct forged forged;

	forge.frames = frame;
	forge_head(&forge, &forged);
	give(&forged);
}

/* ---- After a trailer ---- */

PXT_TEST(what_waited_behind_a_trailer_is_not_delivered)
{
	struct pxt_receive_sums sums;

	begin();
	give_data(1);
	give_trailer(2);
	give_data(3);
	give_data(4);
	give_head(5);
	PXT_EQ(ended, 1);
	PXT_EQ(kept, 2);
	pxt_receiver_sums(&in, &sums);
	PXT_EQ(sums.open, 0);
	PXT_EQ(sums.events, 2);
	/* The two after it, and the head. */
	PXT_EQ(sums.frames_again, 3);
	PXT_EQ(pxt_receiver_end(&in), 0);
	PXT_EQ(ended, 1);
}

/* As long as the receiver is there: nobody looks at what an ended run's memory has become. */
PXT_TEST(a_stream_whose_trailer_waited_stays_ended)
{
	struct pxt_receive_sums sums;

	begin();
	give_trailer(2);
	give_head(1);
	PXT_EQ(ended, 1);
	give_data(3);
	give_head(4);
	pxt_receiver_flush(&in);
	pxt_receiver_sums(&in, &sums);
	PXT_EQ(sums.open, 0);
	PXT_EQ(sums.logs, 1);
	PXT_EQ(sums.events, 0);
	PXT_EQ(pxt_receiver_end(&in), 0);
}

/* ---- Anything ---- */

static void play(uint64_t seed)
{
	uint8_t choices[CHOICES];
	uint64_t state = seed;

	begin();
	for (size_t i = 0; i < sizeof choices; i++)
		choices[i] = (uint8_t)(capture_random(&state) >> 8);
	forge_play(&in, choices, sizeof choices, seed % 2u == 0);
	PXT_EQ(pxt_receiver_end(&in), 0);
}

PXT_TEST(any_whole_frames_in_any_order_make_sound_logs)
{
	const char *stress = getenv("PXT_STRESS");
	uint64_t most = stress ? (uint64_t)SEQUENCES * 5u : SEQUENCES;

	unsound = 0;
	for (uint64_t seed = 1; seed <= (PXT_SANITIZED ? most / 10u : most) && !unsound; seed++) {
		play(seed);
		PXT_CHECK(!unsound, "sequence %llu", (unsigned long long)seed);
	}
}
