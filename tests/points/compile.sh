#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage: compile.sh WHAT INCLUDE-FOLDER... -- COMPILER...      exit status 77: no tool for it
#
#	left_out   the object of a file whose trace points are compiled out is, byte for byte, that of a file which
#	           never had any (SHARK-03, QNX-40)
#	refused    definitions of trace points that cannot be are errors of the compiler that name the point
#	cxx11, clang_cxx11, no_pie, static
#	           a program (../dlopen/round.c) that is compiled and linked so, with LIBRARY, records and reads
what=$1
shift
includes=
while [ "$1" != -- ]; do
	includes="$includes -I$1"
	shift
done
shift
failed=0
round=$(cd "$(dirname "$0")/../dlopen" && pwd)/round.c
here=$(mktemp -d) || exit 1
trap 'rm -rf "$here"' EXIT

# ---- Linked ----

# linked COMPILER...: the program runs.
linked()
{
	command -v "$1" >/dev/null || { echo "no $1: skipped"; exit 77; }
	# shellcheck disable=SC2086
	"$@" -D_POSIX_C_SOURCE=200809L -O2 -Wall -Wextra -Wpedantic -Wshadow -Werror $includes "$round" -x none "$LIBRARY" \
		-pthread -o "$here/round" && "$here/round"
	exit
}

case $what in
cxx11 | clang_cxx11)
	# A C++ compiler is for the C library that it was made with.
	case $1 in *musl*) echo "no C++ for this C library: skipped"; exit 77 ;; esac
	case $what in cxx11) linked c++ -std=c++11 -x c++ ;; *) linked clang++ -std=c++11 -x c++ ;; esac
	;;
no_pie) linked "$@" -std=c11 -fno-pie -no-pie ;;
static) linked "$@" -std=c11 -static ;;
esac

# ---- Left out ----

if [ "$what" = left_out ]; then
	cd "$here" || exit 1

	cat >work.c <<-'END'
	#if TRACED
	#include <trace_np.h>
	POSIX_TRACE_DEFINE_NP(late, u32, job, i64, late_ns);
	POSIX_TRACE_DEFINE_NP(tick);
	POSIX_TRACE_DEFINE_TEXT_NP(said, "%u of %s", u32, a, string, b);
	POSIX_TRACE_DEFINE_JOB_NP(pump);
	#define TRACE(point) point
	#else
	#define TRACE(point)
	#endif
	int work(int n);
	int asked(void);
	int work(int n)
	{
		TRACE(posix_trace_point_np(late, (unsigned)n, asked());)
		TRACE(posix_trace_job_begin_np(pump, (unsigned)n);)
		for (int i = 0; i < n; i++) {
			TRACE(posix_trace_point_np(tick);)
			n += i;
		}
		TRACE(posix_trace_point_np(said, (unsigned)n, "x");)
		TRACE(posix_trace_job_end_np(pump, (unsigned)n);)
		return n;
	}
	END
	# Each type can be left out by a macro of its own; without an optimizer its definition stays, as data.
	sed "/pump/d" work.c >types.c

	# built COMPILER...: source $file, into $object
	built()
	{
		# shellcheck disable=SC2086
		"$@" -std=c11 $includes -c "$file" -o "$object" || failed=1
	}

	for level in -O0 -Os -O2; do
		for file in work.c types.c; do
			off=-DPOSIX_TRACE_OFF_NP
			[ $file = work.c ] || off='-DPOSIX_TRACE_WITHOUT_late_NP -DPOSIX_TRACE_WITHOUT_tick_NP -DPOSIX_TRACE_WITHOUT_said_NP'
			[ "$file $level" != 'types.c -O0' ] || continue
			object=never.o
			built "$@" $level -DTRACED=0
			object=off.o
			# shellcheck disable=SC2086
			built "$@" $level -DTRACED=1 $off
			object=on.o
			built "$@" $level -DTRACED=1
			cmp never.o off.o || { echo "$file $level: another object"; failed=1; }
			! cmp -s never.o on.o || { echo "$file $level: nothing is traced at all"; failed=1; }
		done
	done
	echo "left out: $failed failed"
	exit "$failed"
fi

# ---- Refused ----

# The file on standard input; $1: what the compiler says, nothing: that it is right.
compile()
{
	wanted=$1
	shift
	case "$*" in
	*-std=*) ;;
	*) set -- "$@" -std=c11 ;;
	esac
	# shellcheck disable=SC2086
	said=$( (echo '#include <trace_np.h>'; cat) | "$@" $includes -fsyntax-only -xc - 2>&1)
	case "$said" in
	*"$wanted"*) [ -n "$wanted" ] || [ -z "$said" ] || wanted='no error' ;;
	*) wanted="'$wanted'" ;;
	esac
	case "$wanted" in
	"'"* | 'no error') echo "wanted $wanted, but: $said"; failed=1 ;;
	esac
}

compile '' "$@" <<-END
	POSIX_TRACE_DEFINE_NP(fine, u32, a, string, b);
END
compile 'early_text: a string can only be the last field' "$@" <<-END
	POSIX_TRACE_DEFINE_NP(early_text, string, a, u32, b);
