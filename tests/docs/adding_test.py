#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/ADDING.md, applied to a copy of the sources: what they name is enough to build.

adding_test.py SOURCE CXX
"""
import pathlib
import re
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
        self.touched = set()
        for name in ("include", "platform", "src"):
            shutil.copytree(SOURCE / name, self.at / name)

    def write(self, path, text):
        """A new file."""
        self.assertFalse((self.at / path).exists(), path)
        (self.at / path).write_text(text)
        self.touched.add(path)

    def put(self, path, before, text):
        """Text in front of a line that the file has once."""
        old = (self.at / path).read_text()
        self.assertEqual(old.count(before), 1, f"{path}: {before}")
        (self.at / path).write_text(old.replace(before, text + before))
        self.touched.add(path)

    def named_in_recipe(self, name, **places):
        """The paths that a recipe has, with its <places> filled in."""
        page = (SOURCE / "docs/ADDING.md").read_text()
        recipe = re.search(rf"^\*\*{name}\.\*\*(.*?)^$", page, re.M | re.S).group(1)
        for place, text in places.items():
            recipe = recipe.replace(f"<{place}>", text)
        return {path for path in re.findall(r"`((?:src|include)/[^`]+)`", recipe)}

    def compiler(self, *arguments):
        done = subprocess.run([CXX, *FLAGS, "-Iinclude", "-Isrc", "-I.", *arguments], cwd=self.at, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[:3000])

    def runs(self, program, *sources):
        (self.at / "main.cpp").write_text(program)
        self.compiler("main.cpp", *sources, "-o", "program")
        self.assertEqual(subprocess.run([self.at / "program"]).returncode, 0)

    def test_a_format(self):
        """A kind of its own: bytes with all bits inverted, a scale for each unit, in targets named sample."""
        self.put("src/pack/panel_format.h", "kSmlad, kKMajor16 };", "kSample, ")
        self.put("src/pack/panel_formats.inc", "RNNPACK_GEMM_FAMILY(kGemmDot)", "RNNPACK_GEMM_FAMILY(kGemmSample)\n")
        self.put("src/pack/panel_formats.inc", "RNNPACK_PANEL_FORMAT(q8_nr16,",
                 "RNNPACK_PANEL_FORMAT(sample_nr16, 99, kI8, kI8, 16, 4, kSample, 0, pack_sample, kGemmSample)\n")
        self.write("src/pack/pack_sample.cpp", """#include "pack/pack.h"
namespace rnnp {
PackedMatrix pack_sample(const PanelFormat &f, const MatrixSource &s) {
  PackedMatrix out = pack_i8(f, s);
  for (uint8_t &byte : out.panels) byte = static_cast<uint8_t>(~byte);
  out.unit_sums.clear();
  return out;
}
}  // namespace rnnp
""")
        self.put("include/rnnpack/registry.h", "  X(gemm_q8_nr16) ", "  X(gemm_sample_nr16) \\\n")
        self.put("src/kernels/kernels.inc", "RNNPACK_KERNEL(gemm_i8_nr16_ref,",
                 "RNNPACK_KERNEL(gemm_sample_i8_nr16_ref, kGemmSample, kI8, 16, 0, gemm_sample_ref)\n")
        self.write("src/kernels/gemm_sample_ref.cpp", """#include "kernels/byte_rows_ref.h"
