/* SPDX-License-Identifier: MIT */
/*
 * leave.pml - leaving (ruling 12: core/process/threads.h, wanted.c, shutdown.c), the sleeping reader
 * (ruling 13: online/online.c, tolog/flusher.c), and the reader that asks whether anybody lives who
 * could finish a record (ruling 27: core/process/leaving.c, core/read/lane.c), on processors that keep stores in
 * a buffer.  README.md says more.
 *
 * Each thread has a store buffer: a plain store waits there, in order, until the processor gets
 * to it, which may be at any time later; the thread itself sees its own waiting stores.  Locked
 * instructions and membarrier empty it first; membarrier empties everybody's.  The exchange that
 * reserves is relaxed: not every processor empties the buffer for it.
 *
 *   -DEVENTS=2     events that the writer generates
 *   -DNEST         a handler interrupts the writer at any step and generates one event
 *   -DJUMP         the writer may be stopped for ever inside a trace point
 *   -DSLEEP        a reader sleeps until there is an event
 *   -DOTHER        with SLEEP: another writer generates as many events, on another processor; with -DJUMP
 *                  one of the two may be stopped for ever, at any step, and the other one goes on
 *   -DSHUT         the stream is shut down at any moment
 *   -DDEAD         a reader passes over what nobody living can finish; with -DJUMP the writer is
 *                  killed, and seen to be gone at some time later
 *   -DMISTAKE_...  a seeded mistake
 */
#ifndef EVENTS
#define EVENTS 2
#endif

/* Who has a buffer. */
#define WRITER 0
#define CLOSER 1
#define READER 2
#define BESIDE 3 /* the other writer */

/* What is stored plainly somewhere. */
#define PASSES  0
#define RECORD  1 /* events stored, as the reader sees them in the slots */
#define HOT     2 /* pxt_fork.hot, or pxt_blocks[]: the way to the memory */
#define ASLEEP  3
#define OTHERS  4 /* the same of the other writer's */
#define SLOT    5 /* DEAD: the record of each event, stored or not */
#define WORDS   (SLOT + EVENTS + 1)
#define DEEP    4 /* stores in flight */

byte memory[WORDS];
typedef buffer_t { byte word[DEEP]; byte value[DEEP]; byte count };
buffer_t buffer[4];

bit wanted = 1; /* changed by locked instructions only */
bit freed = 0;
bit mutex = 0;
byte users = 0;
bit closing = 0;
bit sleeping = 0; /* the reader is in the system's hands */
byte events_done = 0;
byte written = 0; /* of them, the writer's and its handler's */
bit nested = 0; /* a handler runs on top of the writer */
byte stuck = 0; /* who stands still for ever: 1 the writer, 2 the other one */
bit later = 0;  /* a writer that lives began an event since */
bit writer_done = 0;
#ifdef OTHER
bit other_done = 0;
#else
bit other_done = 1;
#endif
bit shut_done = 0;
bit kept = 0;
byte gave_up = 255;
byte taken = 0;
bit reader_done = 0;
bit gone = 0; /* the writer's process is seen to have ended */

/* ---- Processor ---- */

/* The value that thread @t sees. */
inline load(t, what, into)
{
	d_step {
		into = memory[what];
		i = 0;
		do
		:: i < buffer[t].count ->
			into = (buffer[t].word[i] == what -> buffer[t].value[i] : into);
			i++
		:: else -> break
		od;
		i = 0
	}
}

inline store(t, what, number)
{
	d_step {
		buffer[t].count < DEEP;
		buffer[t].word[buffer[t].count] = what;
		buffer[t].value[buffer[t].count] = number;
		buffer[t].count++
	}
}

/* The oldest store of @t arrives. */
inline arrive(t)
{
	memory[buffer[t].word[0]] = buffer[t].value[0];
	i = 0;
	do
	:: i + 1 < buffer[t].count ->
		buffer[t].word[i] = buffer[t].word[i + 1];
		buffer[t].value[i] = buffer[t].value[i + 1];
		i++
	:: else -> break
	od;
	buffer[t].count--;
	buffer[t].word[buffer[t].count] = 0;
	buffer[t].value[buffer[t].count] = 0;
	i = 0
}

/* What a locked instruction of @t does first. */
inline drain(t)
{
	do
	:: buffer[t].count > 0 -> arrive(t)
	:: else -> break
	od
}

