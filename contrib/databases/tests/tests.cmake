# SPDX-License-Identifier: MIT
#
# The ten questions of contrib/databases/README.md, asked of every engine that is installed, and of pxtrace.
if(TARGET pxtrace AND PXT_TOLOG AND PXT_RECORD_THREAD AND PXT_RECORD_ADDRESS AND NOT CMAKE_CROSSCOMPILING)
	add_executable(mkfleet "${CMAKE_CURRENT_LIST_DIR}/mkfleet.c")
	target_link_libraries(mkfleet PRIVATE ptrace_build ptrace_static)
	target_include_directories(mkfleet PRIVATE "${PROJECT_SOURCE_DIR}" "${PTRACE_PORT_DIR}"
		"${PTRACE_PRIVATE_DIR}")
	# With --full, which installs the engines.  A "check": it says the same in every build, so one is enough.
	if(PTRACE_CHECKS STREQUAL "full")
		add_test(NAME data.engines_and_pxtrace_agree_on_a_fleet COMMAND "${PTRACE_PYTHON}"
			"${CMAKE_CURRENT_LIST_DIR}/fleet.py" --pxtrace "$<TARGET_FILE:pxtrace>"
			--mkfleet "$<TARGET_FILE:mkfleet>" --targets 100 --events 5000)
		set_tests_properties(data.engines_and_pxtrace_agree_on_a_fleet PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1500
			LABELS "check;data")
	endif()
	add_test(NAME data.lock_file_names_versions_but_no_registry COMMAND "${PTRACE_PYTHON}"
		"${CMAKE_CURRENT_LIST_DIR}/lockfile.py" "${CMAKE_CURRENT_LIST_DIR}/../package-lock.json")
	set_tests_properties(data.lock_file_names_versions_but_no_registry PROPERTIES LABELS "check;data")
endif()
