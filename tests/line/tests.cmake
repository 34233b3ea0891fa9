# SPDX-License-Identifier: MIT
#
# Logs that the tools write, and the line between a target and `pxtrace receive`.
set(line_writer ../tools/output/finalname.c ../tools/output/openfile.c ../tools/packed/packed.c ../tools/packed/packed_none.c ../tools/write/logblocks.c ../tools/write/logswap.c ../tools/write/logwrite.c ../tools/output/writeall.c)
ptrace_test(logwrite NEEDS TOLOG LOGRETRIEVAL SOURCES line/logwrite.c ${line_writer})
set(line_receiver ../tools/link/frame.c ../tools/receive/receiver.c ../tools/receive/known.c ../tools/receive/plain.c ../tools/receive/run.c
	../tools/output/lossnote.c)
ptrace_test(line_damage NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS POLICY_LOOP
	SOURCES line/damage.c line/capture.c ${line_receiver} ${line_writer})
if(PXT_LOG_LINE AND PXT_LOG_NOTES AND PXT_USEREVENTS AND PXT_POLICY_LOOP AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
	add_executable(line_target line/target.c)
	target_link_libraries(line_target PRIVATE ptrace_build ptrace_static)
endif()
add_test(NAME line.budget COMMAND "${PTRACE_PYTHON}" "${CMAKE_CURRENT_SOURCE_DIR}/line/budget.py")
ptrace_test(line_faults FAKES NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS POLICY_LOOP SYSEV_START_STOP
	SOURCES line/faults.c ${line_receiver} ${line_writer})
ptrace_test(line_frames NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS
	SOURCES line/frames.c ${line_receiver} ${line_writer})
ptrace_test(line_hostile NEEDS LOG_LINE LOGRETRIEVAL USEREVENTS POLICY_LOOP
	SOURCES line/hostile.c line/forge.c line/capture.c ${line_receiver} ${line_writer})
