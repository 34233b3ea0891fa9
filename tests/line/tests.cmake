# SPDX-License-Identifier: MIT
#
# Logs that the tools write, and the line between a target and `pxtrace receive`.
set(line_writer ../tools/logblocks.c ../tools/logturn.c ../tools/logwrite.c)
ptrace_test(logwrite NEEDS TOLOG LOGRETRIEVAL SOURCES line/logwrite.c ${line_writer})
