/* SPDX-License-Identifier: MIT */
/*
 * intake.c - a producer's memory at the owner: whether its version, layout and clock rate suit (else it is
 * refused), its beginning and its end; see intake.h.
 */
#include "attach/intake.h"

#include "port/port_file.h"

/* Of the machine, or less: what is mapped of the last page counts. */
#define PAGE 4096u

/* Short processes come one after another, and some of them are there at once. */
#define SPARES 8u

/* Rates of one counter that two processes measured differ by far less. */
#define SAME_RATE 1000u

/* ---- What the headers must say ---- */

/* Stamps of both processes are compared: they must come from one counter, at one rate. */
static bool same_clock(const struct pxt_stream_header *header)
{
	uint64_t apart =
	    header->hz > pxt_clock.hz ? header->hz - pxt_clock.hz : pxt_clock.hz - header->hz;

	return header->clock_source == (uint32_t)pxt_clock.source &&
	       apart <= pxt_clock.hz / SAME_RATE;
}

/* From offset @at up to @end. */
static void copy_between(void *to, const void *from, size_t at, size_t end)
{
	memcpy((unsigned char *)to + at, (const unsigned char *)from + at, end - at);
}

/*
 * The header as this build would have written it for such a stream, but for what differs between
 * processes: then all places in it are this build's.
 */
static bool expected(const struct pxt_stream_header *header, size_t bytes, uint64_t directory_at)
{
	struct pxt_block block;
	struct pxt_stream_header *want = &block.header;

	memset(&block, 0, sizeof(block));
	block.lane_mask = header->lanes - (directory_at ? 2u : 1u);
	pxt_share_set_lanes(&block, directory_at ? 1u : 0u, 0u);
	block.slot_mask = header->slots - 1u;
	block.max_data = header->max_data;
	block.full_policy = POSIX_TRACE_LOOP;
	pxt_streamheader_fill(&block, bytes);
	want->directory_at = directory_at;
	memcpy(want->header.magic, PXT_STREAM_MAGIC, sizeof(want->header.magic));
	copy_between(want, header, offsetof(struct pxt_imageheader, key),
	    offsetof(struct pxt_imageheader, word_bytes));
	/* The clock's error and rate, and all that is said of the creation. */
	copy_between(want, header, offsetof(struct pxt_stream_header, clock_error_ppm),
	    offsetof(struct pxt_stream_header, max_data));
	return memcmp(want, header, sizeof(*want)) == 0;
}

