/* SPDX-License-Identifier: MIT */
/*
 * merge.pml - two lanes, one sequence: core/merge.c, rules 1 to 5.  README.md says more.
 *
 *   -DTHREADS=2 -DEVENTS=1  each event goes into any lane: threads migrate; -DMORE=1: so many more
 *                           of the first thread
 *   -DRES=0                 resolution: a plain stamp may be taken that much too early; 0: ordered
 *   -DFIXED                 all but the first event go into lane 1
 *   -DEXPIRE                the hold-back time may be over at any moment
 *   -DLAP=2                 LOOP with so many records in a lane; without: nothing is overwritten
 *   -DMISTAKE_...           a seeded mistake
 *
 * A record takes one slot.  The clock goes on with each writer's reading of it.
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
#define ALL    (THREADS * EVENTS + MORE)
#define FIRST(t) (t == 0 -> 0 : t * EVENTS + MORE)
#define THREAD(e) ((e) < EVENTS + MORE -> 0 : ((e) - MORE) / EVENTS)
#define WHOLE  ((1 << ALL) - 1)
#define BIT(e) (1 << (e))
#define NEVER  255

/* Record @i of lane @l: the event in it, counted from 1; 0: not reserved. */
byte lane_record[2 * ALL];
#define RECORD(l, i) lane_record[(l) * ALL + (i)]
byte head[2];
byte now = RES + 1;

/* By event. */
byte stamp[ALL];
byte true_time[ALL];
byte stored = 0;

mtype = { UNKNOWN, EMPTY, READY, BUSY };
mtype = { NOT_HIDDEN, BINDS, EXPIRED };

/* What is to be proved. */
byte returned = 0;    /* events whose call has returned */
byte before[ALL];     /* those that had when this one's call began */
bit over = 0;

/* ---- Writer ---- */

proctype thread(byte t)
{
	byte k, e, l, d;

	do
	:: k < EVENTS + (t == 0 -> MORE : 0) ->
		atomic {
			e = FIRST(t) + k;
			before[e] = returned;
			if
#ifdef FIXED
			:: l = (e > 0)
#else
			:: l = 0
#endif
			:: e > 0 -> l = 1 /* lanes are alike: the first event is in the first one */
			fi
		};
		/* [PXT_TP_RESERVED] */
		d_step { RECORD(l, head[l]) = e + 1; head[l]++ };
		/* [PXT_TP_STAMPED] */
		atomic {
			d = 0;
#if RES
			/* A thread that migrated took longer than that, and its own stamps ascend. */
			do
			:: d < RES && (k == 0 || now - d - 1 > stamp[e - 1]) -> d++
			:: break
			od;
#endif
			d_step { stamp[e] = now - d; true_time[e] = now; now++; d = 0 }
		};
		/* [PXT_TP_STORED], and back in the program */
		d_step { stored = stored | BIT(e); returned = returned | BIT(e); k++; e = 0; l = 0 }
	:: else -> break
	od
}

/* ---- Lanes ---- */

#define EVENT(l, i) (RECORD(l, i) - 1)
/* The slot holds this record, finished. */
#if LAP
#define NEWER(l, i)                                                                                \
	(i + LAP < ALL && RECORD(l, (i + LAP) % ALL) > 0 &&                                          \
	    (stored >> EVENT(l, (i + LAP) % ALL) & 1))
#else
#define NEWER(l, i) 0
#endif
#define FINISHED(l, i) (RECORD(l, i) > 0 && (stored >> EVENT(l, i) & 1) && !(NEWER(l, i)))

inline lose(l, i)
{
	gone = gone | BIT(EVENT(l, i))
}

