# SPDX-License-Identifier: MIT
#
# Writers' processes that are killed while the stream's memory is shared; not for ThreadSanitizer,
# which knows nothing of other processes.
ptrace_test(kill_points TESTPOINTS NEEDS ${core_needs} !TSAN
	SOURCES kill/points.c kill/heir.c kill/stand.c core/deeds.c core/kit.c core/guard.c
	LIBRARIES -Wl,--wrap=pxt_port_alloc -Wl,--wrap=pxt_port_free)
ptrace_test(kill_random NEEDS ${core_needs} POLICY_DISCARD !TSAN LABELS stress
	SOURCES kill/random.c kill/heir.c stress/events.c conformance/story.c
	LIBRARIES -Wl,--wrap=pxt_port_alloc)
ptrace_test(kill_forked TESTPOINTS NEEDS ${core_needs} POLICY_DISCARD INHERIT !TSAN
	SOURCES kill/forks.c kill/stand.c core/kit.c core/guard.c LIBRARIES -Wl,--wrap=pxt_port_free)
# So many threads leave nothing for a test beside them.
ptrace_test(forks PROCESSORS 2 NEEDS ${core_needs} INHERIT !TSAN LABELS stress
	SOURCES stress/forks.c stress/events.c conformance/story.c)
ptrace_test(kill_spaces TESTPOINTS NEEDS ${core_needs} INHERIT !TSAN
	SOURCES kill/spaces.c core/kit.c LIBRARIES -Wl,--wrap=pxt_port_pid_space)