/* Where a guest's file has its directory: on the next page. */
static size_t directory_behind(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* The same for the directory: this process' own has the same layout. */
static bool directory_expected(const struct pxt_directory_header *header)
{
	struct pxt_directory_header want = pxt_directory->header;

	copy_between(&want, header, offsetof(struct pxt_imageheader, key),
	    offsetof(struct pxt_imageheader, word_bytes));
	/* The start, and the names. */
	copy_between(
	    &want, header, offsetof(struct pxt_directory_header, started_nsec), sizeof(want));
	return memcmp(&want, header, sizeof(want)) == 0;
}

static void lay_out_guest(struct pxt_producer_memory *producer, size_t directory_at)
{
	size_t counts_at = PXT_WISH_AT(directory_at) + PXT_LOCKTALLY_BEHIND;

	producer->directory =
	    (const struct pxt_directory *)(const void *)(producer->memory + directory_at);
	if (producer->bytes >= counts_at + sizeof(*producer->counts))
		producer->counts =
		    (const struct pxt_locktally *)(const void *)(producer->memory + counts_at);
}

/* An attached process is not trusted: what its memory says of itself must fit its size. */
static int check_headers(struct pxt_producer_memory *producer)
{
	struct pxt_directory_header directory;
	struct pxt_stream_header header;
	bool guest = !producer->directory;
	size_t bytes;
	size_t behind;
	uint32_t lanes;
	uint32_t last;

	if (producer->bytes < sizeof(struct pxt_block))
		return ENOTSUP;
	pxt_producer_read(&header, producer->memory, sizeof(header));
	/* Trace points choose among a power of two. */
	lanes = header.lanes - (guest ? 1u : 0u);
	if (!header.lanes || !lanes || header.lanes > CONFIG_PTRACE_LANES_MAX ||
	    (lanes & (lanes - 1u)) || header.slots < 1u << PXT_RING_MIN_SHIFT ||
	    (header.slots & (header.slots - 1u)) || header.max_data > PXT_DATA_MAX ||
	    (uint64_t)header.slots * lanes > PXT_PRODUCER_SLOTS || !same_clock(&header))
		return ENOTSUP;
	last = guest && header.slots > PXT_SHARE_DEFINITIONS ? PXT_SHARE_DEFINITIONS : header.slots;
	bytes = sizeof(struct pxt_block) +
	        header.lanes * (sizeof(struct pxt_lane) + header.slots * sizeof(pxt_cell)) -
	        (header.slots - last) * sizeof(pxt_cell);
	behind = directory_behind(bytes);
	if (!expected(&header, bytes, guest ? behind : 0u) ||
	    producer->bytes < (guest ? PXT_WISH_AT(behind) + PXT_LOCKTALLY_BEHIND : bytes))
		return ENOTSUP;
	if (guest)
		lay_out_guest(producer, behind);
	else if (producer->directory_bytes < sizeof(*producer->directory))
		return ENOTSUP;
	pxt_producer_read(&directory, &producer->directory->header, sizeof(directory));
	if (!directory_expected(&directory))
		return ENOTSUP;
	producer->lanes = header.lanes;
	producer->mask = header.slots - 1u;
	producer->last_mask = last - 1u;
	producer->max_data = header.max_data;
	return 0;
}

/* ---- Beginning and end ---- */

static size_t largest(void)
{
	return sizeof(struct pxt_block) + CONFIG_PTRACE_LANES_MAX * sizeof(struct pxt_lane) +
	       ((size_t)PXT_PRODUCER_SLOTS + PXT_SHARE_DEFINITIONS) * sizeof(pxt_cell) +
	       sizeof(struct pxt_directory) + (size_t)2 * PAGE +
	       PXT_LOCKTALLY_PAGE(sizeof(struct pxt_locktally)) + PXT_LOCKTALLY_AT(1u);
}

/* What is larger than this build makes it is of another build. */
static int view(int fd, size_t limit, bool holes, const void **memory, size_t *bytes)
{
	int error = pxt_port_filemap_view(fd, limit, holes, memory, bytes);

	return error == EFBIG ? ENOTSUP : error;
}

/* In the memory that is only read otherwise: one more mapping is a tenth of what a short process costs its owner. */
static int begin_wish(struct pxt_producer_memory *producer)
{
	size_t directory_at =
	    (size_t)((const unsigned char *)producer->directory - producer->memory);
	void *wish = (unsigned char *)(uintptr_t)producer->memory + PXT_WISH_AT(directory_at);
	int error = pxt_port_filemap_room(wish, sizeof(*producer->wish));

	if (!error)
		producer->wish = wish;
	return error;
}

static int map(struct pxt_producer_memory *producer, const struct pxt_intake_files *files)
{
	const void *memory;
	bool guest = files->directory < 0;
	int error = view(files->stream, largest(), guest, &memory, &producer->bytes);

	if (error)
		return error;
	producer->memory = memory;
	if (guest)
		return 0;
	error = view(files->directory, sizeof(*producer->directory) + PAGE, false, &memory,
	    &producer->directory_bytes);
	if (!error)
		producer->directory = memory;
	return error;
}

int pxt_intake_begin(const struct pxt_intake_files *files, int32_t pid,
    struct pxt_producer_memory **made, struct pxt_producer_memory **spare)
{
	struct pxt_producer_memory *producer = *spare ? *spare : pxt_port_alloc(sizeof(*producer));
	int error;

	if (!producer)
		return ENOMEM;
	if (*spare)
		*spare = producer->spare;
	memset(producer, 0, sizeof(*producer));
	error = map(producer, files);
	if (!error)
		error = check_headers(producer);
	if (!error && files->directory < 0)
		error = begin_wish(producer);
	if (error) {
		pxt_intake_end(producer, spare);
		return error;
	}
	producer->pid = pid;
	producer->run_from = pxt_port_ticks();
	for (uint32_t i = 0; i < producer->lanes; i++)
		pxt_intake_lane_begin(&producer->lane[i], producer, i, producer->run_from);
	pxt_intake_numbers_begin(producer);
	/* What it records is in its memory, where nobody looks before it is taken over. */
	pxt_names_use_specific();
	*made = producer;
	return 0;
}

void pxt_intake_end(struct pxt_producer_memory *producer, struct pxt_producer_memory **spare)
{
	pxt_intake_tally_end(producer);
	if (producer->memory)
		pxt_port_free((void *)(uintptr_t)producer->memory, producer->bytes);
	if (producer->directory_bytes)
		pxt_port_free((void *)(uintptr_t)producer->directory, producer->directory_bytes);
	producer->spares = *spare ? (*spare)->spares + 1u : 0u;
	if (producer->spares == SPARES) {
		pxt_port_free(producer, sizeof(*producer));
		return;
	}
	producer->spare = *spare;
	*spare = producer;
}

void pxt_intake_free(struct pxt_producer_memory *spare)
{
	while (spare) {
		struct pxt_producer_memory *next = spare->spare;

		pxt_port_free(spare, sizeof(*spare));
		spare = next;
	}
}

/* Release: who sees that all is wanted again records after the owner's start. */
void pxt_intake_wish(struct pxt_producer_memory *producer, uint32_t unwanted)
{
	if (producer->wish)
		atomic_store_explicit(&producer->wish->unwanted, unwanted, memory_order_release);
}

void pxt_intake_started(struct pxt_producer_memory *producer, uint64_t ticks)
{
	producer->run_from = ticks;
	/* A guest may have lost records before anybody looked. */
	for (uint32_t i = 0; i < producer->lanes; i++) {
		if (ticks < producer->lane[i].counted)
			producer->lane[i].counted = ticks;
	}
}

/* A stamp after its end is a lie. */
void pxt_intake_gone(struct pxt_producer_memory *producer)
{
	uint64_t now = pxt_port_ticks_ordered();

	producer->gone_at = now ? now : 1u;
}

bool pxt_intake_has_gone(const struct pxt_producer_memory *producer)
{
	return producer->gone_at != 0;
}

bool pxt_intake_empty(struct pxt_producer_memory *producer)
{
	return producer->gone_at && pxt_intake_is_drained(producer) && !producer->counts;
}
