#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Compiles round.c in one more way and runs it.
# CC in the environment: the compiler, which may stand for another C library.
# usage: links.sh WAY WORK LIBRARY INCLUDE...      exit status 77: no tool for it
set -eu
here=$(cd "$(dirname "$0")" && pwd)
way=$1
work=$2
library=$3
shift 3
include=
for folder in "$@"; do
	include="$include -I$folder"
done
warnings="-Wall -Wextra -Wpedantic -Wshadow -Werror"
common="-D_POSIX_C_SOURCE=200809L -O2 $warnings $include"

need()
{
	command -v "$1" >/dev/null || { echo "no $1: skipped"; exit 77; }
}

# A C++ compiler is for the C library that it was made with.
same_library()
{
	case $(basename "${CC:-cc}") in
	*musl*) echo "no C++ for this C library: skipped"; exit 77 ;;
	esac
}

mkdir -p "$work"
program=$work/round_$way
case $way in
cxx11)
	need c++
	same_library
	c++ -std=c++11 $common -x c++ "$here/round.c" -x none "$library" -pthread -o "$program"
	;;
no_pie)
	${CC:-cc} -std=c11 $common -fno-pie -no-pie "$here/round.c" "$library" -pthread -o "$program"
	;;
clang_cxx11)
	need clang++
	same_library
	clang++ -std=c++11 $common -x c++ "$here/round.c" -x none "$library" -pthread -o "$program"
	;;
static)
	${CC:-cc} -std=c11 $common -static "$here/round.c" "$library" -pthread -o "$program"
	;;
*)
	echo "links.sh: what is $way?" >&2
	exit 2
	;;
esac
exec "$program"
