# SPDX-License-Identifier: MIT
#
# What the tests' programs are made of, by folders.

# For NEEDS: streams may have so many lanes.
foreach(lanes IN ITEMS 4 8)
	set(PXT_LANES_${lanes} 1)
	if(PXT_LANES_MAX LESS lanes)
		set(PXT_LANES_${lanes} 0)
	endif()
endforeach()

# ---- attach/ ----

# Processes that attach to a stream of another one.  ThreadSanitizer knows nothing of other processes, but of
# the threads of each; hostile ones race on purpose, and where threads are counted it has one of its own.
set(attach_needs ATTACH ONLINE FILTER !SINGLE_STREAM)
ptrace_test(attach_producers NEEDS ${attach_needs} INHERIT SOURCES attach/producers.c attach/kit.c
	LIBRARIES -Wl,--wrap=pxt_names_open -Wl,--wrap=pxt_names_set_format)
ptrace_test(attach_killed TESTPOINTS NEEDS ${attach_needs}
	SOURCES attach/killed.c attach/kit.c)
if(TARGET test_attach_killed AND NOT PXT_TSAN)
	target_compile_definitions(test_attach_killed PRIVATE PXT_KILLED_OWNERS=1)
endif()
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

# ---- blackbox/ ----

# Streams that live in files.
set(box_needs FILE_STREAMS ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	RECORD_THREAD !SINGLE_STREAM LANES)
ptrace_test(blackbox_create FAKES NEEDS ${box_needs} ARG_CHECKS TOLOG POLICY_FLUSH
	SOURCES blackbox/create.c blackbox/box.c
	LIBRARIES -Wl,--wrap=posix_fallocate -Wl,--wrap=posix_fallocate64 -Wl,--wrap=pxt_port_process_start)
# Killed processes; not for ThreadSanitizer, which knows nothing of other processes.
ptrace_test(blackbox_kill TESTPOINTS NEEDS ${box_needs} !TSAN
	SOURCES blackbox/kill.c blackbox/box.c core/kit.c)
# The same with a log beside the box; its writes go out in pieces, between which it is killed, too.
ptrace_test(blackbox_kill_log TESTPOINTS NEEDS ${box_needs} LOG_LOOP LOG_APPEND LOG_UNTIL_FULL POLICY_FLUSH SNAPSHOT LOGRETRIEVAL
	!TSAN
	SOURCES blackbox/kill_log.c blackbox/box.c core/kit.c LIBRARIES -Wl,--wrap=pxt_port_log_write_at)
# With memory that nobody may touch once it was given back.
ptrace_test(blackbox_replicas TESTPOINTS NEEDS ${box_needs}
	SOURCES blackbox/replicas.c blackbox/box.c core/kit.c
	LIBRARIES -Wl,--wrap=pxt_port_free)
# The processor's trap flag, and the library's own instructions.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER)
	set(PXT_TRAP_FLAG 1)
endif()
# What pxtrace recover makes of the files must be the same.
foreach(name IN ITEMS kill kill_log)
	if(TARGET test_blackbox_${name} AND TARGET pxtrace AND PXT_LOGRETRIEVAL)
		target_compile_definitions(test_blackbox_${name} PRIVATE PXT_PXTRACE="$<TARGET_FILE:pxtrace>")
		add_dependencies(test_blackbox_${name} pxtrace)
	endif()
endforeach()

# ---- conformance/ ----

# Tests of streams share story.c.  They ask for a configuration with everything that a stream can
# say (system events, both policies, several streams); files that are not named here are test
# programs by themselves.
set(stream_needs CORE ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME SYSEV_ERROR !SINGLE_STREAM)
foreach(name IN ITEMS streams policies retrieval truncation order states)
	ptrace_test(${name} NEEDS ${stream_needs}
		SOURCES conformance/${name}.c conformance/story.c)
endforeach()
ptrace_test(whole NEEDS ${stream_needs} EXTENSIONS TOLOG LOGRETRIEVAL LOG_APPEND
	SOURCES conformance/whole.c conformance/story.c)
ptrace_test(discard NEEDS ${stream_needs} POLICY_DISCARD
	SOURCES conformance/discard.c conformance/story.c)
foreach(name IN ITEMS log log_policies log_flush)
	ptrace_test(${name} NEEDS ${stream_needs} TOLOG LOGRETRIEVAL POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND
		SYSEV_FLUSH SOURCES conformance/${name}.c conformance/logkit.c conformance/story.c)
endforeach()
ptrace_test(inherit NEEDS INHERIT ONLINE USEREVENTS POLICY_LOOP !SINGLE_STREAM
	SOURCES conformance/inherit.c)

# ---- core/ ----

# The ring from inside, in one thread: interrupts at every test point, wraps, dead records.
set(core_needs CORE ONLINE USEREVENTS FILTER POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME SYSEV_FILTER RECORD_THREAD RECORD_ADDRESS !SINGLE_STREAM LANES)
foreach(name IN ITEMS passover edges merge lengths wanted)
	ptrace_test(core_${name} TESTPOINTS NEEDS ${core_needs} SOURCES core/${name}.c core/kit.c)
