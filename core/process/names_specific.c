/* SPDX-License-Identifier: MIT */
/* names_specific.c - whether streams of this process may hold events of System Events. */
#include "core/process/names.h"

_Atomic bool pxt_names_specific;
