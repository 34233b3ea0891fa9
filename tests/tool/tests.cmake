# SPDX-License-Identifier: MIT
#
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
	endif()
	add_executable(pingpong tool/pingpong.c)
	target_link_libraries(pingpong PRIVATE ptrace_build)
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
