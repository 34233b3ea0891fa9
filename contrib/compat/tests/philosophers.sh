#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ZEP-41, ZEP-42: the sample's tables, line by line by regular expressions.
# usage: philosophers.sh PROGRAM
set -eu
out=$("$1" 20)

said()
{
	printf '%s\n' "$out" | grep -Eq "$1" || { printf '%s\n' "not said: $1" "$out"; exit 1; }
}
# A collector that keeps pace loses nothing; where it does not, what is missing was counted.
dropped=$(printf '%s\n' "$out" | sed -n 's/^Dropped events: //p')
said '^Dropped events: [0-9]+$'
switches=0
for thread in 1 2 3 4 5; do
	said "^  thread $thread +[0-9]+\$"
	one=$(printf '%s\n' "$out" | sed -n "s/^  thread $thread *//p")
	switches=$((switches + one))
done
said '^  interrupt 16 +[1-9][0-9]*$'
said '^Last sleep: [1-9][0-9]* ticks of the clock, ended by interrupt 16$'
said '^Task monitor, the last 8 of [0-9]+$'
monitored=$(printf '%s\n' "$out" | sed -n 's/^Task monitor, the last 8 of //p')
# Two forks for each of 5 * 20 meals; two states and a packet for each, and a last event of each.
if [ "$dropped" = 0 ]; then
	said '^  kernel event +[0-9]+ +[0-4] +0$'
	[ "$switches" = 200 ] && [ "$monitored" = 305 ] || { echo "$switches, $monitored"; exit 1; }
else
	[ "$switches" -le 200 ] && [ "$((switches + monitored + dropped))" -ge 505 ]
fi
