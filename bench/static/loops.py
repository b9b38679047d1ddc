#!/usr/bin/env python3
# loops.py -- static figures of the inner loops: instructions and estimated cycles per multiply-add, and the limit beside them.
# For each case: the loop with the most multiply-adds in a kernel's disassembly goes through llvm-mca's model of a CPU. The limit is
# the same model's time for the loop's multiply-adds alone, its weight loads alone, or both and the loads
# of factors in turn with none waiting for another, whichever is longest.
# SPDX-License-Identifier: Apache-2.0
import dataclasses
import re
import subprocess
import sys

ITERATIONS = 100
# A conditional branch, or the end of a low-overhead loop.
BRANCH = r'(b\.?(eq|ne|cs|hs|cc|lo|mi|pl|hi|ls|ge|lt|gt|le|any|none)(\.[nw])?|cbn?z|le|beqz|bnez|bltu?|bgeu?)$'


@dataclasses.dataclass
class Target:
    """How one instruction set is disassembled and modelled."""
    triple: str
    attributes: str
    objdump: list
    lanes: int          # multiply-adds of one fused instruction
    multiply_add: str   # its mnemonics
    weight_loads: tuple  # the ways to load weights: (instruction with registers {r} and {s}, weights it loads)
    alone: str          # one multiply-add into register {r}
    factor_load: str    # one load of factors
    factors: int        # how many it loads


TARGETS = {
    'neon': Target('aarch64', '', ['aarch64-linux-gnu-objdump'], 4, r'fmla$', (('ldp q{r}, q{s}, [x1, #{offset}]', 8), ('ldr q{r}, [x1, #{offset}]', 4)),
                   'fmla v{r}.4s, v31.4s, v30.s[0]', 'ldr q29, [x2]', 4),
    'vfpv4': Target('thumbv7em-none-eabihf', '', ['arm-none-eabi-objdump'], 1, r'vfma\.f32$', (('vldmia r1, {{s16-s23}}', 8), ('vldmia r1, {{s16-s27}}', 12), ('vldr d{r}, [r1, #{offset}]', 2)),
                    'vfma.f32 s{r}, s31, s30', 'vldmia r2, {{s24-s27}}', 4),
    'mve': Target('thumbv8.1m.main-none-eabihf', '+mve.fp', ['arm-none-eabi-objdump', '-m', 'armv8.1-m.main'], 4, r'vfma\.f32$',
                  (('vldrw.u32 q{r}, [r1, #{offset}]', 4),), 'vfma.f32 q{r}, q7, r2', 'ldm r0, {{r3, r4, r5, r6, r8, r9, r10, r11}}', 8),
    'rvv': Target('riscv64', '+v', ['llvm-objdump-19', '--mattr=+v'], 16, r'vfm(acc|add)\.vf$', (('vle32.v v{r}, (a1)', 16),),
                  'vfmacc.vf v{r}, fa5, v28', 'flw fa0, 0(a2)', 1),
}
# Registers that hold sums and weights in the streams of the limits (vfpv4's weights in pairs).
SUMS = {'neon': 24, 'vfpv4': 16, 'mve': 4, 'rvv': 4}
LOADED = {'neon': range(24, 30), 'vfpv4': range(8, 15), 'mve': range(4, 7), 'rvv': range(4, 7)}


@dataclasses.dataclass
class Case:
    label: str
    isa: str
    object_file: str
    function: str  # a regular expression
    rows: int      # rows of factors in a pass
    width: int     # weights of one k in a pass
    cpus: tuple


def cases(folder):
    arm64 = ('cortex-a55', 'cortex-a76', 'neoverse-n1')
    neon = lambda label, file, function, rows, width: Case(label, 'neon', f'{folder}/{file}_neon.o', function, rows, width, arm64)
    yield neon('LSTM, 1 row', 'recur', r'LstmCell, 16>::fused<1>', 1, 64)
    yield neon('GRU, 1 row', 'recur', r'GruLinearCell, 16>::fused<1>', 1, 48)
    yield neon('RNN, 1 row, 3 tiles', 'recur', r'RnnTanhCell, 16>::fused<3>', 1, 48)
    yield neon('gemm, 4 gates, 6 rows', 'gemm', r'Gemm<16, 4>::block<6, 1>', 6, 16)
    yield neon('gemm, 3 gates, 6 rows', 'gemm', r'Gemm<16, 3>::block<6, 1>', 6, 16)
    for width, label in ((16, 'LSTM'), (12, 'GRU'), (8, 'GRU gates'), (4, 'RNN, dense')):
        yield Case(label, 'vfpv4', f'{folder}/panel_vfpv4.o', rf'panel_sum{width}_vfpv4', 1, width, ('cortex-m4', 'cortex-m7'))
    for width, label, cell in ((16, 'LSTM', 'LstmMve'), (12, 'GRU', 'GruLinearMve'), (4, 'RNN', 'TanhMve')):
        yield Case(label, 'mve', f'{folder}/recur_mve.o', rf'recur_mve<.*{cell}', 1, width, ('cortex-m55',))
    yield Case('dense', 'mve', f'{folder}/panel_mve.o', r'panel_sum4_mve', 1, 4, ('cortex-m55',))
    yield Case('LSTM, 1 row', 'rvv', f'{folder}/recur_rvv.o', r'LstmCell, 16>::fused<1>', 1, 64, ('sifive-x280',))
    yield Case('GRU, 1 row', 'rvv', f'{folder}/recur_rvv.o', r'GruLinearCell, 16>::fused<1>', 1, 48, ('sifive-x280',))
    yield Case('gemm, 4 gates, 3 rows', 'rvv', f'{folder}/gemm_rvv.o', r'Gemm<16, 4>::block<3, 1>', 3, 32, ('sifive-x280',))


