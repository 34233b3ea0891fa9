# SPDX-License-Identifier: MIT
#
# Another Core than this build's: scripts/check-tiny.py builds and runs it (check "tiny").
set_property(GLOBAL APPEND PROPERTY PTRACE_TEST_FILES "${CMAKE_CURRENT_SOURCE_DIR}/tiny/tiny.c")
