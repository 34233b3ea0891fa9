/* SPDX-License-Identifier: MIT */
/*
 * binutil.c - programs of binutils (addr2line, c++filt), which are asked by a file and answer in lines; see
 * symbols.h.
 */
#define _GNU_SOURCE /* pipe2() */
#include "tools/symbols/symbols.h"

#include "tools/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_MS    100
#define SKIPPED_MAX (1u << 20) /* of a line; no function has such a name */
#define CPU_S       20
#define MEMORY_MIB  2048
#define NAME_MIB    256 /* a name alone */

/* Of all that this command has started. */
static struct {
	int64_t ms;
	bool stalled;
	bool told;
} sum;

static bool is_enough(void)
{
	bool enough = sum.ms > PXT_BINUTIL_SUM_MS || sum.stalled;

	if (enough && !sum.told)
		pxt_complain("a binary keeps addr2line or c++filt from answering; addresses and "
		             "names that were not found until now stay as they are");
	sum.told = enough;
	return enough;
}

bool pxt_binutil_new(struct pxt_binutil *tool)
{
	*tool = (struct pxt_binutil){ .out = -1, .pid = -1 };
	if (!is_enough())
		tool->in = tmpfile();
	return tool->in != NULL;
}

/* ---- The child ---- */

static void lower(struct rlimit *limits, rlim_t most)
{
	limits->rlim_cur = most;
	if (limits->rlim_max == RLIM_INFINITY || limits->rlim_max > most)
		limits->rlim_max = most;
	if (limits->rlim_cur > limits->rlim_max)
		limits->rlim_cur = limits->rlim_max;
}

/* C libraries differ in the type of a resource. */
#define LIMIT(resource, most)                                                                      \
	do {                                                                                       \
		struct rlimit limits;                                                              \
                                                                                                   \
		if (getrlimit(resource, &limits) == 0) {                                           \
			lower(&limits, most);                                                      \
			(void)setrlimit(resource, &limits);                                        \
		}                                                                                  \
	} while (0)

/* Never returns.  @failed: where the error number goes if it does not become @argv. */
static void become(int in, int out, int failed, char *const *argv, rlim_t mib)
{
	int error;
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)dup2(in, STDIN_FILENO);
	(void)dup2(out, STDOUT_FILENO);
	if (null >= 0)
		(void)dup2(null, STDERR_FILENO);
	LIMIT(RLIMIT_CORE, 0);
	LIMIT(RLIMIT_CPU, CPU_S);
	LIMIT(RLIMIT_AS, mib << 20);
	(void)execvp(argv[0], argv);
	error = errno;
	(void)!write(failed, &error, sizeof error);
	_exit(127);
}

static int64_t now_ms(void)
{
	return pxt_when_monotonic() / 1000000;
}

/* 0, or an error number. */
static int start(struct pxt_binutil *tool, char *const *argv, rlim_t mib)
{
	int ends[2];
	int failed[2];
	int error = 0;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return errno;
	if (pipe2(failed, O_CLOEXEC) != 0) {
		error = errno;
		(void)close(ends[0]);
		(void)close(ends[1]);
		return error;
	}
	tool->pid = fork();
	if (tool->pid == 0)
		become(fileno(tool->in), ends[1], failed[1], argv, mib);
	if (tool->pid < 0)
		error = errno;
	(void)close(ends[1]);
	(void)close(failed[1]);
	/* Nothing comes where it has become the program. */
	if (tool->pid > 0 && read(failed[0], &error, sizeof error) != (ssize_t)sizeof error)
		error = 0;
	(void)close(failed[0]);
	tool->out = ends[0];
	tool->begun_ms = tool->worked_ms = now_ms();
	return error;
}

static bool run_within(struct pxt_binutil *tool, char *const *argv, bool *missing, rlim_t mib)
{
	int error;

	(void)fflush(tool->in);
	rewind(tool->in);
	error = start(tool, argv, mib);
	*missing = error == ENOENT;
	return error == 0;
}

bool pxt_binutil_run(struct pxt_binutil *tool, char *const *argv, bool *missing)
{
	return run_within(tool, argv, missing, MEMORY_MIB);
}

/* ---- Its answers ---- */

