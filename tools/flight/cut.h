/* SPDX-License-Identifier: MIT */
/* cut.h - a part of the logs that flight.h watches, as a log of its own, and its sentence. */
#ifndef PXT_CUT_H
#define PXT_CUT_H

#include "tools/flight/flight.h"
#include "tools/flight/standing.h"

/* One log that is watched, at the place behind. */
struct pxt_cut_lane {
	struct pxt_reader *reader;
	struct pxt_event *held;        /* the next event, which is read already; NULL: none */
	struct pxt_standing *standing; /* so far */
};

struct pxt_cut {
	const struct pxt_flight_wish *wish;
	const char *parts; /* a folder for what is not finished */
	struct pxt_cut_lane lanes[2];
	unsigned lane_count;
	int64_t begin_ns;
	int64_t end_ns;
	int64_t zero_ns;          /* of the times that are shown */
	struct pxt_meeting first; /* met in it */
};

/* In a process of its own, whose readers nobody else uses.  True: it is done. */

/* The log, as @path; what it is made of is gone afterwards. */
bool pxt_cut_write(const struct pxt_cut *cut, const char *path);
/* A log that is thrown away again, and what `pxtrace why` says of it. */
bool pxt_cut_tell(const struct pxt_cut *cut);
/* The log, under the next name that is free. */
bool pxt_cut_save(const struct pxt_cut *cut);

#endif
