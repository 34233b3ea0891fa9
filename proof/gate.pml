/* SPDX-License-Identifier: MIT */
/*
 * gate.pml - running, stopped by call, stopped automatically: core/record/fullpolicy.c, control.c,
 * consumer.c with one lane that does not overwrite.  A record takes one slot here; what becomes of
 * slots is ring.pml's matter.  README.md says more.
 *
 *   -DN=1               records that fit
 *   -DTHREADS=2 -DEVENTS=2
 *   -DLOG               a stream with log: the flusher reads, and settles behind its last write
 *   -DCALLS=2           so many calls of start and stop, and of clear with -DCLEAR, at any moment
 *   -DKILLS=1           so many writers die, at any step
 *   -DNEST              a handler interrupts the first writer at any step and writes one event
 *   -DMISTAKE_...       a seeded mistake
 */
#ifndef N
#define N 1
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef CALLS
#define CALLS 0
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifdef NEST
#define RECORDS (THREADS * EVENTS + CALLS + 2)
#else
#define RECORDS (THREADS * EVENTS + CALLS + 1)
#endif
#define SIDES   3

mtype = { OFF, RUNNING, AUTO };                 /* of the gate */
mtype = { EVENT, START, STOP, MADE_START, MADE_STOP, NOTHING }; /* of items */

/* One word. */
mtype gate = RUNNING;
byte generation = 0;

/* One word. */
byte head = 0;
bit closed = 0;

byte limit = 0;
byte refused = 0;
mtype kind[RECORDS]; /* what record it is, 0 while it is not stored */

/* Under the stream's mutex. */
bit mutex = 0;
byte pos = 0;
bit owes_start = 0;
bit owes_stop = 0;
bit stop_told = 0;
bit freed_since_full = 0;
byte sides = 0;
mtype side_kind[SIDES];
byte oob_pos[SIDES];

/* What is to be proved. */
bit shown_running = 1; /* to a reader of the events */
byte auto_stops = 0;   /* a writer turned the gate, and no call overtook it */
byte auto_starts = 0;  /* the stream restarted by itself */
byte told_stops = 0;
byte told_starts = 0;
bit was_full = 0;      /* in this run of the stream */
bit unstopped = 0;     /* in this run somebody was refused, and returned without a stop */
byte stop_head = 0;    /* what was recorded when a writer stopped it */
byte finished = 0;
bit over = 0;
#ifdef CLEAR
bit cleared = 0;
#endif

/* Who is dead, or has a handler on top of him, does no step. */
#if KILLS || defined(NEST)
#define FIRST     1 /* writers are started first */
#define MOVES(me) provided (!gone[me] && !(held && _pid == FIRST))
bit gone[THREADS + 1];
bit held = 0;
#else
#define MOVES(me)
#endif

#if CALLS
#define ALL (finished == THREADS + 1)
#else
#define ALL (finished == THREADS)
#endif

/* ---- Writer ---- */

mtype = { RESERVED, RESERVED_LAST, NO_ROOM, CLOSED };

#ifdef MISTAKE_stop_waits_for_its_moment
/* A writer says when it stopped the stream, a step after it did so; nobody may wait for that. */
bit moment = 0;
#endif

/* pxt_ring_reserve_free() */
inline reserve_free()
{
	d_step { h = head; c = closed; result = 0 }
	do
	:: result != 0 -> break
	:: result == 0 && c -> result = CLOSED
	:: result == 0 && !c ->
		lim = limit;
		if
		:: h + 1 - lim > N ->
			/* [PXT_TP_FULL] */
			d_step {
				if
				:: h == head && c == closed -> result = NO_ROOM; was_full = 1
				:: else -> h = head; c = closed
				fi
			}
		:: else ->
			d_step {
				if
				:: h == head && c == closed ->
					head++;
					result = (head - lim == N -> RESERVED_LAST : RESERVED);
					was_full = was_full | (head - lim == N)
				:: else -> h = head; c = closed
				fi
			}
		fi
	od;
	atomic { lim = 0; c = 0 }
}

/* Only what filled up is stopped; what was recorded before is to be shown before the STOP. */
inline stopped_by_writer()
{
	assert(was_full);
	gate = AUTO;
	unstopped = 0;
	auto_stops++;
#ifdef MISTAKE_stop_waits_for_its_moment
	c = 1;
#endif
	stop_head = head
}

