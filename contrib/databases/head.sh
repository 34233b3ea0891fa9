# SPDX-License-Identifier: MIT
#
# Sourced by the loaders.  take_head takes the head row off standard input, byte by byte, so that all
# that is behind it stays in the pipe for the engine.

columns='target,stream,seq,ts_ns,event,event_id,pid,tid,cpu,lost_before,payload,thread'

# need WHO PROGRAM
need()
{
	command -v "$2" >/dev/null && return
	echo "$1: there is no $2 here: scripts/setup data installs it" >&2
	exit 2
}

take_head()
{
	if [ -t 0 ]; then
		echo "$1: nothing comes through the pipe: pxtrace export csv --thread-name LOG... | $1 ..." >&2
		exit 2
	fi
	IFS= read -r head || head=
	head=${head%"$(printf '\r')"}
	[ "$head" = "$columns" ] && return
	if [ -z "$head" ]; then
		echo "$1: the input is empty: did pxtrace export csv fail?" >&2
	else
		echo "$1: the first row is not the one that pxtrace export csv --thread-name writes:" >&2
		echo "  got    $(printf '%s' "$head" | cut -c1-150 | cat -v)" >&2
		echo "  wanted $columns" >&2
	fi
	exit 2
}
