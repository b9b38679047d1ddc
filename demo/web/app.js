// app.js -- the page's behaviour: choices, start and stop, switches, figures. SPDX-License-Identifier: Apache-2.0
import { bytesOf, decodeFile, makeNode, openMicrophone } from './audio.js';
import { Line, Spectrum, Wave } from './draw.js';
import { RATE } from './engines.js';

const BLOCK = 128, BLOCKS = 16;
const $ = (id) => document.getElementById(id);
const plots = {
  before: [new Wave($('wave-before'), '--wave'), new Spectrum($('spectrum-before'))],
  after: [new Wave($('wave-after'), '--wave-after'), new Spectrum($('spectrum-after'))],
  speech: new Line($('speech-line')),
};
let running; // { context, node, microphone, source, reports }
let networks = [];

function say(text) {
  $('status').textContent = text;
}
function complain(error) {
  $('error').textContent = error?.message ?? '';
  $('error').hidden = !error;
}

async function listNetworks() {
  networks = JSON.parse(new TextDecoder().decode(await bytesOf('networks.json')));
  networks.push({ name: 'A detector of your own (.rnnp)', kind: 'detector', own: true });
  $('network').replaceChildren(...networks.map(({ name }, i) => new Option(name, String(i))));
  $('source').append(...(await samples()).map(({ name, file }) => new Option(name, file)));
}
const samples = async () => JSON.parse(new TextDecoder().decode(await bytesOf('sounds.json')));

async function setup() {
  const network = networks[Number($('network').value)];
  if (!network.own) {
    return { kind: network.kind, blobs: await Promise.all(network.blobs.map(bytesOf)), detector: await bytesOf(networks[0].blobs[0]) };
  }
  const file = $('own').files[0];
  if (!file) throw new Error('Choose a blob first: the file that `rnnpack compile` wrote.');
  return { kind: network.kind, blobs: [await file.arrayBuffer()] };
}

async function openSource(context) {
  const chosen = $('source').value;
  if (chosen === 'microphone') {
    const microphone = await openMicrophone();
    return { microphone, source: context.createMediaStreamSource(microphone), what: 'the microphone' };
  }
  const file = chosen === 'file' ? $('file').files[0] : undefined;
  if (chosen === 'file' && !file) throw new Error('Choose an audio file first.');
  const name = file?.name ?? chosen, bytes = file ? await file.arrayBuffer() : await bytesOf(chosen);
  const source = new AudioBufferSourceNode(context, { buffer: await decodeFile(context, bytes, name), loop: !file });
  return { source, what: name.replace(/.*\//, '') };
}

async function start() {
  complain();
  say('Starting …');
  const chosen = await setup();
  const context = new AudioContext({ sampleRate: RATE, latencyHint: 'interactive' });
  const state = { context, reports: 0 };
  try {
    const { source, microphone, what } = await openSource(context);
    Object.assign(state, { source, microphone });
    const { node, ready } = await makeNode(context, chosen);
    state.node = node;
    node.port.onmessage = ({ data }) => { if (data.report) show(state, data); };
    node.onprocessorerror = () => { complain(new Error('The audio processor failed; press Start again.')); stop(); };
    node.port.postMessage({ bypass: checked('bypass') });
    source.connect(node);
    if (checked('listen')) node.connect(context.destination, 0);
    // Output 1 goes nowhere; output 0 must be pulled even when nobody listens.
    node.connect(new GainNode(context, { gain: 0 })).connect(context.destination);
    source.onended = () => stop(`${what} has ended.`);
    source.start?.();
    await context.resume();
    running = state;
    $('kernels').value = ready.kernels === 'simd128' ? 'SIMD' : 'scalar';
    $('block-us').value = `${ready.microseconds.toFixed(1)} µs`;
    $('share').value = `${((100 * ready.microseconds) / ((1e6 * BLOCK) / RATE)).toFixed(2)} %`;
    $('delay').value = `${((1000 * ready.delay) / RATE).toFixed(0)} ms`;
    say(`Running on ${what}.`);
  } catch (error) {
    state.microphone?.getTracks().forEach((track) => track.stop());
    await context.close();
    throw error;
  }
}

function stop(text = 'Stopped.') {
  if (!running) return;
  const { context, node, microphone } = running;
  running = undefined;
  node.port.postMessage({ stop: true });
  microphone?.getTracks().forEach((track) => track.stop());
  context.close();
  say(text);
  showButtons();
}

function show(state, { report, gaps }) {
  const sound = BLOCKS * BLOCK, speech = report.subarray(2 * sound, 2 * sound + BLOCKS);
  plots.before.forEach((plot) => plot.draw(report.subarray(0, sound)));
  plots.after.forEach((plot) => plot.draw(report.subarray(sound, 2 * sound)));
  plots.speech.draw(speech);
  if (++state.reports % 4 === 1) {
    const last = speech[BLOCKS - 1];
    $('speech').value = last < 0 ? 'not told' : `${(100 * last).toFixed(0)} %`;
    $('gaps').value = String(gaps);
  }
  state.node.port.postMessage({ report }, [report.buffer]);
}

const checked = (id) => $(id).getAttribute('aria-checked') === 'true';
function showButtons() {
  $('start').textContent = running ? 'Stop' : 'Start';
  $('bypass').disabled = !running;
  for (const id of ['network', 'source', 'own', 'file']) $(id).disabled = Boolean(running);
}

$('controls').addEventListener('submit', async (event) => {
  event.preventDefault();
  if (running) return stop();
  $('start').disabled = true;
  try {
    await start();
  } catch (error) {
    complain(error);
    say('Not running.');
  }
  $('start').disabled = false;
  return showButtons();
});
for (const id of ['bypass', 'listen']) {
  $(id).addEventListener('click', () => {
    $(id).setAttribute('aria-checked', String(!checked(id)));
    if (!running) return;
    if (id === 'bypass') running.node.port.postMessage({ bypass: checked(id) });
    else if (checked(id)) running.node.connect(running.context.destination, 0);
    else running.node.disconnect(running.context.destination, 0);
  });
}
$('source').addEventListener('change', () => { $('file-label').hidden = $('source').value !== 'file'; });
$('network').addEventListener('change', () => { $('own-label').hidden = !networks[Number($('network').value)].own; });
addEventListener('resize', () => [...plots.before, ...plots.after, plots.speech].forEach((plot) => plot.fit()));
listNetworks().catch(complain);
