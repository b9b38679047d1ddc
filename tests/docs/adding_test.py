#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/ADDING.md, applied to a copy of the sources: what they name is enough to build.

adding_test.py SOURCE CXX
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, CXX = pathlib.Path(sys.argv[1]), sys.argv[2]
FLAGS = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-DRNNPACK_REFERENCE_KERNELS", "-DRNNPACK_MANY_THREADS"]


class Adding(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        for name in ("include", "platform", "src"):
            shutil.copytree(SOURCE / name, self.at / name)

    def put(self, path, before, text):
        """Text in front of a line that the file has once."""
        old = (self.at / path).read_text()
        self.assertEqual(old.count(before), 1, f"{path}: {before}")
        (self.at / path).write_text(old.replace(before, text + before))

    def compiler(self, *arguments):
        done = subprocess.run([CXX, *FLAGS, "-Iinclude", "-Isrc", "-I.", *arguments], cwd=self.at, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[:3000])

    def runs(self, program, *sources):
        (self.at / "main.cpp").write_text(program)
        self.compiler("main.cpp", *sources, "-o", "program")
        self.assertEqual(subprocess.run([self.at / "program"]).returncode, 0)

    def test_a_format(self):
        self.put("src/pack/panel_formats.inc", "RNNPACK_PANEL_FORMAT(q8_nr16,",
                 "RNNPACK_PANEL_FORMAT(sample_nr16, 99, kF16, kF32, 16, 1, kUnscaled, 0, pack_sample)\n")
        self.put("include/rnnpack/registry.h", "  X(gemm_q8_nr16) ", "  X(gemm_sample_nr16) \\\n")
        (self.at / "src/pack/pack_sample.cpp").write_text('#include "pack/pack.h"\nnamespace rnnp {\nPackedMatrix pack_sample('
                                                          "const PanelFormat &f, const MatrixSource &s) { return pack_f16(f, s); }\n}\n")
        self.compiler("-c", "src/kernels/kernel_groups.cpp", "-o", "groups.o")
        packers = [str(path.relative_to(self.at)) for path in sorted((self.at / "src/pack").glob("pack*.cpp"))]
        self.runs('#include "pack/pack.h"\nint main() {\n  const float w[3] = {1, 2, 3};\n'
                  '  const rnnp::PanelFormat f = rnnp::find_panel_format(rnnp::panel_format_id("sample_nr16"));\n'
                  "  return f.id == 99 && rnnp::pack_matrix(f, {w, 1, 3, 0, 1}).panels.size() == 96 ? 0 : 1;\n}\n", *packers)

    def test_an_instruction_set(self):
        self.put("include/rnnpack/rnnpack.h", "#define RNNP_ISA_REFERENCE_ONLY", "#define RNNP_ISA_SAMPLE (1u << 30)\n")
        self.put("src/base/isa.inc", "// The integer SIMD of Cortex-M", """#ifdef RNNPACK_ISA
RNNPACK_ISA(SAMPLE, SAMPLE, "sample", RNNP_ISA_RVF, "x86 -msse2", "", )
#elif defined(__SAMPLE__)
#define RNNPACK_COMPILED_SAMPLE 1
#define RNNPACK_HAVE_SAMPLE 1
#endif
""")
        self.runs('#include <string.h>\n#include "base/isa_closure.h"\n#include "platform/isa_of_cpu.h"\n#include "base/compiled_isa.h"\n'
                  "int main() {\n  const bool known = (rnnp::isa_of_cpu() | rnnp::kCompiledIsa) & RNNP_ISA_SAMPLE;\n"
                  '  return !known && strcmp(rnnp_isa_name(RNNP_ISA_SAMPLE), "sample") == 0 &&\n'
                  "    rnnp::isa_closure(RNNP_ISA_SAMPLE) == (RNNP_ISA_SAMPLE | RNNP_ISA_RVF) ? 0 : 1;\n}\n", "src/runtime/status.cpp")

    def test_an_operator(self):
        rows = (self.at / "src/format/ops.inc").read_text()
        row = 'RNNPACK_KIND(kSample, 20, AttrSample, "sample", "Sample", RNNPACK_NOT_ON_CUDA("a sample has no kernel on a GPU"))\n'
        (self.at / "src/format/ops.inc").write_text(rows + row)
        self.put("src/format/blob_attrs.h", "struct AttrTimeStep {", "struct AttrSample {\n  uint32_t factor;\n};\n\n")
        self.put("include/rnnpack/registry.h", "  X(time_reverse) ", "  X(sample) \\\n")
        (self.at / "src/ops/sample.cpp").write_text("""#include "ops/op.h"
namespace rnnp {
namespace {
rnnp_status check(const Model &m, const BlobNode &node) {
  return m.attr<AttrSample>(node) != nullptr && is_elementwise(m, node) ? RNNP_OK : RNNP_E_BLOB_CORRUPT;
}
void run(const RunEnv &, const BlobNode &, void *, uint32_t) {}
}  // namespace
RNNPACK_OP(sample, {OpKind::kSample, nullptr, check, nullptr, keep_attr<AttrSample>, nullptr, run});
}  // namespace rnnp
""")
        self.put("src/compiler/cli/blob_attributes.cpp", "Json document_of(const AttrState &a) {",
                 'Json document_of(const AttrSample &a) {\n  return {{"factor", a.factor}};\n}\n')
        for path in ("src/ops/sample.cpp", "src/runtime/explain.cpp", "src/runtime/registry.cpp", "src/cuda/cuda_registry.cpp"):
            self.compiler("-fsyntax-only", path)
        self.compiler("-fsyntax-only", "src/compiler/cli/blob_attributes.cpp")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
