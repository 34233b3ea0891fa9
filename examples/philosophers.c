/* SPDX-License-Identifier: MIT */
/*
 * philosophers.c - Zephyr's sample project for its event logger, on a host: five philosophers eat,
 * and a collector shows what the logger tells of them.  Four tables: context switches of each
 * thread, interrupts, the last sleep, and the task monitor's list; above them what was dropped.
 *
 * There is no kernel that switches and interrupts: a thread that is about to wait for a fork tells
 * the logger that it leaves the processor, a timer thread plays the interrupt that wakes them.
 *
 *	$ philosophers [MEALS]
 */
#include <misc/kernel_event_hooks.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PHILOSOPHERS 5
#define TIMER_IRQ    16u
#define INTERRUPTS   32
#define MONITORED    8
#define EATING       1u
#define THINKING     0u

static pthread_mutex_t forks[PHILOSOPHERS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static unsigned meals = 20;
static atomic_bool finished;

static void pause_us(long us)
{
	const struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	(void)nanosleep(&time, NULL);
}

/* ---- The load ---- */

/* Who waits for a fork leaves the processor. */
static void take_fork(uint32_t who, unsigned fork)
{
	kernel_event_context_switch(who + 1);
	(void)pthread_mutex_lock(&forks[fork]);
}

static void *philosopher(void *context)
{
	const uint32_t who = *(const uint32_t *)context;
	const unsigned left = who;
	const unsigned right = (who + 1) % PHILOSOPHERS;

	for (unsigned meal = 0; meal < meals; meal++) {
		/* The lower fork first, so that nobody starves. */
		take_fork(who, left < right ? left : right);
		take_fork(who, left < right ? right : left);
		kernel_event_task_state(who + 1, EATING);
		pause_us(200);
		(void)pthread_mutex_unlock(&forks[left]);
		(void)pthread_mutex_unlock(&forks[right]);
		kernel_event_task_state(who + 1, THINKING);
		kernel_event_command_packet(who + 1, 0x1000u + who);
		pause_us(300);
	}
	kernel_event_kevent(who);
	return NULL;
}

/* Sleeps, and wakes as by an interrupt. */
static void *timer(void *context)
{
	while (!atomic_load(&finished)) {
		const uint32_t asleep = kernel_event_time();

		pause_us(1000);
		kernel_event_interrupt(TIMER_IRQ);
		kernel_event_sleep(asleep, TIMER_IRQ);
	}
	return context;
}

/* ---- The collector ---- */

struct report {
	unsigned dropped;
	unsigned unknown;
	unsigned switches[PHILOSOPHERS + 1];
	unsigned interrupts[INTERRUPTS];
	uint32_t slept;
	uint32_t woken_by;
	unsigned monitored;
	struct {
		uint16_t id;
		uint32_t data[3];
	} monitor[MONITORED]; /* the last ones */
};

static void count(struct report *report, uint16_t id, const uint32_t *data)
{
	switch (id) {
	case KERNEL_EVENT_LOGGER_CONTEXT_SWITCH_EVENT_ID:
		report->switches[data[1] % (PHILOSOPHERS + 1)]++;
		break;
	case KERNEL_EVENT_LOGGER_INTERRUPT_EVENT_ID:
		report->interrupts[data[1] % INTERRUPTS]++;
		break;
	case KERNEL_EVENT_LOGGER_SLEEP_EVENT_ID:
		report->slept = data[1] - data[0];
		report->woken_by = data[2];
		break;
	case KERNEL_EVENT_LOGGER_TASK_MON_TASK_STATE_CHANGE_EVENT_ID:
	case KERNEL_EVENT_LOGGER_TASK_MON_CMD_PACKET_EVENT_ID:
	case KERNEL_EVENT_LOGGER_TASK_MON_KEVENT_EVENT_ID:
		report->monitor[report->monitored % MONITORED].id = id;
		memcpy(
		    report->monitor[report->monitored % MONITORED].data, data, 3 * sizeof(*data));
		report->monitored++;
		break;
	default:
		report->unknown++;
	}
}

static void *collect(void *context)
{
	struct report *report = context;

	sys_k_event_logger_register_as_collector();
	for (;;) {
		uint32_t data[3] = { 0, 0, 0 };
		uint8_t words = SIZE32_OF(data);
		uint8_t dropped;
		uint16_t id;
		const int result =
		    sys_k_event_logger_get_wait_timeout(&id, &dropped, data, &words, 2);

		report->dropped += dropped;
		if (result > 0)
			count(report, id, data);
		else if (atomic_load(&finished))
			return NULL;
	}
}

/* ---- The tables ---- */

static void print_monitor(const struct report *report)
{
	static const char *const kinds[] = { "task state", "command packet", "kernel event" };
	const unsigned shown = report->monitored < MONITORED ? report->monitored : MONITORED;

	printf("\nTask monitor, the last %u of %u\n", shown, report->monitored);
	for (unsigned i = report->monitored - shown; i != report->monitored; i++)
		printf("  %-14s %10u %8u %#10x\n", kinds[report->monitor[i % MONITORED].id - 4],
		    (unsigned)report->monitor[i % MONITORED].data[0],
		    (unsigned)report->monitor[i % MONITORED].data[1],
		    (unsigned)report->monitor[i % MONITORED].data[2]);
}

static void print(const struct report *report)
{
	printf("Dropped events: %u\n", report->dropped);
	printf("\nContext switches\n");
	for (unsigned i = 1; i <= PHILOSOPHERS; i++)
		printf("  thread %u    %5u\n", i, report->switches[i]);
	printf("\nInterrupts\n");
	for (unsigned i = 0; i < INTERRUPTS; i++)
		if (report->interrupts[i] != 0)
			printf("  interrupt %u %5u\n", i, report->interrupts[i]);
	printf("\nLast sleep: %u ticks of the clock, ended by interrupt %u\n", report->slept,
	    report->woken_by);
	print_monitor(report);
}

int main(int argc, char **argv)
{
	static struct report report;
	static uint32_t numbers[PHILOSOPHERS] = { 0, 1, 2, 3, 4 };
	pthread_t threads[PHILOSOPHERS];
	pthread_t others[2];

	if (argc > 1)
		meals = (unsigned)strtoul(argv[1], NULL, 10);
	if (pthread_create(&others[0], NULL, collect, &report) != 0 ||
	    pthread_create(&others[1], NULL, timer, NULL) != 0)
		return 1;
	for (unsigned i = 0; i < PHILOSOPHERS; i++)
		if (pthread_create(&threads[i], NULL, philosopher, &numbers[i]) != 0)
			return 1;
	for (unsigned i = 0; i < PHILOSOPHERS; i++)
		(void)pthread_join(threads[i], NULL);
	atomic_store(&finished, true);
	(void)pthread_join(others[1], NULL);
	(void)pthread_join(others[0], NULL);
	print(&report);
	return report.unknown != 0;
}
