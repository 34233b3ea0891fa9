/* SPDX-License-Identifier: MIT */
/*
 * losses.h - where events of one log were lost: at most PXT_LOSSES_MAX marks.  When there are more,
 * neighbours are joined two by two: marks become wider, their sum stays exact.
 */
#ifndef PXT_LOSSES_H
#define PXT_LOSSES_H

#include <stdint.h>

#define PXT_LOSSES_MAX 4096u

struct pxt_loss {
	int64_t from_ns; /* the log's last event before, ... */
	int64_t to_ns;   /* ... and the first one after */
	uint64_t count;  /* events */
	uint64_t times;  /* losses that this mark stands for */
};

struct pxt_losses {
	struct pxt_loss *marks;
	uint32_t count;
};

void pxt_losses_add(struct pxt_losses *losses, int64_t from_ns, int64_t to_ns, uint64_t count);
void pxt_losses_free(struct pxt_losses *losses);

#endif
