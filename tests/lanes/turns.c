/* SPDX-License-Identifier: MIT */
/* turns.c - one thread at a time, in a drawn order; see beside.h.  Whose turn it is owns all of this. */
#include "beside.h"

#include <semaphore.h>

#define PASSED_ON  6   /* one place of so many hands over, in the rounds that do it most seldom */
#define GOES_AWAY  150 /* ... and one of so many of these for long, at most */
#define LONG_DRAWS 400

static struct seat {
	sem_t turn;
	bool taken;
	uint64_t wakes; /* draw number */
} seats[TURNS_MOST];
static unsigned seat_count;
static uint64_t state;
static uint64_t draws;
static uint32_t passed_on;
static sem_t round_over;
static _Thread_local unsigned own = TURNS_MOST;

uint32_t turns_draw(uint32_t below)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((state >> 33) % below);
}

/* One of those who are there; if all are away, who comes back first.  seat_count: nobody is left. */
static unsigned next(void)
{
	unsigned awake = 0;
	unsigned first = seat_count;

	draws++;
	for (unsigned i = 0; i < seat_count; i++) {
		if (!seats[i].taken)
			continue;
		awake += seats[i].wakes <= draws;
		if (first == seat_count || seats[i].wakes < seats[first].wakes)
			first = i;
	}
	if (!awake)
		return first;
	awake = turns_draw(awake);
	for (unsigned i = 0;; i++) {
		if (seats[i].taken && seats[i].wakes <= draws && awake-- == 0)
			return i;
	}
}

static void hand_over(void)
{
	unsigned to = next();

	if (to == own)
		return;
	(void)sem_post(&seats[to].turn);
	semwait(&seats[own].turn);
}

void turns_prepare(void)
{
	for (unsigned i = 0; i < TURNS_MOST; i++)
		(void)sem_init(&seats[i].turn, 0, 0);
	(void)sem_init(&round_over, 0, 0);
}

void turns_round(uint64_t seed, unsigned count)
{
	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1u;
	draws = 0;
	passed_on = 2u + (uint32_t)(seed % (PASSED_ON - 1u));
	seat_count = count;
	for (unsigned i = 0; i < count; i++) {
		seats[i].taken = true;
		seats[i].wakes = 0;
	}
	(void)sem_post(&seats[next()].turn);
	semwait(&round_over);
}

void turns_sit(unsigned seat)
{
	own = seat;
	semwait(&seats[seat].turn);
}

void turns_leave(void)
{
	unsigned to;

	seats[own].taken = false;
	own = TURNS_MOST;
	to = next();
	(void)sem_post(to < seat_count ? &seats[to].turn : &round_over);
}

bool turns_sleep(unsigned count)
{
	if (own == TURNS_MOST)
		return false;
	seats[own].wakes = draws + count;
	hand_over();
	return true;
}

void turns_pass(void)
{
	if (own == TURNS_MOST || turns_draw(passed_on))
		return;
	if (turns_draw(GOES_AWAY) == 0)
		(void)turns_sleep(turns_draw(LONG_DRAWS));
	else
		hand_over();
}
