#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The headers, by one compiler in several ways.
# usage: run.sh COMPILER SOURCE LIBRARY PUBLIC-HEADERS      exit status 77: no such compiler
set -eu
compiler=$1
source=$2
library=$3
public=$4
points=$source/tests/cpp/points.cpp
command -v "$compiler" >/dev/null || { echo "no $compiler: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
LD_LIBRARY_PATH=$(dirname "$library")
export LD_LIBRARY_PATH
include="-I$source/include -I$public"
strict="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast -Werror"

fail()
{
	echo "$*" >&2
	exit 1
}

# the C ones without any warning, in each language
for way in c:c99 c:c11 c:c17 c:c2x c++:c++98 c++:c++03 c++:c++11 c++:c++14 c++:c++20 c++:c++2b; do
	# shellcheck disable=SC2086
	printf '#include <%s>\n' trace.h trace_np.h trace_hooks_np.h |
		"$compiler" -x ${way%:*} -std=${way#*:} -Wall -Wextra -Wpedantic -Werror -D_POSIX_C_SOURCE=200809L $include \
			-fsyntax-only - || fail "$way: the headers"
done

# ptrace.hpp, too, also without exceptions and RTTI
for way in "-std=c++17 -O0" "-std=c++17 -O2 -fno-exceptions -fno-rtti" "-std=c++20 -O1 -fno-exceptions -fno-rtti"; do
	# shellcheck disable=SC2086
	"$compiler" $way $strict $include -DOTHER -c "$points" -o "$work/second.o" &&
		"$compiler" $way $strict $include "$points" "$work/second.o" "$library" -o "$work/points" ||
		fail "$way: points"
	"$work/points" "$work/points.ptl" || fail "$way: points failed"
done
# shellcheck disable=SC2086
"$compiler" -std=c++17 -O2 $strict $include "$source/examples/spans.cpp" "$library" -o "$work/spans"
"$work/spans" "$work/spans.ptl" >"$work/out"
printf '%s\n' 'job_begin number=1' 'moved to=1 degrees=20.5 who=axis 1' 'moved to=0 degrees=0.0 who=axis 1' \
	'job_end number=1' 'job_begin number=2' 'moved to=1 degrees=41.0 who=axis 2' 'job_end number=2' |
	diff - "$work/out"

# points are gone where tracing is left out, and nothing runs before main() for them
# shellcheck disable=SC2086
"$compiler" -std=c++17 -O2 $strict $include -DPOSIX_TRACE_OFF_NP -DOTHER -c "$points" -o "$work/off.o"
! nm -u "$work/off.o" | grep -E 'pxt|posix_trace' || fail 'points that are left out refer to the library'
# shellcheck disable=SC2086
"$compiler" -std=c++17 -O2 $strict $include -DOTHER -c "$points" -o "$work/other.o"
! nm "$work/other.o" | grep -E '_GLOBAL__sub_I|guard variable|_ZGV' || fail 'a point is not initialised by the compiler'

# as many instructions as the macro
count()
{
	objdump -d --no-show-raw-insn "--disassemble=$1" "$work/other.o" | grep -cE '^ +[0-9a-f]+:' || true
}
macro=$(count by_macro)
for way in by_point by_lazy_point; do
	echo "$compiler: by_macro $macro instructions, $way $(count $way)"
	[ "$(count $way)" -le "$macro" ] || fail "$way takes more instructions than the macro"
done

# shellcheck disable=SC2086
if "$compiler" -std=c++17 $include -DTOO_WIDE -DOTHER -c "$points" -o "$work/wide.o" 2>"$work/err"; then
	fail 'an argument that does not fit its field is accepted'
fi
grep -q 'has more bits than the field' "$work/err" || fail "$(cat "$work/err")"
