#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The first C block of README.md compiles without a warning, runs, and pxtrace shows its event.
# usage: readme.sh README PXTRACE CC ARGUMENTS-OF-CC...
readme=$1
pxtrace=$2
shift 2
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT
sed -n '/^```c$/,/^```$/p' "$readme" | sed '1d;/^```$/,$d' >"$here/job.c"
cd "$here" || exit 1
cc=$1
shift
$cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror job.c "$@" -o job || exit 1
./job || exit 1
"$pxtrace" print --event job run.ptl >out || exit 1
cat out
grep -q 'job  *number=7  late_ns=-1500$' out
