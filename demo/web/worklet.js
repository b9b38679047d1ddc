// worklet.js -- the AudioWorkletProcessor. Output 0 is the sound, output 1 the speech probability, held over a block. What the page
// draws goes out in buffers that come back: process() allocates nothing. SPDX-License-Identifier: Apache-2.0
import { Stream } from './engines.js';
import { Rnnpack } from './rnnpack/rnnpack.js';

const BLOCK = 128, BLOCKS = 16, REPORT = BLOCKS * (2 * BLOCK + 1); // sound before, sound after, speech

// Microseconds of a block, on this thread: over so many that a clock of milliseconds will do, which is all that a worklet has.
function measure(rnnpack, setup) {
  const stream = new Stream(rnnpack, setup), input = Float32Array.from({ length: BLOCK }, (_, i) => 0.1 * Math.sin(i)), output = new Float32Array(BLOCK);
  let blocks = 0, start = 0, spent = 0;
  for (const warm of [20, 100]) {
    for (start = Date.now(), blocks = 0; (spent = Date.now() - start) < warm; ++blocks) for (let i = 0; i < 8; ++i) stream.push(input, output);
  }
  stream.close();
  return (1000 * spent) / (8 * blocks);
}

class RnnpackProcessor extends AudioWorkletProcessor {
  constructor({ processorOptions: { wasm, setup } }) {
    super();
    this.silence = new Float32Array(BLOCK);
    this.reports = Array.from({ length: 8 }, () => new Float32Array(REPORT));
    this.report = this.reports.pop();
    this.blocks = this.gaps = this.dropped = 0;
    this.next = -1;
    this.port.onmessage = ({ data }) => this.receive(data);
    try {
      this.rnnpack = Rnnpack.loadSync(wasm);
      const microseconds = measure(this.rnnpack, setup);
      this.stream = new Stream(this.rnnpack, setup);
      const { kernels, delay } = this.stream;
      this.port.postMessage({ ready: { kernels, delay, microseconds, memory: this.rnnpack.memory.all } });
    } catch (error) {
      this.port.postMessage({ error: error.message });
    }
  }

  receive(data) {
    if (data.report) this.reports.push(data.report);
    if (data.bypass !== undefined && this.stream) this.stream.bypass = data.bypass;
    if (data.stop) this.stopped = true;
    if (data.counts) {
      const { blocks, gaps, dropped } = this;
      this.port.postMessage({ counts: { blocks, gaps, dropped, ...this.rnnpack.memory } });
    }
  }

  process(inputs, outputs) {
    if (this.stopped || !this.stream) return false;
    const input = inputs[0].length > 0 ? inputs[0][0] : this.silence, output = outputs[0][0];
    if (this.next >= 0 && currentFrame !== this.next) ++this.gaps;
    this.next = currentFrame + input.length;
    this.stream.push(input, output);
    if (outputs[1]) outputs[1][0].fill(this.stream.speech);
    this.tell(input, output);
    return true;
  }

  tell(input, output) {
    const at = this.blocks++ % BLOCKS, { report } = this;
    if (report !== undefined) {
      report.set(input, at * BLOCK);
      report.set(output, (BLOCKS + at) * BLOCK);
      report[2 * BLOCKS * BLOCK + at] = this.stream.speech;
    }
    if (at < BLOCKS - 1) return;
    if (report === undefined) ++this.dropped; // the page is busy: it misses a piece of picture, not of sound
    else this.port.postMessage({ report, gaps: this.gaps }, [report.buffer]);
    this.report = this.reports.pop();
  }
}
registerProcessor('rnnpack', RnnpackProcessor);
