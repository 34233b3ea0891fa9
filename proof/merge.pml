/* SPDX-License-Identifier: MIT */
/*
 * merge.pml - two lanes, one sequence: core/read/merge.c, rules 1 to 3, and what it stands on: the
 * reservation (core/ring/ring.c) and the front of a lane (core/read/lane.c).  README.md says more.
 *
 *   -DTHREADS=2 -DEVENTS=1  each event goes into any lane: threads migrate; -DMORE=1: so many more
 *                           of the first thread
 *   -DRES=0                 resolution: a plain stamp may be taken that much too early; 0: ordered
 *   -DFIXED                 all but the first event go into lane 1
 *   -DKILLS=1               so many threads die, at any step
 *   -DEXPIRE                the hold-back time may be over at any moment
 *   -DLAP=2                 LOOP with so many records in a lane; without: nothing is overwritten
 *   -DMISTAKE_...           a seeded mistake
 *
 * A record takes one slot, but it is begun before it is whole.  The clock goes on with each stamp:
 * another reading is as large as the last stamp before it.  Between two looks at what others change
 * the reader only takes notes, which belongs to the first of them.
 */
#ifndef THREADS
#define THREADS 2
#endif
#ifndef EVENTS
#define EVENTS 1
#endif
#ifndef MORE
#define MORE 0
#endif
#ifndef RES
#define RES 0
#endif
#ifndef LAP
#define LAP 0
#endif
#ifndef KILLS
#define KILLS 0
#endif
#define ALL       (THREADS * EVENTS + MORE)
#define COUNT(t)  (EVENTS + (t == 0 -> MORE : 0))
#define FIRST(t)  (t == 0 -> 0 : t * EVENTS + MORE)
#define THREAD(e) ((e) < EVENTS + MORE -> 0 : ((e) - MORE) / EVENTS)
#define BIT(e)    (1 << (e))
#define NEVER     255
#ifdef EXPIRE
#define PASSES 1
#else
#define PASSES KILLS
#endif

/* Record @i of lane @l: the event in it, counted from 1; 0: not reserved, or behind the reader. */
byte lane_record[2 * ALL];
#define RECORD(l, i) lane_record[(l) * ALL + (i)]
byte head[2];
byte now = RES + 1;

/* By event; forgotten when it is delivered or lost. */
byte stamp[ALL];
byte returned[ALL]; /* clock when its call had returned, 0: it has not */
byte begun = 0;
byte stored = 0;
byte gone = 0;

byte inside = 0; /* threads in a trace point */
byte dead = 0;
byte ended = 0;
bit over = 0;
#define ALIVE(t) (!(dead >> (t) & 1))
#define ENDED    (ended == BIT(THREADS) - 1)

/* ---- Writer ---- */

inline read_stamp()
{
	now++;
	s = now;
#if RES
	if
	:: true
	:: s = now - RES
	fi
#endif
}

proctype thread(byte t)
{
	byte k, e, l, before, called, h, s;
	bit mine;

	do
	:: k < COUNT(t) ->
		/* The call begins, head is looked at: [PXT_TP_HEAD_SEEN] */
		atomic {
			ALIVE(t);
			e = FIRST(t) + k;
			if
#ifdef FIXED
			:: l = (e > 0)
#else
			:: l = 0
#endif
			:: e > 0 -> l = 1 /* lanes are alike: the first event is in the first one */
			fi;
#if RES
			/* A thread that changes its lane takes longer than that. */
			now = (k > 0 && l != before -> now + RES : now);
			before = l;
#endif
#if KILLS
			inside = inside | BIT(t);
#endif
			called = now;
			h = head[l]
		};
		do
		:: !mine ->
#ifndef MISTAKE_stamp_read_behind_the_exchange
			/* [PXT_TP_STAMPED] */
			atomic {
				ALIVE(t);
#ifdef MISTAKE_stamp_kept_after_a_lost_exchange
				if
				:: s == 0 -> read_stamp()
				:: else
				fi
#else
				read_stamp()
#endif
			};
#endif
			/* [PXT_TP_RESERVED]; a writer that was overtaken begins again. */
			d_step {
				ALIVE(t);
				if
				:: h == head[l] ->
					mine = 1;
					RECORD(l, h) = e + 1;
					head[l]++;
					stamp[e] = s
				:: else -> h = head[l]
				fi
			}
		:: else -> break
		od;
#ifdef MISTAKE_stamp_read_behind_the_exchange
		atomic { read_stamp(); stamp[e] = s };
#endif
		atomic {
			ALIVE(t);
			/* TRUTH, first half: no event is reported earlier than its stamp. */
			assert(s + RES >= called);
			/* Stamps rise along a lane. */
			assert(!h || !RECORD(l, h - 1) || stamp[RECORD(l, h - 1) - 1] <= s + RES);
			begun = begun | BIT(e);
			called = 0;
			h = 0;
			s = 0
		};
		/* [PXT_TP_STORED], and back in the program */
		d_step {
			ALIVE(t);
			stored = stored | BIT(e);
			inside = inside & ~BIT(t);
			returned[e] = (gone >> e & 1 -> 0 : now);
			k++;
			e = 0;
			l = 0;
			mine = 0;
			ended = (k == COUNT(t) -> ended | BIT(t) : ended)
		}
	:: else -> break
	od
}

