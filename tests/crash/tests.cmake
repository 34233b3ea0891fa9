# SPDX-License-Identifier: MIT
#
# Processes that come to an end, by signals and by exit().  A sanitizer has handlers of its own.
set(crash_needs LOG_SEAL LOGRETRIEVAL USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL POLICY_FLUSH LOG_LOOP
	LOG_UNTIL_FULL LOG_APPEND LOG_METADATA SYSEV_START_STOP !LANES_MAX_1)
# Who gives back a lock that it does not hold fails.
set(crash_locks -Wl,--wrap=pxt_port_mutex_lock -Wl,--wrap=pxt_port_mutex_try -Wl,--wrap=pxt_port_mutex_unlock)
ptrace_test(crash_points TESTPOINTS NEEDS ${crash_needs} !SANITIZED
	SOURCES crash/points.c crash/fixture.c fakes/lock.c LIBRARIES ${crash_locks})
ptrace_test(crash_ways NEEDS ${crash_needs} !SANITIZED
	SOURCES crash/ways.c crash/fixture.c fakes/lock.c LIBRARIES ${crash_locks} -Wl,--wrap=pxt_port_log_write_at)
ptrace_test(crash_exit NEEDS ${crash_needs} !SANITIZED
	SOURCES crash/exit.c crash/fixture.c fakes/lock.c LIBRARIES ${crash_locks})