/* pxt_lane_lapped() */
inline lapped(l)
{
	d_step {
		i = head[l] - LAP;
		i = (i < pos[l] -> pos[l] : i);
		least = NEVER;
		j = NEVER;
		do
		:: i < head[l] ->
			if
			:: FINISHED(l, i) ->
				j = (j == NEVER -> i : j);
				least = (stamp[EVENT(l, i)] < least -> stamp[EVENT(l, i)] : least)
			:: else
			fi;
			i++
		:: else -> break
		od;
		j = (j == NEVER -> head[l] : j);
		do
		:: pos[l] < j ->
			overwritten = overwritten | BIT(EVENT(l, pos[l]));
			lose(l, pos[l]);
			pos[l]++
		:: else -> break
		od;
		blind = blind | (least == NEVER);
#ifndef MISTAKE_older_records_not_given_up
		give_up = (least != NEVER && least > give_up -> least : give_up);
#endif
		/* pxt_merge_forget() */
		hidden_floor[l] = (pos[l] < scan_pos[l] -> 0 : hidden_floor[l]);
		scan_pos[l] = pos[l];
		stuck[l] = 0;
		front[l] = UNKNOWN;
		i = 0;
		j = 0;
		least = 0
	}
}

/* pass_over() where a begin slot is there; the rest is in ring.pml */
inline pass_over(l)
{
	d_step {
		lose(l, pos[l]);
		pos[l]++;
		scan_pos[l] = pos[l];
		stuck[l] = 0;
		front[l] = UNKNOWN;
		late = 1
	}
}

/* pxt_lane_look() */
inline lane_look(l)
{
	state = UNKNOWN;
	do
	:: state == UNKNOWN ->
		d_step {
			if
			:: FINISHED(l, pos[l]) -> state = READY
			:: else
			fi
		};
		if
		:: state == READY
		:: state != READY && head[l] == pos[l] -> state = EMPTY
#if LAP
		:: state != READY && (head[l] - pos[l] > LAP || NEWER(l, pos[l])) -> lapped(l)
#endif
		:: else ->
			/* expired() */
#ifdef EXPIRE
			if
			:: !stuck[l] || stuck_pos[l] != pos[l] ->
				d_step { stuck[l] = 1; stuck_pos[l] = pos[l]; state = BUSY }
			:: stuck[l] && stuck_pos[l] == pos[l] -> state = BUSY
			:: stuck[l] && stuck_pos[l] == pos[l] -> pass_over(l)
			fi
#else
			state = BUSY
#endif
		fi
	:: else -> break
	od
}

/* ---- Merge ---- */

/* scan() with hide(): [proof: scan] */
inline scan(l, clock, head_before)
{
	unseen[l] = NOT_HIDDEN;
	more = 1;
	do
	:: atomic { more && scan_pos[l] < seen_head[l] ->
		d_step {
			if
			:: FINISHED(l, scan_pos[l]) -> scan_pos[l]++
			:: else ->
				more = 0;
				unseen[l] = BINDS;
				if
#ifdef MISTAKE_floor_from_the_new_snapshot
				:: scan_pos[l] >= head_before -> hidden_floor[l] = (snapshot > RES -> snapshot - RES : 0)
#else
				:: scan_pos[l] >= head_before -> hidden_floor[l] = (clock > RES -> clock - RES : 0)
#endif
				:: else
				fi
			fi
		};
#ifdef EXPIRE
		if
		:: more
		:: !more && (!stuck[l] || stuck_pos[l] != scan_pos[l]) ->
			d_step { stuck[l] = 1; stuck_pos[l] = scan_pos[l] }
		:: !more && stuck[l] && stuck_pos[l] == scan_pos[l]
		:: !more && stuck[l] && stuck_pos[l] == scan_pos[l] ->
			d_step { unseen[l] = EXPIRED; late = 1 }
		fi
#endif
	   }
	:: else -> break
	od;
	more = 0
}