/* False: it has done nothing for too long. */
static bool works(struct pxt_binutil *tool)
{
	int64_t now = now_ms();
	struct timespec used = { 0 };
	clockid_t clock;
	int64_t cpu_ms = tool->cpu_ms;

	if (clock_getcpuclockid(tool->pid, &clock) == 0 && clock_gettime(clock, &used) == 0)
		cpu_ms = (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
	if (cpu_ms > tool->cpu_ms + 1)
		tool->worked_ms = now;
	tool->cpu_ms = cpu_ms;
	tool->stalled = now - tool->worked_ms > PXT_BINUTIL_STALL_MS ||
	                sum.ms + now - tool->begun_ms > PXT_BINUTIL_SUM_MS;
	return !tool->stalled;
}

/* More bytes; false: none will come. */
static bool fill(struct pxt_binutil *tool)
{
	struct pollfd wait = { .fd = tool->out, .events = POLLIN };
	ssize_t got;

	while (!tool->stalled && poll(&wait, 1, SLICE_MS) == 0 && works(tool))
		;
	if (tool->stalled)
		return false;
	do
		got = read(tool->out, tool->bytes, sizeof tool->bytes);
	while (got < 0 && errno == EINTR);
	tool->worked_ms = now_ms();
	tool->used = 0;
	tool->filled = got > 0 ? (size_t)got : 0;
	return got > 0;
}

bool pxt_binutil_line(struct pxt_binutil *tool, char *line, size_t room)
{
	size_t bytes = 0;
	size_t skipped = 0;
	bool any = false;

	for (;;) {
		char c;

		if (tool->used == tool->filled && !fill(tool))
			break;
		any = true;
		c = tool->bytes[tool->used++];
		if (c == '\n')
			break;
		if (bytes + 1 < room)
			line[bytes++] = c;
		else if (++skipped > SKIPPED_MAX)
			tool->stalled = true;
		if (tool->stalled)
			break;
	}
	line[bytes] = '\0';
	return any;
}

void pxt_binutil_end(struct pxt_binutil *tool)
{
	if (tool->out >= 0)
		(void)close(tool->out);
	if (tool->pid > 0) {
		(void)kill(tool->pid, SIGKILL);
		while (waitpid(tool->pid, NULL, 0) < 0 && errno == EINTR)
			;
		sum.ms += now_ms() - tool->begun_ms;
		sum.stalled = sum.stalled || tool->stalled;
	}
	(void)fclose(tool->in);
}

void pxt_binutil_demangle(const char *name, char *text, size_t room)
{
	char word[] = "c++filt";
	char *argv[] = { word, NULL };
	struct pxt_binutil tool;
	bool missing;

	(void)snprintf(text, room, "%s", name);
	if ((strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0) || !pxt_binutil_new(&tool))
		return;
	(void)fprintf(tool.in, "%s\n", name);
	if (run_within(&tool, argv, &missing, NAME_MIB) && !pxt_binutil_line(&tool, text, room)) {
		(void)snprintf(text, room, "%s", name);
		/* Nothing but memory or time keeps it from answering. */
		tool.stalled = true;
	}
	pxt_binutil_end(&tool);
}

/* ---- The identity of an ELF file ---- */

#define PT_NOTE     4u
#define NOTES_MAX   4096u
#define HEADERS_MAX 256u

struct elf {
	int fd;
	bool big;
	bool wide;
};

static uint64_t number(const struct elf *elf, const unsigned char *p, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)p[elf->big ? bytes - 1 - i : i] << 8 * i;
	return value;
}

static bool read_at(const struct elf *elf, void *to, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX / 2 &&
	       pread(elf->fd, to, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool read_head(struct elf *elf, unsigned char head[64])
{
	if (!read_at(elf, head, 52, 0) || memcmp(head,
	                                      "\x7f"
	                                      "ELF",
	                                      4) != 0)
		return false;
	elf->wide = head[4] == 2;
	elf->big = head[5] == 2;
	return !elf->wide || read_at(elf, head, 64, 0);
}

uint64_t pxt_build_sections(int fd)
{
	struct elf elf = { .fd = fd };
	unsigned char head[64];
	unsigned char first[40];
	uint64_t count;

	if (!read_head(&elf, head))
		return 0;
	count = number(&elf, head + (elf.wide ? 60 : 48), 2);
	if (count != 0)
		return count;
	/* More than two bytes can say are in the first section's head. */
	return read_at(&elf, first, sizeof first,
	           elf.wide ? number(&elf, head + 40, 8) : number(&elf, head + 32, 4))
	           ? number(&elf, first + (elf.wide ? 32 : 20), elf.wide ? 8 : 4)
	           : 0;
}

size_t pxt_build_id(int fd, unsigned char id[PXT_BUILDID_MAX])
{
	struct elf elf = { .fd = fd };
	unsigned char head[64];

	if (!read_head(&elf, head))
		return 0;
	uint64_t table = elf.wide ? number(&elf, head + 32, 8) : number(&elf, head + 28, 4);
	uint64_t size = number(&elf, head + (elf.wide ? 54 : 42), 2);
	uint64_t count = number(&elf, head + (elf.wide ? 56 : 44), 2);
	if (size < (elf.wide ? 56u : 32u) || count > HEADERS_MAX)
		return 0;
	for (uint64_t i = 0; i < count; i++) {
		unsigned char entry[56];
		unsigned char notes[NOTES_MAX];

		if (!read_at(&elf, entry, elf.wide ? 56 : 32, table + i * size))
			return 0;
		if (number(&elf, entry, 4) != PT_NOTE)
			continue;
		uint64_t offset =
		    elf.wide ? number(&elf, entry + 8, 8) : number(&elf, entry + 4, 4);
		uint64_t bytes =
		    elf.wide ? number(&elf, entry + 32, 8) : number(&elf, entry + 16, 4);
		if (bytes > NOTES_MAX || !read_at(&elf, notes, (size_t)bytes, offset))
			continue;
		uint32_t length;
		const unsigned char *found =
		    pxt_elfnote_buildid(notes, (size_t)bytes, elf.big, &length);
		if (found) {
			memcpy(id, found, length);
			return length;
		}
	}
	return 0;
}

void pxt_build_text(const unsigned char *id, size_t bytes, char text[2 * PXT_BUILDID_MAX + 1])
{
	*text = '\0';
	for (size_t i = 0; i < bytes && i < PXT_BUILDID_MAX; i++)
		(void)snprintf(text + 2 * i, 3, "%02x", id[i]);
}

void pxt_build_debug_path(const unsigned char *id, size_t bytes, char path[PXT_BUILD_DEBUG_ROOM])
{
	char text[2 * PXT_BUILDID_MAX + 1];

	pxt_build_text(id, bytes, text);
	(void)snprintf(path, PXT_BUILD_DEBUG_ROOM, "/usr/lib/debug/.build-id/%.2s/%s.debug", text,
	    bytes > 1 ? text + 2 : "");
}
