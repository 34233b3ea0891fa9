/* SPDX-License-Identifier: MIT */
/*
 * ring.pml - one lane: writers and the reader (core/ring/ring.h, ring.c, emit.c, lane.c, consumer.c).
 * README.md says what is covered and left out; scripts/check-proof runs it.
 *
 *   -DLOOP -DUNTIL -DFLUSH  the full policy, one of them
 *   -DN=4                   slots; records take 1, -DLONG=2: 2, -DLONG=1: 1 or 2
 *   -DTHREADS=2 -DEVENTS=1  writers and the events of each; -DMORE=1: so many more of the first
 *   -DNEST                  a handler interrupts thread 0 at any step and writes one event
 *   -DKILLS=1               so many threads die, at any step
 *   -DPATIENT               the hold-back time is never over: only the dead are given up
 *   -DROUNDS=3              so often a writer tries to reserve (N + 1)
 *   -DSTOP                  a control call stops the stream at any step and starts it again
 *   -DSLACK=0               slots that the reader leaves to the writers after a lap
 *   -DMISTAKE_...           a seeded mistake
 *
 * A step of a process is one access to memory that others see; what it does with its own
 * variables goes along with it.
 */
#if LOOP + UNTIL + FLUSH != 1
#error "choose a policy"
#endif
#ifndef N
#define N 4
#endif
#ifndef THREADS
#define THREADS 2
#endif
#ifndef EVENTS
#define EVENTS 1 /* of each thread ... */
#endif
#ifndef MORE
#define MORE 0 /* ... and so many more of thread 0 */
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef SLACK
#define SLACK 0
#endif
#ifndef LONG
#define LONG 0
#endif
#ifndef ROUNDS
#define ROUNDS (N + 1)
#endif
#define RECORDS (THREADS * EVENTS + MORE + 3)
#define MARK    (N - 1)
#define STOP_CALL  254
#define START_CALL 255

#ifdef MISTAKE_one_bit_lap
#define SAME_LAP(a, b) ((a) % 2 == (b) % 2 && (a) > 0)
#else
#define SAME_LAP(a, b) ((a) == (b))
#endif
#define LAP(p)         ((p) / N)

/* A slot is stored and loaded as a whole. */
typedef slot_t {
	byte lap;   /* the tag: lap ... */
	byte low;   /* ... and low bits of the record's number */
	byte slots; /* begin slot: of the record; continuation: 0 */
	byte owner  /* what is to be proved: whose data it is, the record's true number */
};
slot_t ring[N];

/* The word `head`: these three always change in one step. */
byte head_pos = N;
byte head_seq = 0;
bit closed = 0;

byte limit = N;
byte refused = 0;
bit asleep = 0;
bit sleeping = 0; /* the reader is in the system's hands */
bit ending = 0;

/* The gate, as far as stop needs it; the rest is in gate.pml. */
bit running = 1;
bit in[THREADS]; /* marked inside a trace point */
bit quiet = 0;
bit mutex = 0;

/* The reader's own. */
byte pos = N;
byte seq = 0;
byte got = 0;
byte lost = 0;
bit over = 0;

/* What is to be proved, by true number: kept while the record is neither delivered nor lost. */
byte written = 0;
byte start[RECORDS];   /* its first position */
byte left[RECORDS];   /* slots not stored yet */
bit spoiled[RECORDS]; /* ruling 23: overwritten by a writer that was stopped for a lap */
byte by[RECORDS];     /* 8 * thread + its how manieth */
byte nth[THREADS];
byte last[THREADS];

bit held[THREADS]; /* a handler runs on top of it */
bit dead[THREADS];
byte finished = 0;
#define ALIVE(t) (!dead[t])
#ifdef STOP
#define ALL      (finished == THREADS + 1)
#else
#define ALL      (finished == THREADS)
#endif

/* ---- Writer ---- */

