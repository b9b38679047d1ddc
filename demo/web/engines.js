// engines.js -- what runs on a stream of 16 kHz, block by block: networks and the signal processing around them, as in
// demo/speech_suppressors.cpp. process() allocates nothing. SPDX-License-Identifier: Apache-2.0
import { Fft, hann } from './fft.js';

export const RATE = 16000;
const FRAME = 512;

// A network with one stream through it. Throws where the blob has no such sequences.
class Network {
  constructor(rnnpack, blob, input, output, isa) {
    const model = rnnpack.open(blob, { checkWeights: true });
    this.session = model.session({ isa });
    for (const [port, list] of [[input, model.inputs], [output, model.outputs]]) {
      const found = list.find(({ name, role }) => role === 'sequence' && (port.name === undefined || name === port.name));
      if (found === undefined || (port.elems !== undefined && found.rowElems !== port.elems) || found.dtype !== 'f32') {
        throw new Error(`this network has no sequence ${port.name ?? ''} of ${port.elems ?? 'any number of'} floats a step`);
      }
      if (found.rowElems > 8192) throw new Error(`this network takes ${found.rowElems} samples a step; 8192 at most fit a stream`);
    }
    this.input = input;
    this.output = output;
  }
  // Typed arrays in the module's memory; asked for when all networks are open, because opening one may move the others' arrays.
  bind() {
    const { model } = this.session, at = (list, { name }) => (name === undefined ? list.findIndex(({ role }) => role === 'sequence') : name);
    this.x = this.session.input(at(model.inputs, this.input));
    this.y = this.session.output(at(model.outputs, this.output));
    this.x.fill(0);
  }
  step() { this.session.step(); }
}

// The last FRAME samples that came in, and the sum of the frames that went out.
class Frames {
  constructor(hop) {
    this.hop = hop;
    this.heard = new Float32Array(FRAME);
    this.sum = new Float32Array(FRAME);
  }
  push(block) {
    this.heard.copyWithin(0, this.hop);
    this.heard.set(block, FRAME - this.hop);
  }
  add(frame, out) {
    const { sum, hop } = this;
    for (let i = 0; i < FRAME; ++i) sum[i] += frame[i];
    for (let i = 0; i < hop; ++i) out[i] = sum[i];
    sum.copyWithin(0, hop);
    sum.fill(0, FRAME - hop);
  }
}

// Speech or not. The sound passes as it is.
class Detector {
  constructor(open, [blob]) {
    this.network = open(blob, {}, { elems: 1 });
    this.networks = [this.network];
    this.block = this.network.session.model.inputs[0].rowElems;
    this.delay = 0;
    this.speech = 0;
  }
  process(x, y) {
    this.network.x.set(x);
    this.network.step();
    [this.speech] = this.network.y;
    y.set(x);
  }
}

// The detector as a gate: -20 dB where nobody speaks. It opens one block ahead of the voice and closes late.
class Gate extends Detector {
  constructor(open, blobs) {
    super(open, blobs);
    this.delay = this.block;
    this.before = new Float32Array(this.block);
    this.openBlocks = 0;
    this.gain = 1;
  }
  process(x, y) {
    const { before, block, gain } = this;
    super.process(x, y);
    this.openBlocks = this.speech >= 0.5 ? 15 : Math.max(this.openBlocks - 1, 0);
    const next = this.openBlocks > 0 ? 1 : 0.1;
    for (let i = 0; i < block; ++i) y[i] = before[i] * (gain + ((next - gain) * i) / block);
    this.gain = next;
    before.set(x);
  }
}

// NSNet2 with 257 bins: frames of 512 under the root of a Hann window; the logarithm of the power in, a gain per bin out.
class Nsnet2 {
  constructor(open, [blob]) {
    this.network = open(blob, { name: 'x', elems: 257 }, { name: 'y', elems: 257 });
    this.networks = [this.network];
    this.block = 256;
    this.delay = FRAME - this.block;
    this.frames = new Frames(this.block);
    this.fft = new Fft(FRAME);
    this.window = hann(FRAME).map(Math.sqrt);
    this.frame = new Float32Array(FRAME);
    this.spectrum = new Float32Array(2 * this.fft.bins);
  }
  process(x, y) {
    const { network, frames, fft, window, frame, spectrum } = this;
    frames.push(x);
    for (let i = 0; i < FRAME; ++i) frame[i] = frames.heard[i] * window[i];
    fft.forward(frame, spectrum);
    for (let i = 0; i < fft.bins; ++i) network.x[i] = Math.log(spectrum[2 * i] ** 2 + spectrum[2 * i + 1] ** 2 + 1e-8);
    network.step();
    for (let i = 0; i < 2 * fft.bins; ++i) spectrum[i] *= Math.max(network.y[i >> 1], 1e-4);
    fft.inverse(spectrum, frame);
    for (let i = 0; i < FRAME; ++i) frame[i] *= window[i];
    frames.add(frame, y);
  }
}

