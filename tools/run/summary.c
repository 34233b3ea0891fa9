/* SPDX-License-Identifier: MIT */
/* summary.c - what a recorded run came to, in a few lines. */
#include "tools/run/summary.h"

#include "tools/output/exit.h"
#include "tools/output/say.h"
#include "tools/read/source.h"
#include "tools/why/tell.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LOCKS 5u

static void put_counts(
    struct pxt_out *out, const struct pxt_state *state, const struct posix_trace_counts_np *counts)
{
	unsigned processes = 0;

	for (uint32_t i = 0; i < state->actor_count; i++) {
		uint32_t k = 0;

		while (k < i && state->actors[k]->pid != state->actors[i]->pid)
			k++;
		processes += k == i && state->actors[i]->pid > 0;
	}
	pxt_out_format(out, "%" PRIu64 " events of %u process%s, ", counts->posix_written_np,
	    processes, processes == 1 ? "" : "es");
	if (counts->posix_lost_np)
		pxt_out_format(out, "%" PRIu64 " LOST\n", counts->posix_lost_np);
	else
		pxt_out_text(out, "none lost\n");
}

int pxt_summary(struct pxt_out *out, const char *path, const struct posix_trace_counts_np *counts)
{
	char *paths[] = { (char *)(uintptr_t)path };
	struct pxt_reader reader = { 0 };
	struct pxt_lockuse use = { 0 };
	struct pxt_roles_book *book = pxt_roles_new();
	int status = pxt_reader_open(&reader, paths, 1, PXT_OPEN_INCOMPLETE, NULL);

	if (status == PXT_EXIT_OK) {
		pxt_roles_bind(book, &reader);
		if (pxt_lockuse_read(&use, &reader, book)) {
			const struct pxt_tell_locks tell = {
				.out = out, .reader = &reader, .book = book, .use = &use
			};

			pxt_out_format(out, "%s: ", path);
			put_counts(out, use.state, counts);
			pxt_tell_locks_top(&tell, LOCKS);
		}
		pxt_lockuse_free(&use);
	}
	pxt_reader_close(&reader);
	pxt_roles_free(book);
	return status;
}
