# SPDX-License-Identifier: MIT
#
# Processes that attach to a stream of another one.  ThreadSanitizer knows nothing of other processes, but of
# the threads of each; hostile ones race on purpose, and where threads are counted it has one of its own.
set(attach_needs ATTACH ONLINE FILTER !SINGLE_STREAM)
ptrace_test(attach_producers NEEDS ${attach_needs} INHERIT SOURCES attach/producers.c attach/kit.c
	LIBRARIES -Wl,--wrap=pxt_names_open -Wl,--wrap=pxt_names_set_format)
ptrace_test(attach_killed TESTPOINTS NEEDS ${attach_needs}
	SOURCES attach/killed.c attach/kit.c)
ptrace_test(attach_orphan TESTPOINTS NEEDS ${attach_needs} !TSAN
	SOURCES attach/orphan.c attach/kit.c)
# Streams with names, and those who control them from outside.
set(ctlsock_needs ATTACH ONLINE POLICY_LOOP POLICY_UNTIL_FULL !SINGLE_STREAM)
ptrace_test(attach_ctlsock_names NEEDS ${ctlsock_needs} SOURCES attach/ctlsock_names.c attach/kit.c
	LIBRARIES -Wl,--wrap=listen -Wl,--wrap=unlink)
ptrace_test(attach_ctlsock_requests NEEDS ${ctlsock_needs} SOURCES attach/ctlsock_requests.c attach/kit.c)
ptrace_test(attach_ctlsock_producers NEEDS ${ctlsock_needs}
	SOURCES attach/ctlsock_producers.c attach/kit.c)
ptrace_test(attach_ctlsock_logs NEEDS ${ctlsock_needs} SNAPSHOT LOGRETRIEVAL
	SOURCES attach/ctlsock_logs.c attach/kit.c)
ptrace_test(attach_descriptors NEEDS ${ctlsock_needs} LOG_ROTATE !TSAN SOURCES attach/descriptors.c)
ptrace_test(attach_held TESTPOINTS NEEDS ${ctlsock_needs} SNAPSHOT
	SOURCES attach/held.c attach/kit.c)
ptrace_test(attach_crafted NEEDS ${attach_needs}
	SOURCES attach/crafted.c attach/kit.c)
ptrace_test(attach_views FAKES NEEDS ATTACH SOURCES attach/views.c
	LIBRARIES -Wl,--wrap=pxt_port_filemap_settle)
ptrace_test(attach_intake_lane FAKES NEEDS ${attach_needs} POLICY_LOOP SOURCES attach/intake_lane.c)
# Children that make threads are followed there, each for itself; forked beside busy threads, they may hang in it.
if(PXT_TSAN)
	foreach(name IN ITEMS producers killed crafted ctlsock_producers)
		if(TEST attach_${name})
			set_tests_properties(attach_${name} PROPERTIES ENVIRONMENT
				"TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0")
		endif()
	endforeach()
endif()
