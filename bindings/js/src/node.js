// node.js -- the package in Node: reads the module that this engine runs. SPDX-License-Identifier: Apache-2.0
import { readFile } from 'node:fs/promises';
import { Rnnpack } from './rnnpack.js';

export * from './rnnpack.js';

export async function load({ simd = Rnnpack.hasSimd() } = {}) {
  return Rnnpack.load(await readFile(new URL(simd ? '../rnnpack.wasm' : '../rnnpack-scalar.wasm', import.meta.url)));
}