/* pxt_port_fence_all() */
inline fence_all()
{
	d_step { drain(WRITER); drain(CLOSER); drain(READER); drain(BESIDE) }
}

proctype processor(byte t)
{
	byte i;

	do
	:: d_step { buffer[t].count > 0; arrive(t) }
	od
}

/* ---- Trace point ---- */

/*
 * It does not stand still, no handler runs on top of it, its processor has room for a store.  Level 0 is the
 * writer, 1 the handler on top of it, 2 the other writer.
 */
#define CPU(level) (level == 2 -> BESIDE : WRITER)
#define MAY_GO(level) (stuck != (level == 2 -> 2 : 1) && (level != 0 || !nested) && buffer[CPU(level)].count < DEEP)

/* Everything that a trace point does with the block: the block must be there. */
inline touch() { assert(!freed) }

/* ASLEEP: 0, or the number of a sleep, times 4, with these. */
#define SLEEPS 1
#define WOKEN  2

/* pxt_block_wake(): [proof: woken].  Another may be faster between any two steps. */
inline wake(level)
{
#ifdef MISTAKE_duty_taken_before_it_is_done
	atomic { MAY_GO(level); drain(CPU(level)); touch(); sees = memory[ASLEEP]; memory[ASLEEP] = 0 };
	if
	:: sees -> atomic { MAY_GO(level); sleeping = 0 }
	:: else
	fi
#else
	d_step { MAY_GO(level); drain(CPU(level)); touch(); memory[ASLEEP] = memory[ASLEEP] - (memory[ASLEEP] & SLEEPS) };
	atomic { MAY_GO(level); load(CPU(level), ASLEEP, sees) };
	if
	:: sees && !(sees & SLEEPS) ->
		/* [PXT_TP_WAKES]: the call; a thread inside the system goes on */
		atomic { MAY_GO(level); sleeping = 0 };
		d_step {
			MAY_GO(level);
			drain(CPU(level));
			touch();
			memory[ASLEEP] = (memory[ASLEEP] == sees -> 0 : memory[ASLEEP])
		}
	:: else
	fi
#endif
}

/* emit_from(), emit_slow(), behind the hint outside that says "wanted" */
inline emit(level)
{
#ifdef MISTAKE_way_looked_up_before_entering
	atomic { MAY_GO(level); load(WRITER, HOT, way) };
#endif
#ifdef OTHER
	atomic { MAY_GO(level); later = (stuck -> 1 : later) };
#endif
	/* pxt_enter(): [proof: enter], [PXT_TP_ENTERED] */
	atomic { MAY_GO(level); load(WRITER, PASSES, passes) };
	outermost = !(passes & 1);
#ifdef MISTAKE_handler_leaves_for_the_one_below
	outermost = 1;
#endif
	if
	:: outermost -> atomic { MAY_GO(level); store(WRITER, PASSES, passes + 1) }
	:: else
	fi;
#ifndef MISTAKE_way_looked_up_before_entering
	/* [PXT_TP_GATE_SEEN]: inside, the way to the block is looked up */
	atomic { MAY_GO(level); load(WRITER, HOT, way) };
#endif
	if
	:: way ->
		/* Reserve, store, look whether somebody sleeps. */
		d_step { MAY_GO(level); touch(); mine = events_done; events_done++; written++ }
#ifdef DEAD
		atomic { MAY_GO(level); touch(); store(WRITER, SLOT + mine, 1) };
#else
		atomic { MAY_GO(level); touch(); store(WRITER, RECORD, written) };
#endif
#ifdef MISTAKE_left_before_the_last_look
		if
		:: outermost -> atomic { MAY_GO(level); store(WRITER, PASSES, passes + 2) }
		:: else
		fi;
#endif
		/* [proof: wake] */
		atomic { MAY_GO(level); touch(); load(WRITER, ASLEEP, sees) };
		if
		:: sees -> wake(level)
		:: else
		fi
	:: else
	fi;
	/* pxt_leave(): [proof: leave], [PXT_TP_LEFT] */
#ifndef MISTAKE_left_before_the_last_look
	if
	:: outermost -> atomic { MAY_GO(level); store(WRITER, PASSES, passes + 2) }
	:: else
	fi;
#endif
	d_step { way = 0; sees = 0; passes = 0; mine = 0; outermost = 0 }
}

proctype writer()
{
	byte i, passes, way, sees, mine, events;
	bit outermost;

	do
	:: events < EVENTS && wanted -> emit(0); events++
	:: events == EVENTS || !wanted -> break
	od;
	atomic { MAY_GO(0); writer_done = 1 }
}