endforeach()
ptrace_test(core_forked TESTPOINTS NEEDS ${core_needs} INHERIT FILE_STREAMS POLICY_UNTIL_FULL
	SOURCES core/forked.c core/kit.c)
ptrace_test(core_error FAKES NEEDS ${core_needs} SYSEV_ERROR TOLOG LOG_APPEND LOGRETRIEVAL SNAPSHOT
	SOURCES core/error.c conformance/story.c)
ptrace_test(core_several TESTPOINTS NEEDS ${core_needs} EXTENSIONS SOURCES core/several.c core/kit.c)
ptrace_test(core_copies TESTPOINTS FAKES NEEDS ${core_needs} POLICY_DISCARD SNAPSHOT LOGRETRIEVAL SOURCES core/copies.c core/kit.c)
ptrace_test(core_imageheaders NEEDS ${core_needs} LABELS SOURCES core/imageheaders.c core/kit.c)
# With memory that nobody may touch once it was given back.
set(core_guard LIBRARIES -Wl,--wrap=pxt_port_free)
ptrace_test(core_interrupt TESTPOINTS NEEDS ${core_needs} SOURCES core/interrupt.c core/actions.c
	core/kit.c ${core_guard})
ptrace_test(core_beside TESTPOINTS NEEDS ${core_needs} SOURCES core/beside.c core/actions.c core/kit.c
	${core_guard} -Wl,--wrap=pxt_port_pause_ns)
# Its hook is seen by the flusher's thread as well, unlocked, which ThreadSanitizer would report.
ptrace_test(core_logged TESTPOINTS NEEDS ${core_needs} TOLOG LOGRETRIEVAL POLICY_FLUSH LOG_APPEND !TSAN
	SOURCES core/logged.c core/kit.c ${core_guard})
ptrace_test(core_leaving TESTPOINTS NEEDS ${core_needs} SOURCES core/leaving.c core/kit.c
	${core_guard} -Wl,--wrap=pxt_port_pause_ns)