/* Ghosts of a reservation: part of the step that makes it. */
inline reserved(me)
{
	start[s] = p;
	left[s] = n;
	written++;
	if
	:: me >= STOP_CALL -> by[s] = me
	:: else -> nth[me]++; by[s] = 8 * me + nth[me]
	fi
}

/* What is turned away is counted: no room, overtaken too often, or a stop came first. */
inline refuse()
{
#ifndef MISTAKE_refused_is_not_counted
	refused++;
#endif
	written++;
	n = 0
}

/*
 * pxt_ring_reserve(): head is looked at, then exchanged; a writer that was overtaken begins again.  The
 * stamp between the two is merge.pml's.  n = 0: there is no place.
 */
inline reserve(me, go)
{
	/* [PXT_TP_HEAD_SEEN] */
	d_step { go; p = head_pos; s = head_seq; c = closed }
	do
	:: atomic { c || tries == ROUNDS -> go; refuse(); break }
	:: !c && tries < ROUNDS ->
#if !LOOP
		/* [PXT_TP_LIMIT_SEEN] */
		d_step { go; lim = limit; no_room = (head_pos + n - limit > N) }
		if
		:: p + n - lim > N || p + n < lim ->
#ifdef MISTAKE_stale_head_means_full
			atomic { go; assert(no_room); refuse(); break }
#else
			atomic {
				go;
				if
				:: p == head_pos && c == closed ->
					/* [PXT_TP_FULL] */
					assert(no_room);
					refuse();
					break
				:: else -> p = head_pos; s = head_seq; c = closed; tries++
				fi
			}
#endif
		:: else ->
#endif
			/* [PXT_TP_RESERVED] */
			atomic {
				go;
				if
#ifdef MISTAKE_head_stored_without_compare
				:: true ->
#else
#ifdef MISTAKE_closed_bit_not_compared
				:: p == head_pos -> closed = 0;
#else
				:: p == head_pos && c == closed ->
#endif
#endif
					head_pos = p + n;
					head_seq = s + 1;
					used = p + n - lim;
					reserved(me);
					break
				:: else -> p = head_pos; s = head_seq; c = closed; tries++
				fi
			}
#if !LOOP
		fi
#endif
	od;
	atomic { lim = 0; tries = 0; no_room = 0 }
}

/* pxt_ring_put() */
inline put(go, i, extent)
{
	/* Look: [PXT_TP_LOOKED] */
	d_step { go; was = ring[(p + i) % N].lap }
#ifdef MISTAKE_no_look_before_storing
	if
	:: true ->
#else
	if
	:: was > LAP(p + i)
	:: else ->
#endif
#ifdef MISTAKE_tag_stored_before_data
		d_step {
			go;
			ring[(p + i) % N].lap = LAP(p + i);
			ring[(p + i) % N].low = s % N;
			ring[(p + i) % N].slots = extent
		}
		d_step { go; ring[(p + i) % N].owner = s; left[s]-- }
#else
		d_step {
			go;
			/* Only a lap that came between look and store may be spoiled (ruling 23). */
			assert(was <= LAP(p + i));
			if
			:: ring[(p + i) % N].lap > LAP(p + i) -> spoiled[ring[(p + i) % N].owner] = 1
			:: else -> left[s]--
			fi;
			ring[(p + i) % N].lap = LAP(p + i);
			ring[(p + i) % N].low = s % N;
			ring[(p + i) % N].slots = extent;
			ring[(p + i) % N].owner = s
		}
#endif
	fi;
	was = 0
}

inline choose_size()
{
#if LONG == 1
	if
	:: n = 1
	:: n = 2
	fi
#elif LONG == 2
	n = 2
#else
	n = 1
#endif
}