/* refill(): clock first, then the heads, then what is new: [proof: refill], [PXT_TP_HEAD_READ] */
inline refill()
{
#ifndef MISTAKE_heads_before_the_clock
	d_step { clock_before = snapshot; snapshot = now - 1 };
#endif
	heads[0] = head[0];
	heads[1] = head[1];
#ifdef MISTAKE_heads_before_the_clock
	d_step { clock_before = snapshot; snapshot = now - 1 };
#endif
	l = 0;
	do
	:: l < 2 ->
		d_step { old_head = seen_head[l]; seen_head[l] = heads[l] };
#if LAP
		if
		:: heads[l] - pos[l] > LAP && heads[l] > pos[l] -> lapped(l)
		:: else
		fi;
#endif
		scan(l, clock_before, old_head);
		front[l] = (front[l] == READY -> READY : UNKNOWN);
		l++
	:: else -> break
	od;
	atomic { l = 0; heads[0] = 0; heads[1] = 0; old_head = 0; clock_before = 0 }
}

inline scan_rest(l)
{
	if
	:: pos[l] >= scan_pos[l] && pos[l] < seen_head[l] -> scan(l, 0, NEVER)
	:: else
	fi
}

/* look(): [proof: look]; what it asks of one lane is asked in two steps */
inline look(l)
{
	atomic {
		if
		:: front[l] != UNKNOWN -> ask = 0
		:: else ->
			scan_rest(l);
			ask = !(pos[l] >= scan_pos[l] && unseen[l] == NOT_HIDDEN);
			front[l] = (ask -> UNKNOWN : EMPTY)
		fi
	};
	atomic {
		if
		:: ask ->
			lane_look(l);
			if
			:: state == READY ->
#ifdef MISTAKE_finished_front_hides_no_more
				unseen[l] = NOT_HIDDEN
#else
				scan_rest(l);
				state = ((pos[l] >= scan_pos[l] && pos[l] < seen_head[l]) -> BUSY : state)
#endif
			:: else
			fi;
			unseen[l] = ((state == BUSY && unseen[l] == NOT_HIDDEN) -> BINDS : unseen[l]);
			front[l] = state;
			state = UNKNOWN;
			ask = 0
		:: else
		fi
	}
}

/* key_of(): the smallest stamp at or behind the front, as far as it was scanned: [proof: key] */
inline key_of(l, into)
{
	into = stamp[EVENT(l, pos[l])];
#ifndef MISTAKE_key_is_the_own_stamp
	i = pos[l];
	do
	:: i < scan_pos[l] ->
		into = (stamp[EVENT(l, i)] < into -> stamp[EVENT(l, i)] : into);
		i++
	:: else -> break
	od;
	i = 0
#endif
}

/* smallest(): all in the consumer's own notes */
inline smallest()
{
	d_step {
		chosen = NEVER;
		key = NEVER;
		l = 0;
		do
		:: l < 2 ->
			if
			:: front[l] == READY ->
				key_of(l, least);
				if
				:: least < key -> key = least; chosen = l
				:: else
				fi
			:: else
			fi;
			l++
		:: else -> break
		od;
		l = 0;
		least = 0
	}
}

/* own_thread_first(), between two lanes one step: [proof: own_thread] */
inline own_thread_first()
{
	d_step {
		j = 1 - chosen;
		i = pos[j];
		if
		:: front[j] == READY ->
			do
			:: i < scan_pos[j] ->
				if
				:: THREAD(EVENT(j, i)) == THREAD(EVENT(chosen, pos[chosen])) &&
				    stamp[EVENT(j, i)] < own -> chosen = j; break
				:: else -> i++
				fi
			:: else -> break
			od
		:: else
		fi;
		i = 0;
		j = 0
	}
}

mtype = { DELIVER, AGAIN, REFILL };