ptrace_test(core_handlers TESTPOINTS NEEDS ${core_needs} INSPECT SOURCES core/handlers.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
ptrace_test(core_patience TESTPOINTS NEEDS ${core_needs} SOURCES core/patience.c core/kit.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns -Wl,--wrap=pxt_port_now_ns -Wl,--wrap=poll -Wl,--wrap=pxt_vdso_gettime)
ptrace_test(core_wake TESTPOINTS NEEDS ${core_needs} SOURCES core/wake.c core/kit.c
	LIBRARIES -Wl,--wrap=pxt_port_wake -Wl,--wrap=pxt_port_wait -Wl,--wrap=pxt_port_fence_all)
ptrace_test(core_helper NEEDS ${core_needs} TOLOG LOG_APPEND POLICY_FLUSH SOURCES core/helper.c
	LIBRARIES -Wl,--wrap=pxt_port_wake -Wl,--wrap=pxt_port_fence_all -Wl,--wrap=pxt_port_log_write -Wl,--wrap=pxt_port_log_write_at)
ptrace_test(core_reading TESTPOINTS FAKES NEEDS ${core_needs} SOURCES core/reading.c core/kit.c)
ptrace_test(core_years TESTPOINTS FAKES NEEDS ${core_needs} TOLOG LOG_APPEND LOGRETRIEVAL
	SOURCES core/years.c core/kit.c)
ptrace_test(core_back TESTPOINTS FAKES NEEDS ${core_needs} TOLOG LOG_APPEND LOGRETRIEVAL SNAPSHOT
	SOURCES core/back.c core/kit.c)
# As it is shipped.  musl comes without the kernel's headers, which say how to be killed at a call.
include(CheckIncludeFile)
check_include_file(linux/filter.h PXT_KERNEL_HEADERS)
ptrace_test(core_quiet NEEDS ${core_needs} TOLOG LOG_LOOP POLICY_FLUSH KERNEL_HEADERS
	SOURCES core/quiet.c)
# The processor's trap flag, and the library's own instructions: a sanitizer adds others, and hands
# out signals later or writes from stacks of its own.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER)
	set(PXT_TRAP_FLAG 1)
endif()
ptrace_test(core_steps NEEDS ${core_needs} TRAP_FLAG SOURCES core/steps.c core/actions.c core/kit.c ${core_guard})

# ---- cpp/ ----

# ptrace.hpp by the C++ compilers that are there; they are for the C library that they were made with.
if(PXT_IS_FULL AND TARGET ptrace_shared AND PTRACE_HAS_GLIBC AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER
		AND NOT CMAKE_CROSSCOMPILING)
	foreach(compiler IN ITEMS g++ clang++)
		add_test(NAME cpp_${compiler} COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/cpp/run.sh" ${compiler}
			"${PROJECT_SOURCE_DIR}" "$<TARGET_FILE:ptrace_shared>" "${PTRACE_PUBLIC_DIR}")
		set_tests_properties(cpp_${compiler} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS link)
	endforeach()
endif()

# ---- crash/ ----

# Processes that come to an end, by signals and by exit().  A sanitizer has handlers of its own.
set(crash_needs LOG_SEAL LOGRETRIEVAL USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL POLICY_FLUSH LOG_LOOP
	LOG_UNTIL_FULL LOG_APPEND LOG_METADATA SYSEV_START_STOP LANES)
# Who gives back a lock that it does not hold fails.
set(crash_locks -Wl,--wrap=pxt_port_mutex_lock -Wl,--wrap=pxt_port_mutex_try -Wl,--wrap=pxt_port_mutex_unlock)
ptrace_test(crash_points TESTPOINTS NEEDS ${crash_needs} !SANITIZED
	SOURCES crash/points.c crash/kit.c fakes/lock.c LIBRARIES ${crash_locks})
ptrace_test(crash_ways NEEDS ${crash_needs} !SANITIZED
	SOURCES crash/ways.c crash/kit.c fakes/lock.c LIBRARIES ${crash_locks} -Wl,--wrap=pxt_port_log_write_at)
ptrace_test(crash_exit NEEDS ${crash_needs} !SANITIZED
	SOURCES crash/exit.c crash/kit.c fakes/lock.c LIBRARIES ${crash_locks})

# ---- dlopen/ ----

# The library as programs meet it: loaded at run time, from C++, without position independence.
# A sanitizer's runtime would have to be there before the library is; compilers for another machine
# or without shared libraries are not looked for.
if(PXT_IS_FULL AND TARGET ptrace_shared AND NOT PTRACE_SANITIZER AND NOT CMAKE_CROSSCOMPILING)
	add_executable(dlopen_storm dlopen/storm.c)
	target_link_libraries(dlopen_storm PRIVATE ptrace_build Threads::Threads ${CMAKE_DL_LIBS})
	target_include_directories(dlopen_storm PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}")
	add_test(NAME dlopen_storm COMMAND dlopen_storm "$<TARGET_FILE:ptrace_shared>")
	set(dlopen_tests dlopen_storm)
	foreach(way IN ITEMS cxx11 clang_cxx11 no_pie static)
		foreach(kind IN ITEMS static shared)
			if(way STREQUAL "static" AND kind STREQUAL "shared")
				continue()
			endif()
			add_test(NAME link_${way}_${kind} COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/points/compile.sh" ${way}
				"${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}" -- "${CMAKE_C_COMPILER}")
			set_tests_properties(link_${way}_${kind} PROPERTIES ENVIRONMENT
				"LD_LIBRARY_PATH=$<TARGET_FILE_DIR:ptrace_shared>;LIBRARY=$<TARGET_FILE:ptrace_${kind}>")
			list(APPEND dlopen_tests link_${way}_${kind})
		endforeach()
	endforeach()
	set_tests_properties(${dlopen_tests} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS link)
endif()

# ---- failing/ ----

# Calls that fail, that are interrupted, and whose system fails below them: nothing is left behind.
set(failing_needs LOG_ROTATE ONLINE TOLOG USEREVENTS FILTER INHERIT ATTACH LOGRETRIEVAL SNAPSHOT FILE_STREAMS STACKS LOG_SEAL
	ARG_CHECKS POLICY_LOOP POLICY_UNTIL_FULL POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND SYSEV_START_STOP
	!SINGLE_STREAM)
ptrace_test(failing_errors FAKES NEEDS ${failing_needs}
	SOURCES failing/errors.c failing/cases.c failing/fixture.c failing/provoke.c failing/reading.c golden/golden.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
if(TARGET test_failing_errors)
	ptrace_program(program test_failing_errors)
	add_test(NAME failing_listed COMMAND "${PTRACE_PYTHON}" "${PROJECT_SOURCE_DIR}/tests/failing/listed.py" "${program}")
endif()
ptrace_test(failing_signals NEEDS ${failing_needs} SOURCES failing/signals.c attach/kit.c)
# The names of the C library's calls are those of glibc where words have 64 bits.
include(CheckCSourceCompiles)
check_c_source_compiles("#include <features.h>
#if !defined(__GLIBC__) || !defined(__LP64__)
#error
#endif
int main(void) { return 0; }" PXT_CALLS_ARE_GLIBC64)
if(PXT_CALLS_ARE_GLIBC64)
	set(failing_calls accept4 bind close connect flock fstat fstat64 fstatfs64 ftruncate ftruncate64 getcwd getrandom
		listen lstat64 madvise memfd_create mmap mmap64 munmap openat openat64 fdopendir poll __poll_chk __getcwd_chk
		posix_fallocate64 pthread_attr_init pthread_create pthread_mutex_init pwrite pwritev64 read readlink
		realloc recvmsg sendmsg socket socketpair sysconf syscall unlink write fcntl fcntl64)
	list(TRANSFORM failing_calls PREPEND "-Wl,--wrap=")
	ptrace_test(failing_system FAKES NEEDS ${failing_needs} !SANITIZED
		SOURCES failing/system.c failing/calls.c failing/fixture.c LIBRARIES ${failing_calls})
	ptrace_test(failing_port FAKES NEEDS ${failing_needs} !SANITIZED
		SOURCES failing/port.c failing/calls.c failing/fixture.c LIBRARIES ${failing_calls})
else()
	# No tests of their own either.
	set_property(GLOBAL APPEND PROPERTY PTRACE_TEST_FILES "${PROJECT_SOURCE_DIR}/tests/failing/system.c"
		"${PROJECT_SOURCE_DIR}/tests/failing/port.c" "${PROJECT_SOURCE_DIR}/tests/failing/calls.c")
endif()

# ---- fakes/ ----

# The port, and the fakes that stand before it.

ptrace_test(port NEEDS CORE SOURCES test_port.c)
ptrace_test(port_host NEEDS TOLOG POLICY_FLUSH SOURCES test_port_host.c
	LIBRARIES -Wl,--build-id=0x0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20)
ptrace_test(port_mutex NEEDS CORE SOURCES test_mutex.c)

# ---- golden/ ----

# Tests of the log format and of Log Retrieval.  The logs are made by golden/make_golden.py.

foreach(name IN ITEMS logread logseek logfile logcheck logdamage loggrowing logfmt)
	set(needs LOGRETRIEVAL)
	if(name STREQUAL "logfmt")
		list(APPEND needs TOLOG)
	endif()
	ptrace_test(${name} NEEDS ${needs} SOURCES test_${name}.c golden/golden.c)
endforeach()
ptrace_test(logmemory FAKES NEEDS CORE USEREVENTS POLICY_UNTIL_FULL TOLOG LOG_APPEND LOGRETRIEVAL SOURCES test_logmemory.c golden/golden.c)
ptrace_test(coded NEEDS LOGRETRIEVAL LOG_CODED SOURCES test_coded.c)

# ---- kill/ ----

# Writers' processes that are killed while the stream's memory is shared; not for ThreadSanitizer,
# which knows nothing of other processes.
ptrace_test(kill_forked TESTPOINTS NEEDS ${core_needs} POLICY_DISCARD INHERIT !TSAN
	SOURCES kill/forks.c core/kit.c LIBRARIES -Wl,--wrap=pxt_port_free)
# So many threads leave nothing for a test beside them.
ptrace_test(forks PROCESSORS 2 NEEDS ${core_needs} POLICY_DISCARD INHERIT !TSAN LABELS stress
	SOURCES stress/forks.c stress/events.c conformance/story.c)
ptrace_test(kill_spaces TESTPOINTS NEEDS ${core_needs} INHERIT !TSAN
	SOURCES kill/spaces.c core/kit.c LIBRARIES -Wl,--wrap=pxt_port_pid_space)

# ---- lanes/ ----

# Records put into lanes by hand, with stamps as a test needs them.
ptrace_test(lanes TESTPOINTS FAKES NEEDS CORE ONLINE USEREVENTS FILTER TOLOG POLICY_LOOP
	POLICY_UNTIL_FULL POLICY_FLUSH SYSEV_START_STOP SYSEV_OVERFLOW_RESUME RECORD_THREAD RECORD_ADDRESS
	!SINGLE_STREAM LANES SOURCES lanes/rules.c conformance/story.c)
ptrace_test(drawn_orders TESTPOINTS FAKES NEEDS CORE ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL RECORD_THREAD
	TOLOG LOG_APPEND LOGRETRIEVAL SYSEV_START_STOP SYSEV_OVERFLOW_RESUME !SINGLE_STREAM LANES_8
	SOURCES lanes/drawn.c lanes/turns.c conformance/story.c LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
ptrace_test(runs TESTPOINTS NEEDS CORE ONLINE USEREVENTS FILTER TOLOG LOG_APPEND LOGRETRIEVAL POLICY_LOOP
	POLICY_UNTIL_FULL SYSEV_START_STOP SYSEV_OVERFLOW_RESUME SYSEV_FLUSH RECORD_THREAD RECORD_ADDRESS !SINGLE_STREAM
	LANES SOURCES lanes/run.c conformance/logkit.c conformance/story.c)

# ---- line/ ----

# Logs that the tools write, and the line between a target and `pxtrace receive`.
set(line_writer ../tools/output/final.c ../tools/write/logblocks.c ../tools/write/logwrite.c)
ptrace_test(logwrite NEEDS TOLOG LOGRETRIEVAL SOURCES line/logwrite.c ${line_writer})
set(line_receiver ../tools/line/frame.c ../tools/receive/receiver.c ../tools/receive/compact.c ../tools/receive/run.c)
ptrace_test(line_damage NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS POLICY_LOOP
	SOURCES line/damage.c line/forge.c ${line_receiver} ${line_writer})
if(PXT_LOG_LINE AND PXT_EXTENSIONS AND PXT_USEREVENTS AND PXT_POLICY_LOOP AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
	add_executable(line_target line/target.c)
	target_link_libraries(line_target PRIVATE ptrace_build ptrace_static)
endif()
ptrace_test(line_faults FAKES NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS POLICY_LOOP SYSEV_START_STOP
	SOURCES line/faults.c ${line_receiver} ${line_writer})
ptrace_test(line_frames NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS POLICY_LOOP
	SOURCES line/frames.c line/forge.c ${line_receiver} ${line_writer})
ptrace_test(line_compact NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS RECORD_THREAD RECORD_ADDRESS
	SOURCES line/compact.c line/forge.c ../format/compact.c ../format/order.c ${line_receiver} ${line_writer})

# ---- model/ ----

# Drawn histories against a naive reference.  With PXT_STRESS=full in the environment 20 times as many.
ptrace_test(histories NEEDS CORE ONLINE USEREVENTS FILTER TOLOG LOGRETRIEVAL POLICY_LOOP
	POLICY_UNTIL_FULL POLICY_DISCARD POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME
	SYSEV_FILTER SYSEV_FLUSH RECORD_THREAD RECORD_ADDRESS ARG_CHECKS !SINGLE_STREAM LANES_4
	SOURCES model/histories.c model/play.c model/reference.c
	LIBRARIES -Wl,--wrap=pxt_port_thread_start -Wl,--wrap=pxt_port_thread_join)

# ---- others/ ----

# The suite for other implementations, exported from this tree and run against this one.
if(PXT_IS_FULL AND PTRACE_HAS_GLIBC AND NOT PTRACE_SANITIZER AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME others_suite COMMAND sh -c "\"$0\" \"$1/suite.py\" export suite-for-others && \"$0\" suite-for-others/suite.py run \
		--cc \"$2\" --cflags \"$3\" --libs \"$4\" --program eventset --program names --program log_policies"
		"${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/others" "${CMAKE_C_COMPILER}"
		"-I${PROJECT_SOURCE_DIR}/include -I${PTRACE_PUBLIC_DIR}" "$<TARGET_FILE:ptrace_static>")
	set_tests_properties(others_suite PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS others)
endif()

# ---- points/ ----

ptrace_test(points SOURCES test_points.c points/other.c)
if(PXT_USEREVENTS AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME points_left_out COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/points/compile.sh" left_out
		"${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}" -- "${CMAKE_C_COMPILER}")
	add_test(NAME points_refused COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/points/compile.sh" refused
		"${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}" -- "${CMAKE_C_COMPILER}")
endif()

# ---- python/ ----

# The module of python/, with this build's library, which has to be of the interpreter's kind.
if(PXT_IS_FULL AND TARGET ptrace_retrieval_shared AND TARGET pxtrace AND PTRACE_HAS_GLIBC
		AND CMAKE_SIZEOF_VOID_P EQUAL 8 AND NOT PTRACE_SANITIZER AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME python_module COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/python/test_module.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>" "${PTRACE_PUBLIC_DIR}" "${PROJECT_VERSION}")
	set_tests_properties(python_module PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${PTRACE_TEST_TIMEOUT} ENVIRONMENT
		"PXTRACE_LIBRARY=$<TARGET_FILE:ptrace_retrieval_shared>;CC=${CMAKE_C_COMPILER};PYTHONDONTWRITEBYTECODE=1")
endif()

# ---- recover/ ----

# A program that leaves its memory behind, for tests/tool/recover.sh.
if(PXT_LABELS AND PXT_ONLINE AND PXT_USEREVENTS AND PXT_POLICY_LOOP AND PXT_POLICY_UNTIL_FULL AND
		NOT CMAKE_CROSSCOMPILING_EMULATOR)
	add_executable(recover_leave recover/leave.c)
	target_link_libraries(recover_leave PRIVATE ptrace_build ptrace_static)
endif()

# ---- report/ ----

# Pages of `pxtrace report`: their data, and in a browser that they open, draw, zoom and find.
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME report.data COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_data.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>")
	set_tests_properties(report.data PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS tool)
	ptrace_check(report_page TIMEOUT 1500 "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/report/test_page.py"
		"$<TARGET_FILE:pxtrace>" "$<TARGET_FILE:mklog>")
endif()

# ---- snapshot/ ----

# Snapshots: what is in them, what becomes of them when the system fails, and who goes on meanwhile.
set(snapshot_needs SNAPSHOT ONLINE USEREVENTS LOGRETRIEVAL POLICY_LOOP POLICY_UNTIL_FULL POLICY_FLUSH
	LOG_UNTIL_FULL SYSEV_START_STOP SYSEV_OVERFLOW_RESUME RECORD_THREAD RECORD_ADDRESS !SINGLE_STREAM
	LANES_4)
set(snapshot_kit conformance/logkit.c conformance/story.c)
ptrace_test(snapshot_window NEEDS ${snapshot_needs} POLICY_DISCARD SOURCES snapshot/window.c ${snapshot_kit})
ptrace_test(snapshot_faults FAKES NEEDS ${snapshot_needs} LOG_METADATA SOURCES snapshot/faults.c ${snapshot_kit})
ptrace_test(snapshot_race TESTPOINTS NEEDS ${snapshot_needs} SOURCES snapshot/race.c core/kit.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)

# ---- stress/ ----

# Stress: 400,000 events a case, 10 million with PXT_STRESS=full in the environment.  At full
# length, on two processors: law 1.3 min, storm 0.2.
# Under a sanitizer a tenth and 2 million, with PXT_STRESS=whole 10 million, too (storm: 17 min).
set(stress_needs CORE ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL POLICY_DISCARD SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME RECORD_ADDRESS !SINGLE_STREAM)
set(stress_helps stress/events.c conformance/story.c)
foreach(name IN ITEMS law storm)
	ptrace_test(${name} NEEDS ${stress_needs} LABELS stress
		SOURCES stress/${name}.c ${stress_helps})
endforeach()

# ---- sysevents/ ----

set(sysevents_helps)
if(PXT_SYSEV_FUNCTION)
	list(APPEND sysevents_helps ../sysevents/function/function.c)
endif()
if(PXT_ATTACH AND PXT_FILTER AND NOT PXT_SINGLE_STREAM)
	list(APPEND sysevents_helps attach/kit.c)
endif()
ptrace_test(sysevents NEEDS SYSEVENTS SYSEV_SPECIFIC ONLINE POLICY_LOOP SOURCES sysevents/events.c ${sysevents_helps})

# ---- tiny/ ----

# Another Core than this build's: scripts/check-tiny.py builds and runs it (check "tiny").
set_property(GLOBAL APPEND PROPERTY PTRACE_TEST_FILES "${CMAKE_CURRENT_SOURCE_DIR}/tiny/tiny.c")

# ---- tool/ ----

# Each function of a file *.sh of this folder that is a test (names with three words or more, common.sh
# has the helpers) is a CTest of its own, tool.NAME.  One whose tests want something of the machine for
# themselves says so in a line "# alone with: WHAT".
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS)
	add_executable(mklog tool/mklog.c)
	target_link_libraries(mklog PRIVATE ptrace_build ptrace_static)
	target_include_directories(mklog PRIVATE "${PROJECT_SOURCE_DIR}" "${PTRACE_PORT_DIR}"
		"${PTRACE_PRIVATE_DIR}")
	if(PXT_USEREVENTS)
		add_executable(contend tool/contend.c)
		target_link_libraries(contend PRIVATE ptrace_build ptrace_static)
	endif()
	if(PXT_USEREVENTS AND PXT_LOG_ENVIRONMENT AND PXT_EXTENSIONS)
		add_executable(untraced tool/untraced.c)
		target_link_libraries(untraced PRIVATE ptrace_build ptrace_static)
	endif()
	if(PTRACE_HAS_PERF_EVENT)
		add_executable(schedrun tool/schedrun.c)
		target_link_libraries(schedrun PRIVATE pxtrace_parts)
		target_include_directories(schedrun PRIVATE "${PTRACE_PRIVATE_DIR}")
	endif()
	if(TARGET ptrace_preload)
		add_executable(victim tool/victim.c)
		target_compile_options(victim PRIVATE -g -O1)
		target_link_libraries(victim PRIVATE Threads::Threads)
		add_dependencies(victim ptrace_preload)
		add_library(counter SHARED tool/counter.c)
		target_link_libraries(counter PRIVATE ptrace_build Threads::Threads ${CMAKE_DL_LIBS})
		# Numbers of events; it is not linked with the library.
		target_include_directories(counter PRIVATE
			"$<TARGET_PROPERTY:ptrace_shared,INTERFACE_INCLUDE_DIRECTORIES>")
		set_target_properties(counter PROPERTIES C_VISIBILITY_PRESET default)
	endif()
	if(PXT_ATTACH)
		add_executable(named tool/named.c)
		target_link_libraries(named PRIVATE ptrace_build ptrace_static)
	endif()
	ptrace_program(tool_pxtrace pxtrace)
	ptrace_program(tool_mklog mklog)
	file(GLOB case_files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tool/*.sh")
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${case_files})
	foreach(case_file IN LISTS case_files)
		# Of three words at least, on one line or on several.
		file(STRINGS "${case_file}" functions REGEX "^[a-z0-9]+(_[a-z0-9]+)(_[a-z0-9]+)+\\(\\)")
		file(STRINGS "${case_file}" alone_with REGEX "^# alone with: [a-z]+$")
		string(REPLACE "# alone with: " "" alone_with "${alone_with}")
		foreach(function IN LISTS functions)
			string(REGEX REPLACE "\\(\\).*" "" case "${function}")
			ptrace_add_test(tool.${case} sh "${case_file}"
				"${tool_pxtrace}" "${tool_mklog}" "${PTRACE_GOLDEN}" ${case})
			set_tests_properties(tool.${case} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS tool
				RESOURCE_LOCK "${alone_with}"
				ENVIRONMENT "PXT_SOURCE=${PROJECT_SOURCE_DIR};PXT_BUILD=${PROJECT_BINARY_DIR};PXT_PYTHON=${PTRACE_PYTHON}")
		endforeach()
	endforeach()
endif()

# Programs that know nothing of traces (tool/wrap.sh), with wrappers before them and without.
if(TARGET ptrace_preload AND TARGET pxtrace)
	add_library(behaveearly SHARED sysevents/early.c)
	add_library(behaveplugin SHARED sysevents/early.c)
	set_target_properties(behaveplugin PROPERTIES
		LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/behave_plugins")
	target_link_libraries(behaveearly PRIVATE Threads::Threads)
	target_link_libraries(behaveplugin PRIVATE Threads::Threads)
	add_executable(behave sysevents/behave.c sysevents/behave_calls.c)
	target_compile_options(behave PRIVATE -O1)
	target_link_libraries(behave PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
	target_link_options(behave PRIVATE
		"LINKER:--enable-new-dtags,-rpath,${CMAKE_CURRENT_BINARY_DIR}/behave_plugins")
	add_dependencies(behave behaveearly behaveplugin ptrace_preload)
	if(PXT_TOLOG AND PXT_POLICY_FLUSH)
		add_executable(itself sysevents/itself.c)
		target_link_libraries(itself PRIVATE ptrace_shared)
	endif()
	include(CheckLanguage)
	check_language(CXX)
	if(CMAKE_CXX_COMPILER)
		enable_language(CXX)
		add_executable(standard sysevents/standard.cpp)
		target_link_libraries(standard PRIVATE Threads::Threads)
	endif()
endif()
if(TARGET ptrace_wrap AND TARGET pxtrace)
	include(CheckCSourceCompiles)
	set(CMAKE_REQUIRED_FLAGS -static)
	check_c_source_compiles("int main(void) { return 0; }" PTRACE_CAN_LINK_STATIC)
	unset(CMAKE_REQUIRED_FLAGS)
	if(PTRACE_CAN_LINK_STATIC)
		add_executable(behave_linked sysevents/behave.c sysevents/behave_calls.c)
		add_executable(victim_linked tool/victim.c)
		foreach(program IN ITEMS behave_linked victim_linked)
			target_compile_options(${program} PRIVATE -O1)
			target_compile_definitions(${program} PRIVATE BEHAVE_STATIC=1)
			# The archive with its flags; libptrace is the static one.
			target_link_libraries(${program} PRIVATE "$<TARGET_FILE:ptrace_wrap>" ptrace_static)
			target_link_options(${program} PRIVATE -static
				"$<TARGET_PROPERTY:ptrace_wrap,INTERFACE_LINK_OPTIONS>")
			add_dependencies(${program} ptrace_wrap)
		endforeach()
	endif()
endif()

# Parts of the tool by themselves: a file *.c of this folder with a PXT_TEST.
file(GLOB part_files RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tool/*.c")
foreach(part_file IN LISTS part_files)
	file(STRINGS "${part_file}" suite REGEX "^PXT_TEST")
	get_filename_component(part "${part_file}" NAME_WE)
	file(STRINGS "${part_file}" wrapped REGEX "^PXT_WRAPPED\\(int, [a-z_]+,$")
	string(REGEX REPLACE "^.*, ([a-z_]+),$" "-Wl,--wrap=\\1" wrapped "${wrapped}")
	file(STRINGS "${part_file}" of_perf REGEX "^#include \"(tools/sched/|perfbytes)")
	if(suite AND TARGET pxtrace AND (PTRACE_HAS_PERF_EVENT OR NOT of_perf))
		ptrace_test(tool_${part} SOURCES "${part_file}" LIBRARIES pxtrace_parts ${wrapped} LABELS tool)
	else()
		set_property(GLOBAL APPEND PROPERTY PTRACE_TEST_FILES "${CMAKE_CURRENT_SOURCE_DIR}/${part_file}")
	endif()
endforeach()

# ---- tolog/ ----

ptrace_test(tolog FAKES NEEDS CORE ONLINE USEREVENTS FILTER TOLOG LOGRETRIEVAL POLICY_LOOP
	POLICY_UNTIL_FULL POLICY_FLUSH LOG_LOOP LOG_UNTIL_FULL LOG_APPEND LOG_METADATA SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME SYSEV_ERROR SYSEV_FLUSH !SINGLE_STREAM
	SOURCES test_tolog.c conformance/logkit.c conformance/story.c)
ptrace_test(tolog_described NEEDS CORE USEREVENTS TOLOG LOGRETRIEVAL LOG_APPEND LOG_METADATA !SANITIZED
	SOURCES tolog/described.c LIBRARIES -Wl,--wrap=pxt_port_modules)
ptrace_test(tolog_notes NEEDS CORE TOLOG LOGRETRIEVAL LOG_APPEND EXTENSIONS LOG_SEAL !SANITIZED
	SOURCES tolog/notes.c)
ptrace_test(tolog_rotated FAKES NEEDS CORE USEREVENTS TOLOG LOGRETRIEVAL POLICY_LOOP POLICY_UNTIL_FULL LOG_ROTATE LOG_LOOP EXTENSIONS
	LOG_METADATA RECORD_THREAD SYSEV_ERROR !SINGLE_STREAM SOURCES tolog/rotated.c tolog/folder.c)
ptrace_test(tolog_rotated_killed TESTPOINTS NEEDS CORE USEREVENTS TOLOG LOGRETRIEVAL POLICY_LOOP LOG_ROTATE !TSAN
	SOURCES tolog/rotated_killed.c tolog/folder.c)
ptrace_test(tolog_loop FAKES NEEDS CORE USEREVENTS TOLOG LOGRETRIEVAL FILTER POLICY_LOOP LOG_LOOP LOG_APPEND RECORD_THREAD
	SOURCES tolog/loop.c)
ptrace_test(tolog_descriptor NEEDS CORE ONLINE USEREVENTS TOLOG LOGRETRIEVAL POLICY_LOOP LOG_LOOP LOG_UNTIL_FULL LOG_APPEND
	LOG_LINE !SINGLE_STREAM SOURCES tolog/descriptor.c conformance/story.c LIBRARIES -Wl,--wrap=fstat -Wl,--wrap=fstat64)

# ---- truth/ ----

# What is reported of an event lies between the caller's readings of the clock before and behind it.
# Threads preempt each other, on both processors: some 25 s, four times as long with PXT_STRESS=full.
set(truth_needs CORE ONLINE USEREVENTS POLICY_LOOP POLICY_UNTIL_FULL SYSEV_START_STOP
	SYSEV_OVERFLOW_RESUME RECORD_ADDRESS !SINGLE_STREAM LANES)
set(truth_logs TOLOG LOG_APPEND LOGRETRIEVAL)
ptrace_test(truth_threads PROCESSORS 2 NEEDS ${truth_needs} ${truth_logs} POLICY_FLUSH SNAPSHOT LABELS stress
	SOURCES truth/threads.c truth/ground.c truth/readings.c conformance/story.c)
# Two threads, of which one runs at a time.
ptrace_test(truth_beside TESTPOINTS FAKES NEEDS ${truth_needs} ${truth_logs} POLICY_FLUSH
	SOURCES truth/beside.c truth/ground.c truth/readings.c conformance/story.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)
ptrace_test(truth_processes PROCESSORS 2 NEEDS ${truth_needs} ${truth_logs} INHERIT ATTACH FILE_STREAMS !TSAN LABELS stress
	SOURCES truth/processes.c truth/ground.c truth/readings.c conformance/story.c)
if(TARGET test_truth_processes AND TARGET pxtrace)
	target_compile_definitions(test_truth_processes PRIVATE PXT_PXTRACE="$<TARGET_FILE:pxtrace>")
	add_dependencies(test_truth_processes pxtrace)
endif()
# Killed processes; not for ThreadSanitizer, which knows nothing of other processes.
ptrace_test(truth_dead TESTPOINTS NEEDS ${truth_needs} ${truth_logs} INHERIT RECORD_THREAD !TSAN
	SOURCES truth/dead.c truth/ground.c truth/readings.c conformance/story.c)
ptrace_test(truth_held TESTPOINTS FAKES NEEDS ${truth_needs} ${truth_logs} POLICY_FLUSH !TSAN
	SOURCES truth/held.c truth/ground.c truth/readings.c conformance/story.c
	LIBRARIES -Wl,--wrap=pxt_port_pause_ns)

# ---- tutorial/ ----

# Every command of docs/tutorial.md and of README.md, in an empty folder with an installed prefix.
find_program(PTRACE_GIT git)
find_program(PTRACE_BASH bash)
find_program(PTRACE_PKG_CONFIG pkg-config)
if(NOT PTRACE_GIT OR NOT PTRACE_BASH OR NOT PTRACE_PKG_CONFIG)
	message(STATUS "git, bash or pkg-config not found: docs/tutorial.md and README.md are not run")
elseif(TARGET pxtrace AND TARGET ptrace_shared AND PXT_IS_FULL AND PTRACE_INSTALL AND NOT PTRACE_SANITIZER AND
	NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_C_COMPILER MATCHES "musl")
	# Its programs are built by plain cc: the library must be of the same C library, and of no sanitizer.
	foreach(page IN ITEMS docs/tutorial.md README.md)
		get_filename_component(name "${page}" NAME_WE)
		string(TOLOWER "${name}" name)
		add_test(NAME ${name} COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/tutorial/run.py"
			"${PROJECT_SOURCE_DIR}/${page}" "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
	endforeach()
	set_tests_properties(tutorial readme PROPERTIES TIMEOUT ${PTRACE_TEST_TIMEOUT} LABELS tool)
endif()