// DTLN: frames of 512 every 128. The first network gives a gain per bin, the second takes the frame so cleaned and gives its own.
class Dtln {
  constructor(open, [first, second]) {
    this.first = open(first, { name: 'input_2', elems: 257 }, { name: 'activation_2', elems: 257 });
    this.second = open(second, { name: 'input_4', elems: 512 }, { name: 'conv1d_3', elems: 512 });
    this.networks = [this.first, this.second];
    this.block = 128;
    this.delay = FRAME - this.block;
    this.frames = new Frames(this.block);
    this.fft = new Fft(FRAME);
    this.spectrum = new Float32Array(2 * this.fft.bins);
  }
  process(x, y) {
    const { first, second, frames, fft, spectrum } = this;
    frames.push(x);
    fft.forward(frames.heard, spectrum);
    for (let i = 0; i < fft.bins; ++i) first.x[i] = Math.sqrt(spectrum[2 * i] ** 2 + spectrum[2 * i + 1] ** 2);
    first.step();
    for (let i = 0; i < 2 * fft.bins; ++i) spectrum[i] *= first.y[i >> 1];
    fft.inverse(spectrum, second.x);
    second.step();
    frames.add(second.y, y);
  }
}

// An engine that hears the stream and whose sound nobody takes.
class Beside {
  constructor(engine) {
    this.engine = engine;
    this.x = new Float32Array(engine.block);
    this.y = new Float32Array(engine.block);
    this.held = 0;
  }
  push(input) {
    for (let i = 0; i < input.length; ++i) {
      this.x[this.held] = input[i];
      this.held = (this.held + 1) % this.x.length;
      if (this.held === 0) this.engine.process(this.x, this.y);
    }
  }
}

const KINDS = { detector: Detector, gate: Gate, nsnet2: Nsnet2, dtln: Dtln };

// A stream in blocks of any size (an AudioWorklet's have 128 samples). The network's own block is collected; `delay` counts that too.
// Bypassed, the sound passes with the same delay. `detector`: a blob that tells speech beside an engine that does not.
export class Stream {
  constructor(rnnpack, { kind, blobs, detector, isa = 'all' }) {
    if (KINDS[kind] === undefined) throw new Error(`no engine '${kind}'`);
    const opened = [], open = (blob, input, output) => opened[opened.push(new Network(rnnpack, blob, input, output, isa)) - 1];
    this.engine = new KINDS[kind](open, blobs);
    this.networks = opened;
    if (detector && this.engine.speech === undefined) this.detector = new Beside(new Detector(open, [detector]));
    opened.forEach((network) => network.bind());
    const { block } = this.engine, room = 128 * Math.ceil((this.engine.delay + 2 * block) / 128);
    this.passes = kind === 'detector';
    this.block = block;
    this.delay = this.passes ? 0 : this.engine.delay + block - Math.min(block, 128);
    this.x = new Float32Array(block);
    this.y = new Float32Array(block);
    this.held = 0;
    this.heard = new Float32Array(room); // rings
    this.made = new Float32Array(room);
    this.at = 0;
    this.bypass = false;
    this.kernels = this.engine.networks[0].session.info.isa;
  }

  get speech() {
    return this.engine.speech ?? this.detector?.engine.speech ?? -1; // -1: nothing here tells
  }

  close() {
    for (const { session } of this.networks) {
      session.close();
      session.model.close();
    }
  }

  push(input, output) {
    this.detector?.push(input);
    const { engine, block, x, y, heard, made } = this, room = heard.length, late = this.delay - engine.delay;
    for (let i = 0; i < input.length; ++i) {
      x[this.held] = heard[(this.at + i) % room] = input[i];
      if (++this.held < block) continue;
      this.held = 0;
      engine.process(x, y);
      const from = this.at + i + 1 - block + late;
      for (let k = 0; k < block; ++k) made[(from + k) % room] = y[k];
    }
    for (let i = 0; i < input.length; ++i) {
      const at = this.at + i;
      output[i] = this.passes ? input[i] : this.bypass ? heard[(at + room - this.delay) % room] : made[at % room];
    }
    this.at = (this.at + input.length) % room;
  }
}
