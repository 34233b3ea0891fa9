# SPDX-License-Identifier: MIT
#
# The unit table: which files belong to which symbol of Kconfig.
#
#   ptrace_unit(SYMBOL [IF symbols...] [UNLESS symbols...] SOURCES files...)
#
# A row is compiled when SYMBOL is on, one of the IF symbols is on, and none of the UNLESS symbols.
# FORMAT, BASE, PORT and LOGRETRIEVAL rows belong to libptrace-retrieval too; there the other units count as
# off.  scripts/config.py reads the same rows: they hold plain words only.

set(PXT_FORMAT 1)
set(PXT_PORT 1)
set(PTRACE_OTHER_UNITS ${PXT_UNITS})
list(REMOVE_ITEM PTRACE_OTHER_UNITS LOGRETRIEVAL)
set(PTRACE_SOURCES)
set(PTRACE_RETRIEVAL_SOURCES)
set(PTRACE_LISTED)

# Whether any of the named symbols is on, without those in @ignored.
function(ptrace_any out ignored)
	set(${out} 0 PARENT_SCOPE)
	foreach(symbol IN LISTS ARGN)
		if(PXT_${symbol} AND NOT symbol IN_LIST ignored)
			set(${out} 1 PARENT_SCOPE)
		endif()
	endforeach()
endfunction()

function(ptrace_row_wanted out ignored)
	ptrace_any(unit "${ignored}" ${row_UNIT})
	ptrace_any(some "${ignored}" ${row_IF})
	ptrace_any(refused "${ignored}" ${row_UNLESS})
	if(unit AND NOT refused AND (some OR NOT row_IF))
		set(${out} 1 PARENT_SCOPE)
	else()
		set(${out} 0 PARENT_SCOPE)
	endif()
endfunction()

macro(ptrace_unit unit)
	cmake_parse_arguments(row "" "" "IF;UNLESS;SOURCES" ${ARGN})
	set(row_UNIT ${unit})
	list(APPEND PTRACE_LISTED ${row_SOURCES})
	ptrace_row_wanted(row_wanted "")
	if(row_wanted)
		list(APPEND PTRACE_SOURCES ${row_SOURCES})
	endif()
	ptrace_row_wanted(row_wanted "${PTRACE_OTHER_UNITS}")
	if(row_wanted AND "${unit}" MATCHES "^(FORMAT|BASE|PORT|LOGRETRIEVAL)$")
		list(APPEND PTRACE_RETRIEVAL_SOURCES ${row_SOURCES})
	endif()
endmacro()

ptrace_unit(BASE SOURCES
	base/attr.c
	base/fields.c)
ptrace_unit(BASE UNLESS TINY SOURCES
	base/handle.c)
ptrace_unit(BASE IF ONLINE LOGRETRIEVAL UNLESS TINY SOURCES
	base/getnext.c)
ptrace_unit(LOGRETRIEVAL SOURCES
	base/getnext_more.c
	base/text.c)
ptrace_unit(EXTENSIONS IF ONLINE SOURCES
	base/getnext_more.c)
ptrace_unit(EXTENSIONS IF ONLINE UNLESS PORT_BARE SOURCES
	base/text.c)
ptrace_unit(BASE IF TOLOG LOGRETRIEVAL SOURCES
	base/attr_log_get.c)

ptrace_unit(FORMAT UNLESS TINY SOURCES
	format/slot.c
	format/sysnames.c
	format/ticks.c)
ptrace_unit(SYSEVENTS IF TINY SOURCES
	format/sysnames.c)
ptrace_unit(FORMAT IF PORT_BARE SOURCES
	format/divide.c)
ptrace_unit(FORMAT IF SYSEVENTS SOURCES
	format/sysspecific.c)
ptrace_unit(FORMAT IF TOLOG LOGRETRIEVAL SOURCES
	format/logfmt_fields.c)
ptrace_unit(FORMAT IF TOLOG SOURCES
	format/logfmt.c)
ptrace_unit(FORMAT IF LOG_LINE SOURCES
	format/frame.c)
ptrace_unit(FORMAT IF LOG_LINE_COMPACT SOURCES
	format/compact.c)
ptrace_unit(FORMAT IF LOG_LINK SOURCES
	format/order.c)
ptrace_unit(FORMAT IF LOG_CODED SOURCES
	format/compress_put.c)
ptrace_unit(FORMAT IF LOGRETRIEVAL SOURCES
	format/compress_get.c
	format/logfmt_get.c)
ptrace_unit(FORMAT IF FAST_CRC SOURCES
	format/crc32_fast.c)