/* judge(): [proof: judge] */
inline judge()
{
	own = stamp[EVENT(chosen, pos[chosen])];
	if
	:: key < give_up && own < give_up ->
		/* drop_given_up() */
		d_step {
			lose(chosen, pos[chosen]);
			pos[chosen]++;
			scan_pos[chosen] = (scan_pos[chosen] < pos[chosen] -> pos[chosen] : scan_pos[chosen]);
			front[chosen] = UNKNOWN;
			verdict = AGAIN
		}
#ifndef MISTAKE_no_bound_by_the_snapshot
	:: !(key < give_up && own < give_up) && key > snapshot -> verdict = REFILL
#endif
#ifndef MISTAKE_unfinished_record_binds_nobody
	:: !(key < give_up && own < give_up) &&
	    unseen[1 - chosen] == BINDS && own > hidden_floor[1 - chosen] -> verdict = REFILL
#endif
	:: else ->
		verdict = DELIVER;
#ifndef MISTAKE_own_thread_does_not_come_first
		if
		:: key < own -> own_thread_first()
		:: else
		fi;
#endif
#if !defined(MISTAKE_no_look_at_the_heads_near_the_bound) && !defined(MISTAKE_no_bound_by_the_snapshot)
		/* heads_unchanged() */
		if
		:: key + RES > snapshot && head[1 - chosen] != seen_head[1 - chosen] -> verdict = REFILL
		:: else
		fi
#endif
	fi
}

inline deliver()
{
	d_step {
		x = EVENT(chosen, pos[chosen]);
		assert(!(gone >> x & 1) && (stored >> x & 1));
		y = 0;
		do
		:: y < ALL ->
			if
			:: (before[x] >> y & 1) && !(gone >> y & 1) ->
				/* Y's call had returned before X's began, and Y is still to come. */
				assert(late || THREAD(y) != THREAD(x));
				assert(late || true_time[x] - true_time[y] <= RES);
#if RES
				/* Within the resolution, too, where the stamps tell. */
				assert(late || stamp[y] >= stamp[x]);
#endif
			:: else
			fi;
			/* X is not older than what was overwritten. */
			assert(late || blind || !((overwritten >> y & 1) && (before[y] >> x & 1) &&
			                          true_time[y] - true_time[x] > RES));
			y++
		:: else -> break
		od;
		gone = gone | BIT(x);
		pos[chosen]++;
		scan_pos[chosen] = (scan_pos[chosen] < pos[chosen] -> pos[chosen] : scan_pos[chosen]);
		front[chosen] = UNKNOWN;
		stuck[chosen] = (stuck_pos[chosen] >= pos[chosen] -> stuck[chosen] : 0);
		x = 0;
		y = 0
	}
}

/* pxt_merge_pick() */
proctype reader()
{
	/* The consumer's notes; nobody else sees them. */
	byte pos[2], scan_pos[2], seen_head[2], hidden_floor[2], stuck_pos[2];
	bit stuck[2];
	mtype front[2] = UNKNOWN;
	mtype unseen[2] = NOT_HIDDEN;
	byte snapshot, give_up;
	/* What is to be proved. */
	byte gone;        /* delivered or lost */
	byte overwritten; /* lost by a lap */
	bit late;         /* a hold-back time was over: order is not promised from here on */
	bit blind;        /* nothing was left of a lapped lane to tell how old it was */
	byte l, i, j, x, y, least, key, own, chosen, clock_before, old_head, idle;
	byte heads[2];
	bit more, all, ask;
	mtype state = UNKNOWN, verdict;

	do
	:: atomic { gone != WHOLE && (head[0] + head[1] > pos[0] + pos[1]) -> all = (returned == WHOLE) };
		/* One round; the code makes four before it says that nothing is there. */
		look(0);
		look(1);
		atomic {
			smallest();
			verdict = REFILL;
			if
			:: chosen != NEVER -> judge()
			:: else
			fi;
			if
			:: verdict == DELIVER -> deliver(); idle = 0
			:: verdict == AGAIN -> idle = 0
			:: else -> idle = idle + all
			fi
		};
		if
		:: verdict == REFILL -> refill()
		:: else
		fi;
		/* Progress: what is finished is handed out in bounded steps. */
		assert(idle <= 3);
		d_step { verdict = 0; key = 0; own = 0; chosen = 0 }
	:: gone == WHOLE -> break
	od;
#if !LAP && !defined(EXPIRE)
	assert(!late && !overwritten);
#endif
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
		run reader();
		run watchdog()
	}
}