#if KILLS
proctype killer()
{
	byte kills = 0;

	do
	:: d_step { kills < KILLS && !(ended & 1); dead = dead | 1; ended = ended | 1; kills++ }
	:: d_step { kills < KILLS && !(ended & 2); dead = dead | 2; ended = ended | 2; kills++ }
	od
}
#endif

/* ---- Lanes ---- */

#define EVENT(l, i)  (RECORD(l, i) - 1)
#define BEGUN(l, i)  (RECORD(l, i) > 0 && (begun >> EVENT(l, i) & 1))
#if LAP
#define LATER(l, i)  ((i) < ALL && BEGUN(l, (i) % ALL))
#define NEWER(l, i)  (LATER(l, (i) + LAP) || LATER(l, (i) + 2 * LAP) || LATER(l, (i) + 3 * LAP))
#define OVERTAKEN(l) (head[l] - pos[l] > LAP)
#else
#define NEWER(l, i)  0
#define OVERTAKEN(l) 0
#endif
/* What a look at the slot tells: a record of this lap begins there; it is whole. */
#define BEGINS(l, i)   (BEGUN(l, i) && !NEWER(l, i))
#define FINISHED(l, i) (BEGINS(l, i) && (stored >> EVENT(l, i) & 1))

/* The front of @l leaves the stream: another run with the same future looks alike. */
inline leaves(l)
{
	y = EVENT(l, pos[l]);
	gone = gone | BIT(y);
	begun = begun | BIT(y);
	stored = stored | BIT(y);
	stamp[y] = 0;
	returned[y] = 0;
	RECORD(l, pos[l]) = 0;
	pos[l]++;
	front[l] = UNKNOWN;
	stuck[l] = 0;
	idle = 0;
	y = 0
}

/* lapped(), with rule 3: what is older than what is left is not shown from here on. */
inline lapped(l)
{
	at = head[l] - LAP;
	at = (at < pos[l] -> pos[l] : at);
	do
	:: at < head[l] && !BEGINS(l, at) -> at++
	:: else -> break
	od;
	/* The stamp of the first that is lost, as far as it is known: OVERFLOW's. */
	x = (BEGUN(l, pos[l]) -> stamp[EVENT(l, pos[l])] : 0);
	gap = (x && (!gap || x < gap) -> x : gap);
	blind = blind | (at == head[l]);
#ifdef MISTAKE_nothing_left_gives_up_nothing
	x = 0;
#endif
	x = (at < head[l] -> stamp[EVENT(l, at)] : x);
#ifndef MISTAKE_older_records_not_given_up
	give_up = (x > give_up -> x : give_up);
#endif
	do
	:: pos[l] < at ->
		newest = (stamp[EVENT(l, pos[l])] > newest -> stamp[EVENT(l, pos[l])] : newest);
		leaves(l)
	:: else -> break
	od;
	turn_end = 0;
	at = 0;
	x = 0
}

/* jump() behind an unfinished record */
inline passed(l)
{
	do
	:: pos[l] < at ->
#ifndef EXPIRE
		/* Nobody is given up who lives, but who was overwritten. */
		assert(!ALIVE(THREAD(EVENT(l, pos[l]))) || NEWER(l, pos[l]));
#endif
		leaves(l)
	:: else -> break
	od;
	turn_end = 0;
	at = 0
}

