# SPDX-License-Identifier: MIT
#
# A program that leaves its memory behind, for tests/tool/recover.sh.
if(PXT_LABELS AND PXT_ONLINE AND PXT_USEREVENTS AND PXT_POLICY_LOOP AND PXT_POLICY_UNTIL_FULL AND
		NOT CMAKE_CROSSCOMPILING_EMULATOR)
	add_executable(recover_leave recover/leave.c)
	target_link_libraries(recover_leave PRIVATE ptrace_build ptrace_static)
endif()
if(PXT_FILE_STREAMS AND PXT_ONLINE AND PXT_USEREVENTS AND PXT_POLICY_LOOP AND PXT_POLICY_UNTIL_FULL AND
		NOT CMAKE_CROSSCOMPILING_EMULATOR)
	add_executable(recover_box recover/box.c)
	target_link_libraries(recover_box PRIVATE ptrace_build ptrace_static)
endif()