def disassemble(target, object_file):
    """Function name -> [(address, mnemonic, operands)]."""
    text = subprocess.run([*target.objdump, '-dC', '--no-show-raw-insn', object_file], check=True, capture_output=True, text=True)
    functions, current = {}, None
    for line in text.stdout.splitlines():
        heading = re.match(r'^([0-9a-f]+) <(.*)>:$', line)
        if heading:
            if not heading.group(2).startswith('.L'):
                current = functions.setdefault(heading.group(2), [])
            continue
        instruction = re.match(r'^\s*([0-9a-f]+):\s+(\S+)\s*(.*)$', line)
        if instruction and current is not None:
            operands = re.split(r'\s*(?://|@ )', instruction.group(3))[0].strip()
            current.append((int(instruction.group(1), 16), instruction.group(2), operands))
    return functions


def loops(body):
    """The innermost loops: lists of instructions that end in a branch back to the first."""
    index = {address: i for i, (address, _, _) in enumerate(body)}
    found = []
    for i, (_, mnemonic, operands) in enumerate(body):
        to = re.search(r'(?:^|[ ,])(?:0x)?([0-9a-f]+) <', operands)
        if to and re.match(BRANCH, mnemonic):
            start = index.get(int(to.group(1), 16))
            if start is not None and start <= i:
                found.append((start, i))
    inner = [a for a in found if not any(b != a and b[0] >= a[0] and b[1] <= a[1] for b in found)]
    return [body[start:end + 1] for start, end in inner]


def source(loop):
    """A loop as assembler text; the branch goes to its own start."""
    lines = ['start:']
    for _, mnemonic, operands in loop:
        if mnemonic == 'le':  # no model has it; it costs nothing on the CPUs that do
            continue
        lines.append(f'{mnemonic} ' + re.sub(r'(?:0x)?[0-9a-f]+ <.*>', 'start', operands))
    return '\n'.join(lines) + '\n'


def cycles(target, cpu, text):
    """Cycles per pass over `text`, by llvm-mca; None when it has no such model."""
    command = ['llvm-mca-19', f'-mtriple={target.triple}', f'-mcpu={cpu}', f'-iterations={ITERATIONS}']
    if target.attributes:
        command.append(f'-mattr={target.attributes}')
    if target.triple == 'riscv64':
        text = 'vsetivli zero, 16, e32, m4, ta, ma\n' + text  # what the loop runs under; one instruction, at no cost to speak of
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    total = re.search(r'Total Cycles:\s+(\d+)', done.stdout)
    if not total:
        print(done.stderr[:300], file=sys.stderr)
        return None
    return int(total.group(1)) / ITERATIONS


def stream(isa, count, form, step, registers=None):
    """`count` instructions of one form over registers in turn."""
    registers = registers or range(SUMS[isa])
    lines = []
    for i in range(count):
        r = registers[i % len(registers)] * (4 if isa == 'rvv' else 1)
        if form.startswith('ldp'):
            r = registers[2 * i % len(registers)] // 2 * 2
        lines.append(form.format(r=r, s=r + 1, offset=i % 8 * step))
    return '\n'.join(lines) + '\n'


def mixed(isa, adds, loading, factor_loads):
    """Each load before its share of the multiply-adds, none waiting for another."""
    target = TARGETS[isa]
    loading = loading + [target.factor_load.format()] * factor_loads
    adding = stream(isa, adds, target.alone, 0).splitlines()
    lines = []
    for i, line in enumerate(loading):
        lines += [line] + adding[adds * i // len(loading):adds * (i + 1) // len(loading)]
    return '\n'.join(lines) + '\n'


def limit(case, cpu, macs):
    """The least cycles for so many multiply-adds, and what sets them."""
    target = TARGETS[case.isa]
    adds = macs // target.lanes
    k = macs // (case.rows * case.width)
    streams = [stream(case.isa, max(1, k * case.width // lanes), form, 4 * lanes, LOADED[case.isa]) for form, lanes in target.weight_loads]
    adding, *loads = [cycles(target, cpu, text) for text in (stream(case.isa, adds, target.alone, 0), *streams)]
    if adding is None or None in loads:
        return None, ''
    factor_loads = max(1, k * case.rows // target.factors)
    both = min(cycles(target, cpu, mixed(case.isa, adds, text.splitlines(), factor_loads)) for text in streams)
    return max((adding, 'multiply-adds'), (min(loads), 'loads'), (both, 'issue'))


def report(case):
    target = TARGETS[case.isa]
    bodies = [body for name, body in disassemble(target, case.object_file).items() if re.search(case.function, name)]
    adds_of = lambda loop: sum(1 for i in loop if re.match(target.multiply_add, i[1]))
    # The densest: a branch back out of line looks like a loop around everything.
    best = max((loop for body in bodies for loop in loops(body) if adds_of(loop) >= 3), key=lambda loop: (adds_of(loop) * 3 > len(loop), adds_of(loop)))
    macs = target.lanes * sum(1 for i in best if re.match(target.multiply_add, i[1]))
    for cpu in case.cpus:
        taken, (least, of) = cycles(target, cpu, source(best)), limit(case, cpu, macs)
        if taken is None or least is None:
            continue
        print(f'| {case.isa} | {case.label} | {len(best)} | {macs} | {len(best) / macs:.3f} | {cpu} | {taken / macs:.3f} | '
              f'{least / macs:.3f} ({of}) | {taken / least:.2f} |')


def main():
    print('| rows | loop | instructions | multiply-adds | per multiply-add | CPU model | cycles per multiply-add | limit | of limit |')
    print('|---|---|---|---|---|---|---|---|---|')
    for case in cases(sys.argv[1]):
        report(case)


if __name__ == '__main__':
    main()
