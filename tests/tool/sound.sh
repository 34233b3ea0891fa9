#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What recover, receive and merge write is sound, whoever made what they were given (sound.py).
# PXT_STRESS=full: thousands of inputs instead of hundreds.

. "$(dirname "$0")/common.sh"

logs_that_are_made_of_spoilt_input_are_sound()
{
	count=400
	[ -z "${PXT_STRESS-}" ] || count=6000
	"$PXT_PYTHON" "$PXT_SOURCE/tests/tool/sound.py" "$pxtrace" "$golden" $count >out 2>err || fail sound
	out_has 'all sound'
}

"$case"
