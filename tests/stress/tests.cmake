# SPDX-License-Identifier: MIT
#
# Stress: 1 million events a case, 10 million with PXT_STRESS=full in the environment (ticket: half a
# million and 20).  At full length, on two processors: ticket 1 min, ticket_yields 0.8, law 1.3, storm 0.2.
# Under a sanitizer a tenth and 2 million, with PXT_STRESS=whole 10 million, too (storm: 17 min).
set(stress_needs CORE ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL POLICY_DISCARD SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME RECORD_ADDRESS !SINGLE_STREAM)
set(stress_helps stress/events.c conformance/story.c)
foreach(name IN ITEMS law storm ticket)
	ptrace_test(${name} NEEDS ${stress_needs} LABELS stress
		SOURCES stress/${name}.c ${stress_helps})
endforeach()
# Again with writers that yield between reserve, stamp and store.
ptrace_test(ticket_yields TESTPOINTS NEEDS ${stress_needs} LABELS stress
	SOURCES stress/ticket.c ${stress_helps})