/* pxt_fullpolicy_switch(): [PXT_TP_AUTO_STOPPED] */
inline auto_stop()
{
	if
	:: g == RUNNING ->
		d_step {
			if
#ifdef MISTAKE_gate_without_generation
			:: gate == RUNNING -> stopped_by_writer()
#elif defined(MISTAKE_gate_set_without_compare)
			:: true -> stopped_by_writer()
#else
			:: gate == RUNNING && generation == gen -> stopped_by_writer()
#endif
			:: else
			fi
		}
#ifdef MISTAKE_stop_waits_for_its_moment
		if
		:: c -> moment = 1; c = 0
		:: else
		fi
#endif
	:: else
	fi
}

/* A record that was given up meanwhile is nobody's (ring.pml has what the slot then tells). */
inline store()
{
#if KILLS
	d_step { kind[h] = (h < pos -> 0 : EVENT) }
#else
	kind[h] = EVENT
#endif
}

/* emit_one(), pxt_fullpolicy_reserve() */
inline write()
{
	/* [PXT_TP_GATE_SEEN] */
	d_step { g = gate; gen = generation; events++; result = NO_ROOM }
	if
	:: g == OFF
	:: else ->
		if
		:: g == RUNNING -> reserve_free()
		:: else
		fi;
		if
#ifdef MISTAKE_refused_does_not_stop
		:: result == NO_ROOM -> refused++
#else
		:: result == NO_ROOM -> auto_stop(); refused++
#endif
#ifndef MISTAKE_last_slot_does_not_stop
		:: result == RESERVED_LAST -> auto_stop()
#endif
		:: else
		fi;
		if
		:: result == RESERVED || result == RESERVED_LAST -> store()
		:: else
		fi
	fi;
#if THREADS == 1 && !CALLS && !defined(NEST)
	/* Running and full is not seen (ruling 14), but by writers that are late. */
	assert(gate != RUNNING || head - limit < N);
#endif
#if KILLS || defined(MISTAKE_refused_does_not_stop)
	/* Only where it matters: it makes of a step of its own one that others see. */
	unstopped = unstopped | (g == RUNNING && result == NO_ROOM && gate == RUNNING && generation == gen);
#endif
	d_step { h = 0; gen = 0; g = 0; result = 0 }
}

proctype writer() MOVES(_pid)
{
	byte h, lim, gen, events;
	bit c;
	mtype g, result;

	do
	:: events < EVENTS -> write()
	:: else -> break
	od;
#if KILLS || defined(NEST)
	atomic { finished++; gone[_pid] = 1 }
#else
	finished++
#endif
}

#ifdef NEST
/* A signal handler on top of the first writer: from here to its end that one stands still. */
proctype handler() MOVES(FIRST)
{
	byte h, lim, gen, events;
	bit c;
	mtype g, result;

	held = 1;
	write();
	held = 0
}
#endif

#if KILLS
/* SIGKILL, or a jump out of a handler: somebody never does another step. */
proctype killer()
{
	byte kills = 0;

	do
	:: d_step { kills < KILLS && !gone[1]; gone[1] = 1; finished++; kills++ }
#if THREADS > 1
	:: d_step { kills < KILLS && !gone[2]; gone[2] = 1; finished++; kills++ }
#endif
	od
}
#endif

/* ---- Consumer ---- */

/* pxt_consumer_restart(): [proof: restart] */
inline restart()
{
	d_step {
		stop_told = 0;
		freed_since_full = 0;
#ifdef MISTAKE_stop_waits_for_its_moment
		moment = 0;
#endif
#ifdef MISTAKE_restart_announces_no_start
		owes_start = 0
#else
		owes_start = 1
#endif
	}
	/* set_state() */
	d_step {
		gate = RUNNING;
#ifndef MISTAKE_restart_keeps_the_generation
		generation++;
#endif
		was_full = 0;
		unstopped = 0;
		auto_starts++
	}
}

/* pxt_consumer_settle(): [proof: settle] */
inline settle()
{
	if
	:: gate != AUTO
	:: gate == AUTO && !stop_told
	:: gate == AUTO && stop_told -> restart()
	fi
}

#if KILLS
/*
 * The hold-back time of an unfinished record may be over at any moment, and is, when nobody writes
 * any more.  (expired() and pass_over(); ring.pml has them step by step.)
 */
inline give_up()
{
	if
#ifdef MISTAKE_nobody_is_given_up
	:: true
#else
	:: !ALL
	:: d_step {
		kind[pos] == 0 ->
			pos++;
			passed = 1
	   }
	   limit = pos
	:: kind[pos] != 0
#endif
	fi
}
#endif

