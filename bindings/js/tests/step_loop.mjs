// step_loop.mjs MODULE BLOB -- nanoseconds of a step called within the module, and of an empty call from JavaScript (bindings/overhead.py).
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { Rnnpack } from '../src/rnnpack.js';

const [module, blob] = process.argv.slice(2).map((name) => readFileSync(name));
const { instance } = await WebAssembly.instantiate(module, {});
const calls = { ...instance.exports };
let given = [];
calls.rnnp_step = (...all) => { given = all; return instance.exports.rnnp_step(...all); };
const session = new Rnnpack({ exports: calls }).open(blob).session();
session.input().fill(0);
session.step();

function least(act) {
  let best = Infinity;
  for (let i = 0; i < 1000; ++i) {
    const start = process.hrtime.bigint();
    act();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / 1000);
  }
  return best.toFixed(1);
}
console.log(`inside ${least(() => instance.exports.step_loop(...given, 1000))}`);
const { rnnp_version: version } = instance.exports;  // the property is a call of its own
console.log(`empty ${least(() => { for (let i = 0; i < 1000; ++i) version(); })}`);