/* ---- Merge ---- */

inline add_front(l)
{
	if
	:: front[l] == READY ->
		x = stamp[EVENT(l, pos[l])];
		if
		:: x < least -> turn_end = least; least = x; chosen = l
		:: else -> turn_end = (x < turn_end -> x + 1 : turn_end)
		fi
	:: front[l] == BUSY -> bound = (floor[l] < bound -> floor[l] : bound)
	:: else
	fi
}

/* choose(), all in the consumer's own notes; drop_given_up(), open_turn(): [proof: choose] */
inline choose()
{
	chosen = NEVER;
	least = NEVER;
	turn_end = NEVER;
#ifdef MISTAKE_snapshot_read_behind_the_lanes
	snapshot = now;
#endif
	bound = snapshot;
#ifdef MISTAKE_no_bound_by_the_snapshot
	bound = NEVER - 1;
#endif
	add_front(0);
	add_front(1);
#ifdef MISTAKE_turn_goes_beyond_the_next_front
	turn_end = NEVER;
#endif
#ifndef MISTAKE_turn_goes_beyond_the_bound
	turn_end = (turn_end <= bound -> turn_end : bound + 1);
#endif
	if
	:: chosen != NEVER && least < give_up ->
		gap = (!gap || least < gap -> least : gap);
		leaves(chosen);
		step = HEAD
	:: chosen != NEVER && least >= give_up && least <= bound -> step = READ
	:: else -> step = REFILL
	fi;
	turn_end = (step == READ -> turn_end : 0);
	chosen = (step == READ -> chosen : 0);
	least = 0;
	bound = 0;
	x = 0
}

/* All fronts are known, or one is to be looked at. */
inline go_on()
{
	if
	:: front[0] == UNKNOWN -> step = HEAD; l = 0
	:: front[0] != UNKNOWN && front[1] == UNKNOWN -> step = HEAD; l = 1
	:: else -> choose(); l = (front[0] != UNKNOWN)
	fi
}

/* Progress: when nobody writes any more, all comes in bounded rounds. */
inline round()
{
	idle = idle + ENDED;
	assert(idle <= 3)
}

/* The record is whole; it is handed out. */
inline deliver(l)
{
	x = EVENT(l, pos[l]);
	/* hand_out(); what was lost before is told first, with its own time. */
	last = (gap > last -> gap : last);
	last = (stamp[x] > last -> stamp[x] : last);
	gap = 0;
	/* TRUTH, second half */
	assert(last <= returned[x]);
	/* Who had returned before this stamp was read does not come later ... */
	y = 0;
	do
	:: y < ALL ->
		assert(!returned[y] || y == x || returned[y] >= stamp[x]);
		assert(gone >> y & 1 || y >= x || THREAD(y) != THREAD(x));
		y++
	:: else -> break
	od;
	/* ... and is not overwritten and told as such. */
	assert(blind || newest <= returned[x] + RES);
	leaves(l);
	x = 0
}

mtype = { UNKNOWN, EMPTY, READY, BUSY }; /* fronts */
/* Steps: each is one look at what others change. */
mtype = { HEAD, SLOT, STUCK, INSIDE, AGAIN, PASS, FLOOR, REFILL, TURN, READ };

