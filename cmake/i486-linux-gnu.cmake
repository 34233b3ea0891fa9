# SPDX-License-Identifier: MIT
#
# A 32-bit processor without 64-bit atomics.  An x86-64 kernel runs its programs, which find loader
# and C library where the compiler found them: no cross compilation for CMake, so tests are run.

set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-march=i486 -mtune=generic")
set(root /usr/i686-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--dynamic-linker=${root}/lib/ld-linux.so.2 -Wl,-rpath,${root}/lib")
set(CMAKE_FIND_ROOT_PATH ${root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
