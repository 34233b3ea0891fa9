#!/bin/sh
# SPDX-License-Identifier: MIT
#
# usage: refused.sh INCLUDE-FOLDER... -- COMPILER...
#
# Definitions of trace points that cannot be are errors of the compiler that name the point.
includes=
while [ "$1" != -- ]; do
	includes="$includes -I$1"
	shift
done
shift
failed=0

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
compile 'long_words: the description of its fields is too long' "$@" <<-END
	POSIX_TRACE_DEFINE_TEXT_NP(long_words, "$(printf '%0255d' 0)", u32, a);
END
compile ': the name is too long' "$@" <<-END
	POSIX_TRACE_DEFINE_NP(n$(printf '%0256d' 0), u32, a);
END
compile u33 "$@" <<-END
	POSIX_TRACE_DEFINE_NP(no_type, u33, a);
END
compile _pxt_record_too_few "$@" <<-END
	POSIX_TRACE_DEFINE_NP(too_few, u32, a, u32, b);
	void f(void) { posix_trace_point_np(too_few, 1); }
END
echo "refused: $failed failed"
exit "$failed"
