/* SPDX-License-Identifier: MIT */
/* fault.c - which call fails. */
#include "fakes.h"

#include <limits.h>

static void arm(struct pxt_fault *fault, unsigned first, unsigned last, int error)
{
	fault->first = first;
	fault->last = last;
	fault->error = error;
	fault->accept = 0;
	atomic_store(&fault->calls, 0);
}

void pxt_fault_arm(struct pxt_fault *fault, unsigned n, int error)
{
	arm(fault, n, n, error);
}

void pxt_fault_arm_from(struct pxt_fault *fault, unsigned n, int error)
{
	arm(fault, n, UINT_MAX, error);
}

bool pxt_fault_hit(struct pxt_fault *fault)
{
	unsigned call = atomic_fetch_add(&fault->calls, 1) + 1;

	return fault->first != 0 && call >= fault->first && call <= fault->last;
}
