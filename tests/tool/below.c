/* SPDX-License-Identifier: MIT */
/* below.c - no path and no link leads out of a folder that stands for another machine's root. */
#include "tools/read/images.h"

#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