END
compile 'early_before_c11: a string can only be the last field' "$@" -std=gnu99 <<-END
	POSIX_TRACE_DEFINE_NP(early_before_c11, string, a, u32, b);
END
compile 'half_pair: each field is a type and a name' "$@" <<-END
	POSIX_TRACE_DEFINE_NP(half_pair, u32, a, u32);
END
case $(printf '#include <trace_np.h>\nPOSIX_TRACE_HAVE_STACKS_NP\n' | "$@" $includes -E -P -xc - | tail -n 1) in
1)
	compile 'text_above: a string can only be the last field' "$@" <<-END
		POSIX_TRACE_DEFINE_STACK_NP(text_above, 2, u32, a, string, b);
	END
	compile 'too_deep: the functions that called are a number from 1 to 8' "$@" <<-END
		POSIX_TRACE_DEFINE_STACK_NP(too_deep, 9, u32, a);
	END
	compile 'half_pair: each field is a type and a name' "$@" <<-END
		POSIX_TRACE_DEFINE_STACK_NP(half_pair, 2, u32, a, u32);
	END
	;;
esac
compile 'long_words: the description of its fields is too long' "$@" <<-END
	POSIX_TRACE_DEFINE_TEXT_NP(long_words, "$(printf '%0255d' 0)", u32, a);
END
compile ': the name is too long' "$@" <<-END
	POSIX_TRACE_DEFINE_NP(n$(printf '%0256d' 0), u32, a);
END
for language in -std=c11 -std=gnu99; do
	compile "no_type: types of fields are u8 u16 " "$@" $language <<-END
		POSIX_TRACE_DEFINE_NP(no_type, u33, a);
	END
	compile "text(N) string, and not <int> <unsigned long> <text>" "$@" $language <<-END
		POSIX_TRACE_DEFINE_NP(no_types, int, a, u32, b, unsigned long, c, text, d);
	END
done
# That is all that the compiler says.
case "$(printf '%s\n' "$said" | grep -c ': error: ')" in
1) ;;
*) echo "more than one error: $said"; failed=1 ;;
esac
# Any identifier is a field's name, also one that the macros, or functions in them, use themselves.
names=$(cat <<-END
	POSIX_TRACE_DEFINE_NP(of_point, u32, id, u16, data, i64, used, double, name, x8, type, size, len,
	    bool, event, enum, size, u8, n, pointer, wanted, float, point, text(4), pack_text, string, pack_string);
	POSIX_TRACE_DEFINE_NP(nothing, u32, field_id);
	void f(void);
	void f(void)
	{
		posix_trace_point_np(of_point, 1, 2, 3, 4.0, 5, 6, 1, 8, 9, 0, 1.0f, "text", "string");
		posix_trace_point_np(nothing, 1);
	}
END
)
compile '' "$@" -Wall -Wextra -Wshadow -Werror <<-END
	$names
END
if command -v g++ >/dev/null; then
	# shellcheck disable=SC2086
	(echo '#include <trace_np.h>'; echo "$names") | g++ -std=c++11 -Wall -Wextra -Werror $includes -fsyntax-only -xc++ - ||
		{ echo "C++ refuses a field's name"; failed=1; }
fi
# Nor does a macro of the program's meet a name in the headers: every plain word in them is one here.
macros=
for include in $includes; do
	folder=${include#-I}
	[ ! -e "$folder/trace.h" ] || macros=$(cat "$folder/trace.h" "$folder"/trace_*np.h | grep -o '[A-Za-z_][A-Za-z0-9_]*' | sort -u |
		grep -Ev '^(_.*|(posix|POSIX|TRACE|trace)_.*|[a-z]*[0-9]*_t|mem(cpy|set)|timespec|struct|union|enum|typedef|const)$' |
		grep -Ev '^(void|char|short|int|long|unsigned|signed|float|double|bool|sizeof|static|extern|inline|defined|C)$' |
		grep -Ev '^(if|ifdef|ifndef|elif|else|endif|include|define|undef|pragma|for|while|do|return|switch|case|default)$' |
		sed 's/.*/#ifndef &\n#define & 1 +\n#endif/')
done
for word in N ON OFF HALF unused weak visibility always_inline; do
	macros="$macros
#undef $word
#define $word 1 +"
done
said=$( (printf '#include <pthread.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n#include <time.h>\n'
	echo "$macros"
	printf '#include <trace_np.h>\n#include <trace_hooks_np.h>\n') | "$@" -std=c11 $includes -fsyntax-only -xc - 2>&1)
[ -z "$said" ] || { echo "a program's macro changes the headers: $said"; failed=1; }
[ "$(printf '%s' "$macros" | grep -c 'define \(event\|trid\|data\|used\) ')" -eq 4 ] || { echo 'words were not found'; failed=1; }
compile _pxt_bytes_of_too_few "$@" <<-END
	POSIX_TRACE_DEFINE_NP(too_few, u32, a, u32, b);
	void f(void) { posix_trace_point_np(too_few, 1); }
END
echo "refused: $failed failed"
exit "$failed"
