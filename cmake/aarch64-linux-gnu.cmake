# SPDX-License-Identifier: MIT
#
# AArch64 Linux; its programs run under qemu where the build's own machine is another one.
# -DPXT_QEMU_CPU=...: the processor to imitate (a57: without LSE2 and LSE).

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
find_program(PXT_QEMU qemu-aarch64)
if(PXT_QEMU)
	set(PXT_QEMU_CPU max CACHE STRING "Processor that qemu imitates")
	set(CMAKE_CROSSCOMPILING_EMULATOR "${PXT_QEMU};-cpu;${PXT_QEMU_CPU};-L;/usr/aarch64-linux-gnu")
endif()
