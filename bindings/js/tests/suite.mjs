// suite.mjs SUITE -- bindings/suite.json in Node. SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { errors, load, Rnnpack, RnnpackError, StaleError } from '../src/node.js';

const folder = isMainThread ? process.argv[2] : workerData.folder;
const bytes = (name) => readFileSync(`${folder}/${name}`);
const floats = (name) => new Float32Array(Uint8Array.from(bytes(name)).buffer);
const rnnpack = await load();
const open = (name) => rnnpack.open(bytes(name), { checkWeights: true });
const sessionOf = (name, options) => open(name).session({ isa: 'reference', ...options });

function stream(session, input, from, to) {
  const out = new Float32Array(to - from), x = session.input(), y = session.output();
  for (let i = from; i < to; ++i) {
    x.set(input.subarray(i * x.length, (i + 1) * x.length));
    session.step();
    out[i - from] = y[0];
  }
  return out;
}

function fill(session, spoil = 'no') {
  let state = 1;
  session.model.inputs.forEach(({ role, dtype, limit }, i) => {
    if (role !== 'sequence' && role !== 'perRun') return;
    const x = session.input(i);
    for (let k = 0; k < x.length; ++k) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      x[k] = dtype === 'i32' ? (state >>> 16) % limit : (state >>> 16) / 32768 - 1;
    }
    if (i === 0 && spoil === 'nan') x[0] = NaN;
    if (i === 0 && spoil === 'index') x[0] = limit;
  });
}

const same = (got, want) => assert.ok(Buffer.from(got.buffer, got.byteOffset, got.byteLength).equals(Buffer.from(want.buffer, want.byteOffset, want.byteLength)), 'other bits');
function status(use, wanted) {
  assert.throws(use, (error) => error instanceof RnnpackError && error.status === Number(wanted));
}
class NotHere extends Error {}

function lineOf(labels, out) {
  const count = (label, voice) => labels.reduce((sum, each, i) => sum + (each === label && (!voice || out[i] >= 0.5) ? 1 : 0), 0);
  return `loud speech frames found ${count(1, true)} of ${count(1)}, speech said in the gaps ${count(2, true)} of ${count(2)} frames`;
}

const misuse = {
  closed_session: (session) => { session.close(); assert.throws(() => session.step(), StaleError); },
  closed_model: (session) => {
    session.model.close();
    assert.throws(() => session.model.session(), StaleError);
    session.step();
  },
  short_input: (session, x) => { status(() => session.step(x.subarray(1)), -12); session.step(x); },
  short_output: (session, x) => { status(() => session.step(x, new Float32Array(0)), -12); session.step(x, new Float32Array(1)); },
  two_threads: () => { throw new NotHere('a session belongs to the module of its thread'); },
};

const kinds = {
  status({ code, constant }) {
    const error = rnnpack.error(Number(code));
    assert.ok(error instanceof errors[constant] && error.status === Number(code) && error.code === constant && error.message.length > 8);
    assert.notEqual(error.message, rnnpack.error(-1000).message);
  },
  stream({ blob, input, labels, output, line }) {
    const want = floats(output), out = stream(sessionOf(blob), floats(input), 0, want.length);
    same(out, want);
    const said = lineOf([...bytes(labels)], out);
    assert.equal(said, bytes(line).toString());
    console.log(said);
  },
  golden({ blob, output, steps, batch }) {
    const model = open(blob), session = model.session({ isa: 'reference', maxBatch: model.info.fixedBatch || Number(batch), maxSteps: Number(steps) });
    fill(session);
    session.run(Number(steps));
    same(Buffer.concat(model.outputs.map((_, i) => { const y = session.output(i); return Buffer.from(y.buffer, y.byteOffset, y.byteLength); })), bytes(output));
  },
  async threads({ blob, input, output, count }) {
    const want = floats(output), out = await Promise.all(Array.from({ length: Number(count) }, () => new Promise((done, fail) => {
      new Worker(new URL(import.meta.url), { workerData: { folder, blob, input, steps: want.length } }).on('message', done).on('error', fail);
    })));
    for (const each of out) same(each, want);
  },
  state({ blob, input, output, state, at }) {
    const [x, want, saved] = [floats(input), floats(output), Uint8Array.from(bytes(state))];
    const loaded = sessionOf(blob), streamed = sessionOf(blob);
    loaded.loadState(saved);
    same(stream(loaded, x, Number(at), want.length), want.subarray(Number(at)));
    stream(streamed, x, 0, Number(at));
    same(streamed.saveState(), saved);
  },
  load({ blob, input, output, state, status: wanted }) {
    const session = sessionOf(blob);
    status(() => session.loadState(Uint8Array.from(bytes(state))), wanted);
    same(stream(session, floats(input), 0, 10), floats(output).subarray(0, 10));
  },
  open({ blob, status: wanted }) { status(() => open(blob), wanted); },
  session({ blob, max_batch, max_steps, status: wanted }) {
    status(() => sessionOf(blob, { maxBatch: Number(max_batch), maxSteps: Number(max_steps) }), wanted);
  },
  run({ blob, steps, max_batch, batch, flags, spoil, status: wanted }) {
    const session = sessionOf(blob, { maxBatch: Number(max_batch), maxSteps: Number(steps) });
    fill(session, spoil);
    status(() => session.run(Number(steps), { batch: Number(batch), checkFinite: flags === '2' }), wanted);
  },
  growth({ blob, count }) {
    let before = 0;
    const read = bytes(blob);
    for (let i = 0; i < count; ++i) {
      const model = rnnpack.open(read, { checkWeights: true }), session = model.session({ isa: 'reference' });
      session.step();
      session.close();
      model.close();
      if (i === count / 10) before = rnnpack.memory.all;
    }
    assert.equal(rnnpack.memory.all, before);
  },
  misuse({ blob, input, what }) {
    const session = sessionOf(blob), length = session.input().length;
    misuse[what](session, floats(input).subarray(0, length));
  },
  compile() {
    throw new NotHere('the compiler is a program for hosts');
  },
  overhead({ blob, count }) {
    const session = open(blob).session(), piece = 1000;
    let least = Infinity;
    session.input().fill(0);
    for (let i = 0; i < count / piece; ++i) {
      const start = process.hrtime.bigint();
      for (let k = 0; k < piece; ++k) session.step();
      least = Math.min(least, Number(process.hrtime.bigint() - start) / piece);
    }
    console.log(`overhead ${least.toFixed(1)}`);
  },
};

async function runAll() {
  console.log(`version node ${process.versions.node}, ${Rnnpack.hasSimd() ? 'simd128' : 'scalar'}`);
  for (const text of bytes('suite.txt').toString().trim().split('\n')) {
    const [kind, name, ...rest] = text.split(' ');
    try {
      await kinds[kind](Object.fromEntries(rest.map((word) => word.split(/=(.*)/s).slice(0, 2))));
      console.log(`ok ${name}`);
    } catch (error) {
      console.log(error instanceof NotHere ? `na ${name}: ${error.message}` : `FAILED ${name}: ${error.message.split('\n')[0]}`);
    }
  }
}

if (isMainThread) await runAll();
else parentPort.postMessage(stream(sessionOf(workerData.blob), floats(workerData.input), 0, workerData.steps));