/* next_record(), next_stop(): [proof: next] */
inline next()
{
	item = NOTHING;
	if
	:: owes_start -> item = MADE_START
#ifndef MISTAKE_late_record_behind_the_stop
	:: !owes_start && stop_told
	:: !owes_start && !stop_told ->
#else
	:: else ->
#endif
		if
		:: sides > 0 && pos >= oob_pos[0] -> item = side_kind[0]; at_side = 1
		:: else ->
			if
			:: pos < RECORDS && kind[pos] != 0 -> item = kind[pos]
			:: else ->
				h = head;
#ifdef MISTAKE_stop_before_the_last_record
				h = pos;
#endif
				if
				:: h == pos ->
					/* [proof: next_stop] */
					due = (owes_stop || gate == AUTO);
#ifdef MISTAKE_stop_waits_for_its_moment
					due = (due && moment);
#endif
					if
#ifdef MISTAKE_stop_before_the_last_record
					:: due && sides == 0 -> item = MADE_STOP
#else
					/* pxt_lane_all_drained() */
					:: due && sides == 0 && head == pos -> item = MADE_STOP
#endif
					:: else
					fi
#if KILLS
				:: h != pos -> give_up() /* unfinished */
#else
				:: else /* unfinished */
#endif
				fi
			fi
		fi
	fi;
	d_step { h = 0; due = 0 }
}

/* The events must be consistent for a reader. */
inline tell()
{
	if
	:: item == EVENT -> assert(shown_running)
	:: item == STOP || item == MADE_STOP ->
		assert(shown_running);
		shown_running = 0;
		assert(item == STOP || at_side || pos >= stop_head);
		told_stops = told_stops + (item == MADE_STOP)
	:: item == START || item == MADE_START ->
		assert(!shown_running);
		shown_running = 1;
		told_starts = told_starts + (item == MADE_START)
	fi
}

/* pxt_consumer_done() */
inline done()
{
	d_step {
		tell();
		if
		:: at_side ->
			/* done_oob() */
			side_kind[0] = side_kind[1];
			oob_pos[0] = oob_pos[1];
			side_kind[1] = side_kind[2];
			oob_pos[1] = oob_pos[2];
			side_kind[2] = 0;
			oob_pos[2] = 0;
			sides--
		:: !at_side && (item == MADE_START) -> owes_start = 0
		:: !at_side && (item == MADE_STOP) ->
			/* done_made() */
			if
			:: owes_stop -> owes_stop = 0
			:: else -> stop_told = 1
			fi
		:: else -> kind[pos] = 0; pos++
		fi
	}
	if
	:: item == EVENT || item == START || item == STOP -> limit = pos
	:: else
	fi;
	if
	:: gate == AUTO || owes_stop ->
		freed_since_full = freed_since_full | (!at_side && (item == EVENT || item == START || item == STOP));
#ifndef LOG
		settle()
#endif
	:: else
	fi;
	d_step { item = 0; at_side = 0 }
}

#define TO_DO (pos < head || sides || owes_start || owes_stop || gate == AUTO)

proctype reader()
{
	byte h;
	bit at_side, due;
	mtype item;
#if KILLS
	bit all, passed;
	byte idle;
#endif

	do
	:: atomic { !mutex && (TO_DO || ALL) -> mutex = 1 };
#if KILLS
		d_step { all = ALL; idle = idle + all }
#endif
#ifdef LOG
		do
		:: next();
			if
#if KILLS
			:: item == NOTHING && passed -> d_step { passed = 0; idle = 0 }
			:: item == NOTHING && !passed -> break
			:: item != NOTHING -> done(); idle = 0
#else
			:: item == NOTHING -> break
			:: else -> done()
#endif
			fi
		od;
		/* The block goes out without the mutex: [proof: flush] */
		mutex = 0;
		atomic { !mutex -> mutex = 1 };
		settle();
#else
		next();
		if
#if KILLS
		:: item != NOTHING || passed ->
			idle = 0;
			passed = 0;
			if
			:: item != NOTHING -> done()
			:: else
			fi
#else
		:: item != NOTHING -> done()
#endif
		:: else
		fi;
#endif
#if KILLS
		/* The reader's progress: when nobody writes any more, no two rounds bring nothing. */
		assert(idle < 2);
#endif
		item = 0;
		if
		:: ALL && !TO_DO -> mutex = 0; break
		:: else -> mutex = 0
		fi
	od;
	/* Nothing is left behind: each automatic STOP has its START, and the state is as shown. */
	assert(gate != AUTO);
	/* A writer that was refused and lives leaves a stop behind, even if another one should have. */
	assert(!unstopped);
	assert(shown_running == (gate == RUNNING));
#ifdef CLEAR
	assert(cleared || told_stops == auto_stops);
	assert(cleared || told_starts == auto_starts);
#else
	assert(told_stops == auto_stops && told_starts == auto_starts);
#endif
	over = 1
}

/* ---- Calls ---- */

#if CALLS
/* room() */
#define ROOM (N - (head - limit))

