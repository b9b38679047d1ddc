# SPDX-License-Identifier: Apache-2.0
# The one table of instruction-set flags. A row, RNNPACK_ISA_<isa>_<arch>: the flags of <isa>'s files where the compiler produces
# <arch>: what turns the set on, and what keeps the next one explicitly off.
#
# rnnpack_isa_sources(<result> <isa> <files>...): when this target's architecture can have <isa>, gives the files their flags, defines
# RNNPACK_HAVE_<ISA> for the table of kernels and appends the files to <result>; else does nothing.
set(RNNPACK_ISA_avx2_x86 "-mavx2;-mfma;-mf16c;-mno-avx512f")
set(RNNPACK_ISA_avxvnni_x86 "-mavx2;-mfma;-mf16c;-mavxvnni;-mno-avx512f")
set(RNNPACK_ISA_avx512_x86 "-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mno-avx512vnni;-mno-avx512bf16;-mprefer-vector-width=512")
set(RNNPACK_ISA_avx512vnni_x86 "-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mprefer-vector-width=512")
set(RNNPACK_ISA_neon_aarch64 "")
set(RNNPACK_ISA_neondot_aarch64 "-march=armv8.2-a+dotprod")
set(RNNPACK_ISA_i8mm_aarch64 "-march=armv8.2-a+dotprod+i8mm")
set(RNNPACK_ISA_neon_armv7a "-mfpu=neon-vfpv4")
set(RNNPACK_ISA_vfpv4_armv7a "-mfpu=vfpv4")
set(RNNPACK_ISA_vfpv4_cortexm "")
set(RNNPACK_ISA_vfpv4_cortexmdsp "")
set(RNNPACK_ISA_dsp_cortexmdsp "")
set(RNNPACK_ISA_vfpv4_helium "")
set(RNNPACK_ISA_mve_helium "")
set(RNNPACK_ISA_rvv_riscv64 "-march=rv64gcv;-mllvm;-enable-misched=false")
set(RNNPACK_ISA_rvf_riscv64 "")
set(RNNPACK_ISA_rvf_riscvf "")
set(RNNPACK_ISA_simd128_wasm "")

# GCC for Windows keeps the stack on 16 bytes and still spills wide vectors with aligned moves; the assembler can undo that.
if(MINGW AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND RNNPACK_ISA_avx2_x86 -Wa,-muse-unaligned-vector-move)
  list(APPEND RNNPACK_ISA_avxvnni_x86 -Wa,-muse-unaligned-vector-move)
  list(APPEND RNNPACK_ISA_avx512_x86 -Wa,-muse-unaligned-vector-move)
  list(APPEND RNNPACK_ISA_avx512vnni_x86 -Wa,-muse-unaligned-vector-move)
endif()

# The architecture the compiler produces code for, asked from the compiler itself: toolchain files need not say it.
include(CheckCXXSourceCompiles)
set(RNNPACK_TARGET_ARCH generic)
function(rnnpack_probe_arch arch condition)
  string(TOUPPER RNNPACK_TARGET_${arch} variable)
  check_cxx_source_compiles("#if !(${condition})\n#error no\n#endif\nint main() {}" ${variable})
  if(${variable})
    set(RNNPACK_TARGET_ARCH ${arch} PARENT_SCOPE)
  endif()
endfunction()
rnnpack_probe_arch(x86 "defined(__x86_64__) || defined(__i386__)")
rnnpack_probe_arch(aarch64 "defined(__aarch64__)")
rnnpack_probe_arch(armv7a "defined(__arm__) && __ARM_ARCH == 7 && __ARM_ARCH_PROFILE == 'A' && defined(__ARM_PCS_VFP)")
rnnpack_probe_arch(cortexm "defined(__arm__) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4)")
rnnpack_probe_arch(cortexmdsp "defined(__arm__) && __ARM_ARCH_PROFILE == 'M' && defined(__ARM_FEATURE_FMA) && (__ARM_FP & 4) && defined(__ARM_FEATURE_DSP)")
rnnpack_probe_arch(helium "defined(__arm__) && defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 2)")
rnnpack_probe_arch(wasm "defined(__wasm_simd128__)")
rnnpack_probe_arch(riscvf "defined(__riscv_flen)")
# Vectors are spelt in clang's extensions: GCC 12 has no vectors for RISC-V.
rnnpack_probe_arch(riscv64 "defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_float_abi_double) && __clang_major__ >= 18")

# Compilers older than GCC 11 do not know it.
include(CheckCXXCompilerFlag)
if(RNNPACK_TARGET_X86)
  check_cxx_compiler_flag(-mavxvnni RNNPACK_COMPILER_HAS_AVXVNNI)
  if(NOT RNNPACK_COMPILER_HAS_AVXVNNI)
    unset(RNNPACK_ISA_avxvnni_x86)
  endif()
endif()

if(RNNPACK_TARGET_AARCH64)
  check_cxx_compiler_flag(-march=armv8.2-a+dotprod+i8mm RNNPACK_COMPILER_HAS_I8MM)
  if(NOT RNNPACK_COMPILER_HAS_I8MM)
    unset(RNNPACK_ISA_i8mm_aarch64)
  endif()
endif()

set(RNNPACK_ISA_DEFINES "")
function(rnnpack_isa_sources result isa)
  if(DEFINED RNNPACK_ISA_${isa}_${RNNPACK_TARGET_ARCH})
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${RNNPACK_ISA_${isa}_${RNNPACK_TARGET_ARCH}}")
    string(TOUPPER ${isa} upper)
    set(${result} ${${result}} ${ARGN} PARENT_SCOPE)
    set(RNNPACK_ISA_DEFINES ${RNNPACK_ISA_DEFINES} RNNPACK_HAVE_${upper}=1 PARENT_SCOPE)
  endif()
endfunction()
