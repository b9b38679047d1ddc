// page.test.mjs -- the page in headless Chromium. RNNPACK_WEB: what make_page.sh made. RNNPACK_TOOL: the program rnnpack, which
// computes the same natively. Writes RNNPACK_WEB/page.png, page-phone.png and web_demo.png, the picture of docs/. SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test, { after, before, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Browser, serve } from './browser.mjs';
import { withPalette } from './palette.mjs';

const web = resolve(process.env.RNNPACK_WEB), RATE = 16000;
const networks = JSON.parse(readFileSync(join(web, 'networks.json')));
const wav = join(web, 'sounds/speech.wav');
const Tab = '\uE004', Space = ' ', Enter = '\uE007';

function sound(seconds) {
  const bytes = readFileSync(wav), data = new Int16Array(Uint8Array.from(bytes.subarray(44)).buffer);
  return Float32Array.from({ length: seconds * RATE }, (_, i) => data[i % data.length] / 32768);
}

// Frames of the network's block through the program rnnpack.
function native(blob, samples, block, ...options) {
  const folder = mkdtempSync(join(tmpdir(), 'rnnpack-web-')), steps = Math.floor(samples.length / block);
  const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${steps}, 1, ${block}), }`.padEnd(117) + '\n';
  const magic = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, head.length, 0]);
  writeFileSync(join(folder, 'x.npy'), Buffer.concat([magic, Buffer.from(head), Buffer.from(samples.buffer, 0, 4 * steps * block)]));
  execFileSync(resolve(process.env.RNNPACK_TOOL), ['run', blob, '--input', join(folder, 'x.npy'), '--output', join(folder, 'y.npy'), ...options]);
  const y = readFileSync(join(folder, 'y.npy'));
  rmSync(folder, { recursive: true });
  return new Float32Array(Uint8Array.from(y.subarray(10 + y.readUInt16LE(8))).buffer);
}

// The whole sound through the worklet in an OfflineAudioContext: sound and speech out, as base64, and what the processor counted.
const RENDER = `
  const [{ setup, simd, sound }] = args;
  const { makeNode, bytesOf } = await import('/audio.js');
  const samples = new Float32Array(Uint8Array.from(atob(sound), (c) => c.charCodeAt(0)).buffer);
  const context = new OfflineAudioContext(2, samples.length, 16000);
  const buffer = context.createBuffer(1, samples.length, 16000);
  buffer.copyToChannel(samples, 0);
  const { node, ready } = await makeNode(context, { ...setup, blobs: await Promise.all(setup.blobs.map(bytesOf)) }, { simd });
  const source = new AudioBufferSourceNode(context, { buffer }), merger = context.createChannelMerger(2);
  source.connect(node);
  node.connect(merger, 0, 0);
  node.connect(merger, 1, 1);
  merger.connect(context.destination);
  source.start();
  const began = performance.now(), rendered = await context.startRendering(), spent = performance.now() - began;
  const counts = new Promise((tell) => { node.port.onmessage = ({ data }) => { if (data.counts) tell(data.counts); }; });
  node.port.postMessage({ counts: true });
  const text = (channel) => {
    const bytes = new Uint8Array(rendered.getChannelData(channel).buffer);
    let all = '';
    for (let i = 0; i < bytes.length; i += 32768) all += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return btoa(all);
  };
  return { sound: text(0), speech: text(1), counts: await counts, ready, microsecondsPerBlock: 1000 * spent / (samples.length / 128) };`;

const unpack = (text) => new Float32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
async function render(browser, setup, samples, simd) {
  const made = await browser.run(RENDER, { setup, simd, sound: Buffer.from(samples.buffer).toString('base64') });
  return { ...made, sound: unpack(made.sound), speech: unpack(made.speech) };
}
// The value that each block of the network has, out of a signal that holds it.
const each = (signal, block) => signal.filter((_, i) => i % block === block - 1);

describe('in headless Chromium', () => {
  let server, browser;
  before(async () => {
    server = await serve(web);
    browser = await Browser.open(['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${wav}`]);
    await browser.go(server.url);
  });
  after(async () => {
    await browser?.close();
    server?.close();
  });

  test('60 s of voice detection by the scalar module: the bits of the native reference, no gap, no allocation', async () => {
    const [{ blobs }] = networks, samples = sound(60);
    const { sound: out, speech, counts, ready } = await render(browser, { kind: 'detector', blobs, isa: 'reference' }, samples, false);
    assert.deepEqual(each(speech, 256), native(join(web, blobs[0]), samples, 256, '--reference').subarray(0, 60 * RATE / 256));
    assert.deepEqual(out, samples);
    assert.equal(counts.gaps, 0);
    assert.equal(counts.blocks, 60 * RATE / 128);
    assert.equal(counts.all, ready.memory);
    assert.equal(ready.kernels, 'reference');
  });

  test('by the SIMD module: within 1e-5 of the native reference', async (t) => {
    const [{ blobs }] = networks, samples = sound(60);
    const { speech, counts, ready, microsecondsPerBlock } = await render(browser, { kind: 'detector', blobs }, samples, true);
    const want = native(join(web, blobs[0]), samples, 256, '--reference');
    each(speech, 256).forEach((value, i) => assert.ok(Math.abs(value - want[i]) <= 1e-5, `frame ${i}: ${value}, ${want[i]}`));
    assert.deepEqual([counts.gaps, counts.blocks, counts.all], [0, 60 * RATE / 128, ready.memory]);
    assert.equal(ready.kernels, 'simd128');
    t.diagnostic(`${microsecondsPerBlock.toFixed(1)} us a block of 128, graph and all`);
  });

  for (const { name, kind, blobs } of networks.filter(({ kind: k }) => k !== 'detector')) {
    test(`${name}: the bits of the same code in Node, less noise in the pauses, speech kept`, async (t) => {
      const samples = sound(9), { sound: out, counts, ready, microsecondsPerBlock } = await render(browser, { kind, blobs }, samples, true);
      const page = (file) => import(pathToFileURL(join(web, file)));
      const [{ Stream }, { Rnnpack }] = await Promise.all([page('engines.js'), page('rnnpack/rnnpack.js')]);
      const rnnpack = await Rnnpack.load(readFileSync(join(web, 'rnnpack/rnnpack.wasm')));
      const stream = new Stream(rnnpack, { kind, blobs: blobs.map((blob) => readFileSync(join(web, blob))) });
      const here = new Float32Array(samples.length);
      for (let i = 0; i + 128 <= samples.length; i += 128) stream.push(samples.subarray(i, i + 128), here.subarray(i, i + 128));
      assert.deepEqual(out, here);
      assert.deepEqual([counts.gaps, counts.all], [0, ready.memory]);
      const level = (x, from, to) => Math.sqrt(x.subarray(from * RATE, to * RATE).reduce((sum, v) => sum + v * v, 0) / ((to - from) * RATE));
      assert.ok(level(out, 0.3, 0.5) < 0.5 * level(samples, 0.3, 0.5), 'noise is left in the pause');
      assert.ok(level(out, 0.6, 2) > 0.3 * level(samples, 0.6, 2), 'speech is lost');
      t.diagnostic(`${microsecondsPerBlock.toFixed(1)} us a block of 128, delay ${ready.delay} samples`);
    });
  }

  test('a stream in blocks of 128 gives what the engine gives in its own, later', async () => {
    const { Stream } = await import(pathToFileURL(join(web, 'engines.js'))), { Rnnpack } = await import(pathToFileURL(join(web, 'rnnpack/rnnpack.js')));
    for (const { kind, blobs } of networks) {
      const rnnpack = await Rnnpack.load(readFileSync(join(web, 'rnnpack/rnnpack.wasm'))), setup = { kind, blobs: blobs.map((blob) => readFileSync(join(web, blob))) };
      const stream = new Stream(rnnpack, setup), out = new Float32Array(RATE), samples = sound(1);
      for (let i = 0; i + 128 <= RATE; i += 128) stream.push(samples.subarray(i, i + 128), out.subarray(i, i + 128));
      const { engine, block, delay } = new Stream(await Rnnpack.load(readFileSync(join(web, 'rnnpack/rnnpack.wasm'))), setup);
      const own = new Float32Array(RATE), whole = RATE - (RATE % block), late = kind === 'detector' ? 0 : delay - engine.delay;
      for (let i = 0; i < whole; i += block) engine.process(samples.subarray(i, i + block), own.subarray(i, i + block));
      assert.deepEqual(out.subarray(late, whole), own.subarray(0, whole - late), kind);
    }
  });

  test('bypass passes the sound with the same delay', async () => {
    const { Stream } = await import(pathToFileURL(join(web, 'engines.js'))), { Rnnpack } = await import(pathToFileURL(join(web, 'rnnpack/rnnpack.js')));
    const rnnpack = await Rnnpack.load(readFileSync(join(web, 'rnnpack/rnnpack.wasm')));
    const stream = new Stream(rnnpack, { kind: 'gate', blobs: [readFileSync(join(web, networks[0].blobs[0]))] }), samples = sound(1);
    const out = new Float32Array(samples.length);
    stream.bypass = true;
    for (let i = 0; i + 128 <= samples.length; i += 128) stream.push(samples.subarray(i, i + 128), out.subarray(i, i + 128));
    assert.deepEqual(out.subarray(stream.delay), samples.subarray(0, samples.length - stream.delay));
  });

  test('the page by keyboard, on a fake microphone; a picture of it', async () => {
    await browser.run('document.activeElement.blur();');
    for (let i = 0; i < 10 && (await browser.run('return document.activeElement.id;')) !== 'start'; ++i) await browser.keys(Tab);
    await browser.keys(Enter);
    await browser.until("document.getElementById('status').textContent.startsWith('Running on the microphone')");
    await browser.until("parseInt(document.getElementById('speech').value, 10) >= 0");
    await browser.keys(Tab, Space);
    assert.equal(await browser.run("return document.getElementById('bypass').getAttribute('aria-checked');"), 'true');
    await browser.keys(Space, Space, Space);
    await browser.run('await new Promise((wake) => setTimeout(wake, 9000));');
    writeFileSync(join(web, 'page.png'), await browser.picture());
    const figures = await browser.run("return Object.fromEntries(['speech', 'block-us', 'share', 'delay', 'kernels'].map((id) => [id, document.getElementById(id).value]));");
    for (const value of Object.values(figures)) assert.match(value, /\d|SIMD|scalar/);
    await browser.run("document.getElementById('start').click();");
    assert.equal(await browser.run("return document.getElementById('status').textContent;"), 'Stopped.');
  });

  test('noise suppression on the sample; a picture of it', async () => {
    await browser.run(`const pick = (id, at) => { const box = document.getElementById(id); box.selectedIndex = at; box.dispatchEvent(new Event('change')); };
      pick('network', args[0]); pick('source', 2); document.getElementById('start').click();`, networks.length - 1);
    await browser.until("document.getElementById('status').textContent.startsWith('Running on speech.wav')");
    await browser.resize(720, 1270);
    await browser.run('await new Promise((wake) => setTimeout(wake, 7500));');
    await browser.run("document.getElementById('start').focus();");
    writeFileSync(join(web, 'web_demo.png'), withPalette(await browser.picture()));
    await browser.run("document.getElementById('start').click();");
  });

  test('everything has a name for a screen reader', async () => {
    const nameless = await browser.run(`return [...document.querySelectorAll('input, select, button, canvas, output')]
      .filter((e) => !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label') || e.closest('div')?.querySelector('dt'))).map((e) => e.id);`);
    assert.deepEqual(nameless, []);
  });

  test('at phone width nothing is cut off', async () => {
    await browser.resize(390, 900);
    await browser.run('await new Promise((wake) => setTimeout(wake, 300));');
    const [inner, scroll] = await browser.run('return [innerWidth, document.documentElement.scrollWidth];');
    writeFileSync(join(web, 'page-phone.png'), await browser.picture());
    assert.ok(scroll <= inner, `${scroll} of ${inner} pixels`);
  });

  test('what is no blob is refused by name', async () => {
    await assert.rejects(browser.run(`const { makeNode } = await import('/audio.js');
      await makeNode(new OfflineAudioContext(1, 128, 16000), { kind: 'detector', blobs: [new ArrayBuffer(512)] });`), /open: /);
  });

  test('nothing went wrong in the console', async () => {
    assert.deepEqual(await browser.complaints(), []);
  });
});

test('a refused microphone is said so', async () => {
  const server = await serve(web), browser = await Browser.open(['--deny-permission-prompts']);
  try {
    await browser.go(server.url);
    await browser.until("document.getElementById('network').options.length > 1");
    await browser.run("document.getElementById('start').click();");
    await browser.until("!document.getElementById('error').hidden");
    assert.match(await browser.run("return document.getElementById('error').textContent;"), /microphone (was refused|was found)/i);
    assert.equal(await browser.run("return document.getElementById('status').textContent;"), 'Not running.');
  } finally {
    await browser.close();
    server.close();
  }
});