ptrace_unit(FORMAT IF TOLOG LOGRETRIEVAL UNLESS FAST_CRC SOURCES
	format/crc32_small.c)

ptrace_unit(PORT UNLESS TINY SOURCES
	port/patience.c)
ptrace_unit(PORT IF PORT_POSIX SOURCES
	port/posix/fence.c
	port/posix/wait.c
	port/posix/memory.c)
ptrace_unit(LOGRETRIEVAL IF PORT_POSIX SOURCES
	port/posix/file.c)
ptrace_unit(CORE IF PORT_POSIX UNLESS TINY SOURCES
	core/process/forked.c)
ptrace_unit(CORE IF PORT_POSIX SOURCES
	port/posix/clock.c
	port/posix/mutex.c
	port/posix/owncalls.c
	port/posix/slotcas.c
	port/posix/threadids.c
	port/posix/counter.c)
# Never on: what a shared library alone has (cmake/libraries.cmake).
ptrace_unit(SHARED SOURCES
	port/posix/configuration.c)
ptrace_unit(TOLOG IF PORT_POSIX SOURCES
	port/posix/logout.c)
ptrace_unit(PORT_POSIX IF TOLOG FILE_STREAMS SOURCES
	port/posix/sysinfo.c)
ptrace_unit(FILE_STREAMS IF PORT_POSIX SOURCES
	port/posix/filemap.c)
ptrace_unit(LOG_SEAL IF PORT_POSIX SOURCES
	port/posix/crash.c)
ptrace_unit(PORT_POSIX IF POLICY_FLUSH ATTACH LOG_ENVIRONMENT SOURCES
	port/posix/ownthread.c)
ptrace_unit(ATTACH IF PORT_POSIX SOURCES
	port/posix/fileview.c
	port/posix/kept.c
	port/posix/local.c
	port/posix/message.c)

ptrace_unit(PORT IF PORT_BARE SOURCES
	port/bare/board.c
	port/bare/system.c)
ptrace_unit(PORT IF PORT_BARE UNLESS TINY SOURCES
	port/bare/storage.c
	port/bare/task.c)
ptrace_unit(TOLOG IF PORT_BARE SOURCES
	port/bare/logout.c)

ptrace_unit(CORE SOURCES
	core/control/attr.c)
ptrace_unit(CORE IF TINY SOURCES
	tiny/control.c
	tiny/emit.c
	tiny/names.c
	tiny/state.c)
ptrace_unit(RECORD_THREAD IF TINY SOURCES
	tiny/task.c)
ptrace_unit(LABELS IF TINY SOURCES
	tiny/label.c)
ptrace_unit(CORE UNLESS TINY SOURCES
	core/control/control.c
	core/read/consumer.c
	core/read/take.c
	core/control/shutdown.c
	core/control/status.c
	core/control/sysevent.c
	core/control/create.c
	core/process/directory.c
	core/record/slowpath.c
	core/record/emit.c
	core/read/lane.c
	core/process/process.c
	core/process/leaving.c
	core/process/threads.c
	core/ring/ring.c
	core/stream/block.c
	core/stream/places.c
	core/stream/stream.c
	core/stream/wanted.c)
ptrace_unit(INHERIT IF PORT_POSIX SOURCES
	port/posix/processes.c)
ptrace_unit(INHERIT SOURCES
	core/process/forks.c
	inherit/forks.c)
ptrace_unit(CORE IF LABELS UNLESS TINY SOURCES
	core/process/imageheader.c
	core/stream/streamheader.c)
ptrace_unit(FILE_STREAMS SOURCES
	core/process/replica.c
	blackbox/filestream.c
	blackbox/replica.c)
ptrace_unit(FILE_STREAMS IF USEREVENTS SOURCES
	blackbox/replica_names.c)
ptrace_unit(ATTACH SOURCES
	attach/connections.c
	attach/producer_directory.c
	attach/ctlsock.c
	attach/guest.c
	attach/producer.c
	attach/intake_lane.c
	attach/intake_pull.c
	attach/intake_put.c
	attach/producers.c
	attach/intake.c
	attach/name.c
	attach/intake_numbers.c
	core/stream/share.c)
ptrace_unit(ATTACH IF FILTER SOURCES
	attach/ask_filter.c)
ptrace_unit(ATTACH IF SNAPSHOT SOURCES
	attach/follow.c
	tolog/follow.c)
ptrace_unit(CORE IF SNAPSHOT SOURCES
	core/copy/copy.c)
ptrace_unit(CORE IF LANES SOURCES
	core/read/merge.c)
ptrace_unit(CORE IF POLICY_UNTIL_FULL POLICY_FLUSH POLICY_DISCARD SOURCES
	core/record/fullpolicy.c)