inline write(me, go)
{
	/* [PXT_TP_ENTERED]; a handler on top of a trace point leaves the mark to the one below. */
#if defined(STOP) || defined(PATIENT)
	d_step { go; outermost = !in[me]; in[me] = 1 }
#endif
	/* [PXT_TP_GATE_SEEN] */
#ifdef STOP
	d_step { go; on = running }
#else
	on = 1;
#endif
	if
	:: on ->
		choose_size();
		reserve(me, go)
	:: else
	fi;
	if
	:: n > 0 ->
		/* [PXT_TP_BEGIN_STORED], [PXT_TP_MIDDLE_STORED], [PXT_TP_STORED] */
		put(go, 0, n);
		if
		:: n == 2 -> put(go, 1, 0)
		:: else
		fi;
#if FLUSH
		/* emit.c, wake_sleeper(): the sleeper is woken at the mark. */
		d_step { go; c = asleep }
		if
#ifdef MISTAKE_woken_behind_the_mark
		:: c && used > MARK ->
#else
		:: c && used >= MARK ->
#endif
			d_step { go; sleeping = (asleep -> 0 : sleeping); asleep = 0 }
		:: else
		fi
#endif
	:: else
	fi;
	/* [PXT_TP_LEFT] */
	d_step {
		go;
		in[me] = (outermost -> 0 : in[me]);
		outermost = 0;
		n = 0;
		p = 0;
		s = 0;
		c = 0;
		used = 0;
		on = 0
	}
}

proctype writer(byte me)
{
	byte n, p, s, lim, was, used, tries, events;
	bit c, no_room, on, outermost;

	do
	:: events < EVENTS + (me == 0 -> MORE : 0) -> write(me, (!held[me] && ALIVE(me))); events++
	:: else -> break
	od;
	atomic { (!held[me] && ALIVE(me)); dead[me] = 1; finished++ }
}

#ifdef NEST
/* A signal handler on top of thread 0: from here to its end the thread itself stands still. */
proctype handler(byte me)
{
	byte n, p, s, lim, was, used, tries;
	bit c, no_room, on, outermost;

	d_step { ALIVE(me) && !held[me]; held[me] = 1 }
	write(me, ALIVE(me));
	held[me] = 0
}
#endif

#if KILLS
/* SIGKILL, or a jump out of a handler: somebody never does another step. */
proctype killer()
{
	byte kills = 0;

	do
	:: d_step { kills < KILLS && !dead[0]; dead[0] = 1; finished++; kills++ }
	:: d_step { kills < KILLS && !dead[1]; dead[1] = 1; finished++; kills++ }
	od
}
#endif

/* ---- Reader ---- */

#if LOOP
#define OVERWRITES 1
#else
#define OVERWRITES 0
#endif

/* publish() */
inline publish(caught_up)
{
#if LOOP
	limit = ((pos - limit > 1 || caught_up) -> pos : limit)
#else
	limit = pos
#endif
}

/* The ghosts of a record that leaves the stream: another run with the same future looks alike. */
inline forget(k)
{
	start[k] = 0;
	left[k] = 0;
	spoiled[k] = 0;
	by[k] = 0
}

/* Who may be lost by what is decided now: who is unfinished, or comes later. */
inline begin_to_judge()
{
	k = seq;
	judged = head_seq;
	open = 0;
	do
	:: k < head_seq -> open = (left[k] > 0 -> open | 1 << k : open); k++
	:: else -> break
	od;
	k = 0
}

#define OVERTAKEN(k) (OVERWRITES && head_pos > start[k] + N || spoiled[k])

/* jump(): [PXT_TP_PASSED].  Everything that goes must have a reason; @given up: unfinished. */
inline jump(to, number, slack, given)
{
	d_step {
		assert(number >= seq && number <= head_seq);
		k = seq;
		do
		:: k < number ->
			assert(OVERTAKEN(k) || slack > 0 || k >= judged || open >> k & 1);
			/* What was reserved since the wait began has its own time. */
			assert(!given || OVERTAKEN(k) || start[k] < stuck_head);
#ifdef PATIENT
			assert(!given || OVERTAKEN(k) || dead[by[k] / 8]);
#endif
			forget(k);
			k++
		:: else -> break
		od;
		lost = lost + (number - seq);
		pos = to;
		seq = number;
		stuck = 0;
		publish(1);
		k = 0;
		judged = 0;
		open = 0
	}
}

