/* SPDX-License-Identifier: MIT */
/* behave_c11.c - the locks and threads of <threads.h>. */
#define _GNU_SOURCE
#include "behave.h"

#include <stdbool.h>
#include <threads.h>

static mtx_t c11_mutex;
static cnd_t cond;
static int turn;
static once_flag flag = ONCE_FLAG_INIT;
static int times;

static int tries(void *argument)
{
	struct timespec soon = in_ms(CLOCK_REALTIME, 5);

	(void)argument;
	ASK(mtx_trylock(&c11_mutex));
	ASK(mtx_timedlock(&c11_mutex, &soon));
	return 7;
}

static void ask_of(int type)
{
	struct timespec past = { 1, 0 };
	thrd_t thread;
	int value = 0;

	SAY("type %d\n", type);
	ASK(mtx_init(&c11_mutex, type));
	ASK(mtx_lock(&c11_mutex));
	if (type & mtx_recursive) {
		ASK(mtx_trylock(&c11_mutex));
		ASK(mtx_unlock(&c11_mutex));
	}
	if (type & mtx_timed) {
		/* It speaks, too. */
		if (thrd_create(&thread, tries, NULL) == thrd_success)
			ASK(thrd_join(thread, &value));
		SAY("value %d\n", value);
	}
	ASK(mtx_unlock(&c11_mutex));
	ASK(mtx_timedlock(&c11_mutex, &past));
	ASK(mtx_unlock(&c11_mutex));
	/* Of a recursive one that nobody has. */
	if (type & mtx_recursive)
		ASK(mtx_unlock(&c11_mutex));
	mtx_destroy(&c11_mutex);
}

static int takes_turns(void *argument)
{
	(void)argument;
	(void)mtx_lock(&c11_mutex);
	turn = 1;
	(void)cnd_signal(&cond);
	while (turn != 2)
		(void)cnd_wait(&cond, &c11_mutex);
	turn = 3;
	(void)cnd_broadcast(&cond);
	(void)mtx_unlock(&c11_mutex);
	thrd_exit(9);
}

static void take_turns(void)
{
	struct timespec soon;
	thrd_t thread;
	int value = 0;

	ASK(mtx_init(&c11_mutex, mtx_plain));
	ASK(cnd_init(&cond));
	ASK(mtx_lock(&c11_mutex));
	ASK(thrd_create(&thread, takes_turns, NULL));
	while (turn != 1)
		(void)cnd_wait(&cond, &c11_mutex);
	turn = 2;
	(void)cnd_signal(&cond);
	while (turn != 3)
		(void)cnd_wait(&cond, &c11_mutex);
	soon = in_ms(CLOCK_REALTIME, 10);
	ASK(cnd_timedwait(&cond, &c11_mutex, &soon));
	ASK(mtx_unlock(&c11_mutex));
	ASK(thrd_join(thread, &value));
	SAY("value %d\n", value);
}

static void count(void)
{
	times++;
}

void behave_c11(void)
{
	struct timespec short_time = { 0, 1000000 };
	struct timespec wrong = { 0, -1 };

	ask_of(mtx_plain | mtx_recursive);
	ask_of(mtx_timed);
	ask_of(mtx_timed | mtx_recursive);
	take_turns();
	ASK(thrd_sleep(&short_time, NULL));
	SAY("wrong time: %d\n", thrd_sleep(&wrong, NULL) < -1);
	call_once(&flag, count);
	call_once(&flag, count);
	SAY("%d time\n", times);
}