ptrace_unit(EXTENSIONS SOURCES
	core/control/query.c)
ptrace_unit(CORE IF USEREVENTS UNLESS TINY SOURCES
	core/process/names.c)

ptrace_unit(ONLINE IF TINY SOURCES
	tiny/online.c)
ptrace_unit(ONLINE UNLESS TINY SOURCES
	online/online.c)
ptrace_unit(ONLINE IF EXTENSIONS SOURCES
	online/events.c)

ptrace_unit(TOLOG SOURCES
	tolog/attr.c)
ptrace_unit(TOLOG IF TINY SOURCES
	tiny/line.c)
ptrace_unit(TOLOG UNLESS TINY SOURCES
	tolog/create.c
	tolog/fill.c
	tolog/finish.c
	tolog/flush.c
	tolog/output.c
	tolog/types.c)
ptrace_unit(TOLOG IF POLICY_FLUSH SOURCES
	tolog/flusher.c)
ptrace_unit(TOLOG IF LOG_APPEND LOG_UNTIL_FULL UNLESS TINY SOURCES
	tolog/sequential.c)
ptrace_unit(TOLOG IF LOG_ROTATE SOURCES
	port/posix/logfolder.c
	tolog/rotate.c
	tolog/rotate_now.c)
ptrace_unit(TOLOG IF LOG_LOOP SOURCES
	tolog/loop.c)
ptrace_unit(TOLOG IF LOG_LINE UNLESS TINY SOURCES
	tolog/line.c)
ptrace_unit(TOLOG IF LOG_LINK SOURCES
	tolog/link.c)
ptrace_unit(EXTENSIONS IF TOLOG UNLESS PORT_BARE SOURCES
	tolog/note.c)
ptrace_unit(TOLOG IF SNAPSHOT SOURCES
	tolog/snapshot.c)
ptrace_unit(TOLOG IF LOG_SEAL SOURCES
	tolog/seal.c
	tolog/seal_asked.c)
ptrace_unit(TOLOG IF LOG_ENVIRONMENT SOURCES
	port/posix/environment.c
	tolog/environment_value.c
	tolog/environment.c)
ptrace_unit(TOLOG UNLESS LOG_SEAL SOURCES
	tolog/seal_none.c)
ptrace_unit(TOLOG IF LOG_METADATA SOURCES
	tolog/describe.c)
ptrace_unit(TOLOG UNLESS LOG_METADATA TINY SOURCES
	tolog/describe_less.c)

ptrace_unit(USEREVENTS SOURCES
	userevents/event.c)
ptrace_unit(EXTENSIONS IF USEREVENTS UNLESS PORT_BARE SOURCES
	port/posix/threadstate.c
	userevents/dump.c)
ptrace_unit(EXTENSIONS IF USEREVENTS SOURCES
	userevents/point.c)
ptrace_unit(STACKS SOURCES
	port/posix/callers.c
	userevents/stack.c)

ptrace_unit(FILTER SOURCES
	filter/filter.c)
ptrace_unit(FILTER IF EXTENSIONS LOG_LINK SOURCES
	filter/group.c)
ptrace_unit(FILTER IF INSPECT SOURCES
	core/record/inspect.c
	filter/inspect.c)
ptrace_unit(EXTENSIONS UNLESS PORT_BARE SOURCES
	core/control/setclock.c)

ptrace_unit(SYSEVENTS SOURCES
	sysevents/event.c)

ptrace_unit(LOGRETRIEVAL SOURCES
	logretrieval/check.c
	logretrieval/clock.c
	logretrieval/files.c
	logretrieval/skipdamage.c
	logretrieval/lock.c
	logretrieval/loop.c
	logretrieval/info.c
	logretrieval/open.c
	logretrieval/next.c
	logretrieval/load.c
	logretrieval/seek.c
	logretrieval/tables.c
	logretrieval/views.c)

# A file that was forgotten here would be missing where nobody looks.
string(TOLOWER "${PXT_UNITS}" folders)
foreach(folder IN ITEMS format base port tiny ${folders})
	file(GLOB_RECURSE files RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.c")
	list(REMOVE_ITEM files ${PTRACE_LISTED})
	if(files)
		message(FATAL_ERROR "In no row of cmake/sources.cmake: ${files}")
	endif()
endforeach()
list(REMOVE_DUPLICATES PTRACE_SOURCES)
list(TRANSFORM PTRACE_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/")
list(TRANSFORM PTRACE_RETRIEVAL_SOURCES PREPEND "${PROJECT_SOURCE_DIR}/")
