# SPDX-License-Identifier: MIT
#
# Each function of cases.sh that is a test (all behind the helpers: names with three words or more)
# is a CTest of its own.
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS)
	add_executable(mklog tool/mklog.c)
	target_link_libraries(mklog PRIVATE ptrace_build ptrace_static)
	target_include_directories(mklog PRIVATE "${PROJECT_SOURCE_DIR}" "${PTRACE_PORT_DIR}"
		"${PTRACE_PRIVATE_DIR}")
	ptrace_program(tool_pxtrace pxtrace)
	ptrace_program(tool_mklog mklog)
	set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
		"${CMAKE_CURRENT_SOURCE_DIR}/tool/cases.sh")
	file(STRINGS tool/cases.sh functions REGEX "^[a-z0-9]+(_[a-z0-9]+)(_[a-z0-9]+)+\\(\\)$")
	foreach(function IN LISTS functions)
		string(REPLACE "()" "" case "${function}")
		add_test(NAME tool.${case} COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/tool/cases.sh"
			"${tool_pxtrace}" "${tool_mklog}" "${PROJECT_SOURCE_DIR}/tests/golden" ${case})
		set_tests_properties(tool.${case} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60 LABELS tool)
	endforeach()
	if(NOT CMAKE_CROSSCOMPILING)
		add_test(NAME tool.the_example_of_the_readme_works COMMAND sh "${CMAKE_CURRENT_SOURCE_DIR}/tool/readme.sh"
			"${PROJECT_SOURCE_DIR}/README.md" "$<TARGET_FILE:pxtrace>" "${CMAKE_C_COMPILER}${CMAKE_C_COMPILER_ARG1}"
			"-I${PROJECT_SOURCE_DIR}/include" "-I${PTRACE_PUBLIC_DIR}" "$<TARGET_FILE:ptrace_static>" -pthread)
		set_tests_properties(tool.the_example_of_the_readme_works PROPERTIES TIMEOUT 60 LABELS tool)
	endif()
endif()
