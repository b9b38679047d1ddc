# SPDX-License-Identifier: Apache-2.0
# What the bare-metal toolchains share: picolibc with semihosting as C library and startup, so that a program needs no board files and
# its exit status is the emulator's. The caller has set RNNPACK_TRIPLE, RNNPACK_CPU_FLAGS, RNNPACK_MEMORY (flash origin and size, RAM
# origin and size) and RNNPACK_QEMU.
set(CMAKE_SYSTEM_NAME Generic)
set(RNNPACK_C_ONLY ON)
set(CMAKE_C_COMPILER ${RNNPACK_TRIPLE}-gcc)
set(CMAKE_CXX_COMPILER ${RNNPACK_TRIPLE}-g++)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_EXECUTABLE_SUFFIX .elf)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

# Frames and calls go into .su and .ci files beside the objects (tests/device/check_stack.py, firmware/count/stack_bound.py). ccache keeps
# no .ci files: what it restores would leave the graph without the calls of that file, and the bound on the stack too small.
set(CMAKE_C_COMPILER_LAUNCHER "")
set(CMAKE_CXX_COMPILER_LAUNCHER "")
set(flags "--specs=picolibc.specs ${RNNPACK_CPU_FLAGS} -fstack-usage -fcallgraph-info=su")
set(CMAKE_C_FLAGS_INIT "${flags}")
set(CMAKE_CXX_FLAGS_INIT "${flags}")
list(GET RNNPACK_MEMORY 0 flash)
list(GET RNNPACK_MEMORY 1 flash_size)
list(GET RNNPACK_MEMORY 2 ram)
list(GET RNNPACK_MEMORY 3 ram_size)
string(CONCAT CMAKE_EXE_LINKER_FLAGS_INIT "--oslib=semihost --crt0=semihost -Tpicolibc.ld -Wl,--gc-sections"
  " -Wl,--defsym=__flash=${flash} -Wl,--defsym=__flash_size=${flash_size}"
  " -Wl,--defsym=__ram=${ram} -Wl,--defsym=__ram_size=${ram_size} -Wl,--defsym=__stack_size=0x2000")

set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/qemu-bare.sh ${RNNPACK_QEMU} -kernel)
