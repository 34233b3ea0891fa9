# SPDX-License-Identifier: MIT
ptrace_test(points SOURCES test_points.c points/other.c)
if(PXT_USEREVENTS AND NOT CMAKE_CROSSCOMPILING)
	add_test(NAME points_left_out COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/off.sh"
		"${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}" -- "${CMAKE_C_COMPILER}")
	add_test(NAME points_refused COMMAND sh "${CMAKE_CURRENT_LIST_DIR}/refused.sh"
		"${PROJECT_SOURCE_DIR}/include" "${PTRACE_PUBLIC_DIR}" -- "${CMAKE_C_COMPILER}")
endif()
