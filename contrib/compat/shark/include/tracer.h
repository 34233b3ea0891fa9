/* SPDX-License-Identifier: MIT */
/*
 * tracer.h - the New Tracer of S.Ha.R.K., upon streams of libptrace.
 *
 * An event is an event of every stream of the process that runs, under the name of its code.  While
 * the tracer is enabled one of these streams is its own; what that holds is put into the actual
 * chunk's memory, 16 bytes an event, when the tracer goes on to another chunk or is disabled.
 * contrib/compat/README.md has what is the same, what is not, and why.
 *
 * TRACER_LOGEVENT() may be in signal handlers, as long as the chunk has room; all else is for
 * threads.  Functions return 0 (or a number) or -1.
 */
#ifndef SHARK_TRACER_H
#define SHARK_TRACER_H

#include <FTrace_codes.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint8_t BYTE;
typedef uint16_t WORD;
typedef uint32_t DWORD;
typedef BYTE FTrace_flags;
typedef unsigned int SYS_FLAGS;

#define FTRACE_CHUNK_FLAG_CYC   0x00 /* the oldest event makes room for the newest */
#define FTRACE_CHUNK_FLAG_FREE  0x01 /* may be selected; it is no more, then */
#define FTRACE_CHUNK_FLAG_FULL  0x02 /* (JTN, STOP) an event found no room in it */
#define FTRACE_CHUNK_FLAG_JTN   0x04 /* when it is full the linked chunk goes on, if that is free */
#define FTRACE_CHUNK_FLAG_STOP  0x08 /* when it is full events are refused */
#define FTRACE_CHUNK_FLAG_BUSY  0x10 /* it is being sent */
#define FTRACE_CHUNK_FLAG_NODEL 0x20 /* it is kept by FTrace_chunk_delete(), which returns 0 */
#define FTRACE_CHUNK_FLAG_COMPR 0x40 /* kept, without effect */

#define FTRACE_CHUNKS_MAX  256
#define FTRACE_EVENT_BYTES 16

typedef struct FTrace_Chunk {
	int number;
	FTrace_flags flags;
	int normal_size;      /* bytes, of which whole events count */
	int emergency_size;   /* kept, without effect */
	int next;             /* the linked chunk, -1: none */
	DWORD events;         /* in its memory now */
	DWORD oldest;         /* which of them in memory is the oldest (CYC) */
	DWORD capacity;       /* events that it has room for */
	uint64_t overwritten; /* (CYC) events that made room for others */
	uint64_t refused;     /* events that found no room and no chunk to go on */
	BYTE *memory;
} * FTrace_Chunk_Ptr;

/* -1 if no chunk is selected, or there are no streams for it. */
int FTrace_enable(void);
int FTrace_disable(void);

/* The number of the chunk; -1: there are 256, or no memory, or the arguments make no sense. */
int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags);
/* -1 also for the actual chunk while the tracer is enabled. */
int FTrace_chunk_delete(int number);
int FTrace_set_chunk_flags(int number, FTrace_flags flags);
int FTrace_get_chunk_flags(int number, FTrace_flags *flags);
/*
 * Only a free chunk; its former events are gone.  While the tracer is enabled only one that is not larger
 * than the largest there was when that began.
 */
int FTrace_actual_chunk_select(int number);
int FTrace_chunk_link(int chunk_A, int chunk_B);
/* The lowest chunk that has all of these flags; -1: none. */
int FTrace_get_first_chunk(FTrace_flags flags);
/* 256 pointers, NULL where there is no chunk. */
FTrace_Chunk_Ptr *FTrace_get_chunk_table(void);
/* Prints a line about it to standard output. */
int FTrace_chunk_dump(int number);
/* Always -1: the manual names it, and the original has no compression either. */
int FTrace_compress_chunk(int number, FTrace_flags new_flags);

/* Hands the chunk to the sender that was chosen last, then sets its flags; @osd_flags has no effect. */
int FTrace_send_chunk(int number, int osd_flags, FTrace_flags new_flags);
/*
 * Chunks are written when the process exits: the first one that was sent into 0@fname, and so on (the
 * number is before the last part of a path).  The other arguments have no effect.
 */
int FTrace_init_disk_writer(const char *fname, int flag, const char *l_ip, const char *t_ip);
void FTrace_disk_writer(FTrace_Chunk_Ptr c);
/*
 * Chunks go as datagrams to port 20000 of @t_ip, from @l_ip (NULL: any).  @flag has no effect: the
 * host's network is there.  -1: an address is none, or not this host's.
 */
int FTrace_OSD_init_udp(int flag, const char *l_ip, const char *t_ip);

/* @status 1: events of the family are not logged; 0: they are.  The call is an event itself. */
void FTrace_set_filter(BYTE family, int status);

void FTrace_log_event(WORD type, WORD par1, DWORD par2);
#ifdef POSIX_TRACE_OFF_NP
/* As the native points: no code, and no argument is evaluated. */
#define TRACER_LOGEVENT(type, par1, par2) ((void)(sizeof(type) + sizeof(par1) + sizeof(par2)))
#else
#define TRACER_LOGEVENT(type, par1, par2)                                                          \
	FTrace_log_event((WORD)(type), (WORD)(par1), (DWORD)(par2))
#endif

#ifdef __cplusplus
}
#endif

#endif