proctype reader()
{
	/* The consumer's notes; nobody else sees them. */
	byte pos[2], floor[2], stuck_head[2];
	bit stuck[2];
	mtype front[2] = UNKNOWN;
	byte snapshot, give_up, last, gap, turn_end, chosen;
	mtype step = HEAD;
	byte l, at, seen;
	/* What is to be proved. */
	byte newest, idle;
	bit blind; /* nothing was left of a lapped lane to tell how old it was */
	byte x, y, least, bound;

	do
	/* pxt_lane_look(): head, then the slot, then what stands behind it. */
	:: atomic { step == HEAD ->
		seen = head[l];
		if
		:: seen == pos[l] -> front[l] = EMPTY; go_on()
		:: OVERTAKEN(l) -> lapped(l)
		:: else -> step = SLOT
		fi;
		seen = (step == SLOT -> seen : 0)
	   }
	:: atomic { step == SLOT ->
		if
		:: FINISHED(l, pos[l]) -> front[l] = READY; seen = 0; go_on()
		:: NEWER(l, pos[l]) -> lapped(l); step = HEAD; seen = 0
		:: else -> at = pos[l]; step = (PASSES -> STUCK : FLOOR)
		fi
	   }
#if PASSES
	/* expired(): the time is over, or is_abandoned(): who is inside, entry by entry ... */
	:: atomic { step == STUCK ->
		step = (KILLS -> INSIDE : FLOOR);
		if
		:: !stuck[l] -> stuck[l] = 1; stuck_head[l] = head[l]
		:: stuck[l]
#ifdef EXPIRE
		:: stuck[l] -> step = PASS
#endif
		fi
	   }
	:: atomic { step == INSIDE ->
		if
#ifndef MISTAKE_nobody_asks_who_is_inside
		:: (inside & ~dead) >> x & 1 -> x = 0; step = FLOOR
#endif
		:: else -> x++; step = (x < THREADS -> INSIDE : AGAIN); x = (x < THREADS -> x : 0)
		fi
	   }
	/* ... then the slot again. */
#ifdef MISTAKE_slot_not_looked_at_again
	:: atomic { step == AGAIN -> step = PASS }
#else
	:: atomic { step == AGAIN -> step = (FINISHED(l, pos[l]) -> FLOOR : PASS) }
#endif
	/* pass_over(): what was reserved behind stuck_head has its own time. */
	:: atomic { step == PASS ->
		if
		:: at == pos[l] && OVERTAKEN(l) -> lapped(l); step = HEAD; seen = 0
#ifdef MISTAKE_stuck_head_ignored
		:: at < head[l] && !BEGINS(l, at) -> at++
#else
		:: !(at == pos[l] && OVERTAKEN(l)) && at < stuck_head[l] && !BEGINS(l, at) -> at++
#endif
		:: else -> at = (at == pos[l] -> at + 1 : at); passed(l); step = HEAD; seen = 0
		fi
	   }
#endif
	/* pxt_lane_floor(): head again, then slot by slot: [proof: floor] */
	:: atomic { step == FLOOR ->
		seen = (at == pos[l] -> head[l] : seen);
		if
#ifdef MISTAKE_no_floor_by_what_stands_behind
		:: BEGINS(l, at) && at == pos[l] -> floor[l] = stamp[EVENT(l, at)]; at = seen
#else
		:: BEGINS(l, at) -> floor[l] = stamp[EVENT(l, at)]; at = seen
#endif
		:: else -> floor[l] = NEVER; at++
		fi;
		if
		:: at == seen -> front[l] = BUSY; seen = 0; at = 0; go_on()
		:: else
		fi
	   }
	/* refill(): [proof: refill]; each lane that is looked at behind it: [PXT_TP_LANE_SEEN] */
	:: atomic { step == REFILL && head[0] + head[1] > pos[0] + pos[1] ->
		round();
		snapshot = now;
#ifdef MISTAKE_unfinished_lane_not_looked_at_again
		front[0] = (front[0] == EMPTY -> UNKNOWN : front[0]);
		front[1] = (front[1] == EMPTY -> UNKNOWN : front[1]);
#else
		front[0] = (front[0] == READY -> READY : UNKNOWN);
		front[1] = (front[1] == READY -> READY : UNKNOWN);
#endif
		go_on()
	   }
	:: atomic { step == TURN ->
		if
		:: BEGINS(chosen, pos[chosen]) && stamp[EVENT(chosen, pos[chosen])] < turn_end ->
			step = READ
		:: else -> turn_end = 0; chosen = 0; go_on()
		fi
	   }
	/* Whether the record is whole shows when it is read; else its lane is looked at again. */
	:: atomic { step == READ ->
		if
		:: FINISHED(chosen, pos[chosen]) -> deliver(chosen); step = TURN
		:: else ->
#ifndef MISTAKE_front_kept_that_was_overwritten
			front[chosen] = UNKNOWN;
#endif
			round();
			turn_end = 0;
			chosen = 0;
			go_on()
		fi
	   }
	:: atomic { step == REFILL && head[0] + head[1] == pos[0] + pos[1] && ENDED -> break }
	od;
	over = 1
}

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
		:: t < THREADS -> run thread(t); t++
		:: else -> break
		od;
#if KILLS
		run killer();
#endif
		run reader();
		run watchdog()
	}
}
