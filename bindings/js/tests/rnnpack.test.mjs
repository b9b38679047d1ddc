// rnnpack.test.mjs -- the package in Node, on both modules: golden blobs bit for bit, states, errors, misuse, memory.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { describe } from 'node:test';
import vm from 'node:vm';
import { errors, load, Rnnpack, RnnpackError, StaleError } from '../src/node.js';

const file = (name) => readFileSync(new URL(name, import.meta.url));
const golden = (name) => file(`../../../tests/golden/v1/${name}`);
const blobs = golden('list.txt').toString().trim().split('\n').map((line) => line.split(' '));

// The inputs of tests/golden/golden_test.cpp.
function fill(session) {
  let state = 1;
  session.model.inputs.forEach(({ role, dtype, limit }, i) => {
    if (role !== 'sequence' && role !== 'perRun') return;
    const x = session.input(i);
    for (let k = 0; k < x.length; ++k) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      x[k] = dtype === 'i32' ? (state >>> 16) % limit : Math.fround(state >>> 16) / 32768 - 1;
    }
  });
}

const outputs = (session) => session.model.outputs.flatMap((_, i) => [...session.output(i)]);
function golds(rnnpack, name, isa) {
  const model = rnnpack.open(golden(`${name}.rnnp`), { checkWeights: true });
  const session = model.session({ maxBatch: model.info.fixedBatch || 2, maxSteps: 5, isa });
  fill(session);
  session.run(5);
  const y = outputs(session);
  session.close();
  model.close();
  return Float32Array.from(y);
}
const lstm = (rnnpack) => rnnpack.open(golden('lstm_f32_avx512.rnnp'));
const code = (name) => (error) => error instanceof RnnpackError && error instanceof errors[name] && error.code === name && error.message.length > 8;

for (const simd of [true, false]) {
  describe(simd ? 'rnnpack.wasm' : 'rnnpack-scalar.wasm', () => {
    const loaded = load({ simd });

    test('golden blobs: the reference bits, and near them with all kernels', async () => {
      const rnnpack = await loaded;
      assert.ok(blobs.length > 50);
      for (const [name, tolerance] of blobs) {
        const want = golden(`${name}.out`), reference = golds(rnnpack, name, 'reference');
        assert.deepEqual(Buffer.from(reference.buffer), want, name);
        const all = golds(rnnpack, name, 'all');
        reference.forEach((value, i) => assert.ok(Math.abs(value - all[i]) <= tolerance * (1 + Math.abs(value)), `${name}[${i}]`));
      }
      assert.equal(rnnpack.memory.taken, 0);
    });

    test('the module of this test runs the kernels it is named for', async () => {
      const session = lstm(await loaded).session();
      assert.equal(session.info.isa, simd ? 'simd128' : 'reference');
    });

    test('steps give the bits of a run', async () => {
      const model = lstm(await loaded);
      const whole = model.session({ maxSteps: 5 }), single = model.session();
      fill(whole);
      whole.run(5);
      const { rowElems } = model.inputs[0], width = model.outputs[0].rowElems;
      for (let t = 0; t < 5; ++t) {
        single.input().set(whole.input().subarray(t * rowElems, (t + 1) * rowElems));
        single.step();
        assert.deepEqual(single.output(), whole.output().slice(t * width, (t + 1) * width));
      }
      for (const each of [whole, single, model]) each.close();
    });

    test('a state saved in one session goes on in another', async () => {
      const model = lstm(await loaded);
      const one = model.session({ maxBatch: 2 }), two = model.session();
      fill(one);
      one.step();
      const saved = one.saveState(1);
      assert.equal(saved.length, one.stateBytes);
      two.loadState(saved);
      one.step();
      two.input().set(one.input().subarray(model.inputs[0].rowElems));
      two.step();
      const width = model.outputs[0].rowElems;
      assert.deepEqual(two.output().slice(0, width), one.output().slice(width, 2 * width));
      saved[20] ^= 1;
      assert.throws(() => two.loadState(saved), code('RNNP_E_STATE_MISMATCH'));
      assert.throws(() => two.loadState(saved.subarray(1)), code('RNNP_E_SMALL_MEMORY'));
      for (const each of [one, two, model]) each.close();
    });

    test('statuses are thrown', async () => {
      const rnnpack = await loaded, blob = Uint8Array.from(golden('lstm_f32_avx512.rnnp'));
      assert.throws(() => rnnpack.open(new Uint8Array(256)), code('RNNP_E_BLOB_MAGIC'));
      assert.throws(() => rnnpack.open(blob.subarray(0, 300)), code('RNNP_E_BLOB_CORRUPT'));
      assert.throws(() => rnnpack.open(blob.with?.(4, 77) ?? blob.map((byte, i) => (i === 4 ? 77 : byte))), RnnpackError);
      assert.throws(() => rnnpack.open('text'), TypeError);
      const model = rnnpack.open(blob), session = model.session({ maxBatch: 2, maxSteps: 3 });
      assert.throws(() => model.session({ maxBatch: 1 << 21 }), code('RNNP_E_ARG'));
      assert.throws(() => model.session({ maxBatch: 1.5 }), code('RNNP_E_SHAPE'));
      assert.throws(() => model.session({ isa: 'mmx' }), code('RNNP_E_ARG'));
      assert.throws(() => session.run(4), code('RNNP_E_SHAPE'));
      assert.throws(() => session.run(1, { lengths: [1] }), code('RNNP_E_SHAPE'));
      assert.throws(() => session.run(1, { rows: [0, 0] }), RnnpackError);
      assert.throws(() => session.run(3, { lengths: [1, 4] }), code('RNNP_E_SHAPE'));
      assert.throws(() => session.input('nobody'), code('RNNP_E_ARG'));
      assert.throws(() => session.reset(2), RnnpackError);
      session.input()[0] = NaN;
      assert.throws(() => session.run(1, { checkFinite: true }), code('RNNP_E_NOT_FINITE'));
      session.close();
      model.close();
      const whole = rnnpack.open(golden('lstm_bidirectional.rnnp')), both = whole.session({ maxSteps: 5 });
      assert.throws(() => both.step(), code('RNNP_E_NOT_CAUSAL'));
      both.close();
      whole.close();
    });

    test('closed objects throw, and a model closed early keeps its sessions', async () => {
      const rnnpack = await loaded, before = rnnpack.memory.taken;
      const model = lstm(rnnpack), session = model.session();
      model.close();
      model.close();
      assert.throws(() => model.session(), StaleError);
      assert.throws(() => model.meta('name'), StaleError);
      session.step();
      session.close();
      session.close();
      for (const use of [() => session.step(), () => session.run(1), () => session.input(), () => session.reset(), () => session.saveState(), () => session.info]) {
        assert.throws(use, StaleError);
      }
      assert.equal(rnnpack.memory.taken, before);
    });

    test('10,000 opened, run and closed: no growth', async () => {
      const rnnpack = await loaded, blob = golden('gru.rnnp');
      const once = () => {
        const model = rnnpack.open(blob), session = model.session();
        session.step();
        session.close();
        model.close();
      };
      once();
      const before = rnnpack.memory;
      for (let i = 0; i < 10000; ++i) once();
      assert.deepEqual(rnnpack.memory, before);
    });

    test('steps and runs allocate nothing, in the module or in JavaScript', async () => {
      const rnnpack = await loaded, model = lstm(rnnpack), session = model.session();
      session.input().fill(0.5);
      for (const use of [() => session.step(), () => session.run(1)]) {
        const { taken } = rnnpack.memory;
        let least = Infinity; // of several rounds: the engine compiles on the same heap
        for (let round = 0; round < 12; ++round) {
          globalThis.gc?.();
          const before = process.memoryUsage().heapUsed;
          for (let i = 0; i < 20000; ++i) use();
          least = Math.min(least, process.memoryUsage().heapUsed - before);
        }
        assert.ok(least < 20000 * 12, `${least} bytes of garbage in 20000 calls of ${use}`);
        assert.equal(rnnpack.memory.taken, taken);
      }
      session.close();
      model.close();
    });
  });
}

