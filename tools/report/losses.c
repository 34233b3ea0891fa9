/* SPDX-License-Identifier: MIT */
/* losses.c - where events of one log were lost; see losses.h. */
#include "tools/report/losses.h"

#include "tools/output/say.h"

#include <stdlib.h>

static void halve(struct pxt_losses *losses)
{
	for (size_t i = 0; i < PXT_LOSSES_MAX / 2; i++) {
		const struct pxt_loss *second = &losses->marks[2 * i + 1];
		struct pxt_loss joined = losses->marks[2 * i];

		joined.to_ns = second->to_ns;
		joined.count += second->count;
		joined.times += second->times;
		losses->marks[i] = joined;
	}
	losses->count = PXT_LOSSES_MAX / 2;
}

void pxt_losses_add(struct pxt_losses *losses, int64_t from_ns, int64_t to_ns, uint64_t count)
{
	if (!losses->marks)
		losses->marks = pxt_must(calloc(PXT_LOSSES_MAX, sizeof *losses->marks));
	if (losses->count == PXT_LOSSES_MAX)
		halve(losses);
	losses->marks[losses->count++] =
	    (struct pxt_loss){ .from_ns = from_ns, .to_ns = to_ns, .count = count, .times = 1 };
}

void pxt_losses_free(struct pxt_losses *losses)
{
	free(losses->marks);
	*losses = (struct pxt_losses){ 0 };
}
