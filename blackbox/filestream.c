/* SPDX-License-Identifier: MIT */
/*
 * filestream.c - a stream's file, from creation to end (core/control/filestream.h); lines of process information
 * (blackbox.h).
 */
#include "core/control/filestream.h"

#include "blackbox/blackbox.h"
#include "port/port_sysinfo.h"

#define PAGE 4096u

static size_t whole_pages(size_t bytes)
{
	return (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
}

/* What could not be finished leaves no trace. */
static int map_file(const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block)
{
	int fd = attr->_pxt_file - 1;
	void *memory = NULL;
	int error;

	if (pxt_attr_guest(attr))
		return pxt_room_guest(attr, bytes, block);
	error = pxt_port_filemap_check(fd);
	if (error)
		return error;
	error = pxt_room_take(attr, bytes);
	PXT_TESTPOINT(PXT_TP_FILE_TAKEN);
	if (!error)
		error = pxt_port_filemap(
		    fd, bytes, attr->_pxt_inherit == POSIX_TRACE_INHERITED, &memory);
	PXT_TESTPOINT(PXT_TP_FILE_MAPPED);
	if (error)
		pxt_port_filemap_cut(fd);
	*block = memory;
	return error;
}

int pxt_filestream_make(
    const struct _pxt_attr *attr, size_t bytes, struct pxt_block **block, size_t *whole)
{
	size_t directory_at = whole_pages(bytes);
	size_t procinfo_at = whole_pages(directory_at + sizeof(struct pxt_directory));
	bool guest = pxt_attr_guest(attr);
	int error;

	/* What another process reads while this one lives has its directory beside it (attach/), or behind it. */
	*whole = guest                     ? procinfo_at
	         : pxt_attr_producer(attr) ? directory_at
	                                   : whole_pages(procinfo_at + pxt_procinfo_bytes());
	if (*whole < bytes)
		return ENOMEM;
	error = map_file(attr, *whole, block);
	if (!error && (guest || !pxt_attr_producer(attr)))
		(*block)->header.directory_at = directory_at;
	if (!error && !pxt_attr_producer(attr))
		(*block)->header.procinfo_at = procinfo_at;
	return error;
}

/* In the header as well: what recovers a stream without more than its directory finds it there. */
static void tell_process(struct pxt_directory_header *header)
{
	struct timespec start;

	pxt_port_executable(header->executable, sizeof(header->executable));
	pxt_port_host(header->host, sizeof(header->host));
	pxt_port_process_start(&start);
	header->started_sec = start.tv_sec;
	header->started_nsec = (uint32_t)start.tv_nsec;
}

void pxt_filestream_fill(struct pxt_block *block, uint32_t index, size_t whole)
{
	struct pxt_stream_header *header = &block->header;
	unsigned char *bytes = (unsigned char *)block;
	struct pxt_directory *replica;

	if (!header->directory_at)
		return;
	replica = (struct pxt_directory *)(void *)(bytes + header->directory_at);
	pxt_replica_begin(index, replica);
	if (!header->procinfo_at)
		return;
	tell_process(&replica->header);
	header->procinfo_bytes = (uint32_t)pxt_procinfo_write(
	    (char *)bytes + header->procinfo_at, whole - (size_t)header->procinfo_at);
	PXT_TESTPOINT(PXT_TP_FILE_FILLED);
}

void pxt_filestream_publish(struct pxt_block *block)
{
	/* An attachment's is sealed further (attach/producer.c). */
	if (!pxt_attr_guest(&block->attr))
		pxt_port_filemap_seal(block->attr._pxt_file - 1);
	/* Closed soon, and another file's then. */
	block->attr._pxt_file = 0;
}

/* ---- Lines of process information ---- */

struct text {
	char *to; /* NULL: bytes are only counted */
	size_t room;
	size_t used;
	size_t whole; /* up to the end of the last line that fits */
};

static void put(struct text *text, char byte)
{
	if (text->to && text->used < text->room)
		text->to[text->used] = byte;
	text->used++;
}

static void put_word(struct text *text, const char *word)
{
	while (*word != '\0')
		put(text, *word++);
}

/* Paths may hold anything; a line is one line. */
static void put_foreign(struct text *text, const char *from)
{
	for (; *from != '\0'; from++) {
		if ((unsigned char)*from < ' ' || *from == 0x7f)
			put(text, '?');
		else
			put(text, *from);
	}
}

static void put_number(struct text *text, uint64_t value, unsigned base, unsigned digits)
{
	char reversed[20];
	unsigned count = 0;

	do {
		reversed[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value || count < digits);
	while (count)
		put(text, reversed[--count]);
}

static void end_line(struct text *text)
{
	put(text, '\n');
	if (!text->to || text->used <= text->room)
		text->whole = text->used;
}

static void put_digits(struct text *text, const unsigned char *bytes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put_number(text, bytes[i], 16, 2);
}

static void put_buildid(struct text *text, const struct pxt_port_module *module)
{
	if (!module->buildid_bytes)
		put(text, '-');
	put_digits(text, module->buildid, module->buildid_bytes);
}

static void put_module(void *context, const struct pxt_port_module *module)
{
	struct text *text = context;

	put_word(text, "module ");
	put_number(text, module->base, 16, 1);
	put(text, ' ');
	put_number(text, module->low, 16, 1);
	put(text, ' ');
	put_number(text, module->high, 16, 1);
	put(text, ' ');
	put_buildid(text, module);
	put(text, ' ');
	put_foreign(text, module->path);
	end_line(text);
}

static void put_known(struct text *text, const char *word, const char *what)
{
	if (*what == '\0')
		return;
	put_word(text, word);
	put_foreign(text, what);
	end_line(text);
}

static void put_start(struct text *text)
{
	struct timespec start;

	pxt_port_process_start(&start);
	if (!start.tv_sec)
		return;
	put_word(text, "started ");
	put_number(text, (uint64_t)start.tv_sec, 10, 1);
	put(text, '.');
	put_number(text, (uint64_t)start.tv_nsec, 10, 9);
	end_line(text);
}

static void put_boot(struct text *text)
{
	static const unsigned char none[16];
	unsigned char id[16];

	pxt_port_boot_id(id);
	if (!memcmp(id, none, sizeof(id)))
		return;
	put_word(text, "boot ");
	put_digits(text, id, sizeof(id));
	end_line(text);
}

static void put_cpus(struct text *text)
{
	put_word(text, "cpus ");
	put_number(text, pxt_port_cpus(), 10, 1);
	end_line(text);
}

static void put_all(struct text *text)
{
	char known[256];

	pxt_port_executable(known, sizeof(known));
	put_known(text, "executable ", known);
	pxt_port_host(known, sizeof(known));
	put_known(text, "host ", known);
	pxt_port_system(known, sizeof(known));
	put_known(text, "system ", known);
	put_cpus(text);
	put_start(text);
	put_boot(text);
	pxt_port_modules(put_module, text);
}

size_t pxt_procinfo_bytes(void)
{
	struct text text = { .to = NULL };

	put_all(&text);
	return text.used;
}

size_t pxt_procinfo_write(char *to, size_t room)
{
	struct text text = { .to = to, .room = room };

	put_all(&text);
	return text.whole;
}
