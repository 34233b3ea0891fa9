/* SPDX-License-Identifier: MIT */
/*
 * reading.c - what was mapped where: against a list that is searched from its end; many at once.  No path and no
 * link leads out of a folder that stands for another machine's root.  And how much of a log a command reads, counted
 * where the port reads it.
 */
#include "fakes/fakes.h"
#include "port/port_file.h"
#include "tools/command/command.h"
#include "tools/symbols/images.h"
#include "tools/symbols/symbols.h"
#include "tools/write/logwrite.h"

#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <trace_hooks_np.h>
#include <unistd.h>

#define DRAWN 600u

static struct pxt_images images;

/* Its data: what happened, a number (of an image: what its addresses begin with), address, size, path. */
static void take(
    unsigned char what, pid_t pid, int64_t ns, uint64_t base, uint64_t size, const char *path)
{
	unsigned char data[128] = { what };
	struct pxt_event event = { .data = data, .bytes = 21 + strlen(path) + 1, .ns = ns };

	event.info.posix_event_id = POSIX_TRACE_PROCESS_NP;
	event.info.posix_pid = pid;
	memcpy(data + 5, &base, sizeof base);
	memcpy(data + 13, &size, sizeof size);
	memcpy(data + 21, path, strlen(path) + 1);
	pxt_images_take(&images, &event);
}

static void load(pid_t pid, int64_t ns, uint64_t base, uint64_t size, const char *path)
{
	take(POSIX_TRACE_PROCESS_IMAGE_NP, pid, ns, base, size, path);
}

static void forget(void)
{
	pxt_images_free(&images);
	images = (struct pxt_images){ 0 };
}

/* ---- The reference ---- */

static struct {
	uint64_t base;
	uint64_t size;
	int64_t from;
	int64_t to;
	char path[16];
} plain[DRAWN];
static unsigned plain_count;

static void plain_load(int64_t ns, uint64_t base, uint64_t size, const char *path)
{
	for (unsigned i = 0; i < plain_count; i++)
		if (plain[i].to == INT64_MAX && plain[i].base == base && plain[i].size == size &&
		    strcmp(plain[i].path, path) == 0)
			return;
	for (unsigned i = 0; i < plain_count; i++)
		if (plain[i].to == INT64_MAX && plain[i].base < base + size &&
		    base < plain[i].base + plain[i].size)
			plain[i].to = ns;
	plain[plain_count].base = base;
	plain[plain_count].size = size;
	plain[plain_count].from = ns;
	plain[plain_count].to = INT64_MAX;
	(void)snprintf(plain[plain_count].path, sizeof plain[plain_count].path, "%.15s", path);
	plain_count++;
}

static void plain_end(int64_t ns, uint64_t base, bool all)
{
	for (unsigned i = 0; i < plain_count; i++)
		if (plain[i].to == INT64_MAX && (all || plain[i].base == base))
			plain[i].to = ns;
}

/* "": nothing is known of it. */
static const char *plain_find(uint64_t address, int64_t ns)
{
	const char *later = "";

	for (unsigned i = plain_count; i-- > 0;) {
		if (address - plain[i].base >= plain[i].size)
			continue;
		if (plain[i].from <= ns)
			return ns < plain[i].to ? plain[i].path : "";
		later = plain[i].path;
	}
	return later;
}

static const char *found(uint64_t address, int64_t ns)
{
	const struct pxt_image *image = pxt_images_find(&images, 7, address, ns);

	return image ? images.files[image->file].path : "";
}

