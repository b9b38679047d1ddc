# The one table of instruction-set flags. A row: what turns the set on, and what keeps the next one explicitly off.
#
# rnnpack_isa_sources(<result> <isa> <files>...): when this target's architecture can have <isa>, gives the files their flags, defines
# RNNPACK_HAVE_<ISA> for the table of kernels and appends the files to <result>; else does nothing.
set(RNNPACK_ISA_avx2 "-mavx2;-mfma;-mno-avx512f")
set(RNNPACK_ISA_avx512 "-mavx2;-mfma;-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mno-avx512vnni;-mno-avx512bf16;-mprefer-vector-width=512")
set(RNNPACK_ISA_avx2_on x86)
set(RNNPACK_ISA_avx512_on x86)

# The architecture the compiler produces code for, asked from the compiler itself: toolchain files need not say it.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#if !(defined(__x86_64__) || defined(__i386__))\n#error no\n#endif\nint main() {}" RNNPACK_TARGET_X86)
set(RNNPACK_TARGET_ARCH generic)
if(RNNPACK_TARGET_X86)
  set(RNNPACK_TARGET_ARCH x86)
endif()

set(RNNPACK_ISA_DEFINES "")
function(rnnpack_isa_sources result isa)
  if(RNNPACK_ISA_${isa}_on STREQUAL RNNPACK_TARGET_ARCH)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${RNNPACK_ISA_${isa}}")
    string(TOUPPER ${isa} upper)
    set(${result} ${${result}} ${ARGN} PARENT_SCOPE)
    set(RNNPACK_ISA_DEFINES ${RNNPACK_ISA_DEFINES} RNNPACK_HAVE_${upper}=1 PARENT_SCOPE)
  endif()
endfunction()