#ifdef NEST
proctype handler()
{
	byte i, passes, way, sees, mine;
	bit outermost;

	atomic { !stuck && !writer_done && wanted -> nested = 1 };
	emit(1);
	nested = 0
}
#endif

#ifdef OTHER
/* Of its entry in the table nobody asks here. */
proctype other_writer()
{
	byte i, sees, mine, events;

	do
	:: events < EVENTS ->
		d_step { MAY_GO(2); later = (stuck -> 1 : later); events_done++; events++; mine = events };
		atomic { MAY_GO(2); store(BESIDE, OTHERS, mine) };
		atomic { MAY_GO(2); load(BESIDE, ASLEEP, sees) };
		if
		:: sees -> wake(2)
		:: else
		fi;
		d_step { sees = 0; mine = 0 }
	:: events == EVENTS -> break
	od;
	atomic { MAY_GO(2); other_done = 1 }
}
#endif

#ifdef JUMP
/* Killed, or preempted for ever. */
proctype jump()
{
	if
	:: atomic { !writer_done -> stuck = 1 }
#ifdef OTHER
	:: atomic { !other_done -> stuck = 2 }
#endif
	fi
#ifdef DEAD
	atomic { buffer[WRITER].count == 0 -> gone = 1 }
#endif
}
#endif

/* ---- Shutdown ---- */

#ifdef SHUT
proctype closer()
{
	byte i, seen, now;
	bit left;

	/* pxt_shutdown_stream(), first half: [proof: closing] */
	atomic { !mutex -> mutex = 1 };
	closing = 1;
	d_step { drain(CLOSER); mutex = 0 };
	/* dismantle(): [proof: dismantle] */
	store(CLOSER, HOT, 0);
	/* pxt_wanted_update(): locked instructions */
	d_step { drain(CLOSER); wanted = 0 };
	/* pxt_threads_wait_left(): [proof: fence], [proof: wait] */
#ifndef MISTAKE_no_fence_before_looking_who_is_inside
	fence_all();
#endif
	left = 1;
	load(CLOSER, PASSES, seen);
	if
	:: seen & 1 ->
		do
		:: load(CLOSER, PASSES, now);
			if
			:: now != seen -> break
			:: else
			fi
		:: true ->
			/* The time is over. */
			gave_up = seen;
			left = 0;
			break
		od
	:: else
	fi;
#ifdef MISTAKE_memory_freed_under_a_late_writer
	left = 1;
#endif
	/* [proof: sleepers] */
#ifndef MISTAKE_memory_freed_under_a_sleeper
	do
	:: users == 0 -> break
	:: users > 0 ->
		d_step { drain(CLOSER); memory[ASLEEP] = 0; sleeping = 0 };
		users == 0 || sleeping
	od;
	atomic { !mutex -> mutex = 1 };
	atomic { drain(CLOSER); mutex = 0 };
#endif
	if
	:: left -> freed = 1
	:: else ->
		kept = 1;
		/* pxt_threads_left(), at some later shutdown: [proof: kept] */
		load(CLOSER, PASSES, now);
		if
#ifdef MISTAKE_kept_memory_freed_at_once
		:: true -> freed = 1
#else
		:: !((now & 1) && now == gave_up) -> freed = 1
#endif
		:: else
		fi
	fi;
	d_step { drain(CLOSER); now = 0; seen = 0; left = 0; shut_done = 1 }
}
#endif

/* ---- Sleeping reader ---- */

#ifdef SLEEP
/* take() */
inline take()
{
	assert(!freed);
	load(READER, RECORD, record);
	load(READER, OTHERS, others);
	d_step { record = record + others; others = 0 };
	found = (record > taken);
	taken = record
}

