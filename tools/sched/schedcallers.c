/* SPDX-License-Identifier: MIT */
/*
 * schedcallers.c - which functions called the one in which a thread ran, by the piece of its stack that the kernel
 * copied and the tables for exceptions in the binaries; see sched.h.
 *
 * Where the binaries lie /proc says.  They may be anybody's: what is read of them is copied, and bounded.
 */
#define _GNU_SOURCE
#include "tools/sched/sched.h"

#include "format/cfi_walk.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PROCESSES   64u        /* that are known at once */
#define MAPS_MOST   1024u      /* of one of them, with code */
#define FILES       64u        /* whose tables are known */
#define TABLE_MOST  (1u << 18) /* functions of a file */
#define RECORD_MOST 2048u      /* bytes of one function's record */
#define SEGMENTS    16u        /* of a file */
#define AGAIN_NS                                                                                   \
	UINT64_C(100000000) /* /proc is asked again after that, where a place is not known */
/* A process that ran less has cost its recorder enough. */
#define SAMPLES_FIRST 16u

struct map {
	uint64_t low;
	uint64_t high;
	uint64_t offset;
	char *path;
	dev_t dev;
	ino_t inode;
};

struct process {
	int32_t pid; /* 0: a free place */
	unsigned samples;
	uint64_t asked_ns;
	uint64_t used;
	unsigned count;
	struct map *maps;
};

struct file {
	dev_t dev;
	ino_t inode;
	int fd; /* -1: it has no table that is understood */
	unsigned segment_count;
	struct {
		uint64_t offset;
		uint64_t bytes;
		uint64_t address;
	} segments[SEGMENTS];
	uint64_t table; /* of functions (format/cfi.h), as linked */
	uint32_t rows;
	unsigned char *pairs;
};

struct pxt_schedcallers {
	struct process processes[PROCESSES];
	struct file files[FILES];
	unsigned file_count;
	uint64_t uses;
};

/* ---- Binaries ---- */

static bool read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

/* Where in the file an address is; false: nowhere. */
static bool offset_of(const struct file *file, uint64_t address, uint64_t *offset)
{
	for (unsigned i = 0; i < file->segment_count; i++) {
		uint64_t in = address - file->segments[i].address;

		if (in >= file->segments[i].bytes)
			continue;
		*offset = file->segments[i].offset + in;
		return true;
	}
	return false;
}

static bool read_table(struct file *file, uint64_t offset, uint64_t bytes)
{
	unsigned char head[PXT_CFI_TABLE_HEAD];
	uint32_t rows;

	if (bytes < sizeof head || !read_at(file->fd, head, sizeof head, offset) ||
	    !pxt_cfi_table(head, &rows) || rows > TABLE_MOST ||
	    rows > (bytes - sizeof head) / PXT_CFI_TABLE_PAIR)
		return false;
	file->pairs = malloc((rows + 1u) * (size_t)PXT_CFI_TABLE_PAIR);
	file->rows = rows;
	return file->pairs && read_at(file->fd, file->pairs, rows * (size_t)PXT_CFI_TABLE_PAIR,
	                          offset + sizeof head);
}

static bool read_file(struct file *file)
{
	Elf64_Ehdr head;
	Elf64_Phdr part;
	uint64_t offset = 0;
	uint64_t bytes = 0;

	if (!read_at(file->fd, &head, sizeof head, 0) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof part)
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (!read_at(file->fd, &part, sizeof part, head.e_phoff + i * sizeof part))
			return false;
		if (part.p_type == PT_GNU_EH_FRAME) {
			file->table = part.p_vaddr;
			offset = part.p_offset;
			bytes = part.p_filesz;
		} else if (part.p_type == PT_LOAD && file->segment_count < SEGMENTS) {
			file->segments[file->segment_count].offset = part.p_offset;
			file->segments[file->segment_count].bytes = part.p_filesz;
			file->segments[file->segment_count++].address = part.p_vaddr;
		}
	}
	return read_table(file, offset, bytes);
}

