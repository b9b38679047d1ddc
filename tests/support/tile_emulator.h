// tile_emulator.h -- tests of AMX on CPUs without it: its instructions trap, and a signal handler does what the manual says they
// do. What is tested is the machine code of the library. Linux on x86-64. SPDX-License-Identifier: Apache-2.0
#ifndef RNNPACK_TESTS_SUPPORT_TILE_EMULATOR_H_
#define RNNPACK_TESTS_SUPPORT_TILE_EMULATOR_H_

#include <cstdint>

namespace rnnp {

// From now on tile instructions run: by the CPU where this process may use them, else by the handler. False where they cannot.
bool make_tiles_run();

// Of the calling thread, where they are emulated: whether tiles are configured, and how many products of tiles there were.
bool tiles_are_emulated();
bool tiles_are_in_use();
uint64_t tile_products();
// Of all threads: how often tiles were configured.
uint64_t tile_configurations();

}  // namespace rnnp
#endif  // RNNPACK_TESTS_SUPPORT_TILE_EMULATOR_H_
