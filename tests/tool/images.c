/* SPDX-License-Identifier: MIT */
/*
 * images.c - what was mapped where: against a list that is searched from its end; many at once.  No path and no
 * link leads out of a folder that stands for another machine's root.
 */
#include "tools/read/images.h"

#include "tools/read/symbols.h"

#include "suite.h"

#include <errno.h>
#include <fcntl.h>
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
