/* SPDX-License-Identifier: MIT */
/*
 * steps.c - what is in a stream's file after each machine instruction of the calls that change it:
 * the compiler's order of stores, not the source's.  Whoever is killed leaves one of these moments.
 *
 * The processor traps after every instruction (the trap flag); the handler looks into the file.
 */
#define _GNU_SOURCE
#include "box.h"
#include "core/kit.h"
#include "core/process/directory.h"
#include "core/process/names.h"
#include "core/process/process.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* ---- Looking ---- */

static int file;
static const struct pxt_stream_header *header; /* NULL: look whether the file is a stream's */
static uint32_t names_before;
static const char *new_name;
static const char *new_format;

static volatile uint64_t looks;
static const char *volatile trouble;

static void see_that(bool ok, const char *what)
{
	if (!ok && !trouble)
		trouble = what;
}

/* All that were there, and perhaps the new one, whole. */
static void look_at_names(struct pxt_directory *replica)
{
	uint32_t count = atomic_load(&replica->names.count);
	uint32_t format;

	see_that(count == names_before || count == names_before + 1, "the number of names");
	if (count == names_before)
		return;
	see_that(!strcmp(replica->names.names[names_before], new_name), "the new name");
	format = atomic_load(&replica->names.format_at[names_before]);
	if (format)
		see_that(
		    !strcmp(&replica->names.pool[format - 1], new_format), "the new description");
}

static char own_name[PXT_THREAD_NAME]; /* of all threads here */

static void look_at_threads(struct pxt_directory *replica)
{
	uint32_t count = atomic_load(&replica->threads.count);

	for (uint32_t i = 1; i <= count; i++) {
		struct pxt_thread *entry = &replica->threads.entry[i];

		see_that(pxt_wide_load(&entry->thread) != 0, "a thread that is counted");
		see_that(atomic_load(&entry->pid) == replica->header.header.pid, "its process");
		see_that(atomic_load(&entry->tid) > 0, "its number");
		see_that(!entry->name[0] || !memcmp(entry->name, own_name, sizeof(own_name)),
		    "its name");
	}
}

/* A file with the magic number has everything. */
static void look_at_file(void)
{
	struct pxt_stream_header found;
	struct pxt_directory_header directory;

	if (pread(file, &found, sizeof(found), 0) != (ssize_t)sizeof(found) ||
	    memcmp(found.header.magic, PXT_STREAM_MAGIC, sizeof(found.header.magic)) != 0)
		return;
	see_that(found.lanes == 1 && found.slots >= 32 && found.hz > 0, "the header");
	see_that(found.directory_at && found.procinfo_at && found.procinfo_bytes, "its places");
	see_that(pread(file, &directory, sizeof(directory), (off_t)found.directory_at) ==
	                 (ssize_t)sizeof(directory) &&
	             !memcmp(directory.header.magic, PXT_DIRECTORY_MAGIC, 16) &&
	             directory.header.key == found.header.key,
	    "the directory");
}

static void look(int signal)
{
	struct pxt_directory *replica;

	looks++;
	if (!header) {
		look_at_file();
		return;
	}
	replica = (struct pxt_directory *)(void *)((unsigned char *)(uintptr_t)header +
	                                           header->directory_at);
	look_at_names(replica);
	look_at_threads(replica);
}

static void begin(void)
{
	struct sigaction action = { .sa_handler = look };

	PXT_EQ_FATAL(sigaction(SIGTRAP, &action, NULL), 0);
	(void)prctl(PR_GET_NAME, own_name, 0, 0, 0);
	looks = 0;
	trouble = NULL;
}

static void expect(uint64_t at_least)
{
	PXT_CHECK(looks >= at_least, "only %llu instructions", (unsigned long long)looks);
	PXT_CHECK(!trouble, "%s", trouble);
}

/* ---- Calls ---- */

static const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1, .bytes = 512 };

static trace_id_t open_looked_at(void)
{
	trace_id_t trid;

	file = memfd_create("box", 0);
	kit_file = file;
	trid = kit_open(&spec);
	header = box_memory(trid);
	names_before = pxt_names_count();
	return trid;
}

static void close_it(trace_id_t trid)
{
	header = NULL;
	kit_file = -1;
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(file);
}

PXT_TEST(a_name_is_there_whole_or_not_at_all)
{
	trace_id_t trid = open_looked_at();
	trace_event_id_t id = 0;
	int error;

	begin();
	new_name = "a name that is longer than one store";
	new_format = "";
	trap(true);
	error = posix_trace_eventid_open(new_name, &id);
	trap(false);
	PXT_EQ(error, 0);
	expect(200);
	CU_ASSERT(id != 0);
	close_it(trid);
}

PXT_TEST(a_description_is_there_whole_or_not_at_all)
{
	trace_id_t trid = open_looked_at();
	trace_event_id_t id = 0;
	int error;

	begin();
	new_name = "described";
	new_format = "u32 first, u64 second, text third";
	PXT_EQ(posix_trace_eventid_open(new_name, &id), 0);
	trap(true);
	error = posix_trace_eventid_setformat_np(id, new_format);
	trap(false);
	PXT_EQ(error, 0);
	expect(200);
	close_it(trid);
}

static void *enter(void *argument)
{
	trace_event_id_t type = *(trace_event_id_t *)argument;

	trap(true);
	posix_trace_event(type, "abcd", 4);
	(void)posix_trace_thread_register_np();
	trap(false);
	return NULL;
}

PXT_TEST(a_thread_is_there_whole_or_not_at_all)
{
	trace_id_t trid = open_looked_at();
	trace_event_id_t type = kit_type();
	pthread_t thread;

	PXT_EQ(posix_trace_start(trid), 0);
	begin();
	PXT_EQ_FATAL(pthread_create(&thread, NULL, enter, &type), 0);
	(void)pthread_join(thread, NULL);
	expect(200);
	close_it(trid);
}

/* Some hundred thousand instructions, of which the last ones make it a stream's. */
PXT_TEST(a_file_is_a_whole_streams_or_nobodys)
{
	trace_attr_t attr;
	trace_id_t trid = 0;
	struct box box;
	int error;

	(void)kit_type();
	file = memfd_create("box", 0);
	header = NULL;
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 1), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 512), 0);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, 16), 0);
	PXT_EQ(posix_trace_attr_setfile_np(&attr, file), 0);
	begin();
	trap(true);
	error = posix_trace_create(0, &attr, &trid);
	trap(false);
	PXT_EQ_FATAL(error, 0);
	expect(1000);
	CU_ASSERT_FATAL(box_open(&box, file));
	box_close(&box);
	close_it(trid);
}