PXT_TEST(any_order_of_images_is_answered_as_a_list_of_all_answers_it)
{
	unsigned wrong = 0;

	srand(41);
	for (int64_t ns = 1; ns < (int64_t)DRAWN; ns++) {
		uint64_t base = 0x1000u * (uint64_t)(rand() % 24 + 1);
		uint64_t size = 0x800u * (uint64_t)(rand() % 6 + 1);
		char path[16];

		(void)snprintf(path, sizeof path, "/lib%d", rand() % 9);
		if (rand() % 4) {
			load(7, ns, base, size, path);
			plain_load(ns, base, size, path);
		} else {
			bool all = rand() % 12 == 0;

			take(
			    all ? POSIX_TRACE_PROCESS_TRACED_NP : POSIX_TRACE_PROCESS_IMAGE_GONE_NP,
			    7, ns, base, 0, "");
			plain_end(ns, base, all);
		}
		load(8, ns, base, size, "/other");
		for (unsigned turn = 0; turn < 60; turn++) {
			uint64_t address = (uint64_t)(rand() % 0x20000);
			int64_t at = rand() % (ns + 20);

			wrong += strcmp(found(address, at), plain_find(address, at)) != 0;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_TRUE(plain_count > DRAWN / 2);
	forget();
}

/* ---- Many ---- */

/* ---- Builds ---- */

/* What is known of the build at @base, as text; "?": nothing. */
static const char *build_at(uint64_t base)
{
	static char text[2 * PXT_BUILDID_MAX + 1];
	const struct pxt_image *image = pxt_images_find(&images, 7, base, 1000);
	const struct pxt_build *build = image ? &images.files[image->file].build : NULL;

	if (!build || !build->told)
		return "?";
	pxt_build_text(build->id, build->bytes, text);
	return text;
}

static void load_build(int64_t ns, uint64_t base, const char *build)
{
	take(POSIX_TRACE_PROCESS_IMAGE_BUILD_NP, 7, ns, base, 0x1000, build);
	load(7, ns, base, 0x1000, "/lib/a");
}

PXT_TEST(an_image_has_the_build_that_was_told_before_it)
{
	forget();
	load_build(1, 0x10000, "0102fe");
	load_build(2, 0x20000, "");
	load(7, 3, 0x30000, 0x1000, "/lib/a");
	/* Of another process, and of another image. */
	take(POSIX_TRACE_PROCESS_IMAGE_BUILD_NP, 8, 4, 0x40000, 0x1000, "aa");
	take(POSIX_TRACE_PROCESS_IMAGE_BUILD_NP, 7, 4, 0x41000, 0x1000, "bb");
	load(7, 5, 0x40000, 0x1000, "/lib/a");
	CU_ASSERT_STRING_EQUAL(build_at(0x10000), "0102fe");
	CU_ASSERT_STRING_EQUAL(build_at(0x20000), "");
	CU_ASSERT_STRING_EQUAL(build_at(0x30000), "?");
	CU_ASSERT_STRING_EQUAL(build_at(0x40000), "?");
	/* Told again, it is the same image; another build at its place is another one. */
	load_build(6, 0x10000, "0102fe");
	PXT_EQ(images.count, 4);
	load_build(7, 0x10000, "0102ff");
	PXT_EQ(images.count, 5);
	CU_ASSERT_STRING_EQUAL(build_at(0x10000), "0102ff");
	forget();
}

PXT_TEST(a_text_that_is_no_build_id_tells_nothing)
{
	static const char *const texts[] = { "0", "0g", "AB", "0102f", "\xff\xfe",
		"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20" };

	for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
		forget();
		load_build(1, 0x10000, texts[i]);
		PXT_CHECK(strcmp(build_at(0x10000), "?") == 0, "%s", texts[i]);
	}
	forget();
	load_build(1, 0x10000, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
	PXT_EQ(strlen(build_at(0x10000)), 64);
	forget();
}

static double seconds_for(unsigned count)
{
	struct timespec from;
	struct timespec to;
	unsigned wrong = 0;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	for (unsigned i = 0; i < count; i++) {
		char path[16];

		(void)snprintf(path, sizeof path, "/n%x", i);
		load(7, i, 0x100000000u + 0x1000u * (uint64_t)i, 0x1000, path);
	}
	for (unsigned i = 0; i < count; i++) {
		const struct pxt_image *image = pxt_images_find(
		    &images, 7, 0x100000000u + 0x1000u * (i * 7919ull % count), INT32_MAX);

		wrong += !image || image->file != i * 7919ull % count;
	}
	for (unsigned i = 0; i < count; i++)
		take(POSIX_TRACE_PROCESS_IMAGE_GONE_NP, 7, count, 1, 0, "");
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
	CU_ASSERT_EQUAL(wrong, 0);
	forget();
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* Eight times as many take some eight times as long; they took 64 times. */
PXT_TEST(a_log_full_of_images_takes_no_square_of_their_number)
{
	double few = seconds_for(PXT_IMAGES_MAX / 8);
	double many = seconds_for(PXT_IMAGES_MAX);

	CU_ASSERT_TRUE(many < 30 * few + 0.01);
}

/* ---- A folder that stands for another machine's root ---- */

/* The root is the folder "root" in here, beside a file that is not below it. */
static char here[32];

static const char *name(const char *of)
{
	static char text[256];

	(void)snprintf(text, sizeof text, "%s/%s", here, of);
	return text;
}

static void put(const char *file, char what)
{
	int fd = open(name(file), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CU_ASSERT_FATAL(fd >= 0 && write(fd, &what, 1) == 1 && close(fd) == 0);
}

static void set_up(void)
{
	(void)snprintf(here, sizeof here, "/tmp/pxt-below-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(here));
	CU_ASSERT_FATAL(mkdir(name("root"), 0700) == 0 && mkdir(name("root/lib"), 0700) == 0);
	put("outside", 'o');
	put("root/inside", 'i');
	put("root/lib/library", 'l');
}

static void tear_down(void)
{
	static const char *const made[] = { "root/lib/out", "root/lib/round", "root/lib/fifo",
		"root/lib/short", "root/lib/library", "root/up", "root/inside", "outside" };

	for (unsigned i = 0; i < sizeof made / sizeof *made; i++)
		(void)unlink(name(made[i]));
	(void)rmdir(name("root/lib"));
	(void)rmdir(name("root"));
	CU_ASSERT_EQUAL(rmdir(here), 0);
}

static void link_to(const char *target, const char *from)
{
	CU_ASSERT_EQUAL_FATAL(symlink(target, name(from)), 0);
}

/* What is in the file below the root; 0: it was not opened. */
static char byte_of(const char *path)
{
	char root[256];
	char *file = NULL;
	char byte = 0;
	int fd;

	(void)snprintf(root, sizeof root, "%s", name("root"));
	fd = pxt_open_below(root, path, &file);
	if (fd < 0) {
		CU_ASSERT_PTR_NULL(file);
		return 0;
	}
	CU_ASSERT_EQUAL(read(fd, &byte, 1), 1);
	/* By its name here it is the same file. */
	CU_ASSERT_EQUAL(strncmp(file, root, strlen(root)), 0);
	CU_ASSERT_PTR_NULL(strstr(file, ".."));
	CU_ASSERT_EQUAL(access(file, R_OK), 0);
	free(file);
	(void)close(fd);
	return byte;
}

PXT_TEST(dots_do_not_lead_out_of_the_root)
{
	set_up();
	CU_ASSERT_EQUAL(byte_of("/inside"), 'i');
	CU_ASSERT_EQUAL(byte_of("//lib/.././lib//library"), 'l');
	CU_ASSERT_EQUAL(byte_of("/../outside"), 0);
	CU_ASSERT_EQUAL(byte_of("/lib/../../outside"), 0);
	CU_ASSERT_EQUAL(byte_of("/../../../inside"), 'i');
	CU_ASSERT_EQUAL(byte_of("/.."), 0);
	tear_down();
}

PXT_TEST(links_do_not_lead_out_of_the_root)
{
	char absolute[256];

	set_up();
	(void)snprintf(absolute, sizeof absolute, "%s", name("outside"));
	link_to(absolute, "root/lib/out");
	CU_ASSERT_EQUAL(byte_of("/lib/out"), 0);
	link_to("../../../../../inside", "root/lib/short");
	CU_ASSERT_EQUAL(byte_of("/lib/short"), 'i');
	/* Of the other machine, on which "/" is the root. */
	link_to("/lib", "root/up");
	CU_ASSERT_EQUAL(byte_of("/up/library"), 'l');
	CU_ASSERT_EQUAL(byte_of("/up/../inside"), 'i');
	link_to("round", "root/lib/round");
	CU_ASSERT_EQUAL(byte_of("/lib/round"), 0);
	tear_down();
}

PXT_TEST(only_regular_files_are_opened)
{
	set_up();
	CU_ASSERT_EQUAL_FATAL(mkfifo(name("root/lib/fifo"), 0600), 0);
	CU_ASSERT_EQUAL(byte_of("/lib/fifo"), 0);
	CU_ASSERT_EQUAL(byte_of("/lib"), 0);
	CU_ASSERT_EQUAL(byte_of("/inside/library"), 0);
	tear_down();
}

PXT_TEST(paths_without_end_are_refused)
{
	static char path[20000];

	set_up();
	memset(path, '/', sizeof path - 1);
	CU_ASSERT_EQUAL(byte_of(path), 0);
	path[4000] = '\0';
	memset(path + 1, 'n', 3000);
	CU_ASSERT_EQUAL(byte_of(path), 0);
	tear_down();
}

/* ---- How much of a log is read ---- */

#define EVENTS 100000u

static uint64_t bytes_read;

PXT_WRAPPED(int, pxt_port_file_read,
    (const struct pxt_port_file *file, uint64_t offset, void *buffer, size_t bytes, size_t *done))
{
	int error = __real_pxt_port_file_read(file, offset, buffer, bytes, done);

	bytes_read += *done;
	return error;
}

static char folder[] = "/tmp/pxt-readings-XXXXXX";

/* Jobs of one thread, of which the last one is the longest. */
static void make_log(const char *third_type)
{
	const struct pxt_loghead head = { .name = "jobs", .hz = 1000000000 };
	const struct posix_trace_logthread_np thread = {
		.posix_thread_np = 7, .posix_tid_np = 7, .posix_name_np = "worker"
	};
	struct pxt_logwrite *log;

	CU_ASSERT_FATAL(mkdtemp(folder) && chdir(folder) == 0);
	log = pxt_logwrite_begin("run.ptl", PXT_LOG_WHOLE, &head);
	CU_ASSERT_FATAL(log != NULL);
	pxt_logwrite_type(log, 32, "job_begin", "u32 job");
	pxt_logwrite_type(log, 33, "job_end", "u32 job");
	pxt_logwrite_type(log, 34, third_type, "u32 tid");
	pxt_logwrite_thread(log, 1, &thread);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t job = i / 2;
		struct pxt_logevent event = { .id = 32 + i % 2,
			.ticks = UINT64_C(1000) * i + (i == EVENTS - 1 ? 900 : 0),
			.thread_index = 1,
			.cpu = -1,
			.data = &job,
			.bytes = sizeof job };

		pxt_logwrite_event(log, &event);
	}
	CU_ASSERT(pxt_logwrite_end(log, NULL) == 0);
}

/* Runs "COMMAND ARGUMENT...": how often it read the log, in percent of its bytes. */
static unsigned percent(const struct pxt_command *command, const char *line)
{
	char words[80];
	char *argv[12] = { words };
	int argc = 1;
	int out = open("out", O_WRONLY | O_CREAT, 0600);
	int kept = dup(STDOUT_FILENO);
	struct stat st;

	CU_ASSERT_FATAL(out >= 0 && kept >= 0 && dup2(out, STDOUT_FILENO) >= 0);
	(void)snprintf(words, sizeof words, "%s", line);
	for (char *space = words; (space = strchr(space, ' ')) != NULL && argc < 11;) {
		*space++ = '\0';
		argv[argc++] = space;
	}
	optind = 1;
	bytes_read = 0;
	CU_ASSERT(command->run(argc, argv) == 0);
	CU_ASSERT_FATAL(dup2(kept, STDOUT_FILENO) >= 0 && stat("run.ptl", &st) == 0);
	CU_ASSERT(st.st_size > 1000000);
	(void)unlink("out");
	(void)unlink("run.html");
	(void)unlink("run.ptl");
	CU_ASSERT(chdir("/") == 0 && rmdir(folder) == 0);
	return (unsigned)(100 * bytes_read / (uint64_t)st.st_size);
}

PXT_TEST_FRESH(of_what_is_before_the_tail_heads_are_read)
{
	make_log("other");
	CU_ASSERT(percent(&pxt_cmd_print, "print --tail 10 run.ptl") < 50);
}

PXT_TEST_FRESH(a_log_whose_threads_may_be_renamed_is_read_once_for_its_tail)
{
	make_log("task_rename");
	CU_ASSERT(percent(&pxt_cmd_print, "print --tail 10 run.ptl") < 150);
}

PXT_TEST_FRESH(a_page_without_answers_is_made_in_one_reading)
{
	make_log("other");
	CU_ASSERT(percent(&pxt_cmd_report, "report --worst 0 run.ptl") < 150);
}

PXT_TEST_FRESH(a_page_is_made_in_one_reading_and_one_for_its_answers)
{
	make_log("other");
	CU_ASSERT(percent(&pxt_cmd_report, "report run.ptl") < 250);
}