static void close_file(struct file *file)
{
	if (file->fd >= 0)
		(void)close(file->fd);
	free(file->pairs);
	file->pairs = NULL;
	file->fd = -1;
}

/* Only the regular file that the process has there; NULL: it has no table. */
static const struct file *file_of(struct pxt_schedcallers *callers, const struct map *map)
{
	struct file *file = &callers->files[callers->file_count];
	struct stat st;

	for (unsigned i = 0; i < callers->file_count; i++)
		if (callers->files[i].dev == map->dev && callers->files[i].inode == map->inode)
			return callers->files[i].fd >= 0 ? &callers->files[i] : NULL;
	if (callers->file_count == FILES || !map->path)
		return NULL;
	*file = (struct file){ .dev = map->dev, .inode = map->inode };
	file->fd = open(map->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	callers->file_count++;
	if (file->fd < 0)
		return NULL;
	if (fstat(file->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_ino != map->inode ||
	    st.st_dev != map->dev || !read_file(file))
		close_file(file);
	return file->fd >= 0 ? file : NULL;
}

/* The record of the function at @place; its first byte lies at @address. */
static size_t read_record(
    const struct file *file, uint64_t place, unsigned char *bytes, uint64_t *address)
{
	uint64_t offset;
	int32_t record;
	ssize_t got;

	if (!pxt_cfi_table_find(file->pairs, file->rows, (int64_t)(place - file->table), &record))
		return 0;
	*address = file->table + (uint64_t)(int64_t)record;
	if (!offset_of(file, *address, &offset) || offset > INT64_MAX)
		return 0;
	got = pread(file->fd, bytes, RECORD_MOST, (off_t)offset);
	return got > 0 ? (size_t)got : 0;
}

/* Its kind's record is another one: both are put into one piece, as if one followed the other. */
static bool read_function(struct pxt_cfi_function *function, const struct file *file,
    uint64_t place, unsigned char bytes[2 * RECORD_MOST])
{
	unsigned char *own = bytes + RECORD_MOST;
	struct pxt_cfi_bytes from = { .at = own };
	uint64_t offset;
	uint32_t back;
	uint32_t forged = (uint32_t)RECORD_MOST + 4u;
	size_t count = read_record(file, place, own, &from.address);

	if (count < 8)
		return false;
	memcpy(&back, own + 4, sizeof back);
	if (!offset_of(file, from.address + 4 - back, &offset) ||
	    pread(file->fd, bytes, RECORD_MOST, (off_t)offset) < 8)
		return false;
	memcpy(own + 4, &forged, sizeof forged);
	from.end = own + count;
	return pxt_cfi_read(function, from, bytes) && place - function->low < function->bytes;
}

/* ---- Processes ---- */

static void forget_maps(struct process *process)
{
	for (unsigned i = 0; i < process->count; i++)
		free(process->maps[i].path);
	process->count = 0;
}

static void forget(struct process *process)
{
	forget_maps(process);
	free(process->maps);
	*process = (struct process){ .pid = 0 };
}

void pxt_schedcallers_forget(struct pxt_schedcallers *callers, int32_t pid)
{
	for (unsigned i = 0; callers && i < PROCESSES; i++)
		if (callers->processes[i].pid == pid)
			forget(&callers->processes[i]);
}

static struct process *process_of(struct pxt_schedcallers *callers, int32_t pid)
{
	struct process *found = &callers->processes[0];

	for (unsigned i = 0; i < PROCESSES; i++) {
		struct process *process = &callers->processes[i];

		if (process->pid == pid) {
			process->used = ++callers->uses;
			return process;
		}
		if (process->used < found->used)
			found = process;
	}
	forget(found);
	found->pid = pid;
	found->used = ++callers->uses;
	return found;
}

/* "LOW-HIGH PERMISSIONS OFFSET MAJOR:MINOR INODE PATH" */
static void take_map(struct process *process, const char *line)
{
	unsigned long long low;
	unsigned long long high;
	unsigned long long offset;
	unsigned long long inode;
	unsigned major;
	unsigned minor;
	char permissions[5];
	int path = 0;

	/* NOLINTNEXTLINE(cert-err34-c): the kernel wrote it */
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &low, &high, permissions, &offset,
	        &major, &minor, &inode, &path) != 7 ||
	    permissions[2] != 'x' || path == 0 || line[path] != '/' || process->count == MAPS_MOST)
		return;
	process->maps[process->count++] = (struct map){ .low = low,
		.high = high,
		.offset = offset,
		.path = strdup(line + path),
		.dev = makedev(major, minor),
		.inode = (ino_t)inode };
}

