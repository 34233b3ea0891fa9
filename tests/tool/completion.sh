#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The completion file for bash, against what each command says of itself.
. "$(dirname "$0")/common.sh"

need bash

# complete WORDS...: what bash would offer for the last of them, a line each, in ./out
complete()
{
	bash -c '. "$1/tools/completion.bash" || exit 1
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_pxtrace
		[ "${#COMPREPLY[@]}" = 0 ] || printf "%s\n" "${COMPREPLY[@]}"' bash "$PXT_SOURCE" "$pxtrace" "$@" >out 2>err ||
		fail "completion of: $*"
	[ ! -s err ] || fail "a message of the completion of: $*"
}

bash_completes_every_option_of_every_help()
{
	count=0
	for command in $(commands); do
		complete "$command" -
		for option in $("$pxtrace" "$command" --help | grep -E '^ +-' |
			grep -oE -- '(^|[ ,])--?[a-zA-Z0-9][a-z0-9-]*' | tr -d ' ,' | sort -u); do
			grep -qx -- "$option" out || fail "$command $option"
			count=$((count + 1))
		done
	done
	[ "$count" -gt 40 ] || fail "only $count options were seen"
}

bash_completes_what_an_option_wants()
{
	complete print --color a
	lines 2
	out_has always
	complete print --color = n
	out_has never
	complete stat --by ''
	out_has thread
	out_has field
	mkdir folder
	: >fog
	complete print --root fo
	lines 1
	out_has folder
	complete print --from ''
	lines 0
	complete print fo
	lines 2
}

bash_completes_the_file_that_a_command_writes()
{
	mkdir folder
	: >fog
	for command in 'receive udp:5555' 'recover core' 'merge a.ptl' 'snapshot machine' report 'export csv'; do
		for option in -o --output; do
			complete $command $option fo
			out_has folder
			out_has fog
			lines 2
		done
	done
	complete export ctf run.ptl -o fo
	lines 1
	out_has folder
	complete print -n ''
	lines 0
}

bash_completes_the_words_that_an_option_knows()
{
	complete export ctf --layout ''
	printf '%s\n' ust kernel >expected
	same expected
	complete export ctf --clock ''
	printf '%s\n' ticks corrected >expected
	same expected
	complete merge --ftrace-clock ''
	printf '%s\n' mono boot x86-tsc >expected
	same expected
	complete stat --colour ''
	printf '%s\n' auto always never >expected
	same expected
}

bash_completes_the_formats_of_export_and_their_options()
{
	complete export cs
	lines 1
	out_has csv
	complete export csv --thread-n
	lines 1
	out_has --thread-name
	: >file.ptl
	complete export csv fil
	out_has file.ptl
}

bash_completes_the_names_of_streams()
{
	folder=/dev/shm/pxtrace-$(id -u)
	[ -d "$folder" ] || mkdir -m 700 "$folder" || { echo 'no such folder here: skipped'; exit 77; }
	name=completion$$
	"$PXT_PYTHON" -c 'import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).bind(sys.argv[1])' "$folder/$name" || exit 77
	trap 'rm -rf "$here" "$folder/$name"' EXIT
	for command in ps top attach snapshot start stop clear flush filter; do
		complete $command compl
		out_has "$name"
	done
	complete filter "$name" s
	lines 2
	out_has sub
	out_has set
	complete snapshot --output ./
}

"$case"