/* put_oob() */
inline put_oob(what)
{
	d_step {
		side_kind[sides] = what;
		oob_pos[sides] = head;
		sides++
	}
}

/* put_barrier(), put(): [proof: barrier] */
inline put_barrier(what)
{
	if
	:: ROOM < 1 -> put_oob(what)
	:: else ->
		d_step { h = head; head++ }
		kind[h] = what;
		h = 0
	fi
}

#define OWES_STOP ((gate == AUTO || owes_stop) && !stop_told)
#define IS_FULL                                                                                    \
	(ROOM == 0 || ((gate == AUTO || owes_stop) && !freed_since_full) ||                          \
	    1 + (ROOM < 2) + OWES_STOP > SIDES - sides)

/* restart_for_late_records(): [proof: late] */
#ifdef MISTAKE_call_overtakes_the_restart
#define LATE_RECORDS 0
#else
#define LATE_RECORDS (gate == AUTO && stop_told && (head != pos || sides > 0))
#endif

/* pxt_control_start() */
inline start()
{
	if
	:: gate == RUNNING
	:: gate != RUNNING && IS_FULL
	:: gate != RUNNING && !(IS_FULL) ->
		/* [PXT_TP_CLOSED_LANE] */
		closed = 1;
		if
		:: LATE_RECORDS -> restart(); closed = 0
		:: else ->
			/* put_owed_stop() */
#ifndef MISTAKE_start_forgets_the_automatic_stop
			if
			:: OWES_STOP -> put_oob(MADE_STOP)
			:: else
			fi;
#endif
			owes_stop = 0;
			put_barrier(START);
			d_step { stop_told = 0; freed_since_full = 0 }
			closed = 0;
			d_step { gate = RUNNING; generation++; was_full = 0; unstopped = 0 }
		fi
	fi
}

/* pxt_control_stop(): [PXT_TP_CLOSED_LANE] */
inline stop()
{
	if
	:: gate == OFF
	:: else ->
#ifndef MISTAKE_stop_leaves_the_lane_open
		closed = 1;
#endif
		if
		:: LATE_RECORDS -> restart()
		:: else
		fi;
		state = gate;
#ifndef MISTAKE_stop_forgets_the_automatic_stop
		owes_stop = ((state == AUTO && !stop_told) -> 1 : owes_stop);
#endif
		/* set_state(); a stop by a writer that comes between is overtaken */
		d_step {
			auto_stops = auto_stops - (state == RUNNING && gate == AUTO);
			gate = OFF;
			unstopped = 0
		}
		stop_told = 0;
#ifdef MISTAKE_stop_twice
		put_barrier(STOP);
#else
		if
		:: state == RUNNING -> put_barrier(STOP)
		:: else
		fi;
#endif
		state = 0
	fi
}

#ifdef CLEAR
/* pxt_control_clear(): [proof: clear] */
inline clear()
{
	state = gate;
#ifndef MISTAKE_clear_closes_too_late
	if
	:: state == AUTO -> closed = 1
	:: else
	fi;
#endif
	d_step {
		h = head;
		do
		:: pos < h -> kind[pos] = 0; pos++
		:: else -> break
		od
	}
	limit = pos;
	d_step {
		sides = 0;
		side_kind[0] = 0;
		side_kind[1] = 0;
		side_kind[2] = 0;
		oob_pos[0] = 0;
		oob_pos[1] = 0;
		oob_pos[2] = 0;
		owes_stop = 0;
		owes_start = 0;
		stop_told = 0;
		freed_since_full = 0
	}
	if
	:: state == AUTO -> closed = 1; gate = OFF
	:: state == RUNNING -> d_step { gate = RUNNING; generation++; was_full = 0; unstopped = 0 }
	:: else
	fi;
	d_step { shown_running = (gate == RUNNING || gate == AUTO); cleared = 1; state = 0; h = 0 }
}
#endif

proctype control()
{
	byte calls = 0, h;
	mtype state;

	do
	:: calls < CALLS ->
		atomic { !mutex -> mutex = 1; calls++ };
		if
		:: true -> start()
		:: true -> stop()
#ifdef CLEAR
		:: !cleared -> clear()
#endif
		fi;
		mutex = 0
	:: break
	od;
	finished++
}
#endif

proctype watchdog()
{
	timeout;
	assert(over)
}

init
{
	atomic {
		byte t = 0;

		do
		:: t < THREADS -> run writer(); t++
		:: else -> break
		od;
#ifdef NEST
		run handler();
#endif
#if KILLS
		run killer();
#endif
#if CALLS
		run control();
#endif
		run reader();
		run watchdog()
	}
}