/* begins_here() at position @at in the slot just loaded */
#define BEGINS_HERE(at) (cur.slots > 0 && SAME_LAP(cur.lap, LAP(at)))
#define EXPECTED(at)    (SAME_LAP(cur.lap, LAP(at)) && cur.low == seq % N)

inline load(at)
{
	cur.lap = ring[(at) % N].lap;
	cur.low = ring[(at) % N].low;
	cur.slots = ring[(at) % N].slots;
	cur.owner = ring[(at) % N].owner
}

/* lapped(): [PXT_TP_LAPPED] */
inline lapped(slack)
{
	d_step {
		P = head_pos;
		S = head_seq;
		at = P - N + slack;
		at = (at < pos -> pos : at);
		here = 0
	}
	do
	:: at < P && !here ->
		d_step {
			load(at);
			if
			:: BEGINS_HERE(at) ->
				here = 1;
				/* number_of() */
				k = (S + N - cur.low) % N;
#ifndef MISTAKE_lap_distance_zero
				k = (k == 0 -> N : k);
#endif
				k = S - k;
#ifdef MISTAKE_lap_counts_one
				k = seq + 1;
#endif
			:: else -> at++
			fi
		}
	:: else -> break
	od;
	atomic {
		k2 = (here -> k : S);
		k = 0;
		here = 0
	}
	jump(at, k2, slack, 0);
	d_step { at = 0; k2 = 0; P = 0; S = 0 }
}

/* pxt_lane_finished(): ok = every slot of the record in `front` is there */
inline look_at_pieces()
{
	ok = 1;
#ifndef MISTAKE_pieces_not_looked_at
	if
	:: front.slots == 2 ->
		d_step {
			load(pos + 1);
			ok = (EXPECTED(pos + 1) && cur.slots == 0)
		}
	:: else
	fi
#endif
}

inline keep_front()
{
	front.slots = cur.slots;
	front.owner = cur.owner
}

mtype = { FOUND, MOVED, EMPTY, BUSY };

/* pass_over(): [PXT_TP_GIVES_UP] */
inline pass_over()
{
	d_step { load(pos); here = (EXPECTED(pos) && cur.slots > 0) }
	d_step {
		P = head_pos;
#ifdef MISTAKE_fresh_records_passed_over
		stuck_head = P;
		stuck_seq = head_seq;
#endif
		caught = (P - pos > N);
		at = pos + (here -> cur.slots : 1);
		k2 = seq + 1
	}
	if
	:: caught -> d_step { at = 0; k2 = 0; here = 0; caught = 0 } lapped(SLACK)
	:: else ->
		do
		:: !here && at < stuck_head ->
			d_step {
				load(at);
				if
				:: BEGINS_HERE(at) ->
					here = 1;
#ifndef MISTAKE_pass_over_counts_one
					k2 = seq + (cur.low + N - seq % N) % N
#endif
				:: else -> at++
				fi
			}
		:: else -> break
		od;
		atomic { k2 = (here -> k2 : stuck_seq); here = 0 }
		jump(at, k2, 0, 1);
		d_step { at = 0; k2 = 0; P = 0 }
	fi;
	found = MOVED
}

/* is_abandoned(): who is inside, entry by entry, then the record again: [proof: dead] */
inline abandoned()
{
	ok = 0;
#if KILLS
	ok = 1;
	d_step { ok = ok && (!in[0] || dead[0]) }
	d_step { ok = ok && (!in[1] || dead[1]) }
#ifndef MISTAKE_record_not_looked_at_again
	if
	:: ok ->
		d_step {
			load(pos);
			ok = !(EXPECTED(pos) && cur.slots > 0);
			front.slots = cur.slots
		}
		if
		:: ok
		:: else -> look_at_pieces(); ok = !ok
		fi
	:: else
	fi
#endif
#endif
}

