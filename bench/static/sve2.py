#!/usr/bin/env python3
"""sve2.py FOLDER: inner loops of the AArch64 kernels, whose objects lie in FOLDER, beside the same tiles in instructions that are not
built: cycles per multiply-add by llvm-mca's models. Prints the table of bench/notebook/kernels.md.
SPDX-License-Identifier: Apache-2.0"""
import re
import subprocess
import sys

import loops

# What the model runs -> bits of its SVE vectors.
CPUS = {'neoverse-n2': 128, 'neoverse-v1': 256, 'neoverse-v2': 128, 'a64fx': 512}
END = ['cmp x1, x2', 'b.ne start']


def built(object_file, function, multiply_add):
    """The loop with the most of these instructions."""
    bodies = [body for name, body in loops.disassemble(loops.TARGETS['neon'], object_file).items() if re.search(function, name)]
    count = lambda loop: sum(1 for i in loop if re.match(multiply_add, i[1]))
    return loops.source(max((loop for body in bodies for loop in loops.loops(body)), key=count)).splitlines()[1:]


def tile_f32():
    """6 rows, 4 vectors, 4 k: the built loop's loads and multiply-adds."""
    lines = [f'ld1rqw {{z{m}.s}}, p0/z, [x{10 + m}, x1, lsl #2]' for m in range(6)] + ['add x1, x1, #4']
    for k in range(4):
        for v in range(4):
            lines += [f'ld1w {{z{6 + v % 2}.s}}, p0/z, [x0, #{4 * k + v - 8}, mul vl]']
            lines += [f'fmla z{8 + 4 * m + v}.s, z{6 + v % 2}.s, z{m}.s[{k}]' for m in range(6)]
    return lines + ['add x0, x0, x3'] + END


def tile_i8():
    """4 rows, 4 vectors of units, 8 k."""
    lines = [f'ld1rqb {{z{m}.b}}, p0/z, [x{10 + m}, x1]' for m in range(2)] + ['add x1, x1, #16']
    for v in range(4):
        lines += [f'ld1b {{z{2 + i}.b}}, p0/z, [x0, #{2 * v + i - 4}, mul vl]' for i in range(2)]
        lines += [f'zip{i + 1} z{4 + i}.s, z2.s, z3.s' for i in range(2)]
        lines += [f'smmla z{8 + 4 * v + 2 * i + m}.s, z{m}.b, z{4 + i}.b' for i in range(2) for m in range(2)]
    return lines + ['add x0, x0, x3'] + END


def tile_bf16(rows):
    """4 vectors of units, 2 k: even and odd k apart."""
    lines = [f'ld1rw {{z{m}.s}}, p0/z, [x{10 + m}, #0]' for m in range(rows)] + ['add x1, x1, #4']
    for v in range(4):
        lines += [f'ld1h {{z{2 + v}.h}}, p0/z, [x0, #{v}, mul vl]']
        lines += [f'bfmlal{letter} z{8 + 8 * m + 2 * v + half}.s, z{2 + v}.h, z{m}.h[{half}]' for m in range(rows)
                  for half, letter in enumerate('bt')]
    return lines + ['add x0, x0, x3'] + END


def tile_bf16_sums(instruction):
    """2 rows, 4 vectors of units: 2 k by BFDOT, 4 k of units side by side by BFMMLA. Other bits."""
    if instruction == 'bfdot':
        lines = [f'ldr s{m}, [x{10 + m}, x1]' for m in range(2)] + ['add x1, x1, #4', 'ldp q2, q3, [x0]', 'ldp q4, q5, [x0, #32]']
        lines += [f'bfdot v{8 + 4 * m + v}.4s, v{2 + v}.8h, v{m}.2h[0]' for v in range(4) for m in range(2)]
    else:
        lines = ['ldr q0, [x10, x1]', 'add x1, x1, #16'] + [f'ldp q{2 + 2 * i}, q{3 + 2 * i}, [x0, #{32 * i}]' for i in range(4)]
        lines += [f'bfmmla v{16 + v}.4s, v0.8h, v{2 + v}.8h' for v in range(8)]
    return lines + ['add x0, x0, x3'] + END


def cycles(cpu, lines):
    """Cycles of one pass; None where the model's CPU has not the instructions."""
    attributes = '' if cpu == 'a64fx' else '+bf16,+i8mm,+sve'
    command = ['llvm-mca-19', '-mtriple=aarch64', f'-mcpu={cpu}', f'-mattr={attributes}', f'-iterations={loops.ITERATIONS}']
    done = subprocess.run(command, input='\n'.join(['start:'] + lines), capture_output=True, text=True)
    total = re.search(r'Total Cycles:\s+(\d+)', done.stdout)
    return int(total.group(1)) / loops.ITERATIONS if total else None


def main():
    at = lambda name: f'{sys.argv[1]}/{name}.cpp.o'
    rows = (
        ('f32, 6 rows', 'FMLA, built', built(at('block_neon'), r'block<.*PanelF32, 6, 1, 4', 'fmla'), 4 * 96, False),
        ('f32, 6 rows', 'FMLA, SVE', tile_f32(), 4 * 96, True),
        ('int8, 4 rows', 'SMMLA, built', built(at('gemm_i8_i8mm'), r'pair_block<.*4>', 'smmla'), 512, False),
        ('int8, 4 rows', 'SMMLA, SVE', tile_i8(), 512, True),
        ('bf16, 1 row', 'FMLA, built', built(at('gemm_dot_neon'), r'run_dot_block<1, 2>', 'fmla'), 64, False),
        ('bf16, 1 row', 'BFMLALB/T, built', built(at('gemm_dot_neonbf16'), r'run_dot_block<1, 2>', 'bfmlal'), 64, False),
        ('bf16, 2 rows', 'FMLA, built', built(at('gemm_dot_neon'), r'run_dot_block<2, 1>', 'fmla'), 64, False),
        ('bf16, 2 rows', 'BFMLALB/T, built', built(at('gemm_dot_neonbf16'), r'run_dot_block<2, 1>', 'bfmlal'), 64, False),
        ('bf16, 2 rows', 'BFMLALB/T, SVE', tile_bf16(2), 64, True),
        ('bf16, 2 rows', 'BFDOT, other bits', tile_bf16_sums('bfdot'), 64, False),
        ('bf16, 2 rows', 'BFMMLA, other bits', tile_bf16_sums('bfmmla'), 128, False),
    )
    print('| tile | instruction | instructions | multiply-adds | ' + ' | '.join(CPUS) + ' |')
    print('|---|---|--:|--:|' + '--:|' * len(CPUS))
    for tile, name, lines, macs, scalable in rows:
        cells = []
        for cpu, bits in CPUS.items():
            taken = cycles(cpu, lines)
            cells.append(f'{taken / (macs * (bits // 128 if scalable else 1)):.4f}' if taken else '--')
        print(f'| {tile} | {name} | {len(lines)} | {macs} | ' + ' | '.join(cells) + ' |')


main()
