# SPDX-License-Identifier: Apache-2.0
# CMake 3.25 does not know the system WASI. Programs are single static modules.
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS FALSE)