/* expired(): [proof: expired]; the time may be over at any moment, but not at the first look. */
inline expired()
{
	if
	:: !stuck || stuck_pos != pos || quiet ->
		d_step {
			stuck = 1;
			stuck_pos = pos;
			stuck_head = head_pos;
			stuck_seq = head_seq;
			found = BUSY
		}
#ifdef PATIENT
	:: !quiet && stuck && stuck_pos == pos -> found = BUSY
#else
	:: !quiet && stuck && stuck_pos == pos && !all -> found = BUSY
	:: !quiet && stuck && stuck_pos == pos -> found = MOVED
#endif
	fi;
#ifdef PATIENT
	if
	:: !quiet -> abandoned(); found = (ok -> MOVED : BUSY)
	:: else
	fi;
#endif
	if
	:: quiet || found == MOVED -> pass_over()
	:: else
	fi
}

/* look_at_head() */
inline look_at_head()
{
	d_step { P = head_pos; S = head_seq; begin_to_judge() }
	if
	:: P == pos -> d_step { assert(S == seq); found = EMPTY; publish(1) }
	:: P != pos && (P - pos > N || S - seq > N) -> lapped(SLACK); found = MOVED
	:: else ->
		d_step { load(pos) }
		if
		:: EXPECTED(pos) && cur.slots > 0 ->
			keep_front();
			look_at_pieces();
			if
			:: ok -> found = FOUND
			:: else -> expired()
			fi
		:: !(EXPECTED(pos) && cur.slots > 0) && cur.lap > LAP(pos) ->
			lapped(SLACK);
			found = MOVED
		:: else -> expired()
		fi
	fi;
	d_step { P = 0; S = 0; ok = 0; judged = 0; open = 0 }
}

/* look_at_slot() */
inline look_at_slot()
{
	d_step { load(pos); ok = (EXPECTED(pos) && cur.slots > 0) }
	if
	:: ok -> keep_front(); look_at_pieces()
	:: else
	fi;
	if
	:: ok -> found = FOUND /* [PXT_TP_FRONT_SEEN] */
	:: else -> look_at_head()
	fi
}

/* read_record(): [PXT_TP_PIECE_READ] */
inline read_pieces()
{
	ok = 1;
	torn = 0;
	if
	:: front.slots == 2 ->
		d_step {
			load(pos + 1);
#ifdef MISTAKE_pieces_not_checked_when_read
			ok = 1;
#else
			ok = (EXPECTED(pos + 1) && cur.slots == 0);
#endif
			torn = (cur.owner != front.owner || cur.slots != 0)
		}
	:: else
	fi
}

/* pxt_consumer_done(): [PXT_TP_CONSUMED] */
inline deliver()
{
	d_step {
		assert(!torn);
		/* The number that the reader worked out is the true one: exactly once, in order. */
		assert(front.owner == seq);
		if
		:: by[seq] >= STOP_CALL -> stopped = (by[seq] == STOP_CALL)
		:: else ->
			/* Nobody who came behind a stop is shown. */
			assert(!stopped);
			/* Each thread's records in the order of their reservation. */
			assert(by[seq] % 8 > last[by[seq] / 8]);
			last[by[seq] / 8] = by[seq] % 8
		fi;
		got++;
		forget(seq);
		pos = pos + front.slots;
		seq++;
		publish(0);
		front.slots = 0;
		front.owner = 0;
		torn = 0;
		ok = 0
	}
}

/* One round of take(): next(), read(), done(). */
inline take()
{
	all = ALL;
	look_at_slot();
	if
	:: found == FOUND ->
#ifdef MISTAKE_room_freed_before_it_is_read
		limit = pos + front.slots;
#endif
		read_pieces();
		if
		:: ok -> deliver(); idle = 0
		:: else ->
			/* overwritten() */
			d_step {
				P = head_pos;
				front.slots = 0;
				front.owner = 0;
				torn = 0;
				begin_to_judge()
			}
			if
			:: P - pos > N -> lapped(0)
			:: else -> d_step { P = 0; judged = 0; open = 0; idle = idle + all }
			fi
		fi
	:: found == MOVED -> idle = 0
	:: found == BUSY -> idle = idle + all
	:: else
	fi;
	/* Reader's progress: when nobody writes any more, it comes to the end in bounded steps. */
	assert(idle <= 3);
	d_step { cur.lap = 0; cur.low = 0; cur.slots = 0; cur.owner = 0; ok = 0 }
}

