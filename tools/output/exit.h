/* SPDX-License-Identifier: MIT */
/* exit.h - what pxtrace ends with. */
#ifndef PXT_EXIT_H
#define PXT_EXIT_H

/* Exit status; the worst that happened wins. */
enum pxt_exit {
	PXT_EXIT_OK = 0,
	PXT_EXIT_USAGE = 1, /* the command line makes no sense; nothing was read */
	/* A log could not be opened, or not be read to its end; a stream could not be reached. */
	PXT_EXIT_LOG = 2,
	PXT_EXIT_LOST = 3,   /* events were lost: check always, others by --strict */
	PXT_EXIT_OUTPUT = 4, /* the output could not be written */
	PXT_EXIT_DAMAGE = 5, /* check: a log is damaged, or lacks its end */
	PXT_EXIT_SLOWER = 6, /* compare: by more than --fail-above says */
};

#endif
