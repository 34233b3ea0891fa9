/* SPDX-License-Identifier: MIT */
/* when.c - times and durations, read and written; see out.h. */
#include "tools/output/out.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND      INT64_C(1000000000)
#define SECONDS_MAX (PXT_NS_MAX / SECOND)

/* Days from 1970-01-01 to a date of the Gregorian calendar. */
static int64_t days_from_civil(int64_t year, int month, int day)
{
	year -= month <= 2;
	int64_t era = (year >= 0 ? year : year - 399) / 400;
	int64_t year_of_era = year - era * 400;
	int64_t day_of_year = (153 * (int64_t)(month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return era * 146097 + day_of_era - 719468;
}

static int64_t seconds_as_utc(const struct tm *tm)
{
	return days_from_civil(tm->tm_year + INT64_C(1900), tm->tm_mon + 1, tm->tm_mday) * 86400 +
	       tm->tm_hour * INT64_C(3600) + tm->tm_min * INT64_C(60) + tm->tm_sec;
}

/* Digits after a decimal point as a part of @unit nanoseconds; moves *@text after them. */
static int64_t fraction(const char **text, int64_t unit)
{
	int64_t ns = 0;

	while (isdigit((unsigned char)**text)) {
		unit /= 10;
		ns += (**text - '0') * unit;
		++*text;
	}
	return ns;
}

/* A number of exactly @digits digits after @before (0: nothing); moves *text after it. */
static bool take_number(const char **text, char before, int digits, int *value)
{
	const char *at = *text;

	if (before != 0 && *at++ != before)
		return false;
	*value = 0;
	for (; digits > 0 && isdigit((unsigned char)*at); digits--)
		*value = *value * 10 + (*at++ - '0');
	if (digits > 0)
		return false;
	*text = at;
	return true;
}

static bool parse_absolute(const char *text, struct pxt_when *when)
{
	struct tm tm = { .tm_isdst = -1 };

	if (!take_number(&text, 0, 4, &tm.tm_year) || !take_number(&text, '-', 2, &tm.tm_mon) ||
	    !take_number(&text, '-', 2, &tm.tm_mday))
		return false;
	if (!take_number(&text, *text == ' ' ? ' ' : 'T', 2, &tm.tm_hour) ||
	    !take_number(&text, ':', 2, &tm.tm_min))
		return false;
	(void)take_number(&text, ':', 2, &tm.tm_sec);
	int64_t ns = 0;
	if (*text == '.') {
		text++;
		ns = fraction(&text, SECOND);
	}
	if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 ||
	    tm.tm_hour > 23 || tm.tm_min > 59 || tm.tm_sec > 60)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	bool utc = *text == 'Z';
	if (strcmp(text, utc ? "Z" : "") != 0)
		return false;
	int64_t seconds = utc ? seconds_as_utc(&tm) : (int64_t)mktime(&tm);
	if (seconds > SECONDS_MAX || seconds < -SECONDS_MAX)
		return false;
	*when = (struct pxt_when){ .set = true, .absolute = true, .ns = seconds * SECOND + ns };
	return true;
}

/* A number of a unit of @unit_ns, which ends at @end. */
static bool parse_since(const char *text, const char *end, int64_t unit_ns, struct pxt_when *when)
{
	char *rest;
	bool before = *text == '-';
	const char *at = text + before;

	if (!isdigit((unsigned char)*at))
		return false;
	unsigned long long whole = strtoull(at, &rest, 10);
	at = rest;
	if (whole > (unsigned long long)(INT64_MAX / 2 / unit_ns))
		return false;
	int64_t ns = (int64_t)whole * unit_ns;
	if (*at == '.') {
		at++;
		ns += fraction(&at, unit_ns);
	}
	*when = (struct pxt_when){ .set = true, .ns = before ? -ns : ns };
	return at == end;
}

bool pxt_when_parse(const char *text, struct pxt_when *when)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = { { "", SECOND }, { "s", SECOND }, { "ms", 1000000 }, { "us", 1000 },
		{ "ns", 1 }, { "min", 60 * SECOND }, { "h", 3600 * SECOND } };
	const char *digits = text + (*text == '-');

	if (parse_absolute(text, when))
		return true;
	while (isdigit((unsigned char)*digits) || *digits == '.')
		digits++;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(digits, units[i].name) == 0)
			return parse_since(text, digits, units[i].ns, when);
	return false;
}

int64_t pxt_when_ns(const struct timespec *time)
{
	int64_t seconds = (int64_t)time->tv_sec;

	if (seconds > SECONDS_MAX)
		return SECONDS_MAX * SECOND;
	if (seconds < -SECONDS_MAX)
		return -SECONDS_MAX * SECOND;
	return pxt_within_range(seconds * SECOND + (int64_t)time->tv_nsec);
}

int64_t pxt_when_whole(double ns)
{
	if (fabs(ns) >= (double)PXT_NS_MAX)
		return ns > 0 ? PXT_NS_MAX : -PXT_NS_MAX;
	return llrint(ns);
}

static void fill_calendar(struct pxt_calendar *calendar, int64_t second)
{
	time_t time = (time_t)second;
	struct tm tm = { 0 };

	if (calendar->local)
		(void)localtime_r(&time, &tm);
	else
		(void)gmtime_r(&time, &tm);
	(void)snprintf(calendar->head, sizeof calendar->head, "%04d-%02d-%02dT%02d:%02d:%02d",
	    tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	strcpy(calendar->tail, "Z");
	if (calendar->local) {
		/* The offset that localtime_r() applied; struct tm need not say it. */
		int minutes = (int)((seconds_as_utc(&tm) - second) / 60);
		int size = minutes < 0 ? -minutes : minutes;

		(void)snprintf(calendar->tail, sizeof calendar->tail, "%c%02d:%02d",
		    minutes < 0 ? '-' : '+', size / 60 % 100, size % 60);
	}
	calendar->second = second;
	calendar->filled = true;
}

void pxt_out_calendar(struct pxt_out *out, struct pxt_calendar *calendar, int64_t ns)
{
	int64_t second = ns / SECOND - (ns % SECOND < 0);

	if (!calendar->filled || calendar->second != second)
		fill_calendar(calendar, second);
	pxt_out_text(out, calendar->head);
	pxt_out_char(out, '.');
	pxt_out_digits(out, (uint64_t)(ns - second * SECOND), 9);
	pxt_out_text(out, calendar->tail);
}

static void put_seconds(struct pxt_out *out, int64_t ns, size_t column)
{
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;

	if (ns < 0)
		pxt_out_char(out, '-');
	pxt_out_right(out, size / (uint64_t)SECOND, ns < 0 ? 0 : column);
	pxt_out_char(out, '.');
	pxt_out_digits(out, size % (uint64_t)SECOND, 9);
}

void pxt_out_seconds(struct pxt_out *out, int64_t ns)
{
	put_seconds(out, ns, 5);
}

void pxt_out_seconds_plain(struct pxt_out *out, int64_t ns)
{
	put_seconds(out, ns, 0);
}

void pxt_duration(char *text, uint64_t ns)
{
	static const char *const units[] = { "us", "ms", "s" };
	double value = (double)ns;
	size_t unit = 0;

	if (ns < 1000) {
		(void)snprintf(text, 16, "%u ns", (unsigned)ns);
		return;
	}
	/* 999.5 would be rounded to 1000: go on to the next unit before that happens. */
	for (value /= 1000.0; value >= 999.5 && unit < 2; unit++)
		value /= 1000.0;
	int places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	(void)snprintf(text, 16, "%.*f %s", places, value, units[unit]);
}