static void ask_maps(struct process *process)
{
	char line[4400];
	FILE *maps;

	(void)snprintf(line, sizeof line, "/proc/%d/maps", process->pid);
	maps = fopen(line, "re");
	if (!maps)
		return;
	if (!process->maps)
		process->maps = calloc(MAPS_MOST, sizeof *process->maps);
	forget_maps(process);
	while (process->maps && fgets(line, sizeof line, maps)) {
		line[strcspn(line, "\n")] = '\0';
		take_map(process, line);
	}
	(void)fclose(maps);
}

static const struct map *map_of(const struct process *process, uint64_t place)
{
	for (unsigned i = 0; i < process->count; i++)
		if (place >= process->maps[i].low && place < process->maps[i].high)
			return &process->maps[i];
	return NULL;
}

/* ---- Callers ---- */

/* @at: within the function from which the step goes up. */
static bool step(struct pxt_schedcallers *callers, const struct process *process, uint64_t at,
    struct pxt_cfi_state *state)
{
	const struct map *map = map_of(process, at);
	const struct file *file = map ? file_of(callers, map) : NULL;
	unsigned char bytes[2 * RECORD_MOST] = { 0 };
	struct pxt_cfi_function function;

	for (unsigned i = 0; file && i < file->segment_count; i++) {
		uint64_t in = at - map->low + map->offset - file->segments[i].offset;
		uint64_t place = file->segments[i].address + in;

		if (in < file->segments[i].bytes)
			return read_function(&function, file, place, bytes) &&
			       pxt_cfi_step(&function, place, state);
	}
	return false;
}

unsigned pxt_schedcallers_of(struct pxt_schedcallers *callers, const struct pxt_perfrec *rec,
    uint64_t found[PXT_SCHEDCALLERS])
{
	struct process *process = callers && rec->has_stack ? process_of(callers, rec->pid) : NULL;
	struct pxt_cfi_state state = { .place = rec->address };
	unsigned count = 0;

	if (!process || ++process->samples < SAMPLES_FIRST)
		return 0;
	if (!map_of(process, rec->address) &&
	    (process->asked_ns == 0 || rec->ns > process->asked_ns + AGAIN_NS)) {
		process->asked_ns = rec->ns;
		ask_maps(process);
	}
	state.value[PXT_CFI_FRAME] = rec->frame;
	state.value[PXT_CFI_STACK] = state.low = rec->stack;
	state.value[PXT_CFI_RETURN] = rec->link;
	state.known = UINT32_C(1) << PXT_CFI_FRAME | UINT32_C(1) << PXT_CFI_STACK |
	              (rec->link ? UINT32_C(1) << PXT_CFI_RETURN : 0);
	state.stack = rec->data;
	state.bytes = rec->bytes;
	while (count < PXT_SCHEDCALLERS &&
	       step(callers, process, count ? state.place - 1 : state.place, &state))
		found[count++] = state.place;
	return count;
}

struct pxt_schedcallers *pxt_schedcallers_new(void)
{
	return PXT_SCHEDCALLERS_KNOWN ? calloc(1, sizeof(struct pxt_schedcallers)) : NULL;
}

void pxt_schedcallers_free(struct pxt_schedcallers *callers)
{
	if (!callers)
		return;
	for (unsigned i = 0; i < PROCESSES; i++)
		forget(&callers->processes[i]);
	for (unsigned i = 0; i < callers->file_count; i++)
		close_file(&callers->files[i]);
	free(callers);
}