proctype reader()
{
	slot_t cur, front;
	byte P, S, at, k, k2, stuck_pos, stuck_head, stuck_seq, idle, judged, open;
	bit stuck, ok, torn, here, caught, all, stopped;
	mtype found;

	do
	:: atomic {
#if FLUSH
		/* tolog/flusher.c: due(), or asked to finish */
		!mutex && (ending || head_pos - limit >= MARK) -> mutex = 1
	   };
		do
		:: take();
			if
			:: found == EMPTY -> break
			:: found == BUSY && !all -> break
			:: else
			fi
		od;
#else
		/* What getnext() does; where it would sleep, it is not called. */
		!mutex && (head_pos != pos || ALL) -> mutex = 1
	   };
		take();
#endif
		mutex = 0;
#if FLUSH
		if
		:: found == EMPTY && all && ending -> break
		:: else
		fi
	:: atomic { !mutex && !ending && head_pos - limit < MARK -> mutex = 1 };
		/* nap(): announce, fence, look again, sleep. */
		asleep = 1;
		if
		:: ending || head_pos - limit >= MARK -> mutex = 0
		:: else ->
			mutex = 0;
			atomic { sleeping = asleep };
			!sleeping
		fi
#else
		if
		:: found == EMPTY && all -> break
		:: else
		fi
#endif
	od;
	/* The number is the record's true one. */
	assert(got + lost + refused == written);
#if (UNTIL || FLUSH) && !KILLS && !STOP
	/* Nothing is lost that was admitted, but what the hold-back time gave up. */
	assert(seq == head_seq);
#endif
	over = 1
}

/* ---- Stop and start by call ---- */

#ifdef STOP
#if LOOP
#define ROOM 1
#else
#define ROOM (head_pos + 1 - limit <= N)
#endif

/* pxt_ring_reserve_closed(): nobody else takes a place. */
inline reserve_closed(me)
{
	d_step { p = head_pos; s = head_seq; head_pos = p + n; head_seq = s + 1; reserved(me) }
}

inline control_record(what)
{
	n = 1;
	if
	:: ROOM ->
		reserve_closed(what);
		put(true, 0, 1)
	:: else /* beside the lanes: gate.pml */
	fi;
	d_step { n = 0; p = 0; s = 0; c = 0 }
}

proctype control()
{
	byte n, p, s, was;
	bit c;

	/* pxt_control_stop(): [PXT_TP_CLOSED_LANE] */
	atomic { !mutex -> mutex = 1 };
#ifndef MISTAKE_stop_leaves_the_lane_open
	closed = 1;
#endif
	running = 0;
	if
	:: (!in[0] && !in[THREADS - 1]) -> quiet = 1
	:: true /* somebody did not leave in time */
	fi;
	control_record(STOP_CALL);
	mutex = 0;
	/* pxt_control_start() */
	atomic { !mutex -> mutex = 1 };
	control_record(START_CALL);
	quiet = 0;
	closed = 0;
	running = 1;
	d_step { mutex = 0; finished++ }
}
#endif

/* When nothing moves any more, the reader must have come to its end. */
proctype watchdog()
{
#if FLUSH
	timeout;
	/* The writer that filled the ring to the mark has woken the flusher, unless it died first. */
	assert(KILLS || !(sleeping && head_pos - limit >= MARK));
	d_step { ending = 1; asleep = 0; sleeping = 0 };
#endif
	timeout;
	assert(over)
}

init
{
	atomic {
		byte t = 0;

		do
		:: t < THREADS -> run writer(t); t++
		:: else -> break
		od;
#ifdef NEST
		run handler(0);
#endif
#if KILLS
		run killer();
#endif
#ifdef STOP
		run control();
#endif
		run reader();
		run watchdog()
	}
}