proctype reader()
{
	byte i, record, others, seen, number;
	bit found;

	do
	:: atomic { !mutex -> mutex = 1 };
		if
		:: closing -> break
		:: else
		fi;
		take();
		if
		:: found -> d_step { found = 0; record = 0; drain(READER); mutex = 0 }
		:: else ->
			if
			:: writer_done && other_done && taken == events_done -> break
			:: else
			fi;
			/* sleep_on(): [proof: sleep], [PXT_TP_SLEEPS] */
			load(READER, ASLEEP, seen);
			if
			:: seen & SLEEPS
			:: else ->
				d_step {
#ifndef MISTAKE_sleeps_have_no_number
					number++;
#endif
					seen = number * 4 + WOKEN + SLEEPS;
					drain(READER);
					memory[ASLEEP] = seen
				}
			fi;
#ifndef MISTAKE_no_fence_before_sleeping
			fence_all();
#endif
#ifndef MISTAKE_no_look_before_sleeping
			take();
#endif
			if
			:: found ->
				/* take_back() */
				store(READER, ASLEEP, 0);
				d_step { found = 0; record = 0; seen = 0; drain(READER); mutex = 0 }
			:: else ->
#ifndef MISTAKE_sleeper_not_counted
				users++;
#endif
				d_step { record = 0; drain(READER); mutex = 0 };
				/* pxt_port_wait(): the system compares, then it sleeps */
				d_step { assert(!freed); drain(READER); sleeping = (memory[ASLEEP] == seen) };
				!sleeping;
				atomic { !mutex -> mutex = 1 };
				if
				:: !closing -> assert(!freed); store(READER, ASLEEP, 0)
				:: else
				fi;
#ifndef MISTAKE_sleeper_not_counted
				users--;
#endif
				if
				:: closing -> break
				:: else
				fi;
				d_step { seen = 0; drain(READER); mutex = 0 }
			fi
		fi
	od;
	atomic { drain(READER); mutex = 0; reader_done = 1 }
}
#endif

/* ---- A reader before an unfinished record ---- */

#ifdef DEAD
#define SETTLED ((writer_done || gone) && buffer[WRITER].count == 0)

/* all_seen_unregistered() of the one entry that there is */
inline look_who_is_inside()
{
	atomic {
		load(READER, PASSES, seen);
		nobody = nobody && (!(seen & 1) || gone);
		seen = 0
	}
}

/* pxt_threads_none_inside(): [proof: dead] */
inline ask()
{
	nobody = 1;
	look_who_is_inside();
#ifndef MISTAKE_no_fence_before_asking_who_is_inside
	fence_all();
#endif
#ifndef MISTAKE_not_asked_again_behind_the_fence
	look_who_is_inside()
#endif
}

proctype asker()
{
	byte i, seen, end, at;
	bit nobody, settled;

	do
	:: atomic { taken < events_done -> end = events_done; settled = SETTLED };
		/* Reserved before `end`; what is stored is read. */
		load(READER, SLOT + taken, seen);
		if
		:: seen -> d_step { seen = 0; taken++ }
		:: else ->
			ask();
#ifdef MISTAKE_head_read_behind_the_answer
			end = events_done;
#endif
			/* What was settled is passed over at once. */
			assert(nobody || !settled);
			/* Nobody is inside: what is not stored now belongs to the dead. */
			do
			:: nobody && taken < end ->
#ifdef MISTAKE_record_not_looked_at_again
				seen = 0;
#else
				load(READER, SLOT + taken, seen);
#endif
				assert(seen || stuck);
				d_step { seen = 0; taken++ }
			:: else -> break
			od;
			nobody = 0
		fi;
		d_step { end = 0; settled = 0 }
	:: atomic { taken == events_done && SETTLED -> break }
	od;
	reader_done = 1
}
#endif

/* ---- The end ---- */

proctype watchdog()
{
	timeout;
	assert(stuck || (writer_done && other_done));
#ifdef SHUT
	assert(shut_done);
	assert(freed || kept);
#endif
#ifdef DEAD
	assert(reader_done);
#endif
#ifdef SLEEP
	/*
	 * No wake-up is lost: a reader that sleeps now has nothing to read, and the stream still lives.  A
	 * writer that stands still may not have come to its look at the flag, or to its call; but the next
	 * writer has.
	 */
	assert(reader_done || (sleeping && !closing &&
	       (taken == memory[RECORD] + memory[OTHERS] || (stuck && !later))))
#endif
}

init
{
	atomic {
		memory[HOT] = 1;
		run writer();
#ifdef NEST
		run handler();
#endif
#ifdef OTHER
		run other_writer();
		run processor(BESIDE);
#endif
#ifdef JUMP
		run jump();
#endif
#ifdef SHUT
		run closer();
#endif
#ifdef SLEEP
		run reader();
#endif
#ifdef DEAD
		run asker();
#endif
		run processor(WRITER);
		run processor(CLOSER);
		run processor(READER);
		run watchdog()
	}
}