test('a view from before the memory grew is refused, not written in vain', async () => {
  const rnnpack = await load(), model = lstm(rnnpack), session = model.session();
  const x = session.input();
  x.fill(0.25);
  session.step();
  const y = session.output().slice();
  const wide = model.session({ maxBatch: 2000, maxSteps: 20 });
  assert.equal(x.length, 0);
  assert.throws(() => session.step(), StaleError);
  session.reset();
  session.input().fill(0.25);
  session.step();
  assert.deepEqual(session.output().slice(), y);
  wide.close();
});

test('no memory left is an error', async () => {
  const rnnpack = await load(), model = lstm(rnnpack);
  assert.throws(() => model.session({ maxBatch: 1 << 20, maxSteps: 1 << 12 }), code('RNNP_E_SMALL_MEMORY'));
  model.session().step();
});

test('forgotten sessions give their memory back', { skip: globalThis.gc === undefined && 'needs --expose-gc' }, async () => {
  const rnnpack = await load(), before = rnnpack.memory.taken;
  (() => { lstm(rnnpack).session().step(); })();
  for (let i = 0; i < 20 && rnnpack.memory.taken !== before; ++i) {
    globalThis.gc();
    await new Promise((wake) => { setTimeout(wake, 10); });
  }
  assert.equal(rnnpack.memory.taken, before);
});

test('in a scope like an AudioWorklet, without fetch, TextDecoder, timers', async () => {
  const sources = ['abi', 'errors', 'heap', 'module', 'session', 'model', 'rnnpack'];
  const context = vm.createContext({ WebAssembly, blob: golden('lstm_f32_avx512.rnnp'), wasm: file('../rnnpack.wasm'), ArrayBuffer,
    Uint8Array, Float32Array, Int32Array, Uint32Array, DataView, Error, Object, Symbol });
  const strip = (text) => text.replace(/^import .*;$/gm, '').replace(/^export \{.*\};$/gm, '').replace(/^export /gm, '');
  vm.runInContext(sources.map((name) => strip(file(`../src/${name}.js`).toString())).join('\n') + `
    const session = Rnnpack.loadSync(wasm).open(blob).session();
    session.step();
    var name = session.model.inputs[0].name;`, context);
  assert.ok(context.name.length > 0);
  assert.equal(typeof vm.runInContext('typeof TextDecoder + typeof fetch + typeof setTimeout', context), 'string');
  assert.equal(vm.runInContext('typeof TextDecoder + typeof fetch', context), 'undefinedundefined');
});

test('the modules import nothing', async () => {
  for (const name of ['rnnpack.wasm', 'rnnpack-scalar.wasm']) {
    assert.deepEqual(WebAssembly.Module.imports(await WebAssembly.compile(file(`../${name}`))), []);
  }
});

test('module and glue stay under 120 KB gzipped', async () => {
  const { gzipSync } = await import('node:zlib');
  const parts = ['../rnnpack.wasm', ...['abi', 'errors', 'heap', 'model', 'module', 'rnnpack', 'session'].map((name) => `../src/${name}.js`)];
  const bytes = parts.map((name) => gzipSync(file(name), { level: 9 }).length).reduce((a, b) => a + b);
  assert.ok(bytes < 120 * 1000, `${bytes} bytes`);
});
