# SPDX-License-Identifier: MIT
#
# RISC-V of 32 bits without an operating system: QEMU's board virt (-M virt).
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR rv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-march=rv32imac_zicsr -mabi=ilp32 --specs=picolibc.specs -fno-builtin-malloc")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(PTRACE_BOARD virt-rv32)
# The C library is there for this architecture; its name in the toolchain has no _zicsr.
set(PTRACE_BOARD_LINK -march=rv32imac -mabi=ilp32)
