/* SPDX-License-Identifier: MIT */
/* replica.c - where the unit Black Box puts its tables; see replica.h. */
#include "core/process/replica.h"

const struct pxt_replica_ops *_Atomic pxt_replica_ops;
const struct pxt_replica_names_ops *_Atomic pxt_replica_names_ops;
_Atomic uint32_t pxt_replica_meeting;
