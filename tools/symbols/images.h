/* SPDX-License-Identifier: MIT */
/*
 * images.h - what is mapped where in each process, as system events tell it (posix_trace_process): one
 * log may hold several processes, of which each has addresses of its own.
 *
 * An image is there from its event on, until it is unloaded, until another one has its place, or until
 * its process becomes another program.  Code may run a moment before its image is told of, so an address
 * that nothing covered yet belongs to the next image that does.
 *
 * A file is a path and the build-id that was in memory, which an event tells before the one of the image.
 * So two builds of one path are two files.  Logs from before have no such events.
 *
 * Bounded: PXT_IMAGES_MAX images, and as many different paths; those beyond are not known.  What is
 * there now is found at once.  What was there before is looked for among the process' last
 * PXT_IMAGES_BACK images, and is unknown where more came since.
 */
#ifndef PXT_IMAGES_H
#define PXT_IMAGES_H

#include "format/elfnote.h"
#include "tools/event/event.h"

#define PXT_IMAGES_MAX  65536u
#define PXT_IMAGES_BACK 1024u
#define PXT_IMAGE_NONE  UINT32_MAX

struct pxt_image {
	pid_t pid;
	uint32_t file;      /* its place among the paths */
	uint32_t older;     /* of the same process, or PXT_IMAGE_NONE */
	uint32_t same_base; /* the older one of this base in the same process, or PXT_IMAGE_NONE */
	uint64_t base;
	uint64_t low;
	uint64_t high;
	int64_t from_ns;
	int64_t to_ns; /* INT64_MAX: to the end */
};

struct pxt_build {
	bool told; /* whether the log says it; with no bytes it says that there is none */
	uint8_t bytes;
	unsigned char id[PXT_BUILDID_MAX];
};

struct pxt_image_file {
	char *path;
	int64_t told_ns; /* when the last image of it appeared */
	struct pxt_build build;
};

/* Told of images whose own events come next. */
#define PXT_IMAGES_EXPECTED 64u
struct pxt_image_expected {
	pid_t pid;
	uint64_t base;
	struct pxt_build build;
};

struct pxt_image_process {
	pid_t pid;
	uint32_t newest; /* its newest image, + 1; 0: a free place */
	uint32_t changes;
	uint32_t *live; /* those that are there now, by address; none lies upon another */
	uint32_t live_count;
	uint32_t live_room;
};

struct pxt_images {
	struct pxt_image *list; /* in the order of their events */
	uint32_t count;
	uint32_t room;
	uint32_t *bases; /* hash table by process and base: the newest image, + 1 */
	uint32_t bases_size;
	struct pxt_image_file *files;
	uint32_t file_count;
	uint32_t *names; /* hash table by path and build: its file, + 1 */
	uint32_t names_size;
	struct pxt_image_process *processes; /* hash table */
	uint32_t size;
	uint32_t process_count;
	struct pxt_image_expected expected[PXT_IMAGES_EXPECTED]; /* by process and base */
};

/* Any event: those that tell of images are noted. */
void pxt_images_take(struct pxt_images *images, const struct pxt_event *event);
/* What was at @address of that process at that time; NULL: nothing is known of it. */
const struct pxt_image *pxt_images_find(
    const struct pxt_images *images, pid_t pid, uint64_t address, int64_t ns);
/* Another number after each change of what that process has mapped. */
uint32_t pxt_images_changes(const struct pxt_images *images, pid_t pid);
/* Whether events tell what that process has mapped. */
bool pxt_images_knows(const struct pxt_images *images, pid_t pid);
void pxt_images_free(struct pxt_images *images);

/*
 * Files of another machine, of which a copy lies below a folder (--root): neither ".." nor a
 * link, in which "/" is that folder, leads out of it.
 */

/*
 * For reading, a regular file that a log names; @root "": of this machine.  Never waits.  *@file, which the
 * caller frees: its name here, without links where there is a root.  -1: errno says why.
 */
int pxt_open_below(const char *root, const char *path, char **file);
/*
 * The file that has the names of @build: its debugging information, or what is at @path, if it is no other build;
 * *@file is free()d by the caller in any case.  Without a build-id @told_ns decides, when the log said last that it
 * was in memory.  @path comes from a log: only an absolute path to a regular file is touched, read-only.  *@others:
 * how many were said to be other builds.
 */
bool pxt_build_find(const struct pxt_build *build, const char *root, const char *path,
    int64_t told_ns, uint32_t *others, char **file);

/*
 * What the descriptors of each process are, as system events tell it (posix_trace_process,
 * posix_trace_call_exit): files by their paths, sockets by the address at their other end.
 *
 * A name is there from its event on until the descriptor is closed or is another one.  A process that was
 * forked has its parent's, as they were then; one that becomes another program keeps its own.
 *
 * Bounded: PXT_DESCRIPTORS_MAX names, 16 MiB at most; those beyond are not known.
 */

#define PXT_DESCRIPTORS_MAX 65536u

struct pxt_descriptors;

/* NULL in @all: nothing is known. */
void pxt_descriptors_take(struct pxt_descriptors **all, const struct pxt_event *event);
/* What @fd was in that process at that time, escaped; NULL: not known.  Good until the next call. */
const char *pxt_descriptors_name(struct pxt_descriptors *all, pid_t pid, uint32_t fd, int64_t ns);
void pxt_descriptors_free(struct pxt_descriptors *all);

#endif