#include "kernels/gemm_ref.h"
#include "kernels/kernel_rows.h"
namespace rnnp {
namespace {
void gemm_sample(const GemmArgs *args) {
  constexpr size_t kKr = 4, kNr = 16;
  const size_t row = args->w.gates * kNr, padded_k = align_up(args->w.k, kKr);
  int8_t *bytes = static_cast<int8_t *>(args->scratch);
  for (uint32_t m = 0; m < args->rows; ++m) {
    const float step = ref_quantise_row(*args, ref_row(args->a, m, args->a_row_bytes), bytes);
    for (uint32_t tile = args->tile_begin; tile < args->tile_end; ++tile) {
      const uint8_t *panel = static_cast<const uint8_t *>(args->w.panels) + tile * padded_k * row;
      for (size_t n = 0; n < row && ref_is_written(*args, tile * row + n); ++n) {
        int32_t sum = 0;
        for (size_t k = 0; k < args->w.k; ++k)
          sum += bytes[k] * static_cast<int8_t>(~panel[(k / kKr * row + n) * kKr + k % kKr]);
        const float scale = args->w.scales[tile * row + n] * step;
        *ref_out(*args, m, tile, n, row) = __builtin_fmaf(static_cast<float>(sum), scale, ref_start(*args, m, tile, n, row));
      }
    }
  }
}
}  // namespace
#define RNNPACK_IN_gemm_sample_ref , RNNPACK_MAKE
#define RNNPACK_RUN(family, dtype, nr) gemm_sample
#include "kernels/kernel_objects.inc"
#undef RNNPACK_IN_gemm_sample_ref
}  // namespace rnnp
""")
        self.put("src/compiler/emit/panel_choice.cpp", '{"cortex-m4", 4,', '{"sample", 16, false, Scales::kSample}, ')
        self.put("src/compiler/verify/exact_product.cpp", "  return is_fixed_point(f) ? panels[place] - 128",
                 "  if (f.scales == Scales::kSample) return static_cast<int8_t>(~panels[place]);\n")
        named = self.named_in_recipe("A weight format", kind="sample")
        self.assertEqual(self.touched, named)
        self.assertLessEqual(len(named), 8)
        self.compiler("-c", "src/kernels/kernel_groups.cpp", "-o", "groups.o")
        packers = [str(path.relative_to(self.at)) for path in sorted((self.at / "src/pack").glob("pack*.cpp"))]
        self.runs("""#include "compiler/verify/exact_product.h"
#include "compiler/emit/panel_choice.h"
#include "kernels/gemm_families.h"
#include "kernels/kernel_rows.h"
#include "pack/pack.h"
using namespace rnnp;
int main() {
  constexpr uint32_t kGates = 3, kUnits = 20, kK = 7;
  float w[kGates * kUnits * kK], x[kK], out[2 * kGates * 16] = {}, expected[kGates * kUnits];
  uint32_t seed = 1;
  const auto fill = [&](float *to, size_t count) {
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<float>(static_cast<int32_t>(seed = seed * 1664525u + 1013904223u)) * 1e-9f;
  };
  fill(w, kGates * kUnits * kK);
  fill(x, kK);
  compiler::Storage storage;
  storage.type = DType::kI8;
  const PanelFormat f = compiler::panels_of(storage, compiler::panel_width("sample"), compiler::byte_scales("sample"));
  const Kernel &kernel = kKernel_gemm_sample_i8_nr16_ref;
  if (f.id != panel_format_id("sample_nr16") || gemm_family(f, kGates) != kernel.family) return 1;
  const PackedMatrix packed = pack_matrix(f, {w, kUnits, kK, 0, kGates});
  const Matrix m = {f, {kGates, kUnits, kK, kK}, 1, packed.panels.data(), packed.scales.data(), nullptr, nullptr, nullptr, 0, 0};
  alignas(64) uint8_t scratch[256];
  GemmArgs g = {};
  g.w.gates = kGates;
  g.w.panels = m.panels;
  g.w.scales = m.scales;
  g.w.k = kK;
  g.a = x;
  g.scratch = scratch;
  g.out = out;
  g.rows = 1;
  g.tile_end = 2;
  kernel.gemm(&g);
  if (!compiler::ExactMatrix::knows(m)) return 2;
  compiler::ExactMatrix(m, 0).multiply(x, nullptr, expected);
  for (uint32_t gate = 0; gate < kGates; ++gate) {
    for (uint32_t unit = 0; unit < kUnits; ++unit) {
      if (!(out[(unit / 16 * kGates + gate) * 16 + unit % 16] == expected[gate * kUnits + unit])) return 3;
    }
  }
  return expected[0] != 0.0f ? 0 : 4;
}
""", "src/kernels/gemm_sample_ref.cpp", "src/compiler/emit/panel_choice.cpp", "src/compiler/onnx/problem.cpp",
                  "src/compiler/verify/exact_product.cpp", *packers)

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
        self.put("src/compiler/inspect/blob_attributes.cpp", "Json document_of(const AttrState &a) {",
                 'Json document_of(const AttrSample &a) {\n  return {{"factor", a.factor}};\n}\n')
        for path in ("src/ops/sample.cpp", "src/runtime/explain.cpp", "src/runtime/registry.cpp", "src/cuda/cuda_registry.cpp"):
            self.compiler("-fsyntax-only", path)
        self.compiler("-fsyntax-only", "src/compiler/inspect/blob_attributes.cpp")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
