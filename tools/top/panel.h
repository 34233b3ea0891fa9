/* SPDX-License-Identifier: MIT */
/* panel.h - `pxtrace top`: numbers over and over, on the screen with keys, or as tables one after another. */
#ifndef PXT_TOP_PANEL_H
#define PXT_TOP_PANEL_H

#include "tools/top/live.h"

#include <signal.h>
#include <stdbool.h>

#define PXT_PANEL_ROWS 10u

struct pxt_panel_options {
	int64_t interval_ns; /* from one table to the next */
	uint64_t times;      /* so many tables; 0: no end */
	enum pxt_numbers_column column;
	uint32_t rows; /* of each table but that of streams; 0: as many as there is room for */
};

/* Until a key, a signal (*@stop), or the last of them; return the exit status. */
int pxt_panel_screen(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop);
int pxt_panel_batch(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop);

#endif
