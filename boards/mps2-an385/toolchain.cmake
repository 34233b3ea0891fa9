# SPDX-License-Identifier: MIT
#
# Cortex-M3 of the MPS2 board with image AN385, which QEMU plays (-M mps2-an385).
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/arm-none-eabi.cmake")
set(PTRACE_BOARD mps2-an385)
